/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Calls that leave out the last argument, the options. sd-bus compares the whole signature, and has
 * one method of a name. */

#include "bus-private.h"
#include "lookup.h"
#include "names.h"

#define OPTIONS "a{sv}"

/* The handler of the method among the N in MEMBERS that M calls without options; NULL if there is
 * none. */
static sd_bus_message_handler_t find_handler(const sd_bus_vtable *members, size_t n,
					     sd_bus_message *m)
{
	const char *signature = sd_bus_message_get_signature(m, true), *rest;

	for (size_t i = 0; i < n; i++) {
		if (members[i].type != _SD_BUS_VTABLE_METHOD ||
		    !streq(members[i].x.method.member, sd_bus_message_get_member(m)))
			continue;
		rest = startswith(members[i].x.method.signature, signature);
		return rest && streq(rest, OPTIONS) ? members[i].x.method.handler : NULL;
	}
	return NULL;
}

int bus_short_call_offer(Bus *b, sd_bus_message *m, sd_bus_error *error)
{
	const char *interface = sd_bus_message_get_interface(m);
	const char *path = sd_bus_message_get_path(m);
	sd_bus_message_handler_t handler;
	Device *d;
	Port *p;

	if (!interface)
		return 0;
	if (streq(interface, RDMAD_INTERFACE_MANAGER) && streq(path, RDMAD_ROOT_PATH)) {
		handler = find_handler(bus_manager_members, bus_n_manager_members, m);
		return handler ? handler(m, b, error) : 0;
	}
	if (!streq(interface, RDMAD_INTERFACE_PORT))
		return 0;
	handler = find_handler(bus_port_members, bus_n_port_members, m);
	if (!handler || lookup_path(b->cache, path, &d, &p) < 0 || !p)
		return 0;
	return handler(m, p, error);
}
