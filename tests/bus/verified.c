/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "verified.h"

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
	char command[512], said[4096];

	snprintf(command, sizeof(command),
		 "for d in %s/record %s/*/record; do ! ls $d/*.conf >/dev/null 2>&1 "
		 "|| " VERIFY " --directory=$d 2>&1 || exit 1; done",
		 directory, directory);
	if (!are_verified(command, said, sizeof(said)))
		fail_msg("rdmad cannot have recorded that:\n%s", said);
}
