/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "bus-peer.h"

#include "log.h"
#include "util.h"

#define BUS_NAME "org.freedesktop.DBus"
#define BUS_PATH "/org/freedesktop/DBus"

void bus_peer_reply_unknown(sd_bus_message *call)
{
	int r = sd_bus_reply_method_errorf(call, SD_BUS_ERROR_TIMEOUT,
					   "The bus has not said which user has made the call");

	if (r < 0)
		log_debug_errno(r, "Cannot answer a call, ignoring: %m");
}

/* Without a handler sd-bus closes the connection when the bus refuses the match, or does not answer
 * in 25 seconds. */
static int on_watching(sd_bus_message *m, _unused_ void *userdata, _unused_ sd_bus_error *error)
{
	if (sd_bus_message_is_method_error(m, NULL))
		log_warning_errno(-sd_bus_message_get_errno(m),
				  "Cannot watch for callers that leave, ignoring: %m");
	return 1;
}

int bus_peer_watch_departures(sd_bus *bus, sd_bus_message_handler_t handler, void *userdata,
			      sd_bus_slot **ret)
{
	/* without a new owner */
	return sd_bus_add_match_async(bus, ret,
				      "type='signal',sender='" BUS_NAME "',path='" BUS_PATH
				      "',interface='" BUS_NAME
				      "',member='NameOwnerChanged',arg2=''",
				      handler, on_watching, userdata);
}

uint64_t bus_peer_unsent(sd_bus *bus)
{
	uint64_t n = 0;

	(void)sd_bus_get_n_queued_write(bus, &n);
	return n;
}
