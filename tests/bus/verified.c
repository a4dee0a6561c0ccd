/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "verified.h"

#include <glob.h>

#include "fixture.h"

bool are_verified(const char *command, char *said, size_t size)
{
	FILE *f;
	size_t n;

	fflush(NULL);
	f = popen(command, "re");
	n = f ? fread(said, 1, size - 1, f) : 0;
	said[n] = '\0';
	return f && pclose(f) == 0;
}

void assert_verified(const char *directory)
{
	char pattern[256], command[512], said[4096];
	glob_t segments = {};

	snprintf(pattern, sizeof(pattern), "%s/{,*/}record/*.conf", directory);
	if (glob(pattern, GLOB_BRACE, NULL, &segments) == GLOB_NOSPACE)
		fail_msg("no memory");
	for (size_t i = 0; i < segments.gl_pathc; i++) {
		char *record = segments.gl_pathv[i];

		*strrchr(record, '/') = '\0';
		if (i > 0 && streq(record, segments.gl_pathv[i - 1]))
			continue;
		snprintf(command, sizeof(command), VERIFY " --directory=%s 2>&1", record);
		if (!are_verified(command, said, sizeof(said)))
			fail_msg("rdmad cannot have recorded that:\n%s", said);
	}
	globfree(&segments);
}
