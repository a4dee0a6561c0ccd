/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The counters of a machine from the reply to GetCounters(). */

#include "bus-walk.h"
#include "metrics-private.h"

/* The row of a counter of the reply. */
typedef struct Known {
	bool is_known; /* a later rdmad may have another group */
	CounterGroup group;
	const char *name;
	size_t row;		      /* n_counter_rows: it has none */
	char metric[METRIC_NAME_MAX]; /* the name of the family, if it has no row */
} Known;

/* And of a port, what it says. */
typedef struct Count {
	bool missing, saturated;
	uint64_t value;
} Count;

static bool find_group(const char *name, CounterGroup *ret)
{
	for (CounterGroup g = 0; g < _COUNTER_GROUP_MAX; g++)
		if (streq(counter_group_name(g), name)) {
			*ret = g;
			return true;
		}
	return false;
}

/* The number of the row of counter NAME, or n_counter_rows. They come in the order of the rows:
 * *CURSOR, where the last was found, saves looking. */
static size_t find_row(CounterGroup group, const char *name, size_t *cursor)
{
	for (size_t n = 0; n < n_counter_rows; n++) {
		size_t i = *cursor;

		*cursor = (*cursor + 1) % n_counter_rows;
		if (counter_rows[i].group == group && streq(counter_rows[i].name, name))
			return i;
	}
	return n_counter_rows;
}

/* Finds the row of the counter NAME of GROUP; CURSOR as for find_row(). */
static void find_known(const char *group, const char *name, size_t *cursor, Known *ret)
{
	*ret = (Known){.name = name, .row = n_counter_rows};
	ret->is_known = find_group(group, &ret->group);
	if (!ret->is_known)
		return;
	ret->row = find_row(ret->group, name, cursor);
	if (ret->row == n_counter_rows)
		metric_counter_name(ret->group, name, COUNTER_UNKNOWN, ret->metric);
}

static int add_foreign(Metrics *m, const MetricObject *o, const Known *k, uint64_t value)
{
	ForeignCounters *list = &m->foreign;
	ForeignCounter *f;

	if (!array_grow(list->items, list->n))
		return -ENOMEM;
	f = &list->items[list->n++];
	*f = (ForeignCounter){o->device, o->port, k->group, k->name, value, ""};
	text_copy(f->metric, sizeof(f->metric), k->metric);
	return 0;
}

static int take_counter(Metrics *m, MetricObject *o, const Known *k, const Count *v)
{
	MetricCounter *c;

	if (!k->is_known)
		return 0;
	if (k->row == n_counter_rows)
		return v->missing ? 0 : add_foreign(m, o, k, v->value);
	c = &o->counters[k->row];
	c->valid = !v->missing;
	c->saturated = v->saturated;
	c->value = v->value;
	return 0;
}

/* *RET: the port at PATH, with room for counters; NULL if it is not of interest. */
static int find_port(Metrics *metrics, const char *path, MetricObject **ret)
{
	MetricObject *o = metrics_find_path(metrics, path);

	if (o && !o->counters) {
		o->counters = calloc(n_counter_rows, sizeof(*o->counters));
		if (!o->counters)
			return -ENOMEM;
		metrics_change_layout(metrics, o);
	}
	*ret = o;
	return 0;
}

/* A variant a{us} or au: which of the N values are missing or saturated. */
static int read_which(sd_bus_message *m, bool missing, Count *values, size_t n)
{
	const char *contents = missing ? "{us}" : "u", *reason;
	uint32_t i;
	int r = sd_bus_message_enter_container(m, 'v', missing ? "a{us}" : "au");

	if (r >= 0)
		r = sd_bus_message_enter_container(m, 'a', contents);
	if (r < 0)
		return r;
	while ((r = missing ? sd_bus_message_read(m, "{us}", &i, &reason)
			    : sd_bus_message_read_basic(m, 'u', &i)) > 0) {
		if (i >= n)
			return -EBADMSG;
		values[i].missing |= missing;
		values[i].saturated |= !missing;
	}
	if (r >= 0)
		r = sd_bus_message_exit_container(m);
	return r < 0 ? r : sd_bus_message_exit_container(m);
}

/* a{sv}: it has "Error" if the counters of the port could not be read, and says which of VALUES are
 * missing or saturated. */
static int read_tail(sd_bus_message *m, Count *values, size_t n, bool *ret_good)
{
	BusWalk w = bus_walk_pairs(m, "sv");
	bool good = true;
	const char *key;

	while (bus_walk_named(&w, &key)) {
		if (streq(key, "Missing") || streq(key, "Saturated"))
			w.r = read_which(m, streq(key, "Missing"), values, n);
		good = good && !streq(key, "Error");
	}
	*ret_good = good;
	return w.r;
}

/* The sets of a reply. */
typedef struct Sets {
	Known *known;  /* the counters of the first set, then those of the next, ... */
	Count *values; /* of the port that is read: room for those of the largest set */
	size_t n_known;
	struct {
		size_t first, n; /* of KNOWN */
	} * sets;
	size_t n, largest;
} Sets;

/* asas: the groups, of which each adds a counter to S, and the names. */
static int read_names(Sets *s, sd_bus_message *m)
{
	size_t i = s->n_known, cursor = 0;
	const char *text;
	int r = sd_bus_message_enter_container(m, 'a', "s");

	if (r < 0)
		return r;
	while ((r = sd_bus_message_read_basic(m, 's', &text)) > 0) {
		if (!array_grow(s->known, s->n_known))
			return -ENOMEM;
		s->known[s->n_known++].name = text;
	}
	if (r >= 0)
		r = sd_bus_message_exit_container(m);
	if (r >= 0)
		r = sd_bus_message_enter_container(m, 'a', "s");
	if (r < 0)
		return r;
	while ((r = sd_bus_message_read_basic(m, 's', &text)) > 0 && i < s->n_known) {
		find_known(s->known[i].name, text, &cursor, &s->known[i]);
		i++;
	}
	if (r < 0 || r > 0 || i < s->n_known)
		return r < 0 ? r : -EBADMSG;
	return sd_bus_message_exit_container(m);
}

static void sets_done(Sets *s)
{
	free(s->known);
	free(s->values);
	free(s->sets);
}

/* asasasa{sv} */
static int read_set(Sets *s, sd_bus_message *m)
{
	size_t first = s->n_known;
	int r = array_grow(s->sets, s->n) ? read_names(s, m) : -ENOMEM;

	if (r < 0)
		return r;
	s->sets[s->n].first = first;
	s->sets[s->n].n = s->n_known - first;
	s->largest = MAX(s->largest, s->sets[s->n].n);
	s->n++;
	return 0;
}

/* What is behind PATH in ouattta{sv} */
static int read_values(Metrics *metrics, const Sets *s, const char *path, sd_bus_message *m)
{
	MetricObject *o = NULL;
	const uint64_t *numbers;
	uint32_t set;
	size_t size, n;
	bool good;
	int r = sd_bus_message_read_basic(m, 'u', &set);

	if (r >= 0)
		r = sd_bus_message_read_array(m, 't', (const void **)&numbers, &size);
	if (r >= 0)
		r = sd_bus_message_skip(m, "tt");
	if (r < 0)
		return r;
	/* a port that could not be read has no values and no set */
	n = size / sizeof(*numbers);
	if (n > 0 && (set >= s->n || n != s->sets[set].n))
		return -EBADMSG;
	for (size_t i = 0; i < n; i++)
		s->values[i] = (Count){.value = numbers[i]};
	r = read_tail(m, s->values, n, &good);
	if (r >= 0)
		r = find_port(metrics, path, &o);
	for (size_t i = 0; i < n && r >= 0 && o; i++)
		r = take_counter(metrics, o, &s->known[s->sets[set].first + i], &s->values[i]);
	if (r >= 0 && o)
		o->has_counters = good;
	return r;
}

static int read_sets_and_values(Metrics *metrics, sd_bus_message *m)
{
	_cleanup_(sets_done) Sets s = {};
	BusWalk w = bus_walk_structures(m, "asasasa{sv}");
	const char *path;

	while (bus_walk_next(&w))
		w.r = read_set(&s, m);
	if (w.r < 0)
		return w.r;
	s.values = calloc(s.largest + 1, sizeof(*s.values));
	if (!s.values)
		return -ENOMEM;
	w = bus_walk_structures(m, "ouattta{sv}");
	while (bus_walk_named(&w, &path))
		w.r = read_values(metrics, &s, path, m);
	return w.r;
}

static int compare(const void *left, const void *right)
{
	const ForeignCounter *a = left, *b = right;
	int r = strcmp(a->metric, b->metric);

	if (r != 0)
		return r;
	if (a->device != b->device)
		return a->device < b->device ? -1 : 1;
	return a->port == b->port ? strcmp(a->name, b->name) : a->port < b->port ? -1 : 1;
}

static void swap_foreign(Metrics *m)
{
	ForeignCounters list = m->foreign;

	m->foreign = m->foreign_before;
	m->foreign_before = list;
}

/* Removes what an earlier reply said, but for what finish_counters() compares. */
static void forget_counters(Metrics *m)
{
	MetricObjects *ports = &m->objects[METRIC_PORTS];

	for (size_t i = 0; i < ports->n; i++) {
		MetricObject *o = &ports->items[i];

		o->had_counters = o->has_counters;
		o->has_counters = false;
		for (size_t k = 0; o->counters && k < n_counter_rows; k++) {
			MetricCounter *c = &o->counters[k];

			*c = (MetricCounter){.was_valid = c->valid, .was_saturated = c->saturated};
		}
	}
	swap_foreign(m);
	m->foreign.n = 0;
	m->counters_reply = sd_bus_message_unref(m->counters_reply);
}

static bool has_same_foreign(const ForeignCounters *a, const ForeignCounters *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (a->items[i].device != b->items[i].device ||
		    a->items[i].port != b->items[i].port ||
		    !streq(a->items[i].metric, b->items[i].metric))
			return false;
	return true;
}

/* Whether a visit of O differs from one before the last reply only by the values of counters. */
static bool has_same_counters(const MetricObject *o)
{
	bool same = o->has_counters == o->had_counters;

	for (size_t k = 0; same && o->counters && k < n_counter_rows; k++) {
		const MetricCounter *c = &o->counters[k];

		same = c->valid == c->was_valid && c->saturated == c->was_saturated;
	}
	return same;
}

static void finish_counters(Metrics *m)
{
	MetricObjects *ports = &m->objects[METRIC_PORTS];
	ForeignCounters *list = &m->foreign;

	if (list->n > 0)
		sort(list->items, list->n, sizeof(*list->items), compare);
	for (size_t i = 0; i < ports->n; i++)
		if (!has_same_counters(&ports->items[i]))
			metrics_change_layout(m, &ports->items[i]);
	if (!has_same_foreign(&m->foreign, &m->foreign_before)) {
		metrics_change_layout(m, NULL);
		return;
	}
	/* who knows where the values are finds the new ones there */
	if (list->n > 0)
		memcpy(m->foreign_before.items, list->items, list->n * sizeof(*list->items));
	swap_foreign(m);
}

void metrics_drop_counters(Metrics *m)
{
	MetricObjects *ports = &m->objects[METRIC_PORTS];

	if (!m->counters_reply)
		return;
	for (size_t i = 0; i < ports->n; i++) {
		MetricObject *o = &ports->items[i];

		free(o->counters);
		o->counters = NULL;
		o->has_counters = o->had_counters = false;
	}
	m->foreign.n = m->foreign_before.n = 0;
	m->counters_reply = sd_bus_message_unref(m->counters_reply);
	metrics_change_layout(m, NULL);
}

int metrics_read_counters(Metrics *metrics, sd_bus_message *m)
{
	int r;

	sd_bus_message_ref(m);
	forget_counters(metrics);
	metrics->counters_reply = m;
	r = read_sets_and_values(metrics, m);
	if (r >= 0)
		finish_counters(metrics);
	return r;
}
