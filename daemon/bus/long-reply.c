/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "long-reply.h"

#include <assert.h>
#include <time.h>

#include "bus-peer.h"
#include "call-ticket.h"
#include "clock.h"
#include "log.h"
#include "long-reply-kinds.h"
#include "long-reply-parts.h"
#include "long-reply-queue.h"
#include "long-reply-raw.h"
#include "names.h"

/* So many bytes of replies may wait for the bus to take them, and one reply. */
#define UNSENT_MAX 65536U
/* A reply with parts is written for so long; then all else has its turn. */
#define WRITE_USEC (2 * USEC_PER_MSEC)
/* If there are more, it is looked at again so much later. */
#define UNSENT_USEC (5 * USEC_PER_MSEC)
/* The longest pause after a reply: a bus that stood still for an hour was not busy. */
#define PAUSE_MAX USEC_PER_SEC

struct LongReplies {
	sd_bus *bus;
	BusCallers *callers;
	BusTurns *turns;
	sd_event *event;
	const Cache *cache;
	const LongReplyRow *rows;   /* by LongReplyKind */
	LongReplyRaw *raw;	    /* makes messages of bytes */
	bool warned;		    /* the log says that RAW has failed: once is enough */
	size_t unsent;		    /* bytes of replies that the bus may not have taken */
	uint64_t began;		    /* when the first of these was sent */
	uint64_t pause;		    /* no reply is sent before that */
	LongReplyQueue *queue;	    /* calls that wait; NULL: there is no limit, so none waits */
	sd_event_source *timer;	    /* for the next call that waits; NULL until one does */
	sd_bus_slot *departures;    /* hears of callers that leave; NULL while nobody waits */
	struct QueuedCall *written; /* whose reply is being written; NULL: none */
	uid_t written_for;	    /* its user */
	LongReplyParts parts;	    /* what is written of it */
};

/* A call that waits: all that is kept of it. */
typedef struct LongCall {
	LongReplies *long_replies;
	CallTicket ticket;
	CallerWait wait; /* for the bus to say whose it is */
	LongReplyQuestion question;
	char texts[]; /* those of the question */
} LongCall;

/* Answering */

/* Sends the reply to CALL with the body BODY: the quick way. */
static int send_bytes(LongReplies *l, sd_bus_message *call, const LongReplyRow *row,
		      const BusWriter *body)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	int r = long_reply_raw_make(l->raw, call, row->signature, body->data, body->size, &reply);

	return r < 0 ? r : sd_bus_send(l->bus, reply, NULL);
}

/* The same by sd-bus, value by value, which needs many times as long. This way opens no descriptor
 * and does nothing unusual. */
static int send_values(LongReplies *l, sd_bus_message *call, const LongReplyRow *row,
		       const LongReplyQuestion *q)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	BusWriter w = {};
	int r = sd_bus_message_new_method_return(call, &reply);

	if (r < 0)
		return r;
	w.message = reply;
	r = row->write(&w, q, l->cache, NULL);
	if (r >= 0)
		r = bus_writer_error(&w);
	return r < 0 ? r : sd_bus_send(l->bus, reply, NULL);
}

/* Sends the reply to CALL, which asks for Q, with the body W. The rest is as for answer(). */
static int send_body(LongReplies *l, sd_bus_message *call, const LongReplyRow *row,
		     const LongReplyQuestion *q, const BusWriter *w, size_t *ret_size,
		     sd_bus_error *error)
{
	int quick, r = bus_writer_error(w);

	if (r == -E2BIG)
		return sd_bus_error_setf(error, RDMAD_ERROR_LIMITS_EXCEEDED,
					 "The reply is larger than D-Bus can carry");
	if (r < 0)
		return r;
	quick = send_bytes(l, call, row, w);
	r = quick < 0 ? send_values(l, call, row, q) : 0;
	if (r < 0)
		return r; /* nothing can be sent: the warning would be wrong */
	if (quick < 0 && !l->warned) {
		log_warning_errno(quick, "Cannot make a long reply of bytes, which is the quick "
					 "way; sd-bus makes it: %m");
		l->warned = true;
	}
	*ret_size = w->size;
	return 1;
}

/* Answers CALL, which asks for Q, now, if the body of the reply has at most MAX bytes; else returns
 * -EFBIG. The rest is as for long_reply_answer(). *RET_SIZE is how many bytes it has, and is
 * written if there is one. */
static int answer(LongReplies *l, sd_bus_message *call, LongReplyKind kind,
		  const LongReplyQuestion *q, size_t max, size_t *ret_size, sd_bus_error *error)
{
	_cleanup_(bus_writer_done) BusWriter w = {.max = max};
	const LongReplyRow *row = &l->rows[kind];
	int r = row->write(&w, q, l->cache, error);

	if (bus_writer_error(&w) == -E2BIG && max < BUS_ARRAY_MAX)
		return -EFBIG;
	if (r <= 0 && bus_writer_error(&w) != -E2BIG)
		return r;
	assert(w.size <= max); /* what the header promises */
	return send_body(l, call, row, q, &w, ret_size, error);
}

static void check_sent(int r)
{
	if (r < 0)
		log_debug_errno(r, "Cannot answer a call, ignoring: %m");
}

/* Waiting */

static uint64_t now_usec(const LongReplies *l)
{
	uint64_t now = 0;

	sd_event_now(l->event, CLOCK_MONOTONIC, &now);
	return now;
}

static void call_free(LongCall *c)
{
	if (c) {
		caller_wait_cancel(&c->wait);
		call_ticket_done(&c->ticket);
		free(c);
	}
}
DEFINE_CLEANUP(LongCall, call_free);

static QueuedCall *queued_free(QueuedCall *c)
{
	if (c) {
		call_free(c->call);
		free(c);
	}
	return NULL;
}
DEFINE_CLEANUP(QueuedCall, queued_free);

/* Answers C with the error NAME and TEXT, or if NAME is NULL, that nobody knows whose it is. */
static void refuse(const QueuedCall *c, const char *name, const char *text)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *call = NULL;
	const LongCall *long_call = c->call;
	int r = call_ticket_new_call(&long_call->ticket, &call);

	if (r >= 0 && name)
		r = sd_bus_reply_method_errorf(call, name, "%s", text);
	else if (r >= 0)
		bus_peer_reply_unknown(call);
	check_sent(r);
}

/* Forgets the calls of SENDER; NULL is every sender. */
static void forget_calls(LongReplies *l, const char *sender)
{
	QueuedCall *c;

	while (l->queue && (c = long_reply_queue_forget(l->queue, sender)))
		queued_free(c);
}

/* The same with an answer: the bus does not say whose they are, or there is no memory. */
static void refuse_calls(LongReplies *l, const char *sender)
{
	QueuedCall *c;

	while ((c = long_reply_queue_forget(l->queue, sender))) {
		refuse(c, NULL, NULL);
		queued_free(c);
	}
}

/* No reply is being written any more. */
static void stop_writing(LongReplies *l)
{
	l->written = queued_free(l->written);
	long_reply_parts_done(&l->parts);
}

static int on_departure(sd_bus_message *m, void *userdata, _unused_ sd_bus_error *error)
{
	LongReplies *l = userdata;
	const LongCall *written = l->written ? l->written->call : NULL;
	const char *name;

	if (sd_bus_message_read_basic(m, 's', &name) < 0)
		return 0;
	forget_calls(l, name);
	if (written && streq(bus_caller_name(written->ticket.caller), name))
		stop_writing(l);
	return 0;
}

/* While calls wait rdmad hears of callers that leave, so that it writes no megabytes for them. */
static void watch_departures(LongReplies *l)
{
	int r;

	if (l->departures)
		return;
	r = bus_peer_watch_departures(l->bus, on_departure, l, &l->departures);
	if (r < 0)
		log_debug_errno(r, "Cannot watch for callers that leave, ignoring: %m");
}

static int on_timer(sd_event_source *s, uint64_t usec, void *userdata);

static void start_timer(LongReplies *l, uint64_t when)
{
	int r;

	if (l->timer) {
		r = sd_event_source_set_time(l->timer, when);
		if (r >= 0)
			r = sd_event_source_set_enabled(l->timer, SD_EVENT_ONESHOT);
	} else {
		r = sd_event_add_time(l->event, &l->timer, CLOCK_MONOTONIC, when, USEC_PER_MSEC,
				      on_timer, l);
		if (r >= 0)
			sd_event_source_set_description(l->timer, "next long reply");
	}
	if (r < 0)
		log_warning_errno(r, "Cannot start the timer of long replies, ignoring: %m");
}

/* Answers the call that has waited, whose reply may have been written in parts; returns how many
 * bytes it has. */
static size_t answer_waiting(LongReplies *l)
{
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *call = NULL;
	const LongCall *c = l->written->call;
	const LongReplyRow *row = &l->rows[l->written->kind];
	size_t size = 0;
	int r = call_ticket_new_call(&c->ticket, &call);

	if (r < 0) {
		check_sent(r);
		return 0;
	}
	if (row->write_part)
		r = send_body(l, call, row, &c->question, &l->parts.w, &size, &error);
	else
		r = answer(l, call, l->written->kind, &c->question, BUS_ARRAY_MAX, &size, &error);
	/* The object was there when the call came. sd-bus would say the same. */
	if (r == 0)
		r = sd_bus_error_setf(&error, SD_BUS_ERROR_UNKNOWN_OBJECT, "Unknown object '%s'.",
				      c->question.path);
	if (r < 0)
		check_sent(sd_bus_reply_method_errno(call, r, &error));
	return size;
}

/* Writes for a moment what is written in parts. Returns whether the reply can be sent. */
static bool write_parts(LongReplies *l)
{
	const LongReplyRow *row = &l->rows[l->written->kind];

	if (!row->write_part)
		return true;
	if (!l->parts.row)
		long_reply_parts_begin(&l->parts, row);
	return long_reply_parts_write(&l->parts, l->cache, monotonic_now_usec() + WRITE_USEC);
}

/* Whether one more reply may be sent at NOW; else *RET_WHEN is when to look again. A reply is
 * followed by a pause as long as it kept the bus busy, in which the bus has time for everything
 * else. The pause begins when the bus has taken the replies, and not when it has taken all
 * messages: while signals come without end, some message always waits. It does not begin with the
 * next call either, which may be much later. */
static bool may_send(LongReplies *l, uint64_t now, uint64_t *ret_when)
{
	uint64_t taken = bus_turns_marked_usec(l->turns);

	if (l->unsent > 0 && taken > 0) {
		if (l->unsent >= UNSENT_MAX)
			l->pause = taken + MIN(taken - l->began, PAUSE_MAX);
		l->unsent = 0;
	}
	*ret_when = l->unsent >= UNSENT_MAX ? now + UNSENT_USEC : l->pause;
	return l->unsent < UNSENT_MAX && now >= l->pause;
}

/* Answers the next call, or writes on at its reply, if one may be answered now, and starts the
 * timer for what is next. Only one: between two long replies the event loop does what else there is
 * to do. And none while the bus has not taken what was sent before: so signals wait behind one long
 * reply at most, and more than that needs no memory. */
static void serve(LongReplies *l)
{
	uint64_t now = now_usec(l), when;
	bool busy;
	size_t size;

	if (!l->written && may_send(l, now, &when))
		l->written = long_reply_queue_next(l->queue, now, &l->written_for, &when);
	busy = l->written;
	if (busy)
		when = now;
	if (busy && write_parts(l)) {
		size = answer_waiting(l);
		long_reply_queue_charge(l->queue, l->written_for, size, now);
		stop_writing(l);
		if (l->unsent == 0)
			l->began = now;
		l->unsent += size;
		bus_turns_mark(l->turns);
	}
	if (!l->written && long_reply_queue_is_empty(l->queue)) {
		l->departures = sd_bus_slot_unref(l->departures);
		return;
	}
	if (when == UINT64_MAX)
		return; /* on_user() comes first */
	if (!busy || l->written)
		watch_departures(l);
	start_timer(l, when);
}

static int on_timer(_unused_ sd_event_source *s, _unused_ uint64_t usec, void *userdata)
{
	serve(userdata);
	return 0;
}

/* The bus has said whose a call is: the first of its caller. */
static void on_user(void *userdata, int error, uid_t user)
{
	LongCall *c = userdata;
	LongReplies *l = c->long_replies;
	_cleanup_(bus_caller_unref_pointer) BusCaller *caller = bus_caller_ref(c->ticket.caller);
	const char *sender = bus_caller_name(caller);

	if (error >= 0)
		error = long_reply_queue_identify(l->queue, sender, user);
	if (error >= 0)
		serve(l);
	else if (error == -ENXIO) /* the caller has left */
		forget_calls(l, sender);
	else
		refuse_calls(l, sender);
}

/* A copy of TEXT at *AT, which moves behind it; NULL of NULL. */
static const char *keep_text(char **at, const char *text)
{
	char *copy = *at;

	if (!text)
		return NULL;
	*at = stpcpy(copy, text) + 1;
	return copy;
}

static int new_call(LongReplies *l, sd_bus_message *message, const LongReplyQuestion *q,
		    LongCall **ret)
{
	const char *texts[] = {q->path, q->text, q->text_2};
	size_t n = 0;
	_cleanup_(call_free_pointer) LongCall *c = NULL;
	char *at;
	int r;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		n += texts[i] ? strlen(texts[i]) + 1 : 0;
	c = calloc(1, sizeof(LongCall) + n);
	if (!c)
		return -ENOMEM;
	r = call_ticket_take(l->callers, message, &c->ticket);
	if (r < 0)
		return r;
	c->long_replies = l;
	c->wait = (CallerWait){.told = on_user, .userdata = c};
	c->question = *q;
	at = c->texts;
	c->question.path = keep_text(&at, q->path);
	c->question.text = keep_text(&at, q->text);
	c->question.text_2 = keep_text(&at, q->text_2);
	*ret = steal_pointer(&c);
	return 0;
}

static int wait_for_turn(LongReplies *l, sd_bus_message *message, LongReplyKind kind,
			 const LongReplyQuestion *q)
{
	_cleanup_(queued_free_pointer) QueuedCall *excess = NULL;
	_cleanup_(call_free_pointer) LongCall *new = NULL;
	LongCall *c;
	uid_t user;
	bool is_first;
	int r = new_call(l, message, q, &new);

	if (r >= 0)
		r = long_reply_queue_add(l->queue, bus_caller_name(new->ticket.caller), new, kind,
					 &is_first);
	if (r < 0)
		return r;
	c = steal_pointer(&new);
	if (is_first && bus_caller_knows_user(c->ticket.caller, &user))
		r = long_reply_queue_identify(l->queue, bus_caller_name(c->ticket.caller), user);
	else if (is_first)
		bus_caller_await(c->ticket.caller, &c->wait);
	if (r < 0) {
		forget_calls(l, sd_bus_message_get_sender(message));
		return r;
	}
	excess = long_reply_queue_excess(l->queue);
	if (excess)
		refuse(excess, RDMAD_ERROR_LIMITS_EXCEEDED, "Too many long replies are waited for");
	/* Not now: what is done now is charged to this caller. */
	start_timer(l, now_usec(l));
	return 1;
}

/* The door */

int long_reply_answer_question(LongReplies *l, sd_bus_message *call, LongReplyKind kind,
			       const LongReplyQuestion *q, sd_bus_error *error)
{
	bool may_wait = l->queue && sd_bus_message_get_sender(call);
	size_t size;
	int r = answer(l, call, kind, q, may_wait ? LONG_REPLY_SHORT : BUS_ARRAY_MAX, &size, error);

	return r == -EFBIG ? wait_for_turn(l, call, kind, q) : r;
}

int long_reply_answer(LongReplies *l, sd_bus_message *call, LongReplyKind kind, sd_bus_error *error)
{
	const LongReplyRow *row = &l->rows[kind];
	LongReplyQuestion q = {.path = sd_bus_message_get_path(call)};
	int r = 0;

	if (!sd_bus_message_get_expect_reply(call))
		return 1;
	if (row->read)
		r = row->read(call, &q, error);
	if (r < 0)
		return r;
	r = long_reply_answer_question(l, call, kind, &q, error);
	if (r == 0 && sd_bus_message_rewind(call, true) < 0)
		r = -EIO;
	return r;
}

int long_reply_offer(LongReplies *l, sd_bus_message *m, sd_bus_error *error)
{
	const char *path = sd_bus_message_get_path(m);

	if (sd_bus_message_is_method_call(m, "org.freedesktop.DBus.Properties", "GetAll") && path &&
	    startswith(path, RDMAD_DEVICE_PREFIX) && sd_bus_message_has_signature(m, "s"))
		return long_reply_answer(l, m, LONG_REPLY_GET_ALL, error);
	if (sd_bus_message_is_method_call(m, "org.freedesktop.DBus.Properties", "Get") && path &&
	    (startswith(path, RDMAD_DEVICE_PREFIX) || streq(path, RDMAD_ROOT_PATH)) &&
	    sd_bus_message_has_signature(m, "ss"))
		return long_reply_answer(l, m, LONG_REPLY_GET, error);
	if (sd_bus_message_is_method_call(m, "org.freedesktop.DBus.ObjectManager",
					  "GetManagedObjects") &&
	    path && streq(path, RDMAD_ROOT_PATH) && sd_bus_message_has_signature(m, ""))
		return long_reply_answer(l, m, LONG_REPLY_GET_MANAGED_OBJECTS, error);
	if (sd_bus_message_is_method_call(m, "org.freedesktop.DBus.Introspectable", "Introspect") &&
	    path && streq(path, RDMAD_DEVICE_PREFIX) && sd_bus_message_has_signature(m, ""))
		return long_reply_answer(l, m, LONG_REPLY_INTROSPECT, error);
	return 0;
}

void long_replies_changed(LongReplies *l, const Device *d)
{
	if (l)
		long_reply_parts_changed(&l->parts, d);
}

void long_replies_moved(LongReplies *l)
{
	if (l)
		long_reply_parts_moved(&l->parts);
}

int long_replies_new(sd_bus *bus, BusCallers *callers, BusTurns *turns, sd_event *event,
		     const Cache *c, const LongReplyRow *rows, uint64_t rate, LongReplies **ret)
{
	_cleanup_(long_replies_free_pointer) LongReplies *l = calloc(1, sizeof(LongReplies));
	int r;

	if (!l)
		return -ENOMEM;
	l->bus = bus;
	l->callers = callers;
	l->turns = turns;
	l->event = event;
	l->cache = c;
	l->rows = rows;
	r = long_reply_raw_new(&l->raw);
	if (r >= 0 && rate > 0)
		r = long_reply_queue_new(rate, &l->queue);
	if (r < 0)
		return r;
	*ret = steal_pointer(&l);
	return 0;
}

void long_replies_free(LongReplies *l)
{
	if (!l)
		return;
	sd_event_source_disable_unref(l->timer);
	forget_calls(l, NULL);
	stop_writing(l);
	long_reply_queue_free(l->queue);
	sd_bus_slot_unref(l->departures);
	long_reply_raw_free(l->raw);
	free(l);
}
