/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Calls that a method cannot answer at once, of all interfaces. */

#include "bus-private.h"
#include "compat.h"
#include "log.h"
#include "names.h"

int bus_error_set(sd_bus_error *ret, int error, const char *text)
{
	const char *name = strerrorname_np(-error);

	if (error == -ETIMEDOUT)
		return sd_bus_error_setf(ret, RDMAD_ERROR_DEVICE_TIMEOUT, "%s", text);
	if (error == -ENODEV)
		return sd_bus_error_setf(ret, RDMAD_ERROR_NOT_FOUND, "%s", text);
	return sd_bus_error_setf(ret, RDMAD_ERROR_QUERY_FAILED, "%.*s [%s]",
				 (int)BUS_ERROR_TEXT_MAX - 32, text, name ? name : "unknown");
}

void bus_reply_error(sd_bus_message *call, int error, const char *text)
{
	_cleanup_(sd_bus_error_free) sd_bus_error e = SD_BUS_ERROR_NULL;
	int r;

	bus_error_set(&e, error, text);
	r = sd_bus_reply_method_error(call, &e);
	if (r < 0)
		log_debug_errno(r, "Cannot answer a call, ignoring: %m");
}

Bus *bus_current(sd_bus_message *m)
{
	return sd_bus_slot_get_userdata(sd_bus_get_current_slot(sd_bus_message_get_bus(m)));
}

sd_bus_message *bus_call_of(const PendingCall *c)
{
	sd_bus_message *call = NULL;
	int r = call_ticket_new_call(&c->ticket, &call);

	if (r < 0)
		log_debug_errno(r, "Cannot answer a call, ignoring: %m");
	return call;
}

void bus_answer_identified(PendingCall *call, uid_t user, BusAnswer answer, void *userdata)
{
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = bus_call_of(call);
	int r = m ? answer(userdata, m, user, &error) : 0;

	if (r < 0)
		r = sd_bus_reply_method_errno(m, r, &error);
	if (r < 0)
		log_debug_errno(r, "Cannot answer a call, ignoring: %m");
	pending_call_free(call);
}

int bus_keep_call(Bus *b, sd_bus_message *message, PendingList *list, uint32_t port,
		  sd_bus_error *error)
{
	static const PendingKind kind = {};
	PendingCall *call;
	int r = pending_call_new(b->calls, message, &kind, NULL, &call, error);

	if (r < 0)
		return r;
	call->port = port;
	pending_list_add(list, call);
	return r;
}
