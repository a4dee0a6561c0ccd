/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "long-reply.h"

#include <time.h>

#include "bus-peer.h"
#include "log.h"
#include "long-reply-kinds.h"
#include "long-reply-queue.h"
#include "long-reply-raw.h"
#include "names.h"

/* A reply of at most so many bytes is sent at once: nobody notices that the bus passes it on. */
#define SHORT_REPLY 65536U

struct LongReplies {
	sd_bus *bus;
	sd_event *event;
	const Cache *cache;
	LongReplyRaw *raw;	 /* makes messages of bytes */
	bool warned;		 /* the log says that RAW has failed: once is enough */
	LongReplyQueue *queue;	 /* calls that wait; NULL: there is no limit, so none waits */
	sd_event_source *timer;	 /* for the next call that waits; NULL until one does */
	sd_bus_slot *departures; /* hears of callers that leave; NULL while nobody waits */
};

/* Answering */

/* Sends the reply to CALL with the body BODY: the quick way. */
static int send_bytes(LongReplies *l, sd_bus_message *call, const LongReplyRow *row,
		      const BusWriter *body)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	int r = long_reply_raw_make(l->raw, call, row->signature, body->data, body->size, &reply);

	return r < 0 ? r : sd_bus_send(l->bus, reply, NULL);
}

/* The same by sd-bus, value by value, which needs many times as long. It opens no descriptor and
 * does nothing unusual. */
static int send_values(LongReplies *l, sd_bus_message *call, const LongReplyRow *row)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	BusWriter w = {};
	int r = sd_bus_message_rewind(call, true);

	if (r >= 0)
		r = sd_bus_message_new_method_return(call, &reply);
	if (r < 0)
		return r;
	w.message = reply;
	r = row->write(&w, call, l->cache, NULL);
	if (r >= 0)
		r = bus_writer_error(&w);
	return r < 0 ? r : sd_bus_send(l->bus, reply, NULL);
}

/* Answers CALL now; the rest is as for long_reply_answer(). *RET_SIZE is how many bytes the body of
 * the reply has, and is written if there is one. */
static int answer(LongReplies *l, sd_bus_message *call, LongReplyKind kind, size_t *ret_size,
		  sd_bus_error *error)
{
	_cleanup_(bus_writer_done) BusWriter w = {};
	const LongReplyRow *row = &long_reply_rows[kind];
	int quick, r = row->write(&w, call, l->cache, error);

	if (r <= 0)
		return r;
	r = bus_writer_error(&w);
	if (r == -E2BIG)
		return sd_bus_error_setf(error, RDMAD_ERROR_LIMITS_EXCEEDED,
					 "The reply is larger than D-Bus can carry");
	if (r < 0)
		return r;
	quick = send_bytes(l, call, row, &w);
	r = quick < 0 ? send_values(l, call, row) : 0;
	if (r < 0)
		return r; /* nothing can be sent: the warning would be wrong */
	if (quick < 0 && !l->warned) {
		log_warning_errno(quick, "Cannot make a long reply of bytes, which is the quick "
					 "way; sd-bus makes it: %m");
		l->warned = true;
	}
	*ret_size = w.size;
	return 1;
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

static QueuedCall *call_free(QueuedCall *c)
{
	if (c) {
		sd_bus_message_unref(c->call);
		free(c);
	}
	return NULL;
}
DEFINE_CLEANUP(QueuedCall, call_free);

/* Forgets the calls of SENDER; NULL is every sender. */
static void forget_calls(LongReplies *l, const char *sender)
{
	QueuedCall *c;

	while (l->queue && (c = long_reply_queue_forget(l->queue, sender)))
		call_free(c);
}

/* The same with an answer: the bus does not say whose they are, or there is no memory. */
static void refuse_calls(LongReplies *l, const char *sender)
{
	QueuedCall *c;

	while ((c = long_reply_queue_forget(l->queue, sender))) {
		bus_peer_reply_unknown(c->call);
		call_free(c);
	}
}

static int on_departure(sd_bus_message *m, void *userdata, _unused_ sd_bus_error *error)
{
	const char *name;

	if (sd_bus_message_read_basic(m, 's', &name) >= 0)
		forget_calls(userdata, name);
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

/* Answers a call that has waited; returns how many bytes the reply has. */
static size_t answer_waiting(LongReplies *l, const QueuedCall *c)
{
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	size_t size = 0;
	int r = answer(l, c->call, c->kind, &size, &error);

	/* The object was there when the call came. sd-bus would say the same. */
	if (r == 0)
		r = sd_bus_error_setf(&error, SD_BUS_ERROR_UNKNOWN_OBJECT, "Unknown object '%s'.",
				      sd_bus_message_get_path(c->call));
	if (r < 0)
		check_sent(sd_bus_reply_method_errno(c->call, r, &error));
	return size;
}

/* Answers the next call, if one may be answered now, and starts the timer for the one after it.
 * Only one: between two long replies the event loop does what else there is to do. */
static void serve(LongReplies *l)
{
	_cleanup_(call_free_pointer) QueuedCall *next = NULL;
	uint64_t now = now_usec(l), when = now;
	uid_t user;

	next = long_reply_queue_next(l->queue, now, &user, &when);
	if (next)
		long_reply_queue_charge(l->queue, user, answer_waiting(l, next), now);
	if (long_reply_queue_is_empty(l->queue)) {
		l->departures = sd_bus_slot_unref(l->departures);
		return;
	}
	if (when == UINT64_MAX)
		return; /* on_user() comes first */
	if (!next)
		watch_departures(l);
	start_timer(l, when);
}

static int on_timer(_unused_ sd_event_source *s, _unused_ uint64_t usec, void *userdata)
{
	serve(userdata);
	return 0;
}

/* The bus is asked which user SENDER is. A reference to the call in place of its sender's name
 * would be a circle: the call holds the connection, and the connection holds the open question. */
typedef struct Question {
	LongReplies *long_replies;
	char sender[];
} Question;

static int on_user(sd_bus_message *m, void *userdata, _unused_ sd_bus_error *error)
{
	Question *q = userdata;
	LongReplies *l = q->long_replies;
	uid_t user;
	int r = bus_peer_read_user(m, &user);

	if (r >= 0)
		r = long_reply_queue_identify(l->queue, q->sender, user);
	if (r >= 0)
		serve(l);
	else if (r == -ENXIO) /* the caller has left */
		forget_calls(l, q->sender);
	else
		refuse_calls(l, q->sender);
	return 0;
}

static int ask_for_user(LongReplies *l, const char *sender)
{
	_cleanup_free_ Question *q = malloc(sizeof(Question) + strlen(sender) + 1);
	int r;

	if (!q)
		return -ENOMEM;
	q->long_replies = l;
	strcpy(q->sender, sender);
	r = bus_peer_ask_user_once(l->bus, sender, on_user, q, free);
	if (r < 0)
		return r;
	steal_pointer(&q);
	return 0;
}

static int wait_for_turn(LongReplies *l, sd_bus_message *call, LongReplyKind kind)
{
	const char *sender = sd_bus_message_get_sender(call);
	_cleanup_(call_free_pointer) QueuedCall *excess = NULL;
	bool new;
	int r = long_reply_queue_add(l->queue, sender, sd_bus_message_ref(call), kind, &new);

	if (r < 0) {
		sd_bus_message_unref(call);
		return r;
	}
	if (new) {
		r = ask_for_user(l, sender);
		if (r < 0) {
			forget_calls(l, sender);
			return r;
		}
	}
	excess = long_reply_queue_excess(l->queue);
	if (excess)
		check_sent(sd_bus_reply_method_errorf(excess->call, RDMAD_ERROR_LIMITS_EXCEEDED,
						      "Too many long replies are waited for"));
	return 1;
}

/* The door */

int long_reply_answer(LongReplies *l, sd_bus_message *call, LongReplyKind kind, sd_bus_error *error)
{
	size_t size;

	if (!sd_bus_message_get_expect_reply(call))
		return 1;
	if (!l->queue || long_reply_rows[kind].estimate(call, l->cache) <= SHORT_REPLY ||
	    !sd_bus_message_get_sender(call))
		return answer(l, call, kind, &size, error);
	return wait_for_turn(l, call, kind);
}

int long_reply_offer(LongReplies *l, sd_bus_message *m, sd_bus_error *error)
{
	const char *path = sd_bus_message_get_path(m);

	if (sd_bus_message_is_method_call(m, "org.freedesktop.DBus.Properties", "GetAll") && path &&
	    startswith(path, RDMAD_DEVICE_PREFIX) && sd_bus_message_has_signature(m, "s"))
		return long_reply_answer(l, m, LONG_REPLY_GET_ALL, error);
	if (sd_bus_message_is_method_call(m, "org.freedesktop.DBus.ObjectManager",
					  "GetManagedObjects") &&
	    path && streq(path, RDMAD_ROOT_PATH) && sd_bus_message_has_signature(m, ""))
		return long_reply_answer(l, m, LONG_REPLY_GET_MANAGED_OBJECTS, error);
	return 0;
}

int long_replies_new(sd_bus *bus, sd_event *event, const Cache *c, uint64_t rate, LongReplies **ret)
{
	_cleanup_(long_replies_free_pointer) LongReplies *l = calloc(1, sizeof(LongReplies));
	int r;

	if (!l)
		return -ENOMEM;
	long_reply_kinds_init();
	l->bus = bus;
	l->event = event;
	l->cache = c;
	r = long_reply_raw_new(&l->raw);
	if (r >= 0 && rate > 0)
		r = long_reply_queue_new(rate, &l->queue);
	if (r < 0)
		return r;
	*ret = steal_pointer(&l);
	return 0;
}

LongReplies *long_replies_free(LongReplies *l)
{
	if (!l)
		return NULL;
	sd_event_source_disable_unref(l->timer);
	forget_calls(l, NULL);
	long_reply_queue_free(l->queue);
	sd_bus_slot_unref(l->departures);
	long_reply_raw_free(l->raw);
	free(l);
	return NULL;
}
