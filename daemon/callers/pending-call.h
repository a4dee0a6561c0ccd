/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Method calls that are answered later: who made them, how many a user may have, and when nobody
 * wants the answer any more. Query(), GetCounters(), GetUsers(), Refresh(), WaitFor() and
 * OpenSnapshot() all wait here, under the same rules.
 *
 * Nothing of the message is kept: what the reply needs is in a ticket, and what was asked is kept
 * by whoever answers, in a form of their own.
 *
 * Calls are counted by user and not by connection: else one user could open many connections and
 * take the places of all others. Nobody waits for the bus to say whose a connection is
 * (bus-callers.h): until then the call waits like any other.
 */

#include <stdbool.h>
#include <sys/types.h>
#include <systemd/sd-bus.h>

#include "call-ticket.h"

/* Calls of one user that may wait. Until the bus has said whose a connection is, its calls may be
 * as many. */
#define PENDING_USER_MAX 256U
/* So that all users together do not take all memory: when so many calls wait, a connection that has
 * PENDING_ALWAYS of them gets no more. A user who opens many connections can bring it to that
 * before the bus has answered; the others still have these. */
#define PENDING_MAX    4096U
#define PENDING_ALWAYS 16U

typedef struct PendingCalls PendingCalls;
typedef struct PendingCall PendingCall;

/* The calls that wait for the same thing, the latest first. Zeroed, the list is empty. The list
 * does not own the calls. */
typedef struct PendingList {
	PendingCall *first;
} PendingList;

struct PendingCall {
	CallTicket ticket;
	uint32_t port; /* the number of the port that it is about, 0: none */

	/* where it is in a PendingList */
	PendingCall *next;
	PendingCall **at; /* what points to this one; NULL: it is in no list */

	/* pending-call.c's own */
	PendingCalls *calls;
	PendingCall *previous_of_all, *next_of_all;
	const struct PendingKind *kind;
	void *userdata;
	CallerWait wait; /* for the bus to say whose it is */
	bool counted;	 /* that is known: USER, and it has one of his places */
	uid_t user;
};

/* The functions of a kind of call. All may be NULL. */
typedef struct PendingKind {
	/* The call is USER's, as the bus has said. May free it. */
	void (*identified)(PendingCall *call, uid_t user, void *userdata);
	/* The call is being freed: frees what USERDATA has for it. */
	void (*freed)(void *userdata);
	/* The call may wait for long: it is freed when its caller leaves the bus. A call for the
	 * hardware does not wait longer than a query takes, and need not be freed earlier. */
	bool waits_long;
} PendingKind;

/* For the calls that come on BUS from CALLERS, which both outlive *RET. -ENOMEM. */
int pending_calls_new(sd_bus *bus, BusCallers *callers, PendingCalls **ret);
/* Frees the calls too, without an answer: the connection has ended. */
PendingCalls *pending_calls_free(PendingCalls *p);
DEFINE_CLEANUP(PendingCalls, pending_calls_free);

/*
 * Keeps the ticket of MESSAGE, a method call, until pending_call_free(). The ticket may be freed
 * before: when its user has too many or the bus does not say whose it is, and then it is answered
 * with an error; when its caller leaves (PendingKind.waits_long); when the connection ends. *RET is
 * owned by P. If it is known already whose the call is, KIND->identified is called at once; then
 * *RET is NULL. If the user or the connection has too many that wait, ERROR says so. -ENOMEM.
 * Returns what a method has to return to sd-bus: 1, or a negative errno. Then KIND->freed is not
 * called.
 */
int pending_call_new(PendingCalls *p, sd_bus_message *message, const PendingKind *kind,
		     void *userdata, PendingCall **ret, sd_bus_error *error);
/* Takes it out of its list, too. Does not answer. NULL is allowed. */
void pending_call_free(PendingCall *call);

/* CALL must be in no list. */
void pending_list_add(PendingList *list, PendingCall *call);
/* Takes CALL out of the list that it is in, if it is in one. */
void pending_list_remove(PendingCall *call);
/* Moves all calls from FROM to TO, which must be empty. */
void pending_list_move(PendingList *to, PendingList *from);
/* The first call in LIST that is about PORT (0: about any), NULL: none. */
PendingCall *pending_list_find(const PendingList *list, uint32_t port);
