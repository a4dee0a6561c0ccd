/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The setting vf.NUMBER of a simulated port: one of its virtual functions. */

#include "table.h"

/* Whether KEY sets a virtual function; *RET_NUMBER is the text behind the dot then. */
bool simulated_is_vf(const char *key, const char **ret_number);
/*
 * Makes *RET of NUMBER and VALUE, which is of words such as node_guid=0011:2233:4455:6677,
 * port_guid=, policy=disable, trust=on and address=02:00:00:00:00:01. Without a GUID it is a
 * function on Ethernet. -EINVAL with a message.
 */
int simulated_vf_parse(const char *key, const char *number, const char *value, VfEntry *ret,
		       char **ret_message);
