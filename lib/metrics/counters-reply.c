/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The counters of a machine from the reply to GetAllCounters(). */

#include "metrics-private.h"

/* One counter of the reply. */
typedef struct Read {
	const char *group, *name, *unit, *condition, *reason;
	uint64_t value;
} Read;

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

static int add_foreign(Metrics *m, const MetricObject *o, CounterGroup group, const Read *c)
{
	const CounterRow row = foreign_row(group, c->name);
	ForeignCounter *f;
	int r = metrics_grow((void **)&m->foreign, m->n_foreign, &m->foreign_allocated,
			     sizeof(*m->foreign));

	if (r < 0)
		return r;
	f = &m->foreign[m->n_foreign++];
	*f = (ForeignCounter){o->device, o->port, group, c->name, c->value, ""};
	metric_counter_name(&row, f->metric);
	return 0;
}

static int take_counter(Metrics *m, MetricObject *o, const Read *c, size_t *cursor)
{
	bool valid = !streq(c->condition, counter_condition_name(COUNTER_MISSING));
	CounterGroup group;
	size_t i;

	/* a later rdmad may have another group */
	if (!find_group(c->group, &group))
		return 0;
	i = find_row(group, c->name, cursor);
	if (i == n_counter_rows)
		return valid ? add_foreign(m, o, group, c) : 0;
	o->counters[i] = (MetricCounter){
		.valid = valid,
		.saturated = streq(c->condition, counter_condition_name(COUNTER_SATURATED)),
		.value = c->value,
	};
	return 0;
}

/* a(sstsssa{sv}). O is NULL for a port that is not of interest. */
static int read_counters(Metrics *metrics, sd_bus_message *m, MetricObject *o)
{
	size_t cursor = 0;
	Read c;
	int r = sd_bus_message_enter_container(m, 'a', "(sstsssa{sv})");

	if (r < 0)
		return r;
	while ((r = sd_bus_message_enter_container(m, 'r', "sstsssa{sv}")) > 0) {
		r = sd_bus_message_read(m, "sstsss", &c.group, &c.name, &c.value, &c.unit,
					&c.condition, &c.reason);
		if (r >= 0)
			r = sd_bus_message_skip(m, "a{sv}");
		if (r >= 0 && o)
			r = take_counter(metrics, o, &c, &cursor);
		if (r >= 0)
			r = sd_bus_message_exit_container(m);
		if (r < 0)
			return r;
	}
	return r < 0 ? r : sd_bus_message_exit_container(m);
}

/* a{sv}: it has "Error" if the counters of the port could not be read. */
static int read_tail(sd_bus_message *m, bool *ret_good)
{
	const char *key;
	bool good = true;
	int r = sd_bus_message_enter_container(m, 'a', "{sv}");

	if (r < 0)
		return r;
	while ((r = sd_bus_message_enter_container(m, 'e', "sv")) > 0) {
		r = sd_bus_message_read_basic(m, 's', &key);
		if (r >= 0)
			r = sd_bus_message_skip(m, "v");
		if (r >= 0)
			r = sd_bus_message_exit_container(m);
		if (r < 0)
			return r;
		good = good && !streq(key, "Error");
	}
	*ret_good = good;
	return r < 0 ? r : sd_bus_message_exit_container(m);
}

/* oa(sstsssa{sv})tta{sv} */
static int read_port(Metrics *metrics, sd_bus_message *m)
{
	const char *path;
	MetricObject *o = NULL;
	bool good;
	int r = sd_bus_message_read_basic(m, 'o', &path);

	if (r >= 0)
		o = metrics_find_path(metrics, path);
	if (o && !o->counters) {
		o->counters = calloc(n_counter_rows, sizeof(*o->counters));
		if (!o->counters)
			return -ENOMEM;
	}
	if (r >= 0)
		r = read_counters(metrics, m, o);
	if (r >= 0)
		r = sd_bus_message_skip(m, "tt");
	if (r >= 0)
		r = read_tail(m, &good);
	if (r >= 0 && o)
		o->has_counters = good;
	return r;
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

/* Removes what an earlier reply said. */
static void forget_counters(Metrics *m)
{
	MetricObjects *ports = &m->objects[METRIC_PORTS];

	for (size_t i = 0; i < ports->n; i++) {
		MetricObject *o = &ports->items[i];

		o->has_counters = false;
		if (o->counters)
			memset(o->counters, 0, n_counter_rows * sizeof(*o->counters));
	}
	m->n_foreign = 0;
	m->counters_reply = sd_bus_message_unref(m->counters_reply);
}

int metrics_read_counters(Metrics *metrics, sd_bus_message *m)
{
	int r = sd_bus_message_enter_container(m, 'a', "(oa(sstsssa{sv})tta{sv})");

	if (r < 0)
		return r;
	sd_bus_message_ref(m);
	forget_counters(metrics);
	metrics->counters_reply = m;
	while ((r = sd_bus_message_enter_container(m, 'r', "oa(sstsssa{sv})tta{sv}")) > 0) {
		r = read_port(metrics, m);
		if (r >= 0)
			r = sd_bus_message_exit_container(m);
		if (r < 0)
			return r;
	}
	if (r < 0)
		return r;
	if (metrics->n_foreign > 0)
		qsort(metrics->foreign, metrics->n_foreign, sizeof(*metrics->foreign), compare);
	return sd_bus_message_exit_container(m);
}
