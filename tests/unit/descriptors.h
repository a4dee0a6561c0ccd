/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests compare the number of open descriptors before and after. */

#pragma once

#include <dirent.h>
#include <stdlib.h>

/* How many descriptors this process has open. */
static inline unsigned int count_descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	unsigned int n = 0;

	if (!d)
		abort();
	while (readdir(d))
		n++;
	closedir(d);
	return n - 2 - 1; /* not ".", ".." and its own */
}
