/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "bus-cable.h"

#define NAME "org.rdma.Cable"
#define PATH "/org/rdma/cable"

/* A slow module is read in less; the bus may have to start the program. */
#define TIMEOUT_USEC (10 * USEC_PER_SEC)

int bus_ask_module(Bus *b, uint32_t ifindex, sd_bus_message_handler_t handler, void *userdata,
		   sd_bus_slot **ret)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	sd_bus *bus = bus_connection(b);
	int r = sd_bus_message_new_method_call(bus, &m, NAME, PATH, NAME, "Read");

	if (r >= 0)
		r = sd_bus_message_append(m, "u", ifindex);
	return r < 0 ? r : MIN(sd_bus_call_async(bus, ret, m, handler, userdata, TIMEOUT_USEC), 0);
}

static int take_row(const char *field, const char *text, PortSnapshot *s)
{
	PortAttr a;

	if (port_attr_from_field(field, &a) < 0 || port_part_of(a) != READ_CABLE ||
	    attr_parse(&port_attributes[a], &s->values, text) < 0)
		return -EBADMSG;
	mask_set(&s->supplied, a, true);
	return 0;
}

static int take_rows(sd_bus_message *answer, PortSnapshot *s)
{
	const char *field, *text;
	int r = bus_enter_answer(answer, "{ss}");

	while (r >= 0 && (r = sd_bus_message_read(answer, "{ss}", &field, &text)) > 0)
		r = take_row(field, text, s);
	return r;
}

int bus_take_module(sd_bus_message *answer, PortSnapshot *ret)
{
	PortSnapshot s = {.parts = READ_CABLE};
	int r = take_rows(answer, &s);

	if (r < 0) {
		port_snapshot_done(&s);
		s = (PortSnapshot){.parts = READ_CABLE,
				   .failed = r == -EOPNOTSUPP ? 0 : READ_CABLE};
	}
	*ret = s;
	return r;
}
