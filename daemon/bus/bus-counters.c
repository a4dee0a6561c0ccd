/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "bus-counters.h"

#include "bus-options.h"
#include "bus-private.h"
#include "bus-property.h"
#include "bus-shown.h"
#include "counters.h"
#include "log.h"
#include "lookup.h"
#include "names.h"
#include "port-name.h"
#include "unavailable.h"

/* How many bytes a counter has, about, and an entry of GetAllCounters() without any. */
#define COUNTER_BYTES 80
#define ENTRY_BYTES   80

/* The option timeout-usec has no effect above this: a reading never takes so long. */
#define ALL_TIMEOUT_MAX (3600 * USEC_PER_SEC)

/* clang-format off */
#define COUNTERS_SIGNATURE_BEGIN "a("
#define COUNTERS_SIGNATURE_END	 COLUMN_TAIL_SIGNATURE ")tt"
const char bus_counters_signature[] = COUNTERS_SIGNATURE_BEGIN
#define COUNTERS(...) COLUMN_SIGNATURE(__VA_ARGS__)
#include "table-columns.def"
	COUNTERS_SIGNATURE_END;
/* An entry: the path of the port, what GetCounters() returns, and what may be added. */
static const char entry_types[] = "o" COUNTERS_SIGNATURE_BEGIN
#define COUNTERS(...) COLUMN_SIGNATURE(__VA_ARGS__)
#include "table-columns.def"
	COUNTERS_SIGNATURE_END "a{sv}";
const char bus_all_counters_signature[] = "a(o" COUNTERS_SIGNATURE_BEGIN
#define COUNTERS(...) COLUMN_SIGNATURE(__VA_ARGS__)
#include "table-columns.def"
	COUNTERS_SIGNATURE_END "a{sv})";
/* clang-format on */

/* Writes the counters of P and when they were read; without PC, none. */
static int put_counters(BusWriter *w, const Port *p, const PortCounters *pc)
{
	_cleanup_free_ Counter *counters = NULL;
	/* InfiniBand always has PMA; others may have borrowed it. */
	bool complete = port_interfaces(&p->now) >> INTERFACE_INFINIBAND & 1;
	size_t n = 0;
	int r = pc ? counters_interpret(pc->table, complete, &counters, &n) : 0;

	if (r < 0)
		return r;
	bus_put_entries(w, &counter_layout, counters, n);
	bus_writer_put_u64(w, pc ? pc->realtime_usec : 0);
	bus_writer_put_u64(w, pc ? pc->monotonic_usec : 0);
	return 0;
}

/* GetCounters() */

static int reply_counters(sd_bus_message *call, const Port *p, const PortCounters *pc)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	BusWriter w = {};
	int r = sd_bus_message_new_method_return(call, &reply);

	if (r < 0)
		return r;
	w.message = reply;
	r = put_counters(&w, p, pc);
	if (r >= 0)
		r = bus_writer_error(&w);
	return r < 0 ? r : sd_bus_send(NULL, reply, NULL);
}

int bus_get_counters(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	Port *p = userdata;
	/* the userdata of a port's method is the port */
	Bus *b = sd_bus_slot_get_userdata(sd_bus_get_current_slot(sd_bus_message_get_bus(m)));
	const PortCounters *counters;
	PendingList *list;
	int r = bus_read_options(m, "GetCounters", NULL, 0, error);

	if (r < 0)
		return r;
	r = b->handler->counters(b->userdata, p, &counters, &list);
	if (r < 0) {
		/* the hardware was not even asked */
		bus_reply_error(m, r, r == -ETIMEDOUT ? p->now.values.last_error : strerror(-r));
		return 1;
	}
	return r == 0 ? reply_counters(m, p, counters)
		      : bus_keep_call(b, m, list, p->number, error);
}

void bus_answer_counters(PendingList *list, uint32_t port, const Port *p,
			 const PortCounters *counters, int error, const char *text)
{
	PendingCall *c;
	int r;

	while ((c = pending_list_find(list, port))) {
		_cleanup_(sd_bus_message_unrefp) sd_bus_message *call = bus_call_of(c);

		if (call && error < 0) {
			bus_reply_error(call, error, text);
		} else if (call) {
			r = reply_counters(call, p, counters);
			if (r < 0)
				log_debug_errno(r, "Cannot answer with counters, ignoring: %m");
		}
		pending_call_free(c);
	}
}

/* GetAllCounters() */

/* A call that waits until the ports have been read. */
typedef struct AllCall {
	Bus *bus;
	char *ports; /* LongReplyQuestion.text */
	PendingCall *call;
	sd_event_source *timer; /* NULL: it waits as long as a reading takes */
} AllCall;

static AllCall *all_call_free(AllCall *a)
{
	if (!a)
		return NULL;
	sd_event_source_disable_unref(a->timer);
	free(a->ports);
	free(a);
	return NULL;
}
DEFINE_CLEANUP(AllCall, all_call_free);

static void on_freed(void *userdata)
{
	all_call_free(userdata);
}

/* Calls FUNCTION for each port of the question Q; ends with its first result that is negative. */
static int for_each_port(const char *ports, const Cache *c,
			 int (*function)(void *userdata, Port *p), void *userdata)
{
	char path[RDMAD_PATH_MAX];
	Device *d;
	Port *p;
	int r = 0;

	for (; ports && *ports && r >= 0; ports += strcspn(ports, "\n") + 1) {
		text_copy(path, MIN(sizeof(path), strcspn(ports, "\n") + 1), ports);
		/* it may have gone meanwhile */
		if (lookup_path(c, path, &d, &p) == 0 && p)
			r = function(userdata, p);
	}
	for (size_t i = 0; !ports && i < c->n_devices; i++)
		for (uint32_t n = 0; n < c->devices[i]->n_ports && r >= 0; n++)
			if (c->devices[i]->ports[n]->published)
				r = function(userdata, c->devices[i]->ports[n]);
	return r;
}

static int put_error(BusWriter *w, const PortCounters *pc)
{
	UnavailableCode code =
		pc->error == -ETIMEDOUT ? UNAVAILABLE_FIRMWARE_TIMEOUT : UNAVAILABLE_QUERY_FAILED;

	bus_writer_open_property(w, "Error", "s");
	bus_writer_put_text(w, 's', unavailable_rows[code].code);
	bus_writer_close_property(w);
	bus_writer_open_property(w, "ErrorMessage", "s");
	bus_writer_put_text(w, 's', pc->error_text);
	bus_writer_close_property(w);
	return 0;
}

static int put_entry(void *userdata, Port *p)
{
	const PortCounters *pc = p->counters;
	bool good = pc && pc->error == 0 && pc->monotonic_usec > 0;
	char path[RDMAD_PATH_MAX];
	BusWriter *w = userdata;
	int r;

	if (pc && pc->error == -ENODEV)
		return 0; /* it is about to go */
	bus_writer_open(w, 'r', entry_types);
	bus_writer_put_text(w, 'o', port_path(p, path));
	r = put_counters(w, p, good ? pc : NULL);
	bus_writer_open(w, 'a', "{sv}");
	if (!good && pc)
		put_error(w, pc);
	else if (!good)
		put_error(w, &(PortCounters){.error = -EAGAIN,
					     .error_text = "the port has just come"});
	bus_writer_close(w);
	bus_writer_close(w);
	return r;
}

int bus_all_counters_write(BusWriter *w, const LongReplyQuestion *q, const Cache *c,
			   _unused_ sd_bus_error *error)
{
	int r;

	bus_writer_open(w, 'a', bus_all_counters_signature + 1);
	r = for_each_port(q->text, c, put_entry, w);
	bus_writer_close(w);
	return r < 0 ? r : 1;
}

static int add_size(void *userdata, Port *p)
{
	size_t *size = userdata;

	*size += ENTRY_BYTES;
	if (p->counters && p->counters->table)
		*size += p->counters->table->n * COUNTER_BYTES;
	return 0;
}

size_t bus_all_counters_estimate(const LongReplyQuestion *q, const Cache *c)
{
	size_t size = 0;

	(void)for_each_port(q->text, c, add_size, &size);
	return size;
}

/* The paths of the ports that NAMES name, as bus_all_counters_write() takes them. */
static int find_ports(const Cache *c, char *const *names, char **ret, sd_bus_error *error)
{
	char *text = NULL, path[RDMAD_PATH_MAX];
	FILE *file;
	size_t size;
	int r = 0;

	file = open_memstream(&text, &size);
	if (!file)
		return -ENOMEM;
	for (; *names && r == 0; names++) {
		Port *p;

		r = lookup_port(c, *names, &p);
		if (r == 0 && p->published)
			fprintf(file, "%s\n", port_path(p, path));
		else
			r = sd_bus_error_setf(
				error, r == -EEXIST ? RDMAD_ERROR_AMBIGUOUS : RDMAD_ERROR_NOT_FOUND,
				r == -EEXIST ? "More than one port is meant by \"%s\""
					     : "No port \"%s\"",
				BUS_SHOW(*names));
	}
	if (fclose(file) != 0 && r == 0)
		r = -ENOMEM;
	if (r < 0)
		free(text);
	else
		*ret = text;
	return r;
}

typedef struct Wanted {
	const Bus *bus;
	bool waits;
} Wanted;

static int want(void *userdata, Port *p)
{
	Wanted *w = userdata;
	int r = w->bus->handler->want_counters(w->bus->userdata, p);

	w->waits |= r > 0;
	return r;
}

/* Answers A with what has been read, and frees it. */
static void answer_all(AllCall *a)
{
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *call = bus_call_of(a->call);
	int r = call ? long_reply_answer_text(a->bus->long_replies, call, LONG_REPLY_ALL_COUNTERS,
					      a->ports, &error)
		     : 0;

	if (r < 0)
		r = sd_bus_reply_method_errno(call, r, &error);
	if (r < 0)
		log_debug_errno(r, "Cannot answer with counters, ignoring: %m");
	pending_call_free(a->call);
}

static int on_all_timer(_unused_ sd_event_source *s, _unused_ uint64_t usec, void *userdata)
{
	AllCall *a = userdata;
	Bus *b = a->bus;

	answer_all(a);
	b->handler->left_all_counters(b->userdata);
	return 0;
}

/* Has A wait in LIST for TIMEOUT at most. */
static int keep_all(AllCall **a, sd_bus_message *m, PendingList *list, uint64_t timeout,
		    sd_bus_error *error)
{
	static const PendingKind kind = {.freed = on_freed};
	AllCall *is = *a;
	int r = 0;

	if (timeout < UINT64_MAX)
		r = sd_event_add_time_relative(is->bus->event, &is->timer, CLOCK_MONOTONIC,
					       MIN(timeout, ALL_TIMEOUT_MAX), USEC_PER_MSEC,
					       on_all_timer, is);
	if (r >= 0)
		r = pending_call_new(is->bus->calls, m, &kind, is, &is->call, error);
	if (r < 0)
		return r;
	*a = NULL;
	pending_list_add(list, is->call);
	return r;
}

int bus_get_all_counters(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	_cleanup_(all_call_free_pointer) AllCall *a = calloc(1, sizeof(AllCall));
	_cleanup_(bus_texts_done) BusTexts names = {.max = WAIT_PORTS_MAX};
	uint64_t timeout = UINT64_MAX;
	const BusOption options[] = {{"ports", 'a', &names}, {"timeout-usec", 't', &timeout}};
	Bus *b = userdata;
	Wanted wanted = {.bus = b};
	PendingList *list;
	int r = a ? bus_read_options(m, "GetAllCounters", options, ARRAY_SIZE(options), error)
		  : -ENOMEM;

	if (r >= 0 && names.texts)
		r = find_ports(b->cache, names.texts, &a->ports, error);
	if (r >= 0)
		r = for_each_port(a->ports, b->cache, want, &wanted);
	if (r < 0)
		return r;
	a->bus = b;
	list = wanted.waits ? b->handler->all_counters(b->userdata) : NULL;
	return list ? keep_all(&a, m, list, timeout, error)
		    : long_reply_answer_text(b->long_replies, m, LONG_REPLY_ALL_COUNTERS, a->ports,
					     error);
}

void bus_answer_all_counters(PendingList *list)
{
	PendingCall *c;

	while ((c = pending_list_find(list, 0)))
		answer_all(c->userdata);
}
