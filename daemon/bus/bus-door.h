/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The door: every method call passes it before anything else of rdmad reads or keeps the call.
 *
 * What is refused, with an error:
 *   - a call whose arguments have a file descriptor: no method takes one, and a call that waits
 *     would keep it open. Descriptors that come with a call without being among its arguments are
 *     not seen here, because sd-bus does not tell their number: the rules for the bus of the system
 *     (dbus/org.rdma.conf) refuse these.
 *   - a call whose arguments are longer than those of its method may be: BUS_DOOR_SIZE_MAX bytes,
 *     or what the table in bus-door.c says. So no call that is kept is longer than that.
 *   - a call to an object path of more than BUS_DOOR_PATH_MAX characters: there is no such object,
 *     and the error of sd-bus would repeat the whole path.
 *   - a call of a user of whom too many wait for their turn (turns.h).
 *
 * What is dropped without an answer: a call that wants no reply, unless its method does something
 * (the table says which). Else it would cost as much as a call with a reply, and the bus and rdmad
 * count only calls that want a reply.
 *
 * What passes is handled at once, or waits for the turn of its user (bus-turns.h). So what waits to
 * be sent is bounded: what the socket takes and one reply, of 16 KiB at most or a long one
 * (long-reply.c), and the replies to calls that have waited, PENDING_MAX at most (pending-call.h).
 * A signal waits behind no more than that, whatever clients do not read.
 *
 * A size is what the values have as bytes in the message, without the zeros between them that align
 * numbers.
 */

typedef struct Bus Bus;

#define BUS_DOOR_SIZE_MAX   4096U
#define BUS_DOOR_SIZE_OTHER 65536U /* bus_door_admit() */
#define BUS_DOOR_PATH_MAX   100U

/* Opens the door of the connection of B. The door is the only filter of that connection: sd-bus
 * needs some 400 instructions a message for each. A message that passes is offered to
 * bus_log_offer() and the long replies, and then goes to sd-bus. The door is there for as long as
 * the connection. */
int bus_door_add(Bus *b);
/* The methods of INTERFACE, which is not one of the bus room, all do something, and their arguments
 * may have BUS_DOOR_SIZE_OTHER bytes. One interface of the program, on every connection; INTERFACE
 * lives as long as the program. */
void bus_door_admit(const char *interface);
