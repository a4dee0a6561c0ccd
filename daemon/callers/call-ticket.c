/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "call-ticket.h"

int call_ticket_take(BusCallers *c, sd_bus_message *call, CallTicket *ret)
{
	CallTicket t = {.bus = sd_bus_message_get_bus(call),
			.wants_reply = sd_bus_message_get_expect_reply(call) > 0};
	int r = sd_bus_message_get_cookie(call, &t.serial);

	if (r >= 0)
		r = bus_callers_find(c, sd_bus_message_get_sender(call), &t.caller);
	if (r >= 0)
		*ret = t;
	return r;
}

void call_ticket_done(CallTicket *t)
{
	t->caller = bus_caller_unref(t->caller);
}

int call_ticket_new_call(const CallTicket *t, sd_bus_message **ret)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	/* Of these names nothing is in a reply. */
	int r = sd_bus_message_new_method_call(t->bus, &m, NULL, "/", NULL, "Call");

	if (r >= 0)
		r = sd_bus_message_set_expect_reply(m, t->wants_reply);
	if (r >= 0)
		r = sd_bus_message_set_sender(m, bus_caller_name(t->caller));
	if (r >= 0)
		r = sd_bus_message_seal(m, t->serial, 0);
	if (r < 0) {
		sd_bus_close(t->bus);
		return r;
	}
	*ret = steal_pointer(&m);
	return 0;
}
