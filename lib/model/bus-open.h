/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Connecting to a bus, and its end. A header alone, so that rooms without sd-bus need no library of
 * it. */

#include <systemd/sd-bus.h>

#include "util.h"

/*
 * Connects to the bus at ADDRESS (D-Bus specification, "Server Addresses"), or to the system bus if
 * ADDRESS is NULL, as sd_bus_open_system() does: it does not wait for the bus to answer. The caller
 * owns *RET.
 */
static inline int bus_open_address(const char *address, sd_bus **ret)
{
	_cleanup_(sd_bus_unrefp) sd_bus *bus = NULL;
	int r;

	if (!address)
		return sd_bus_open_system(ret);
	r = sd_bus_new(&bus);
	if (r >= 0)
		r = sd_bus_set_address(bus, address);
	if (r >= 0)
		r = sd_bus_set_bus_client(bus, true);
	if (r >= 0)
		r = sd_bus_start(bus);
	if (r < 0)
		return r;
	*ret = steal_pointer(&bus);
	return 0;
}

/* Whether ERROR is the answer of sd-bus to a call whose connection has ended: NoReply up to systemd
 * 257, which is that of a time-out, too, and in 262 what the connection ended with: Disconnected,
 * or an errno as a name. */
static inline bool bus_error_is_end(const sd_bus_error *error)
{
	int r = sd_bus_error_get_errno(error);

	return sd_bus_error_has_name(error, SD_BUS_ERROR_NO_REPLY) || r == ECONNRESET ||
	       r == EPIPE || r == ENOTCONN;
}
