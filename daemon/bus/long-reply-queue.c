/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "long-reply-queue.h"

#include <assert.h>

/*
 * The rate is kept with one number, PAID_UNTIL: what has been sent is paid for at that time. While
 * this time is in the future, the user has to wait. A time in the past means savings: the user has
 * saved up the time since then, at most LONG_REPLY_QUEUE_SAVED_USEC.
 *
 * Turns are kept with one number, ANSWERED: replies are counted, and this is the number of the last
 * one that the user or the connection got. The user or connection with the lowest number is next.
 * Newcomers have the number of the last reply but one: they come before the receiver of the last
 * reply, and after all that have waited for longer than that.
 */

/* A user whose calls wait, or who has not saved up everything yet. */
typedef struct User {
	struct User *next;
	uid_t uid;
	uint64_t paid_until;
	uint64_t answered;
	size_t n_waiting; /* calls */
} User;

/* A connection whose calls wait. */
typedef struct QueuedSender {
	struct QueuedSender *next;
	User *user; /* NULL: not known yet */
	uint64_t answered;
	size_t n_waiting; /* calls: at least one */
	char name[];	  /* on the bus, such as ":1.42" */
} Sender;

struct LongReplyQueue {
	uint64_t rate;	     /* of one user, in bytes a second */
	uint64_t paid_until; /* by all users together */
	uint64_t n_answered; /* replies so far */
	User *users;	     /* in no order */
	Sender *senders;     /* in no order */
	QueuedCall *calls;   /* in the order in which they came in */
	size_t n_calls;
};

int long_reply_queue_new(uint64_t rate, LongReplyQueue **ret)
{
	LongReplyQueue *q = calloc(1, sizeof(LongReplyQueue));

	if (!q)
		return -ENOMEM;
	q->rate = rate;
	q->n_answered = 1;
	*ret = q;
	return 0;
}

void long_reply_queue_free(LongReplyQueue *q)
{
	if (!q)
		return;
	assert(!q->calls && !q->senders);
	while (q->users) {
		User *u = q->users;

		q->users = u->next;
		free(u);
	}
	free(q);
}

bool long_reply_queue_is_empty(const LongReplyQueue *q)
{
	return !q->calls;
}

static Sender *find_sender(const LongReplyQueue *q, const char *name)
{
	for (Sender *s = q->senders; s; s = s->next)
		if (streq(s->name, name))
			return s;
	return NULL;
}

static Sender *add_sender(LongReplyQueue *q, const char *name)
{
	Sender *s = calloc(1, sizeof(Sender) + strlen(name) + 1);

	if (!s)
		return NULL;
	strcpy(s->name, name);
	s->answered = q->n_answered - 1;
	s->next = q->senders;
	q->senders = s;
	return s;
}

static void remove_sender(LongReplyQueue *q, Sender *s)
{
	Sender **at = &q->senders;

	while (*at != s)
		at = &(*at)->next;
	*at = s->next;
	free(s);
}

static User *find_user(const LongReplyQueue *q, uid_t uid)
{
	for (User *u = q->users; u; u = u->next)
		if (u->uid == uid)
			return u;
	return NULL;
}

static User *add_user(LongReplyQueue *q, uid_t uid)
{
	User *u = calloc(1, sizeof(User));

	if (!u)
		return NULL;
	u->uid = uid;
	u->answered = q->n_answered - 1;
	u->next = q->users;
	q->users = u;
	return u;
}

int long_reply_queue_add(LongReplyQueue *q, const char *sender, void *call, LongReplyKind kind,
			 bool *ret_new)
{
	QueuedCall *c = calloc(1, sizeof(QueuedCall)), **at = &q->calls;
	Sender *s = find_sender(q, sender);
	bool new = !s;

	if (c && !s)
		s = add_sender(q, sender);
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
	q->n_calls++;
	*ret_new = new;
	return 0;
}

int long_reply_queue_identify(LongReplyQueue *q, const char *sender, uid_t user)
{
	Sender *s = find_sender(q, sender);
	User *u = find_user(q, user);

	if (!s || s->user)
		return 0;
	if (!u)
		u = add_user(q, user);
	if (!u)
		return -ENOMEM;
	u->n_waiting += s->n_waiting;
	s->user = u;
	return 0;
}

static QueuedCall *take_out(LongReplyQueue *q, QueuedCall *c)
{
	QueuedCall **at = &q->calls;
	Sender *s = c->sender;

	while (*at != c)
		at = &(*at)->next;
	*at = c->next;
	q->n_calls--;
	if (s->user)
		s->user->n_waiting--;
	if (--s->n_waiting == 0)
		remove_sender(q, s);
	c->next = NULL;
	c->sender = NULL;
	return c;
}

/* How many calls of the same user wait; of the same connection if the user is not known. */
static size_t n_waiting_with(const QueuedCall *c)
{
	return c->sender->user ? c->sender->user->n_waiting : c->sender->n_waiting;
}

QueuedCall *long_reply_queue_excess(LongReplyQueue *q)
{
	QueuedCall *found = NULL;

	if (q->n_calls <= LONG_REPLY_QUEUE_MAX)
		return NULL;
	for (QueuedCall *c = q->calls; c; c = c->next)
		if (!found || n_waiting_with(c) >= n_waiting_with(found))
			found = c;
	return take_out(q, found);
}

QueuedCall *long_reply_queue_forget(LongReplyQueue *q, const char *sender)
{
	for (QueuedCall *c = q->calls; c; c = c->next)
		if (!sender || streq(c->sender->name, sender))
			return take_out(q, c);
	return NULL;
}

/* Drops the users who are now as if they had never asked for anything. */
static void forget_users(LongReplyQueue *q, uint64_t now)
{
	for (User **at = &q->users; *at;) {
		User *u = *at;

		if (u->n_waiting > 0 || u->paid_until + LONG_REPLY_QUEUE_SAVED_USEC > now) {
			at = &u->next;
			continue;
		}
		*at = u->next;
		free(u);
	}
}

/* Whether C, which came in after OTHER, is answered before it. */
static bool goes_before(const QueuedCall *c, const QueuedCall *other)
{
	const Sender *s = c->sender, *t = other->sender;

	if (s->user != t->user)
		return s->user->answered < t->user->answered;
	return s->answered < t->answered;
}

QueuedCall *long_reply_queue_next(LongReplyQueue *q, uint64_t now, uid_t *ret_user,
				  uint64_t *ret_when)
{
	QueuedCall *next = NULL;
	uint64_t when = UINT64_MAX;
	User *user;

	forget_users(q, now);
	for (QueuedCall *c = q->calls; c; c = c->next) {
		uint64_t may;

		if (!c->sender->user)
			continue;
		may = MAX(c->sender->user->paid_until, q->paid_until);
		when = MIN(when, may);
		if (may <= now && (!next || goes_before(c, next)))
			next = c;
	}
	if (!next) {
		*ret_when = when;
		return NULL;
	}
	user = next->sender->user;
	user->answered = next->sender->answered = ++q->n_answered;
	*ret_user = user->uid;
	return take_out(q, next);
}

static void pay(uint64_t *paid_until, uint64_t rate, size_t size, uint64_t now)
{
	uint64_t earliest =
		now > LONG_REPLY_QUEUE_SAVED_USEC ? now - LONG_REPLY_QUEUE_SAVED_USEC : 0;

	*paid_until = MAX(*paid_until, earliest) + size * USEC_PER_SEC / rate;
}

void long_reply_queue_charge(LongReplyQueue *q, uid_t user, size_t size, uint64_t now)
{
	User *u = find_user(q, user);

	pay(&q->paid_until, q->rate * LONG_REPLY_QUEUE_USERS, size, now);
	if (u)
		pay(&u->paid_until, q->rate, size, now);
}
