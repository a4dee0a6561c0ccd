/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The families of a machine, and their samples. */

#include <inttypes.h>

#include "visit.h"

/* Labels of one sample: each row of an object at most, and those of the object itself. */
#define ROWS_MAX   MAX((size_t)_PORT_ATTR_MAX, (size_t)_DEVICE_ATTR_MAX)
#define LABELS_MAX (ROWS_MAX + 2)

static const char *const object_words[_METRIC_OBJECT_KIND_MAX] = {
	[METRIC_PORTS] = "port",
	[METRIC_DEVICES] = "device",
};

const MetricFamily metrics_up = {
	.name = "rdma_rdmad_up",
	.type = METRIC_TYPE_GAUGE,
	.unit = "",
	.help = "Whether rdmad answers.",
};

/* Names */

/* The names of rows are always the same: each is made once, and stays. */
typedef struct Names {
	char *families[_METRIC_OBJECT_KIND_MAX][ROWS_MAX];
	char *labels[_METRIC_OBJECT_KIND_MAX][ROWS_MAX];
	struct CounterName {
		char *family;
		const char *unit;
	} * counters; /* [n_counter_rows] */
} Names;

static Names kept;

/* Keeps MADE at AT. */
static const char *keep_name(Visit *v, char **at, const char *made)
{
	*at = strdup(made);
	if (!*at && v->r >= 0)
		v->r = -ENOMEM;
	return *at;
}

static MetricObjectKind kind_of(const Attribute *row)
{
	return row->interface < INTERFACE_PORT ? METRIC_DEVICES : METRIC_PORTS;
}

/* The name of the family that row number I is. NULL: it is none, or there is no memory. */
static const char *family_name(Visit *v, const Attribute *row, size_t i)
{
	char **at = &kept.families[kind_of(row)][i], made[METRIC_NAME_MAX];

	return *at ?: metric_row_name(row, made) ? keep_name(v, at, made) : NULL;
}

/* The name of the label that it is. */
static const char *label_name(Visit *v, const Attribute *row, size_t i)
{
	char **at = &kept.labels[kind_of(row)][i], made[METRIC_NAME_MAX];

	if (*at)
		return *at;
	metric_label_name(row, made);
	return keep_name(v, at, made);
}

/* That of the counter in row number I. NULL without memory. */
static const struct CounterName *counter_name(Visit *v, size_t i)
{
	const CounterRow *row = &counter_rows[i];
	char made[METRIC_NAME_MAX];
	struct CounterName *c;

	if (!kept.counters)
		kept.counters = calloc(n_counter_rows, sizeof(*kept.counters));
	if (!kept.counters) {
		v->r = -ENOMEM;
		return NULL;
	}
	c = &kept.counters[i];
	if (c->family)
		return c;
	c->unit = metric_counter_unit(row);
	metric_counter_name(row->group, row->name, row->unit, made);
	return keep_name(v, &c->family, made) ? c : NULL;
}

/* Rows */

/* One sample for each name that the state can have, and one for a state that has none of them. */
static void put_states(Visit *v, const MetricObject *o, const Attribute *row, const char *state)
{
	const char *const *names = attr_type_names(row->type);
	bool found = false;

	for (; names && *names; names++) {
		bool is = streq(*names, state);

		visit_put_sample(v, o, "state", *names, whole(is));
		found = found || is;
	}
	if (!found && *state)
		visit_put_sample(v, o, "state", state, one);
}

static MetricType type_of(const Attribute *row)
{
	return row->metric == METRIC_COUNTER	? METRIC_TYPE_COUNTER
	       : row->metric == METRIC_STATESET ? METRIC_TYPE_STATESET
						: METRIC_TYPE_GAUGE;
}

static void visit_row(Visit *v, const MetricObjects *list, size_t i)
{
	const Attribute *row = &list->rows[i];
	const char *name = family_name(v, row, i), *help = attr_help(row);
	const MetricObject *o;

	if (!name)
		return;
	if (attr_table_entry_size(row->type) > 0) {
		snprintf(v->help, sizeof(v->help), "The number of entries of this table: %s", help);
		help = v->help;
	}
	visit_begin_family(v, name, type_of(row), metric_row_unit(row), help);
	for (size_t n = 0; (o = visit_next(v, list, &n));) {
		const Value *value = visit_value(o, i);

		if (row->metric == METRIC_STATESET && value->type == VALUE_TEXT)
			put_states(v, o, row, value->text);
		else if (row->metric != METRIC_STATESET && is_number(value))
			visit_put_sample(v, o, NULL, NULL, visit_number(row, value));
	}
}

/* rdma_port_info and rdma_device_info */

/* The value of ROW as that of a label; NULL if it has none. */
static const char *label_text(const Attribute *row, const Value *value,
			      char buffer[METRIC_NUMBER_MAX])
{
	if (value->type == VALUE_TEXT)
		return *value->text ? value->text : NULL;
	if (!is_number(value))
		return NULL;
	if (row->unit == UNIT_HEX)
		snprintf(buffer, METRIC_NUMBER_MAX, "0x%" PRIx64, value->number);
	else
		metric_number_format(visit_number(row, value), buffer);
	return buffer;
}

static void put_info(Visit *v, const MetricObjects *list, const MetricObject *o)
{
	char numbers[LABELS_MAX][METRIC_NUMBER_MAX];
	MetricLabel labels[LABELS_MAX];
	size_t n = visit_set_labels(o, labels);

	for (size_t i = 0; i < list->n_rows; i++) {
		const Attribute *row = &list->rows[i];
		const char *text;

		if (row->metric != METRIC_INFO)
			continue;
		text = label_text(row, visit_value(o, i), numbers[n]);
		if (text)
			labels[n++] = (MetricLabel){label_name(v, row, i), text};
	}
	visit_put_labels(v, o, labels, n, one);
}

static void visit_info(Visit *v, const MetricObjects *list, const char *word)
{
	const MetricObject *o;

	snprintf(v->name, sizeof(v->name), "%s", metric_info_name(list->rows));
	snprintf(v->help, sizeof(v->help), "What the %s is, as labels; the value is 1.", word);
	visit_begin_family(v, v->name, METRIC_TYPE_INFO, "", v->help);
	for (size_t n = 0; (o = visit_next(v, list, &n));)
		put_info(v, list, o);
}

/* rdma_port_unavailable and rdma_device_unavailable */

static void put_unavailable(Visit *v, const MetricObjects *list, const MetricObject *o)
{
	MetricLabel labels[4];
	size_t n = visit_set_labels(o, labels);

	for (size_t i = 0; i < o->n_reasons; i++) {
		const MetricReason *why = &o->reasons[i];

		labels[n] = (MetricLabel){"attribute", list->rows[why->row].name};
		labels[n + 1] = (MetricLabel){"reason", v->metrics->codes[why->code]};
		visit_put_labels(v, o, labels, n + 2, one);
	}
}

static void visit_unavailable(Visit *v, const MetricObjects *list, const char *word)
{
	const MetricObject *o;

	if (!(v->flags & METRICS_UNAVAILABLE))
		return;
	snprintf(v->name, sizeof(v->name), "rdma_%s_unavailable", word);
	snprintf(v->help, sizeof(v->help),
		 "The %s has no value of this attribute, for this reason; the value is 1.", word);
	visit_begin_family(v, v->name, METRIC_TYPE_GAUGE, "", v->help);
	for (size_t n = 0; (o = visit_next(v, list, &n));)
		put_unavailable(v, list, o);
}

/* rdma_finding */

/* The check that has found F; "" if F does not count: it is a part of another finding, which is
 * counted, or somebody has acknowledged it. */
static const char *counted_check(const Value *f)
{
	if (f->type != VALUE_STRUCT || f->n < 2 || value_tail(f, 3, "Cause") ||
	    value_tail(f, 3, "Acknowledged"))
		return "";
	return value_text(&f->items[0]);
}

/* The findings of O, or of the machine: a sample for each check. */
static void put_findings(Visit *v, const MetricObject *o, const Value *findings)
{
	MetricLabel labels[5];
	size_t n = visit_set_labels(o, labels);

	VALUE_FOREACH(f, findings) {
		const char *check = counted_check(f),
			   *condition = value_text(value_tail(f, 3, "Condition"));
		uint64_t times = 0;
		bool is_first = *check;

		VALUE_FOREACH(other, findings) {
			bool is_same = streq(counted_check(other), check);

			is_first &= !is_same || other >= f;
			times += is_same;
		}
		if (!is_first)
			continue;
		labels[n] = (MetricLabel){"check", check};
		labels[n + 1] = (MetricLabel){"severity", value_text(&f->items[1])};
		labels[n + 2] = (MetricLabel){"condition", condition};
		visit_put_labels(v, o, labels, n + (*condition ? 3 : 2), whole(times));
	}
}

/* The row with the findings */
static const size_t findings_rows[_METRIC_OBJECT_KIND_MAX] = {
	[METRIC_PORTS] = PORT_ATTR_findings,
	[METRIC_DEVICES] = DEVICE_ATTR_findings,
};

/* One family for ports, devices and the machine: an alert takes all. */
static void visit_findings(Visit *v)
{
	const MetricObject *o;

	snprintf(v->name, sizeof(v->name), "rdma_finding");
	visit_begin_family(
		v, v->name, METRIC_TYPE_GAUGE, "",
		"What rdmad has found wrong with the port, with the device if there is no "
		"label port, or with the machine if there is no label device: the check, how "
		"severe it is, and what kind of trouble; the value is how often. What is a part "
		"of another finding is not counted.");
	for (MetricObjectKind k = 0; k < _METRIC_OBJECT_KIND_MAX; k++)
		for (size_t n = 0; (o = visit_next(v, &v->metrics->objects[k], &n));)
			put_findings(v, o, visit_value(o, findings_rows[k]));
	if (v->r >= 0 && v->metrics->machine.layout > v->since)
		put_findings(v, &v->metrics->machine, &v->metrics->findings);
}

/* Counters */

static void visit_counter(Visit *v, size_t i)
{
	const MetricObjects *list = &v->metrics->objects[METRIC_PORTS];
	const struct CounterName *name = counter_name(v, i);
	const MetricObject *o;

	if (!name)
		return;
	visit_begin_family(v, name->family, METRIC_TYPE_COUNTER, name->unit,
			   counter_help(&counter_rows[i]));
	for (size_t n = 0; (o = visit_next(v, list, &n));)
		if (o->counters && o->counters[i].valid)
			visit_put_counter(v, o, &o->counters[i].value);
}

static void visit_saturated(Visit *v)
{
	const MetricObjects *list = &v->metrics->objects[METRIC_PORTS];
	const MetricObject *o;

	snprintf(v->name, sizeof(v->name), "rdma_port_saturated");
	visit_begin_family(
		v, v->name, METRIC_TYPE_GAUGE, "",
		"This counter has reached the most that it can count, and stays there until "
		"somebody resets it; the value is 1.");
	for (size_t n = 0; (o = visit_next(v, list, &n));)
		for (size_t i = 0; o->counters && i < n_counter_rows; i++)
			if (o->counters[i].saturated)
				visit_put_sample(v, o, "counter", counter_rows[i].name, one);
}

static void visit_available(Visit *v)
{
	const MetricObjects *list = &v->metrics->objects[METRIC_PORTS];
	const MetricObject *o;

	snprintf(v->name, sizeof(v->name), "rdma_port_counters_available");
	visit_begin_family(v, v->name, METRIC_TYPE_GAUGE, "",
			   "Whether the counters of the port could be read.");
	for (size_t n = 0; (o = visit_next(v, list, &n));)
		if (o->counters)
			visit_put_sample(v, o, NULL, NULL, whole(o->has_counters));
}

/* Counters without a row: a driver can invent any name, and each family has to be in one piece */

/* The names of the families that there can be. */
typedef struct Taken {
	char (*names)[METRIC_NAME_MAX];
	size_t n;
} Taken;

static void taken_done(Taken *t)
{
	free(t->names);
	*t = (Taken){};
}

/* How long NAME is without "_total", which OpenMetrics does not count as a part of the name. */
static size_t base_length(const char *name)
{
	size_t n = strlen(name), n_total = strlen("_total");

	return n > n_total && streq(name + n - n_total, "_total") ? n - n_total : n;
}

static int take(void *userdata, const MetricFamily *f)
{
	Taken *t = userdata;

	if (!array_grow(t->names, t->n))
		return -ENOMEM;
	text_copy(t->names[t->n++], METRIC_NAME_MAX, f->name);
	return 0;
}

static bool is_taken(const Taken *t, const char *name)
{
	size_t n = base_length(name);

	for (size_t i = 0; i < t->n; i++)
		if (strncmp(t->names[i], name, n) == 0 && base_length(t->names[i]) == n)
			return true;
	return false;
}

static bool is_same_sample(const ForeignCounter *a, const ForeignCounter *b)
{
	return streq(a->metric, b->metric) && a->device == b->device && a->port == b->port;
}

/* Begins the family of C, if there is none with that name. */
static bool begin_foreign(Visit *v, const Taken *taken, const ForeignCounter *c)
{
	if (is_taken(taken, c->metric))
		return false;
	snprintf(v->name, sizeof(v->name), "%s", c->metric);
	visit_begin_family(v, v->name, METRIC_TYPE_UNKNOWN, "",
			   "A counter of the driver, of which rdmad knows only the name.");
	return true;
}

/* The names of all families. They are always the same, so they are made once. NULL without memory.
 */
static const Taken *all_names(void)
{
	static const MetricsVisitor taker = {.family = take};
	static Taken all;

	if (all.n == 0 &&
	    metrics_visit(NULL, METRICS_ALL_FAMILIES | METRICS_UNAVAILABLE, &taker, &all) < 0)
		taken_done(&all);
	return all.n > 0 ? &all : NULL;
}

/* They are sorted by the names of their families. */
static void visit_foreign(Visit *v)
{
	const ForeignCounters *list = &v->metrics->foreign;
	const Taken *taken = list->n > 0 ? all_names() : NULL;
	bool shown = false;

	if (list->n > 0 && !taken && v->r >= 0)
		v->r = -ENOMEM;
	for (size_t i = 0; i < list->n && v->r >= 0; i++) {
		const ForeignCounter *c = &list->items[i], *last = i > 0 ? c - 1 : NULL;
		const MetricObject *o = metrics_find_port(v->metrics, c->device, c->port);

		if (!last || !streq(c->metric, last->metric))
			shown = begin_foreign(v, taken, c);
		/* two names of one port may differ only by what a metric cannot have */
		if (shown && o && o->layout > v->since && !(last && is_same_sample(last, c)))
			visit_put_counter(v, o, &c->value);
	}
}

int visit_since(const Metrics *m, unsigned int flags, uint64_t since, const MetricsVisitor *visitor,
		void *userdata)
{
	_cleanup_(metrics_free_pointer) Metrics *none = m ? NULL : metrics_new();
	Visit v = {.metrics = m ? m : none,
		   .flags = flags,
		   .since = since,
		   .visitor = visitor,
		   .userdata = userdata};

	if (!v.metrics)
		return -ENOMEM;
	if (flags & METRICS_NODE_EXPORTER) {
		visit_node_exporter(&v);
		return v.r < 0 ? v.r : 0;
	}
	for (MetricObjectKind k = 0; k < _METRIC_OBJECT_KIND_MAX; k++) {
		const MetricObjects *list = &v.metrics->objects[k];

		visit_info(&v, list, object_words[k]);
		for (size_t i = 0; i < list->n_rows && v.r >= 0; i++)
			visit_row(&v, list, i);
		visit_unavailable(&v, list, object_words[k]);
	}
	if (!(flags & METRICS_ONE_KIND))
		visit_findings(&v);
	visit_available(&v);
	for (size_t i = 0; i < n_counter_rows && v.r >= 0; i++)
		visit_counter(&v, i);
	visit_foreign(&v);
	visit_saturated(&v);
	return v.r < 0 ? v.r : 0;
}

int metrics_visit(const Metrics *m, unsigned int flags, const MetricsVisitor *visitor,
		  void *userdata)
{
	return visit_since(m, flags, 0, visitor, userdata);
}
