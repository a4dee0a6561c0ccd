/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The owners of queue pairs on one simulated port. The settings, in the order in which they come:
 *
 *   user.PID = QPS UID NAME CGROUP   a process; without UID and what follows nothing is known of it
 *   user.0 = QPS                     queue pairs whose process has ended
 *   kernel_user.NAME = QPS           a part of the kernel
 *
 * A setting without a value takes the user away.
 */

#include "simulated-port.h"

/* Whether KEY is one of these settings. */
bool simulated_is_user(const char *key);
/* The users OLD, NULL for none, with the setting KEY = VALUE, as a new table in *RET, NULL for
 * none. 0; -EINVAL or -ENOSPC and a text in *RET_MESSAGE, which the caller frees; -ENOMEM. */
int simulated_users_set(const Table *old, const char *key, const char *value, Table **ret,
			char **ret_message);
