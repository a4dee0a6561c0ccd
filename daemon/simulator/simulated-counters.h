/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The counters of one simulated port. Which there are depends on its protocol. Those of data and
 * packets grow by the same amount with each reading, the others stay 0; a setting counter.NAME,
 * hw_counter.NAME, device_counter.NAME or ethtool_counter.NAME replaces the value of one, or with
 * +NUMBER that by which it grows. far_counter.NAME does so at the other end of the link.
 */

#include "simulated-device.h"

/* The counters that reading number N of P, from 1, brings, or if FAR of the port at the other end
 * of its link: a new table, or NULL if there are none. -ENOMEM. */
int simulated_counters_read(const SimulatedPort *p, bool far, uint32_t n, Table **ret);

/* Whether KEY sets a counter. */
bool simulated_is_counter(const char *key);
/* Adds a setting to OLD, the table of those before it, which may be NULL: *RET is a new table.
 * VALUE is a number, +NUMBER, or empty if there is to be no such counter. -EINVAL, -ENOSPC with a
 * message.
 */
int simulated_counters_set(const Table *old, const char *key, const char *value, Table **ret,
			   char **ret_message);
