/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Other connections on the bus: whose they are, and when they leave. The bus is asked without being
 * waited for: it may ask something of rdmad first.
 */

#include <systemd/sd-bus.h>

/*
 * Asks for the user of the connection NAME (":1.42"). HANDLER has the answer for
 * bus_peer_read_user(); *RET is a slot, and letting go of it is not to want the answer any more.
 */
int bus_peer_ask_user(sd_bus *bus, const char *name, sd_bus_message_handler_t handler,
		      void *userdata, sd_bus_slot **ret);
/* The same, for as long as the connection lasts. DESTROY(USERDATA) is called in any case once this
 * has succeeded: after HANDLER, or without it when the connection is closed. */
int bus_peer_ask_user_once(sd_bus *bus, const char *name, sd_bus_message_handler_t handler,
			   void *userdata, sd_bus_destroy_t destroy);
/* The user in ANSWER. -ENXIO: the connection has left. -EREMOTEIO: the bus has not answered in 25
 * seconds, or with another error; then the connection may still be there, and its call needs an
 * answer: bus_peer_reply_unknown(). */
int bus_peer_read_user(sd_bus_message *answer, uid_t *ret);
/* Answers CALL with the error that nobody knows whose it is. */
void bus_peer_reply_unknown(sd_bus_message *call);

/* HANDLER hears of every connection that leaves, its name being the first string in the message. If
 * the bus refuses that or does not answer, that is logged, and HANDLER may hear nothing. */
int bus_peer_watch_departures(sd_bus *bus, sd_bus_message_handler_t handler, void *userdata,
			      sd_bus_slot **ret);
