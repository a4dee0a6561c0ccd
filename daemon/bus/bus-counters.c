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

#define SET_TYPES    "asasasa{sv}"
#define VALUES_TYPES "ouattta{sv}"
const char bus_counter_values_signature[] = "a(" SET_TYPES ")a(" VALUES_TYPES ")";

/* Whether P has all counters of a group: InfiniBand always has PMA; others may have borrowed it. */
static bool is_complete(const Port *p)
{
	return port_interfaces(&p->now) >> INTERFACE_INFINIBAND & 1;
}

/* Writes the counters of P and when they were read; without PC, none. */
static int put_counters(BusWriter *w, const Port *p, const PortCounters *pc)
{
	_cleanup_free_ Counter *counters = NULL;
	size_t n = 0;
	int r = pc ? counters_interpret(pc->table, is_complete(p), &counters, &n) : 0;

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

/* GetAllCounters() and GetCounterValues() */

/* A call that waits until the ports have been read. */
typedef struct AllCall {
	Bus *bus;
	LongReplyKind kind;
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

static bool is_read(const PortCounters *pc)
{
	return pc && pc->error == 0 && pc->monotonic_usec > 0;
}

/* Why P has no counters, for a dictionary; nothing if it has. */
static void put_error(BusWriter *w, const PortCounters *pc)
{
	static const PortCounters new = {.error = -EAGAIN, .error_text = "the port has just come"};
	UnavailableCode code;

	if (is_read(pc))
		return;
	pc = pc ? pc : &new;
	code = pc->error == -ETIMEDOUT ? UNAVAILABLE_FIRMWARE_TIMEOUT : UNAVAILABLE_QUERY_FAILED;
	bus_writer_open_property(w, "Error", "s");
	bus_writer_put_text(w, 's', unavailable_rows[code].code);
	bus_writer_close_property(w);
	bus_writer_open_property(w, "ErrorMessage", "s");
	bus_writer_put_text(w, 's', pc->error_text);
	bus_writer_close_property(w);
}

/* GetAllCounters() */

static int put_entry(void *userdata, Port *p)
{
	const PortCounters *pc = p->counters;
	char path[RDMAD_PATH_MAX];
	BusWriter *w = userdata;
	int r;

	if (pc && pc->error == -ENODEV)
		return 0; /* it is about to go */
	bus_writer_open(w, 'r', entry_types);
	bus_writer_put_text(w, 'o', port_path(p, path));
	r = put_counters(w, p, is_read(pc) ? pc : NULL);
	bus_writer_open(w, 'a', "{sv}");
	put_error(w, pc);
	bus_writer_close(w);
	bus_writer_close(w);
	return r < 0 ? r : bus_writer_error(w);
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

/* GetCounterValues() */

/* The sets of the ports of one reply, each once. */
typedef struct Sets {
	BusWriter *writer;
	CounterSet **sets;
	size_t n, allocated;
	size_t last; /* which was found last: the next port is often of the same kind */
} Sets;

static void sets_done(Sets *s)
{
	for (size_t i = 0; i < s->n; i++)
		counter_set_free(s->sets[i]);
	free(s->sets);
}

/* Sets s->last to the set of P, which has been read. False: it has none yet. */
static bool find_set(Sets *s, const Port *p)
{
	bool complete = is_complete(p);

	if (s->n > 0 && counter_set_fits(s->sets[s->last], p->counters->table, complete))
		return true;
	for (size_t i = 0; i < s->n; i++)
		if (counter_set_fits(s->sets[i], p->counters->table, complete)) {
			s->last = i;
			return true;
		}
	return false;
}

static int add_set(void *userdata, Port *p)
{
	Sets *s = userdata;
	CounterSet **sets;
	int r;

	if (!is_read(p->counters) || find_set(s, p))
		return 0;
	if (s->n == s->allocated) {
		sets = reallocarray(s->sets, 2 * s->n + 4, sizeof(*sets));
		if (!sets)
			return -ENOMEM;
		s->sets = sets;
		s->allocated = 2 * s->n + 4;
	}
	r = counter_set_new(p->counters->table, is_complete(p), &s->sets[s->n]);
	if (r >= 0)
		s->last = s->n++;
	return r;
}

static const char *group_of(const Counter *c)
{
	return counter_group_name(c->group);
}

static const char *name_of(const Counter *c)
{
	return c->name;
}

static const char *unit_of(const Counter *c)
{
	return counter_unit_name(c->unit);
}

static void put_set(BusWriter *w, const CounterSet *s)
{
	static const char *(*const columns[])(const Counter *c) = {group_of, name_of, unit_of};

	bus_writer_open(w, 'r', SET_TYPES);
	for (size_t k = 0; k < ARRAY_SIZE(columns); k++) {
		bus_writer_open(w, 'a', "s");
		for (size_t i = 0; i < counter_set_size(s); i++) {
			const Counter c = counter_set_get(s, i, NULL);

			bus_writer_put_text(w, 's', columns[k](&c));
		}
		bus_writer_close(w);
	}
	bus_writer_open(w, 'a', "{sv}");
	bus_writer_close(w);
	bus_writer_close(w);
}

/* The counters of S in TABLE that are CONDITION: which of the set, and if they are missing, why. */
static void put_condition(BusWriter *w, const CounterSet *s, const Table *table,
			  CounterCondition condition)
{
	bool missing = condition == COUNTER_MISSING;

	bus_writer_open_property(w, missing ? "Missing" : "Saturated", missing ? "a{us}" : "au");
	bus_writer_open(w, 'a', missing ? "{us}" : "u");
	for (size_t i = 0; i < counter_set_size(s); i++) {
		const Counter c = counter_set_get(s, i, table);

		if (c.condition != condition)
			continue;
		if (missing)
			bus_writer_open(w, 'e', "us");
		bus_writer_put_u32(w, (uint32_t)i);
		if (missing) {
			bus_writer_put_text(w, 's', c.reason);
			bus_writer_close(w);
		}
	}
	bus_writer_close(w);
	bus_writer_close_property(w);
}

/* The values of the counters of S in TABLE; which conditions they have, as a mask. */
static unsigned int put_numbers(BusWriter *w, const CounterSet *s, const Table *table)
{
	unsigned int conditions = 0;

	bus_writer_open(w, 'a', "t");
	for (size_t i = 0; s && i < counter_set_size(s); i++) {
		const Counter c = counter_set_get(s, i, table);

		bus_writer_put_u64(w, c.value);
		conditions |= 1U << c.condition;
	}
	bus_writer_close(w);
	return conditions;
}

static int put_values(void *userdata, Port *p)
{
	const PortCounters *pc = p->counters;
	const CounterSet *set = NULL;
	char path[RDMAD_PATH_MAX];
	Sets *s = userdata;
	BusWriter *w = s->writer;
	unsigned int conditions;

	if (pc && pc->error == -ENODEV)
		return 0; /* it is about to go */
	if (is_read(pc) && find_set(s, p))
		set = s->sets[s->last];
	bus_writer_open(w, 'r', VALUES_TYPES);
	bus_writer_put_text(w, 'o', port_path(p, path));
	bus_writer_put_u32(w, set ? (uint32_t)s->last : 0);
	conditions = put_numbers(w, set, set ? pc->table : NULL);
	bus_writer_put_u64(w, set ? pc->realtime_usec : 0);
	bus_writer_put_u64(w, set ? pc->monotonic_usec : 0);
	bus_writer_open(w, 'a', "{sv}");
	for (CounterCondition k = COUNTER_SATURATED; k < _COUNTER_CONDITION_MAX; k++)
		if (conditions >> k & 1)
			put_condition(w, set, pc->table, k);
	put_error(w, pc);
	bus_writer_close(w);
	bus_writer_close(w);
	return bus_writer_error(w);
}

int bus_counter_values_write(BusWriter *w, const LongReplyQuestion *q, const Cache *c,
			     _unused_ sd_bus_error *error)
{
	_cleanup_(sets_done) Sets s = {.writer = w};
	int r = for_each_port(q->text, c, add_set, &s);

	if (r < 0)
		return r;
	bus_writer_open(w, 'a', "(" SET_TYPES ")");
	for (size_t i = 0; i < s.n; i++)
		put_set(w, s.sets[i]);
	bus_writer_close(w);
	bus_writer_open(w, 'a', "(" VALUES_TYPES ")");
	r = for_each_port(q->text, c, put_values, &s);
	bus_writer_close(w);
	return r < 0 ? r : 1;
}

/* The calls */

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
	const LongReplyQuestion q = {.path = RDMAD_ROOT_PATH, .text = a->ports};
	int r = call ? long_reply_answer_question(a->bus->long_replies, call, a->kind, &q, &error)
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

/* METHOD, whose reply is KIND. */
static int get_all(Bus *b, sd_bus_message *m, const char *method, LongReplyKind kind,
		   sd_bus_error *error)
{
	_cleanup_(all_call_free_pointer) AllCall *a = calloc(1, sizeof(AllCall));
	_cleanup_(bus_texts_done) BusTexts names = {.max = WAIT_PORTS_MAX};
	uint64_t timeout = UINT64_MAX;
	const BusOption options[] = {{"ports", 'a', &names}, {"timeout-usec", 't', &timeout}};
	LongReplyQuestion q = {.path = RDMAD_ROOT_PATH};
	Wanted wanted = {.bus = b};
	PendingList *list;
	int r = a ? bus_read_options(m, method, options, ARRAY_SIZE(options), error) : -ENOMEM;

	if (r >= 0 && names.texts)
		r = find_ports(b->cache, names.texts, &a->ports, error);
	if (r >= 0)
		r = for_each_port(a->ports, b->cache, want, &wanted);
	if (r < 0)
		return r;
	a->bus = b;
	a->kind = kind;
	list = wanted.waits ? b->handler->all_counters(b->userdata) : NULL;
	if (list)
		return keep_all(&a, m, list, timeout, error);
	q.text = a->ports;
	return long_reply_answer_question(b->long_replies, m, kind, &q, error);
}

int bus_get_all_counters(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	return get_all(userdata, m, "GetAllCounters", LONG_REPLY_ALL_COUNTERS, error);
}

int bus_get_counter_values(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	return get_all(userdata, m, "GetCounterValues", LONG_REPLY_COUNTER_VALUES, error);
}

void bus_answer_all_counters(PendingList *list)
{
	PendingCall *c;

	while ((c = pending_list_find(list, 0)))
		answer_all(c->userdata);
}
