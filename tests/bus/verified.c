/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "verified.h"

#include "fixture.h"

void assert_verified(const char *directory)
{
	char command[512], said[4096];
	FILE *f;
	size_t n;

	snprintf(command, sizeof(command),
		 "for d in %s/record %s/*/record; do ! ls $d/*.conf >/dev/null 2>&1 "
		 "|| " TEST_BUILD_DIR
		 "/cli/rdmactl record verify --directory=$d 2>&1 || exit 1; done",
		 directory, directory);
	f = popen(command, "re");
	assert_non_null(f);
	n = fread(said, 1, sizeof(said) - 1, f);
	said[n] = '\0';
	if (pclose(f) != 0)
		fail_msg("rdmad cannot have recorded that:\n%s", said);
}
