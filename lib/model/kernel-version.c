/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "kernel-version.h"

#include <stdio.h>
#include <sys/utsname.h>

unsigned int kernel_parse_version(const char *release)
{
	unsigned int major, minor;

	return sscanf(release, "%u.%u", &major, &minor) == 2 && minor < 256 ? KERNEL(major, minor)
									    : 0;
}

unsigned int kernel_version(void)
{
	struct utsname u;

	return uname(&u) < 0 ? 0 : kernel_parse_version(u.release);
}
