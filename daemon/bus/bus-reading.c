/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "bus-reading.h"

#include "bus-private.h"
#include "log.h"
#include "lookup.h"
#include "names.h"

/* The option timeout-usec has no effect above this: a reading never takes so long. */
#define TIMEOUT_MAX (3600 * USEC_PER_SEC)

/* A call that waits. */
typedef struct ReadingCall {
	Bus *bus;
	ReadingQuestion question;
	PendingCall *call;
	uint64_t began_usec;	/* CLOCK_MONOTONIC */
	PortWalk walk;		/* its ports that have not been waited for yet */
	sd_event_source *timer; /* NULL: it waits as long as it takes */
} ReadingCall;

Port *port_walk_next(PortWalk *w)
{
	const Cache *c = w->cache;
	char path[RDMAD_PATH_MAX];
	Device *d;
	Port *p;

	while (w->paths && *w->paths) {
		size_t length = strcspn(w->paths, "\n");

		text_copy(path, MIN(sizeof(path), length + 1), w->paths);
		w->paths += length + 1;
		/* it may have gone meanwhile */
		if (lookup_path(c, path, &d, &p) == 0 && p)
			return p;
	}
	if (w->paths)
		return NULL;
	if (w->i >= c->n_devices || c->devices[w->i]->index != w->device)
		for (w->i = 0; w->i < c->n_devices && c->devices[w->i]->index < w->device;)
			w->i++;
	for (; w->i < c->n_devices; w->i++) {
		d = c->devices[w->i];
		if (d->index != w->device)
			w->port = 0;
		w->device = d->index;
		while (w->port < d->n_ports)
			if (d->ports[w->port++]->published)
				return d->ports[w->port - 1];
	}
	return NULL;
}

const Reading *bus_reading_for(const LongReplyQuestion *q, const Port *p, QueryKind kind,
			       int *ret_error, const char **ret_text)
{
	const Reading *r = reading_of(p, kind);

	if (r && r->error != -ENODEV && r->monotonic_usec > q->since_usec)
		return r;
	if (r && r->error < 0) {
		*ret_error = r->error;
		*ret_text = r->error_text;
	} else if (r && r->step != READING_IDLE) {
		*ret_error = -ETIMEDOUT;
		*ret_text = "the device does not answer in time";
	} else {
		*ret_error = -EAGAIN;
		*ret_text = "the port has just come";
	}
	return NULL;
}

/* Answers A with what has been read, or with ERROR, and frees it. */
static void answer(ReadingCall *a, int error)
{
	_cleanup_(sd_bus_error_free) sd_bus_error e = SD_BUS_ERROR_NULL;
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *call = bus_call_of(a->call);
	const LongReplyQuestion q = {
		.path = RDMAD_ROOT_PATH,
		.text = a->question.paths,
		.user = a->call->user,
		.since_usec = a->began_usec - MIN(a->began_usec, READING_FRESH_USEC),
	};
	int r = error;

	if (call && r >= 0)
		r = long_reply_answer_question(a->bus->long_replies, call, a->question.reply, &q,
					       &e);
	if (call && r < 0)
		r = sd_bus_reply_method_errno(call, r, &e);
	if (r < 0)
		log_debug_errno(r, "Cannot answer a call, ignoring: %m");
	pending_call_free(a->call);
}

static int on_timer(_unused_ sd_event_source *s, _unused_ uint64_t usec, void *userdata)
{
	answer(userdata, 0);
	return 0;
}

/* Has A wait for the next of its ports that was being read when it began. False: there is none. */
static bool await_next(ReadingCall *a)
{
	Reading *r;
	Port *p;

	while ((p = port_walk_next(&a->walk))) {
		r = reading_of(p, a->question.kind);
		if (r && r->step != READING_IDLE && r->began_usec <= a->began_usec) {
			pending_list_add(&r->calls, a->call);
			return true;
		}
	}
	return false;
}

static int want_all(const ReadingCall *a)
{
	const BusHandler *handler = a->bus->handler;
	PortWalk walk = a->walk;
	int r = 0;
	Port *p;

	while (r >= 0 && (p = port_walk_next(&walk)))
		r = handler->read(a->bus->userdata, p, a->question.kind);
	return r;
}

static void on_identified(PendingCall *call, _unused_ uid_t user, void *userdata)
{
	ReadingCall *a = userdata;
	int r;

	a->call = call;
	sd_event_now(a->bus->event, CLOCK_MONOTONIC, &a->began_usec);
	a->walk = (PortWalk){.cache = a->bus->cache, .paths = a->question.paths};
	r = want_all(a);
	if (r >= 0 && await_next(a)) {
		if (a->question.timeout_usec == UINT64_MAX)
			return;
		r = sd_event_add_time_relative(a->bus->event, &a->timer, CLOCK_MONOTONIC,
					       MIN(a->question.timeout_usec, TIMEOUT_MAX),
					       USEC_PER_MSEC, on_timer, a);
		if (r >= 0)
			return;
	}
	answer(a, r);
}

static void on_freed(void *userdata)
{
	ReadingCall *a = userdata;

	sd_event_source_disable_unref(a->timer);
	free(a->question.paths);
	free(a);
}

int bus_ask_readings(Bus *b, sd_bus_message *m, const ReadingQuestion *q, sd_bus_error *error)
{
	static const PendingKind kind = {.identified = on_identified, .freed = on_freed};
	ReadingCall *a = calloc(1, sizeof(*a));
	PendingCall *call;
	int r = a ? 0 : -ENOMEM;

	if (a) {
		a->bus = b;
		a->question = *q;
		r = pending_call_new(b->calls, m, &kind, a, &call, error);
	}
	if (r < 0) {
		free(q->paths);
		free(a);
	}
	return r;
}

int bus_ask_reading(sd_bus_message *m, const Port *p, QueryKind kind, LongReplyKind reply,
		    sd_bus_error *error)
{
	ReadingQuestion q = {.kind = kind, .reply = reply, .timeout_usec = UINT64_MAX};
	char path[RDMAD_PATH_MAX];

	if (asprintf(&q.paths, "%s\n", port_path(p, path)) < 0)
		return -ENOMEM;
	return bus_ask_readings(bus_current(m), m, &q, error);
}

void bus_resume_calls(PendingList *list)
{
	PendingList resumed = {};
	PendingCall *call;

	/* a call may go on to wait in the same list */
	pending_list_move(&resumed, list);
	while ((call = resumed.first)) {
		ReadingCall *a = call->userdata;

		pending_list_remove(call);
		if (!await_next(a))
			answer(a, 0);
	}
}
