/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The ticket of a method call that is answered later: its caller and its number, which the reply
 * names. So a call that waits holds no arguments, no file descriptor and no other memory of the
 * message that it came in.
 */

#include "bus-callers.h"

/* Zeroed, it is none. */
typedef struct CallTicket {
	sd_bus *bus;	   /* that the call came in on */
	BusCaller *caller; /* a reference */
	uint64_t serial;
	bool wants_reply; /* if not, what is sent as its reply is dropped */
} CallTicket;

/* *RET is the ticket for CALL, one of the callers C, to be freed by call_ticket_done(). -ENOMEM, or
 * the bus cannot be asked who made it. */
int call_ticket_take(BusCallers *c, sd_bus_message *call, CallTicket *ret);
void call_ticket_done(CallTicket *t);

/*
 * *RET is a call with the sender and the number of the one that T is for, and with nothing else of
 * it. All functions of sd-bus that make or send a reply take it in place of that call. Free it with
 * sd_bus_message_unref() when the reply has been sent: it is not small. -ENOMEM: the connection is
 * closed, as sd-bus does when it has no memory for a reply, so that the caller does not wait for
 * one that never comes.
 */
int call_ticket_new_call(const CallTicket *t, sd_bus_message **ret);
