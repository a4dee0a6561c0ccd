/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The version of a kernel as a number that can be compared. */

#define KERNEL(major, minor) ((major) << 8 | (minor))

/* The running kernel's version; 0 if uname() says nothing that can be understood. */
unsigned int kernel_version(void);
/* The same of RELEASE, such as "6.12.0-1-amd64". */
unsigned int kernel_parse_version(const char *release);
