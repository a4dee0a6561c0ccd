/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "long-reply-queue.h"

#include <assert.h>

/*
 * Rates by one number: what has been sent is paid for until PAID_UNTIL. That lies in the past by
 * what has been saved up, but never by more than LONG_REPLY_QUEUE_SAVED_USEC; while it lies in the
 * future one has to wait.
 *
 * Turns by another: whose TURN is lowest is next, and is then one further. Who comes anew joins at
 * the turn that is being served.
 */
typedef struct User {
	struct User *next;
	uid_t uid;
	uint64_t paid_until;
	uint64_t turn;
	uint64_t turn_of_senders;
	size_t n_waiting;
} User;

typedef struct QueuedSender {
	struct QueuedSender *next;
	char *name;
	User *user; /* NULL: not known yet */
	uint64_t turn;
	size_t n_waiting; /* never 0 */
} Sender;

struct LongReplyQueue {
	uint64_t rate;
	uint64_t paid_until; /* by all */
	uint64_t turn_of_users;
	User *users;	   /* those who wait or have something to pay off */
	Sender *senders;   /* those who wait */
	QueuedCall *calls; /* by arrival */
	size_t n_calls;
};

int long_reply_queue_new(uint64_t rate, LongReplyQueue **ret)
{
	LongReplyQueue *a = calloc(1, sizeof(LongReplyQueue));

	if (!a)
		return -ENOMEM;
	a->rate = rate;
	*ret = a;
	return 0;
}

LongReplyQueue *long_reply_queue_free(LongReplyQueue *a)
{
	if (!a)
		return NULL;
	assert(!a->calls && !a->senders);
	while (a->users) {
		User *u = a->users;

		a->users = u->next;
		free(u);
	}
	free(a);
	return NULL;
}

bool long_reply_queue_is_empty(const LongReplyQueue *a)
{
	return !a->calls;
}

static Sender *find_sender(const LongReplyQueue *a, const char *name)
{
	for (Sender *s = a->senders; s; s = s->next)
		if (streq(s->name, name))
			return s;
	return NULL;
}

static Sender *add_sender(LongReplyQueue *a, const char *name)
{
	Sender *s = calloc(1, sizeof(Sender));

	if (!s)
		return NULL;
	s->name = strdup(name);
	if (!s->name) {
		free(s);
		return NULL;
	}
	s->next = a->senders;
	a->senders = s;
	return s;
}

static void remove_sender(LongReplyQueue *a, Sender *s)
{
	Sender **at = &a->senders;

	while (*at != s)
		at = &(*at)->next;
	*at = s->next;
	free(s->name);
	free(s);
}

int long_reply_queue_add(LongReplyQueue *a, const char *sender, void *call, LongReplyKind kind,
			 bool *ret_new)
{
	QueuedCall *c = calloc(1, sizeof(QueuedCall)), **at = &a->calls;
	Sender *s = find_sender(a, sender);
	bool new = !s;

	if (c && !s)
		s = add_sender(a, sender);
	if (!c || !s) {
		free(c);
		return -ENOMEM;
	}
	c->sender = s;
	c->call = call;
	c->kind = kind;
	s->n_waiting++;
	if (s->user)
		s->user->n_waiting++;
	while (*at)
		at = &(*at)->next;
	*at = c;
	a->n_calls++;
	*ret_new = new;
	return 0;
}

int long_reply_queue_identify(LongReplyQueue *a, const char *sender, uid_t user)
{
	Sender *s = find_sender(a, sender);
	User *u = a->users;

	if (!s || s->user)
		return 0;
	while (u && u->uid != user)
		u = u->next;
	if (!u) {
		u = calloc(1, sizeof(User));
		if (!u)
			return -ENOMEM;
		u->uid = user;
		u->next = a->users;
		a->users = u;
	}
	if (u->n_waiting == 0)
		u->turn = MAX(u->turn, a->turn_of_users);
	u->n_waiting += s->n_waiting;
	s->user = u;
	s->turn = u->turn_of_senders;
	return 0;
}

static QueuedCall *take_out(LongReplyQueue *a, QueuedCall *c)
{
	QueuedCall **at = &a->calls;
	Sender *s = c->sender;

	while (*at != c)
		at = &(*at)->next;
	*at = c->next;
	a->n_calls--;
	if (s->user)
		s->user->n_waiting--;
	if (--s->n_waiting == 0)
		remove_sender(a, s);
	c->next = NULL;
	c->sender = NULL;
	return c;
}

/* How many calls wait that are as C's: of its user, or of its sender if that is all that is known.
 */
static size_t crowd(const QueuedCall *c)
{
	return c->sender->user ? c->sender->user->n_waiting : c->sender->n_waiting;
}

QueuedCall *long_reply_queue_excess(LongReplyQueue *a)
{
	QueuedCall *found = NULL;

	if (a->n_calls <= LONG_REPLY_QUEUE_MAX)
		return NULL;
	for (QueuedCall *c = a->calls; c; c = c->next)
		if (!found || crowd(c) >= crowd(found))
			found = c;
	return take_out(a, found);
}

QueuedCall *long_reply_queue_forget(LongReplyQueue *a, const char *sender)
{
	for (QueuedCall *c = a->calls; c; c = c->next)
		if (!sender || streq(c->sender->name, sender))
			return take_out(a, c);
	return NULL;
}

/* Users who have nothing to wait for and all saved up that they may: as if never seen. */
static void forget_users(LongReplyQueue *a, uint64_t now)
{
	for (User **at = &a->users; *at;) {
		User *u = *at;

		if (u->n_waiting > 0 || u->paid_until + LONG_REPLY_QUEUE_SAVED_USEC > now) {
			at = &u->next;
			continue;
		}
		*at = u->next;
		free(u);
	}
}

QueuedCall *long_reply_queue_next(LongReplyQueue *a, uint64_t now, uid_t *ret_user,
				  uint64_t *ret_when)
{
	QueuedCall *next = NULL;
	uint64_t when = UINT64_MAX;
	Sender *s;

	forget_users(a, now);
	for (QueuedCall *c = a->calls; c; c = c->next) {
		const User *u = c->sender->user, *best = next ? next->sender->user : NULL;

		if (!u)
			continue;
		when = MIN(when, MAX(u->paid_until, a->paid_until));
		if (u->paid_until > now || a->paid_until > now)
			continue;
		if (!best || u->turn < best->turn ||
		    (u == best && c->sender->turn < next->sender->turn))
			next = c;
	}
	if (!next) {
		*ret_when = when;
		return NULL;
	}
	s = next->sender;
	a->turn_of_users = s->user->turn++;
	s->user->turn_of_senders = s->turn++;
	*ret_user = s->user->uid;
	return take_out(a, next);
}

static void pay(uint64_t *paid_until, uint64_t rate, size_t size, uint64_t now)
{
	uint64_t earliest =
		now > LONG_REPLY_QUEUE_SAVED_USEC ? now - LONG_REPLY_QUEUE_SAVED_USEC : 0;

	*paid_until = MAX(*paid_until, earliest) + size * USEC_PER_SEC / rate;
}

void long_reply_queue_charge(LongReplyQueue *a, uid_t user, size_t size, uint64_t now)
{
	pay(&a->paid_until, a->rate * LONG_REPLY_QUEUE_USERS, size, now);
	for (User *u = a->users; u; u = u->next)
		if (u->uid == user)
			pay(&u->paid_until, a->rate, size, now);
}
