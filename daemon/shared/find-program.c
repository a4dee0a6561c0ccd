/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "find-program.h"

#include <limits.h>

#include "util.h"

char *find_program(const char *name)
{
	char exe[PATH_MAX];
	_cleanup_free_ char *path = NULL;
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

	if (n > 0) {
		exe[n] = '\0';
		*strrchr(exe, '/') = '\0';
		if (asprintf(&path, "%s/%s", exe, name) < 0)
			return path = NULL;
		if (access(path, X_OK) == 0)
			return steal_pointer(&path);
		free(steal_pointer(&path));
	}
	return asprintf(&path, RDMAD_LIBEXEC_DIR "/%s", name) < 0 ? (path = NULL)
								  : steal_pointer(&path);
}
