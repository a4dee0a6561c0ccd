/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "long-reply.h"

#include <time.h>

#include "bus-peer.h"
#include "bus-property.h"
#include "log.h"
#include "long-reply-queue.h"
#include "lookup.h"
#include "names.h"

/* A reply up to this is no burden to anybody. */
#define SHORT_REPLY 65536U

struct LongReplies {
	sd_bus *bus;
	sd_event *event;
	const Cache *cache;
	RawReply *raw;
	sd_bus_slot *filter;
	LongReplyQueue *queue; /* NULL: no limit */
	sd_event_source *turn;
	sd_bus_slot *departures; /* while somebody waits */
};

/* a{sa{sv}}: the interfaces of an object with their properties */

static void open_interface(BusWriter *w, AttrInterface interface)
{
	bus_open(w, 'e', "sa{sv}");
	bus_put_text(w, 's', attr_interface_name(interface));
}

static void put_device(BusWriter *w, const Device *d)
{
	char path[RDMAD_PATH_MAX];

	bus_open(w, 'e', "oa{sa{sv}}");
	bus_put_text(w, 'o', device_path(d, path));
	bus_open(w, 'a', "{sa{sv}}");
	open_interface(w, INTERFACE_DEVICE);
	bus_put_device_properties(w, d);
	bus_close(w);
	bus_close(w);
	bus_close(w);
}

static void put_port(BusWriter *w, const Port *p)
{
	unsigned int interfaces = port_interfaces(&p->now);
	char path[RDMAD_PATH_MAX];

	bus_open(w, 'e', "oa{sa{sv}}");
	bus_put_text(w, 'o', port_path(p, path));
	bus_open(w, 'a', "{sa{sv}}");
	for (AttrInterface i = INTERFACE_PORT; i < INTERFACE_RAW; i++) {
		if (!(interfaces >> i & 1))
			continue;
		open_interface(w, i);
		bus_put_port_properties(w, p, i);
		bus_close(w);
	}
	bus_close(w);
	bus_close(w);
}

static int write_objects(BusWriter *w, _unused_ sd_bus_message *call, const Cache *c,
			 _unused_ sd_bus_error *error)
{
	bus_open(w, 'a', "{oa{sa{sv}}}");
	for (size_t i = 0; i < c->n_devices; i++) {
		const Device *d = c->devices[i];

		if (d->published)
			put_device(w, d);
		for (uint32_t n = 0; n < d->n_ports; n++)
			if (d->ports[n]->published)
				put_port(w, d->ports[n]);
	}
	bus_close(w);
	return 1;
}

static size_t estimate_objects(_unused_ sd_bus_message *call, const Cache *c)
{
	return 2048 * (c->n_devices + c->n_ports);
}

static const LongReplyKind objects_kind = {"a{oa{sa{sv}}}", estimate_objects, write_objects};

/* What is not there, sd-bus knows an error for. */
static int write_properties(BusWriter *w, sd_bus_message *call, const Cache *c,
			    _unused_ sd_bus_error *error)
{
	const char *name;
	Device *d;
	Port *p;

	if (sd_bus_message_read_basic(call, 's', &name) > 0 &&
	    lookup_path(c, sd_bus_message_get_path(call), &d, &p) >= 0) {
		unsigned int interfaces = p ? port_interfaces(&p->now) : 1U << INTERFACE_DEVICE;

		for (AttrInterface i = 0; i < INTERFACE_RAW; i++) {
			if (!(interfaces >> i & 1) || !streq(attr_interface_name(i), name))
				continue;
			if (p)
				bus_put_port_properties(w, p, i);
			else
				bus_put_device_properties(w, d);
			return 1;
		}
	}
	return sd_bus_message_rewind(call, true) < 0 ? -EIO : 0;
}

/* Only tables can make it long. */
static size_t estimate_properties(sd_bus_message *call, const Cache *c)
{
	const Table *gids, *pkeys;
	Device *d;
	Port *p;

	if (lookup_path(c, sd_bus_message_get_path(call), &d, &p) < 0 || !p)
		return 0;
	gids = p->now.tables[PORT_TABLE_GIDS];
	pkeys = p->now.tables[PORT_TABLE_PKEYS];
	return (gids ? 112 * gids->n : 0) + (pkeys ? 24 * pkeys->n : 0);
}

static const LongReplyKind properties_kind = {"a{sv}", estimate_properties, write_properties};

/* Answering */

/* As long_reply_answer(), now; *RET_SIZE is the size of the reply. */
static int answer(LongReplies *b, sd_bus_message *call, const LongReplyKind *kind, size_t *ret_size,
		  sd_bus_error *error)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	_cleanup_(bus_writer_done) BusWriter w = {};
	int r = kind->write(&w, call, b->cache, error);

	if (r <= 0)
		return r;
	r = bus_writer_error(&w);
	if (r == -E2BIG)
		return sd_bus_error_setf(error, RDMAD_ERROR_LIMITS_EXCEEDED,
					 "The reply is larger than D-Bus can carry");
	if (r < 0)
		return r;
	if (!sd_bus_message_get_expect_reply(call))
		return 1;
	r = raw_reply_make(b->raw, call, kind->signature, w.data, w.size, &reply);
	if (r < 0)
		return r;
	r = sd_bus_send(b->bus, reply, NULL);
	if (r < 0)
		return r;
	*ret_size = w.size;
	return 1;
}

/* Waiting */

static uint64_t now_usec(const LongReplies *b)
{
	uint64_t now = 0;

	sd_event_now(b->event, CLOCK_MONOTONIC, &now);
	return now;
}

static void call_free(QueuedCall *c)
{
	sd_bus_message_unref(c->call);
	free(c);
}
DEFINE_CLEANUP(QueuedCall, call_free);

static void check_reply(int r)
{
	if (r < 0)
		log_debug_errno(r, "Cannot answer a call, ignoring: %m");
}

static int on_departure(sd_bus_message *m, void *userdata, _unused_ sd_bus_error *error)
{
	LongReplies *b = userdata;
	QueuedCall *c;
	const char *name;

	if (sd_bus_message_read_basic(m, 's', &name) < 0)
		return 0;
	while ((c = long_reply_queue_forget(b->queue, name)))
		call_free(c);
	return 0;
}

/* Departures are watched while somebody waits: who has left needs no megabytes. */
static void watch_departures(LongReplies *b, bool on)
{
	if (!on) {
		b->departures = sd_bus_slot_unref(b->departures);
		return;
	}
	if (b->departures)
		return;
	check_reply(bus_peer_watch_departures(b->bus, on_departure, b, &b->departures));
}

static int on_turn(sd_event_source *s, uint64_t usec, void *userdata);

/* Has the next one answered when that may be. */
static void await_turn(LongReplies *b, uint64_t when)
{
	int r;

	if (b->turn) {
		r = sd_event_source_set_time(b->turn, when);
		if (r >= 0)
			r = sd_event_source_set_enabled(b->turn, SD_EVENT_ONESHOT);
	} else {
		r = sd_event_add_time(b->event, &b->turn, CLOCK_MONOTONIC, when, USEC_PER_MSEC,
				      on_turn, b);
		if (r >= 0)
			sd_event_source_set_description(b->turn, "next long reply");
	}
	if (r < 0)
		log_warning_errno(r, "Cannot arm the timer of long replies, ignoring: %m");
}

/* Answers the one whose turn it is. One at a time: in between everybody else has the loop. */
static void serve(LongReplies *b)
{
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	_cleanup_(call_free_pointer) QueuedCall *next = NULL;
	uint64_t now = now_usec(b), when = 0;
	size_t size = 0;
	uid_t user;
	int r;

	next = long_reply_queue_next(b->queue, now, &user, &when);
	if (next) {
		r = answer(b, next->call, next->kind, &size, &error);
		if (r == 0) /* what the call names has gone since */
			r = sd_bus_error_setf(&error, SD_BUS_ERROR_UNKNOWN_OBJECT,
					      "Unknown object '%s'.",
					      sd_bus_message_get_path(next->call));
		if (r < 0)
			check_reply(sd_bus_reply_method_errno(next->call, r, &error));
		long_reply_queue_charge(b->queue, user, size, now);
	}
	if (long_reply_queue_is_empty(b->queue))
		watch_departures(b, false);
	else if (when != UINT64_MAX)
		await_turn(b, when);
	if (!next && when != UINT64_MAX)
		watch_departures(b, true);
}

static int on_turn(_unused_ sd_event_source *s, _unused_ uint64_t usec, void *userdata)
{
	serve(userdata);
	return 0;
}

/* The bus says whose SENDER's calls are. */
typedef struct Question {
	LongReplies *long_replies;
	char sender[];
} Question;

static int on_user(sd_bus_message *m, void *userdata, _unused_ sd_bus_error *error)
{
	Question *q = userdata;
	QueuedCall *c;
	uid_t user;

	if (bus_peer_read_user(m, &user) >= 0 &&
	    long_reply_queue_identify(q->long_replies->queue, q->sender, user) >= 0) {
		serve(q->long_replies);
		return 0;
	}
	/* it has left, or there is no memory */
	while ((c = long_reply_queue_forget(q->long_replies->queue, q->sender)))
		call_free(c);
	return 0;
}

static int ask_for_user(LongReplies *b, const char *sender)
{
	_cleanup_free_ Question *q = malloc(sizeof(Question) + strlen(sender) + 1);
	int r;

	if (!q)
		return -ENOMEM;
	q->long_replies = b;
	strcpy(q->sender, sender);
	r = bus_peer_ask_user_once(b->bus, sender, on_user, q, free);
	if (r < 0)
		return r;
	steal_pointer(&q);
	return 0;
}

static int wait_for_turn(LongReplies *b, sd_bus_message *call, const LongReplyKind *kind)
{
	const char *sender = sd_bus_message_get_sender(call);
	QueuedCall *c;
	bool new;
	int r = long_reply_queue_add(b->queue, sender, sd_bus_message_ref(call), kind, &new);

	if (r < 0) {
		sd_bus_message_unref(call);
		return r;
	}
	if (new) {
		r = ask_for_user(b, sender);
		if (r < 0) {
			call_free(long_reply_queue_forget(b->queue, sender));
			return r;
		}
	}
	c = long_reply_queue_excess(b->queue);
	if (c) {
		check_reply(sd_bus_reply_method_errorf(c->call, RDMAD_ERROR_LIMITS_EXCEEDED,
						       "Too many long replies are waited for"));
		call_free(c);
	}
	return 1;
}

int long_reply_answer(LongReplies *b, sd_bus_message *call, const LongReplyKind *kind,
		      sd_bus_error *error)
{
	size_t size;

	if (!b->queue || kind->estimate(call, b->cache) <= SHORT_REPLY ||
	    !sd_bus_message_get_sender(call))
		return answer(b, call, kind, &size, error);
	return wait_for_turn(b, call, kind);
}

/* A filter and no object callbacks: for sd-bus a path that has one is an object, whatever it is. */
static int on_message(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	const char *path = sd_bus_message_get_path(m);

	if (sd_bus_message_is_method_call(m, "org.freedesktop.DBus.Properties", "GetAll") && path &&
	    startswith(path, RDMAD_DEVICE_PREFIX) && sd_bus_message_has_signature(m, "s"))
		return long_reply_answer(userdata, m, &properties_kind, error);
	if (sd_bus_message_is_method_call(m, "org.freedesktop.DBus.ObjectManager",
					  "GetManagedObjects") &&
	    path && streq(path, RDMAD_ROOT_PATH) && sd_bus_message_has_signature(m, ""))
		return long_reply_answer(userdata, m, &objects_kind, error);
	return 0;
}

int long_replies_new(sd_bus *bus, sd_event *event, const Cache *c, uint64_t rate, LongReplies **ret)
{
	_cleanup_(long_replies_free_pointer) LongReplies *b = calloc(1, sizeof(LongReplies));
	int r;

	if (!b)
		return -ENOMEM;
	b->bus = bus;
	b->event = event;
	b->cache = c;
	r = raw_reply_new(&b->raw);
	if (r >= 0 && rate > 0)
		r = long_reply_queue_new(rate, &b->queue);
	if (r >= 0)
		r = sd_bus_add_filter(bus, &b->filter, on_message, b);
	if (r < 0)
		return r;
	*ret = steal_pointer(&b);
	return 0;
}

LongReplies *long_replies_free(LongReplies *b)
{
	QueuedCall *c;

	sd_event_source_disable_unref(b->turn);
	while (b->queue && (c = long_reply_queue_forget(b->queue, NULL)))
		call_free(c);
	if (b->queue)
		long_reply_queue_free(b->queue);
	sd_bus_slot_unref(b->departures);
	sd_bus_slot_unref(b->filter);
	raw_reply_free(b->raw);
	free(b);
	return NULL;
}
