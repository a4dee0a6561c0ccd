/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the methods of all interfaces do with a call that they cannot answer at once. */

#include "bus-private.h"
#include "log.h"
#include "names.h"

void bus_reply_error(sd_bus_message *call, int error, const char *text)
{
	int r = sd_bus_reply_method_errorf(call,
					   error == -ETIMEDOUT ? RDMAD_ERROR_TIMEOUT
					   : error == -ENODEV  ? RDMAD_ERROR_NOT_FOUND
							       : RDMAD_ERROR_QUERY_FAILED,
					   "%s", text);

	if (r < 0)
		log_debug_errno(r, "Cannot answer a call, ignoring: %m");
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
