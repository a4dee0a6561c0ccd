/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Other connections on the bus: what a caller is told whose user is not known (bus-callers.h), and
 * when connections leave. And the bus itself: what it has not taken, and what it takes at once.
 */

#include <stdbool.h>
#include <systemd/sd-bus.h>

/* Answers CALL with the error that nobody knows whose it is. */
void bus_peer_reply_unknown(sd_bus_message *call);

/* HANDLER hears of every connection that leaves, its name being the first string in the message. If
 * the bus refuses that or does not answer, that is logged, and HANDLER may hear nothing. */
int bus_peer_watch_departures(sd_bus *bus, sd_bus_message_handler_t handler, void *userdata,
			      sd_bus_slot **ret);

/* How many messages wait in sd-bus until the bus takes them; 0 if the connection has ended. */
uint64_t bus_peer_unsent(sd_bus *bus);

/* Whether the bus has taken all that was sent but for a quarter of what the socket holds: then the
 * kernel says that it can be written again (unix_writable() in net/unix/af_unix.c). */
bool bus_peer_has_taken(sd_bus *bus);

/* Whether nothing waits to be sent, so that bytes can be written past sd-bus. */
bool bus_peer_takes(sd_bus *bus);
/*
 * If bus_peer_takes(): writes SIZE bytes at DATA, which are whole messages, to the socket. Returns
 * false if nothing was written, because the socket is full, or the bytes are too many for it to
 * take them all or none.
 */
bool bus_peer_write(sd_bus *bus, const void *data, size_t size);
