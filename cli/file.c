/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "util.h"

int file_replace(const char *path, const char *text, size_t size)
{
	_cleanup_free_ char *new = NULL;
	mode_t mask = umask(0);
	int fd, r = 0;

	umask(mask);
	if (asprintf(&new, "%s.XXXXXX", path) < 0)
		return -ENOMEM;
	fd = mkostemp(new, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	for (size_t done = 0; done < size && r == 0;) {
		ssize_t n = write(fd, text + done, size - done);

		if (n >= 0)
			done += (size_t)n;
		else if (errno != EINTR)
			r = -errno;
	}
	if (r == 0 && (fchmod(fd, 0666 & ~mask) < 0 || fsync(fd) < 0))
		r = -errno;
	if (close(fd) < 0 && r == 0)
		r = -errno;
	if (r == 0 && rename(new, path) < 0)
		r = -errno;
	if (r < 0)
		(void)unlink(new);
	return r;
}
