/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The counters of a simulated port: the same for all of a protocol, the same each time. Data and
 * packets go on by as much with each reading; what a setting counter.NAME or hw_counter.NAME says
 * stands.
 */

#include "simulated-device.h"

/* What reading number N (from 1) of P brings: a new table. */
int simulated_counters_read(const SimulatedPort *p, uint32_t n, Table **ret);

/* Whether KEY is one of a counter. */
bool simulated_is_counter(const char *key);
/* The settings in OLD (a table or NULL) and this one: a number, or nothing for a counter that is
 * not there. A new table. */
int simulated_counters_set(const Table *old, const char *key, const char *value, Table **ret,
			   char **ret_message);
