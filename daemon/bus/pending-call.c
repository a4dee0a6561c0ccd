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
	PendingCall *first; /* of all */
	unsigned int n;
	unsigned int n_long;	 /* those that may wait for long */
	sd_bus_slot *departures; /* connections that leave; NULL while N_LONG is 0 */
	PendingUser *users;	 /* of the calls whose user is known, in no order */
	size_t n_users;
};

void pending_list_add(PendingList *list, PendingCall *call)
{
	assert(!call->at);
	call->next = list->first;
	if (call->next)
		call->next->at = &call->next;
	call->at = &list->first;
	list->first = call;
}

static void leave_list(PendingCall *call)
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
	PendingUser *u = find_user(p, user), *users;

	if (!u) {
		users = reallocarray(p->users, p->n_users + 1, sizeof(*users));
		if (!users)
			return -ENOMEM;
		p->users = users;
		u = &users[p->n_users++];
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

PendingCall *pending_call_free(PendingCall *call)
{
	PendingCalls *p;

	if (!call)
		return NULL;
	p = call->calls;
	leave_list(call);
	if (call->previous_of_all)
		call->previous_of_all->next_of_all = call->next_of_all;
	else
		p->first = call->next_of_all;
	if (call->next_of_all)
		call->next_of_all->previous_of_all = call->previous_of_all;
	p->n--;
	if (call->kind->waits_long && --p->n_long == 0)
		p->departures = sd_bus_slot_unref(p->departures);
	if (!call->question)
		uncount(p, call->user);
	sd_bus_slot_unref(call->question);
	sd_bus_message_unref(call->message);
	if (call->kind->freed)
		call->kind->freed(call->userdata);
	free(call);
	return NULL;
}

static int set_too_many(sd_bus_message *message, sd_bus_error *error)
{
	return sd_bus_error_setf(error, RDMAD_ERROR_LIMITS_EXCEEDED,
				 "Too many calls of %s are waiting",
				 sd_bus_message_get_member(message));
}

/* Answers CALL, whose user has too many, with an error and frees it. */
static void refuse(PendingCall *call)
{
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	int r;

	(void)set_too_many(call->message, &error);
	r = sd_bus_reply_method_error(call->message, &error);
	if (r < 0)
		log_debug_errno(r, "Cannot refuse a call, ignoring: %m");
	pending_call_free(call);
}

static int on_user(sd_bus_message *answer, void *userdata, _unused_ sd_bus_error *error)
{
	PendingCall *call = userdata;
	uid_t user;
	int r = bus_peer_read_user(answer, &user);

	if (r < 0) {
		/* unless the caller has left already */
		if (r != -ENXIO)
			bus_peer_reply_unknown(call->message);
		pending_call_free(call);
		return 0;
	}
	if (count(call->calls, user) < 0) {
		refuse(call);
		return 0;
	}
	call->user = user;
	call->question = sd_bus_slot_unref(call->question);
	if (call->kind->identified)
		call->kind->identified(call, user, call->userdata);
	return 0;
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
		if (c->kind->waits_long && streq(sd_bus_message_get_sender(c->message), name))
			pending_call_free(c);
	}
	return 0;
}

/* Whether one more call of the connection SENDER may wait. Before the bus has said whose connection
 * it is, its calls are not counted by user. */
static bool has_room(const PendingCalls *p, const char *sender)
{
	unsigned int n = 0, most = p->n < PENDING_MAX ? PENDING_USER_MAX : PENDING_ALWAYS;

	if (p->n < most)
		return true;
	for (const PendingCall *c = p->first; c && n < most; c = c->next_of_all)
		n += streq(sd_bus_message_get_sender(c->message), sender);
	return n < most;
}

int pending_call_new(PendingCalls *p, sd_bus_message *message, const PendingKind *kind,
		     void *userdata, PendingCall **ret, sd_bus_error *error)
{
	const char *sender = sd_bus_message_get_sender(message);
	PendingCall *call;
	int r = 0;

	if (!has_room(p, sender))
		return set_too_many(message, error);
	call = calloc(1, sizeof(*call));
	if (!call)
		return -ENOMEM;
	/* before the question, so that no departure is missed */
	if (kind->waits_long && !p->departures)
		r = bus_peer_watch_departures(p->bus, on_departure, p, &p->departures);
	if (r >= 0)
		r = bus_peer_ask_user(p->bus, sender, on_user, call, &call->question);
	if (r < 0) {
		if (p->n_long == 0)
			p->departures = sd_bus_slot_unref(p->departures);
		free(call);
		return r;
	}
	call->message = sd_bus_message_ref(message);
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
	return 1;
}

int pending_calls_new(sd_bus *bus, PendingCalls **ret)
{
	PendingCalls *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->bus = bus;
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
