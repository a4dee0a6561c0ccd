/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The part of the wall (query-wall.h) that is made of Landlock: which files. */

#include <stdbool.h>

/*
 * Needs PR_SET_NO_NEW_PRIVS. ISOLATES: see wall_put_on(). *RET_SIGNALS: whether Landlock also keeps
 * signals to this process and what it starts (Linux 6.12). -EOPNOTSUPP: the kernel has no Landlock.
 * With any negative errno nothing was changed.
 */
int wall_files_put_on(bool isolates, bool *ret_signals);
