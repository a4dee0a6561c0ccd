/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the methods of all interfaces do with a call that they cannot answer at once. */

#include "bus-private.h"
#include "compat.h"
#include "log.h"
#include "names.h"

static void reply_named(sd_bus_message *call, const char *name, const char *text)
{
	int r = sd_bus_reply_method_errorf(call, name, "%s", text);

	if (r < 0)
		log_debug_errno(r, "Cannot answer a call, ignoring: %m");
}

void bus_reply_query_failed(sd_bus_message *call, int error, const char *text)
{
	const char *name = strerrorname_np(-error);
	char with_name[BUS_ERROR_TEXT_MAX];

	snprintf(with_name, sizeof(with_name), "%.*s [%s]", (int)sizeof(with_name) - 32, text,
		 name ? name : "unknown");
	reply_named(call, RDMAD_ERROR_QUERY_FAILED, with_name);
}

void bus_reply_error(sd_bus_message *call, int error, const char *text)
{
	if (error == -ETIMEDOUT)
		reply_named(call, RDMAD_ERROR_DEVICE_TIMEOUT, text);
	else if (error == -ENODEV)
		reply_named(call, RDMAD_ERROR_NOT_FOUND, text);
	else
		bus_reply_query_failed(call, error, text);
}

sd_bus_message *bus_call_of(const PendingCall *c)
{
	sd_bus_message *call = NULL;
	int r = call_ticket_new_call(&c->ticket, &call);

	if (r < 0)
		log_debug_errno(r, "Cannot answer a call, ignoring: %m");
	return call;
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
