/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>

#include "compat.h"

/* The version of Landlock's interface that the kernel has (landlock(7)). 0: it has none (Linux 5.13
 * is the first), or it was started without it (lsm=). */
static inline int landlock_abi(void)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);

	return abi > 0 ? (int)abi : 0;
}
