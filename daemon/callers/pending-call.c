/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "pending-call.h"

#include <assert.h>

#include "bus-peer.h"
#include "log.h"
#include "names.h"

/* How many calls of one user wait. */
typedef struct PendingUser {
	uid_t user;
	unsigned int n;
} PendingUser;

struct PendingCalls {
	sd_bus *bus;
	BusCallers *callers;
	PendingCall *first; /* of all */
	unsigned int n;
	unsigned int n_long;	 /* those that may wait for long */
	sd_bus_slot *departures; /* connections that leave; NULL while N_LONG is 0 */
	PendingUser *users;	 /* of the calls whose user is known, in no order */
	size_t n_users;
};

static const sd_bus_error too_many = SD_BUS_ERROR_MAKE_CONST(
	RDMAD_ERROR_LIMITS_EXCEEDED, "Too many calls of this user are waiting for their answers");

void pending_list_add(PendingList *list, PendingCall *call)
{
	assert(!call->at);
	call->next = list->first;
	if (call->next)
		call->next->at = &call->next;
	call->at = &list->first;
	list->first = call;
}

void pending_list_remove(PendingCall *call)
{
	if (!call->at)
		return;
	*call->at = call->next;
	if (call->next)
		call->next->at = call->at;
	call->at = NULL;
}

void pending_list_move(PendingList *to, PendingList *from)
{
	assert(!to->first);
	to->first = steal_pointer(&from->first);
	if (to->first)
		to->first->at = &to->first;
}

PendingCall *pending_list_find(const PendingList *list, uint32_t port)
{
	PendingCall *c = list->first;

	while (c && port != 0 && c->port != port)
		c = c->next;
	return c;
}

static PendingUser *find_user(PendingCalls *p, uid_t user)
{
	for (size_t i = 0; i < p->n_users; i++)
		if (p->users[i].user == user)
			return &p->users[i];
	return NULL;
}

/* Counts one more call of USER. -ENOBUFS: there are enough. */
static int count(PendingCalls *p, uid_t user)
{
	PendingUser *u = find_user(p, user);

	if (!u) {
		if (!array_grow(p->users, p->n_users))
			return -ENOMEM;
		u = &p->users[p->n_users++];
		*u = (PendingUser){.user = user};
	}
	if (u->n >= PENDING_USER_MAX)
		return -ENOBUFS;
	u->n++;
	return 0;
}

static void uncount(PendingCalls *p, uid_t user)
{
	PendingUser *u = find_user(p, user);

	if (--u->n == 0)
		*u = p->users[--p->n_users];
}

void pending_call_free(PendingCall *call)
{
	PendingCalls *p;

	if (!call)
		return;
	p = call->calls;
	pending_list_remove(call);
	if (call->previous_of_all)
		call->previous_of_all->next_of_all = call->next_of_all;
	else
		p->first = call->next_of_all;
	if (call->next_of_all)
		call->next_of_all->previous_of_all = call->previous_of_all;
	p->n--;
	if (call->kind->waits_long && --p->n_long == 0)
		p->departures = sd_bus_slot_unref(p->departures);
	if (call->counted)
		uncount(p, call->user);
	caller_wait_cancel(&call->wait);
	call_ticket_done(&call->ticket);
	if (call->kind->freed)
		call->kind->freed(call->userdata);
	free(call);
}

/* Answers CALL with an error, which is -ENOBUFS: its user has too many, or that nobody knows whose
 * it is, and frees it. */
static void refuse(PendingCall *call, int error)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	int r = call_ticket_new_call(&call->ticket, &m);

	if (r >= 0 && error == -ENOBUFS)
		r = sd_bus_reply_method_error(m, &too_many);
	else if (r >= 0)
		bus_peer_reply_unknown(m);
	if (r < 0)
		log_debug_errno(r, "Cannot refuse a call, ignoring: %m");
	pending_call_free(call);
}

/* The bus has said whose CALL is. */
static void on_user(void *userdata, int error, uid_t user)
{
	PendingCall *call = userdata;

	if (error == -ENXIO) { /* the caller has left */
		pending_call_free(call);
		return;
	}
	if (error >= 0)
		error = count(call->calls, user);
	if (error < 0) {
		refuse(call, error);
		return;
	}
	call->counted = true;
	call->user = user;
	if (call->kind->identified)
		call->kind->identified(call, user, call->userdata);
}

static int on_departure(sd_bus_message *m, void *userdata, _unused_ sd_bus_error *error)
{
	PendingCalls *p = userdata;
	PendingCall *next;
	const char *name;

	if (sd_bus_message_read_basic(m, 's', &name) < 0)
		return 0;
	for (PendingCall *c = p->first; c; c = next) {
		next = c->next_of_all;
		if (c->kind->waits_long && streq(bus_caller_name(c->ticket.caller), name))
			pending_call_free(c);
	}
	return 0;
}

/* Whether one more call of CALLER may wait. Before the bus has said whose connection it is, its
 * calls are not counted by user. */
static bool has_room(const PendingCalls *p, const BusCaller *caller)
{
	unsigned int n = 0, most = p->n < PENDING_MAX ? PENDING_USER_MAX : PENDING_ALWAYS;

	if (p->n < most)
		return true;
	for (const PendingCall *c = p->first; c && n < most; c = c->next_of_all)
		n += c->ticket.caller == caller;
	return n < most;
}

static void call_free(PendingCall *call)
{
	call_ticket_done(&call->ticket);
	free(call);
}
DEFINE_CLEANUP(PendingCall, call_free);

/* Adds CALL, whose ticket is there, to those of its user if he is known, and else asks. */
static int admit(PendingCalls *p, PendingCall *call, sd_bus_error *error)
{
	int r = 0;

	if (!has_room(p, call->ticket.caller))
		return sd_bus_error_copy(error, &too_many);
	if (bus_caller_knows_user(call->ticket.caller, &call->user)) {
		r = count(p, call->user);
		if (r == -ENOBUFS)
			return sd_bus_error_copy(error, &too_many);
		call->counted = r >= 0;
	} else {
		bus_caller_await(call->ticket.caller, &call->wait);
	}
	return r;
}

int pending_call_new(PendingCalls *p, sd_bus_message *message, const PendingKind *kind,
		     void *userdata, PendingCall **ret, sd_bus_error *error)
{
	_cleanup_(call_free_pointer) PendingCall *new = calloc(1, sizeof(*new));
	PendingCall *call;
	int r;

	if (!new)
		return -ENOMEM;
	/* before the question, so that no departure is missed */
	if (kind->waits_long && !p->departures)
		r = bus_peer_watch_departures(p->bus, on_departure, p, &p->departures);
	else
		r = 0;
	if (r >= 0)
		r = call_ticket_take(p->callers, message, &new->ticket);
	new->wait = (CallerWait){.told = on_user, .userdata = new};
	if (r >= 0)
		r = admit(p, new, error);
	if (r < 0) {
		if (p->n_long == 0)
			p->departures = sd_bus_slot_unref(p->departures);
		return r;
	}
	call = steal_pointer(&new);
	call->calls = p;
	call->kind = kind;
	call->userdata = userdata;
	call->next_of_all = p->first;
	if (p->first)
		p->first->previous_of_all = call;
	p->first = call;
	p->n++;
	p->n_long += kind->waits_long;
	*ret = call;
	if (call->counted && kind->identified) {
		*ret = NULL;
		kind->identified(call, call->user, userdata);
	}
	return 1;
}

int pending_calls_new(sd_bus *bus, BusCallers *callers, PendingCalls **ret)
{
	PendingCalls *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->bus = bus;
	p->callers = callers;
	*ret = p;
	return 0;
}

PendingCalls *pending_calls_free(PendingCalls *p)
{
	if (!p)
		return NULL;
	while (p->first)
		pending_call_free(p->first);
	free(p->users);
	free(p);
	return NULL;
}
