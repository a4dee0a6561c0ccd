/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The settings of devices and ports of a record (daemon/record/change-text.h): every row of a
 * source as it was, and nothing made to agree with others. Of a table FIELD.n is the number of its
 * entries, empty if there is no table, and FIELD.I is entry I. answer.parts, answer.failed,
 * answer.open_error, answer.no_neighbor, answer.unmeasured and answer.unanswered are what an answer
 * says beside values.
 */

#include "port.h"
#include "simulated-value.h"

/* Sets the scalar row, or the number that rdmad counts, KEY of S. If KEY is an entry of a table,
 * *RET_TABLE is that table, and the caller puts the new one that is in *RET there; else *RET_TABLE
 * is _PORT_TABLE_MAX. -EINVAL with a message; -ENOMEM. */
int recorded_port_set(PortSnapshot *s, const char *key, const char *value, PortTable *ret_table,
		      Table **ret, char **ret_message);
/* The same for a device: S owns its tables. */
int recorded_device_set(DeviceSnapshot *s, const char *key, const char *value, char **ret_message);
