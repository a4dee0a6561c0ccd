/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "bus-counters.h"

#include "bus-options.h"
#include "bus-private.h"
#include "bus-reading.h"
#include "bus-shown.h"
#include "counters.h"
#include "lookup.h"
#include "names.h"
#include "port-name.h"
#include "unavailable.h"

#define SET_TYPES    "asasasa{sv}"
#define VALUES_TYPES "ouattta{sv}"
const char bus_counters_signature[] = "a(" SET_TYPES ")a(" VALUES_TYPES ")";

/* Whether P has all counters of a group: InfiniBand always has PMA; others may have borrowed it. */
static bool is_complete(const Port *p)
{
	return port_interfaces(&p->now) >> INTERFACE_INFINIBAND & 1;
}

/* The outcome of the reading of a port. */
typedef struct Outcome {
	const Reading *reading; /* NULL: it could not be read */
	const Unavailable *why;
	int error;
	const char *text;
} Outcome;

/* The next port for the reply to Q with what KIND has read; NULL: there is none. A port that is
 * about to go is left out. */
static const Port *next_port(PortWalk *w, const LongReplyQuestion *q, QueryKind kind, Outcome *ret)
{
	const Port *p;

	while ((p = port_walk_next(w))) {
		*ret = (Outcome){};
		ret->reading = bus_reading_for(q, p, kind, &ret->error, &ret->text);
		if (!ret->reading && reading_of(p, kind))
			ret->why = reading_of(p, kind)->why;
		if (ret->error != -ENODEV)
			break;
	}
	return p;
}

/* Why a port has no counters, for a dictionary; nothing if it has. */
static void put_error(BusWriter *w, const Outcome *o)
{
	UnavailableCode code =
		o->error == -ETIMEDOUT ? UNAVAILABLE_FIRMWARE_TIMEOUT : UNAVAILABLE_QUERY_FAILED;

	if (o->reading)
		return;
	bus_writer_add_text(w, "Error", o->why ? o->why->code : unavailable_rows[code].code);
	bus_writer_add_text(w, "ErrorMessage", o->text);
}

/* The sets of the ports of one reply, each once. */
typedef struct Sets {
	CounterSet **sets;
	size_t n;
	size_t last; /* which was found last: the next port is often of the same kind */
} Sets;

static void sets_done(Sets *s)
{
	for (size_t i = 0; i < s->n; i++)
		counter_set_free(s->sets[i]);
	free(s->sets);
}

/* Sets s->last to the set of P, of which TABLE was read. False: it has none yet. */
static bool find_set(Sets *s, const Port *p, const Table *table)
{
	bool complete = is_complete(p);

	if (s->n > 0 && counter_set_fits(s->sets[s->last], table, complete))
		return true;
	for (size_t i = 0; i < s->n; i++)
		if (counter_set_fits(s->sets[i], table, complete)) {
			s->last = i;
			return true;
		}
	return false;
}

static int add_set(Sets *s, const Port *p, const Table *table)
{
	int r;

	if (find_set(s, p, table))
		return 0;
	if (!array_grow(s->sets, s->n))
		return -ENOMEM;
	r = counter_set_new(table, is_complete(p), &s->sets[s->n]);
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

/* Puts the values of O for P. */
static void put_values(BusWriter *w, Sets *s, const Port *p, const Outcome *o)
{
	const Table *table = o->reading ? o->reading->table : NULL;
	const CounterSet *set = NULL;
	char path[RDMAD_PATH_MAX];
	unsigned int conditions;

	if (o->reading && find_set(s, p, table))
		set = s->sets[s->last];
	bus_writer_open(w, 'r', VALUES_TYPES);
	bus_writer_put_text(w, 'o', port_path(p, path));
	bus_writer_put_u32(w, set ? (uint32_t)s->last : 0);
	conditions = put_numbers(w, set, table);
	bus_writer_put_u64(w, set ? o->reading->realtime_usec : 0);
	bus_writer_put_u64(w, set ? o->reading->monotonic_usec : 0);
	bus_writer_open(w, 'a', "{sv}");
	for (CounterCondition k = COUNTER_SATURATED; k < _COUNTER_CONDITION_MAX; k++)
		if (conditions >> k & 1)
			put_condition(w, set, table, k);
	put_error(w, o);
	bus_writer_close(w);
	bus_writer_close(w);
}

static int write_counters(BusWriter *w, const LongReplyQuestion *q, const Cache *c, QueryKind kind)
{
	const PortWalk first = {.cache = c, .paths = q->text};
	_cleanup_(sets_done) Sets s = {};
	PortWalk walk = first;
	const Port *p;
	Outcome o;
	int r = 0;

	while (r >= 0 && (p = next_port(&walk, q, kind, &o)))
		if (o.reading)
			r = add_set(&s, p, o.reading->table);
	if (r < 0)
		return r;
	bus_writer_open(w, 'a', "(" SET_TYPES ")");
	for (size_t i = 0; i < s.n; i++)
		put_set(w, s.sets[i]);
	bus_writer_close(w);
	bus_writer_open(w, 'a', "(" VALUES_TYPES ")");
	walk = first;
	while (bus_writer_error(w) >= 0 && (p = next_port(&walk, q, kind, &o)))
		put_values(w, &s, p, &o);
	bus_writer_close(w);
	return 1;
}

int bus_counters_write(BusWriter *w, const LongReplyQuestion *q, const Cache *c,
		       _unused_ sd_bus_error *error)
{
	return write_counters(w, q, c, QUERY_COUNTERS);
}

int bus_far_counters_write(BusWriter *w, const LongReplyQuestion *q, const Cache *c,
			   _unused_ sd_bus_error *error)
{
	return write_counters(w, q, c, QUERY_FAR);
}

/* The paths of the ports that NAMES name, as PortWalk.paths. */
static int find_ports(const Cache *c, char *const *names, char **ret, sd_bus_error *error)
{
	char *text = NULL, path[RDMAD_PATH_MAX];
	size_t size;
	int r = 0;
	FILE *file = open_memstream(&text, &size);

	if (!file)
		return -ENOMEM;
	for (; *names && r == 0; names++) {
		Device *d;
		Port *p = NULL;

		r = **names == '/' ? lookup_path(c, *names, &d, &p) : lookup_port(c, *names, &p);
		if (r == 0 && p && p->published)
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

int bus_get_counters(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	Bus *b = userdata;
	_cleanup_(bus_texts_done) BusTexts names = {.max = WAIT_PORTS_MAX};
	/* one time-out for what each device does when it is asked, and one for itself */
	ReadingQuestion q = {QUERY_COUNTERS, LONG_REPLY_COUNTERS, NULL,
			     2 * b->config->query_timeout_usec};
	const char *end = "local";
	const BusOption options[] = {
		{"ports", 'a', &names}, {"timeout-usec", 't', &q.timeout_usec}, {"end", 's', &end}};
	int r = bus_read_options(m, "GetCounters", options, ARRAY_SIZE(options), error);

	if (r >= 0 && streq(end, "remote")) {
		q.kind = QUERY_FAR;
		q.reply = LONG_REPLY_FAR_COUNTERS;
	} else if (r >= 0 && !streq(end, "local")) {
		r = sd_bus_error_setf(error, RDMAD_ERROR_INVALID_OPTION,
				      "Option \"end\": expected local or remote, not \"%s\"",
				      BUS_SHOW(end));
	}
	if (r >= 0 && names.texts)
		r = find_ports(b->cache, names.texts, &q.paths, error);
	return r < 0 ? r : bus_ask_readings(b, m, &q, error);
}
