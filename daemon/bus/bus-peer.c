/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "bus-peer.h"

#include "util.h"

#define BUS_NAME "org.freedesktop.DBus"
#define BUS_PATH "/org/freedesktop/DBus"

int bus_peer_ask_user(sd_bus *bus, const char *name, sd_bus_message_handler_t handler,
		      void *userdata, sd_bus_slot **ret)
{
	return sd_bus_call_method_async(bus, ret, BUS_NAME, BUS_PATH, BUS_NAME,
					"GetConnectionUnixUser", handler, userdata, "s", name);
}

int bus_peer_ask_user_once(sd_bus *bus, const char *name, sd_bus_message_handler_t handler,
			   void *userdata, sd_bus_destroy_t destroy)
{
	sd_bus_slot *slot = NULL;
	int r = bus_peer_ask_user(bus, name, handler, userdata, &slot);

	if (r < 0)
		return r;
	sd_bus_slot_set_destroy_callback(slot, destroy);
	sd_bus_slot_set_floating(slot, true);
	sd_bus_slot_unref(slot);
	return 0;
}

int bus_peer_read_user(sd_bus_message *answer, uid_t *ret)
{
	uint32_t user;
	int r;

	if (sd_bus_message_is_method_error(answer, NULL))
		return -ENXIO;
	r = sd_bus_message_read_basic(answer, 'u', &user);
	if (r <= 0)
		return r < 0 ? r : -EBADMSG;
	*ret = user;
	return 0;
}

int bus_peer_watch_departures(sd_bus *bus, sd_bus_message_handler_t handler, void *userdata,
			      sd_bus_slot **ret)
{
	/* without a new owner */
	return sd_bus_add_match_async(bus, ret,
				      "type='signal',sender='" BUS_NAME "',path='" BUS_PATH
				      "',interface='" BUS_NAME
				      "',member='NameOwnerChanged',arg2=''",
				      handler, NULL, userdata);
}
