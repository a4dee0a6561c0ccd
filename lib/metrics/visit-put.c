/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* How a visit calls the visitor, for the families of all names. */

#include "visit.h"

static void announce_family(Visit *v)
{
	if (!v->announced && v->visitor->family && v->r >= 0)
		v->r = v->visitor->family(v->userdata, &v->family);
	v->announced = true;
}

void visit_begin_family(Visit *v, const char *name, MetricType type, const char *unit,
			const char *help)
{
	v->family = (MetricFamily){.name = name,
				   .number = v->family.number + 1,
				   .type = type,
				   .unit = unit,
				   .help = help};
	v->announced = false;
	if (v->flags & METRICS_ALL_FAMILIES)
		announce_family(v);
}

static void put_sample(Visit *v, const MetricSample *sample)
{
	announce_family(v);
	if (v->visitor->sample && v->r >= 0)
		v->r = v->visitor->sample(v->userdata, &v->family, sample);
}

static unsigned int number_of(const Visit *v, const MetricObject *o)
{
	const MetricObjects *ports = &v->metrics->objects[METRIC_PORTS],
			    *devices = &v->metrics->objects[METRIC_DEVICES];

	return (unsigned int)(*o->number ? o - ports->items
			      : o->name	 ? (ptrdiff_t)ports->n + (o - devices->items)
					 : (ptrdiff_t)(ports->n + devices->n));
}

static size_t count_labels(const MetricObject *o)
{
	return *o->number ? 2 : o->name ? 1 : 0;
}

void visit_put_labels(Visit *v, const MetricObject *o, const MetricLabel *labels, size_t n,
		      MetricNumber number)
{
	put_sample(v, &(MetricSample){.labels = labels,
				      .n_labels = n,
				      .text = o->labels,
				      .n_text = count_labels(o),
				      .object = number_of(v, o),
				      .of_function = o->is_function,
				      .number = number});
}

size_t visit_set_labels(const MetricObject *o, MetricLabel *labels)
{
	labels[0] = (MetricLabel){"device", o->name};
	labels[1] = (MetricLabel){"port", o->number};
	return count_labels(o);
}

void visit_put_sample(Visit *v, const MetricObject *o, const char *label, const char *label_value,
		      MetricNumber number)
{
	MetricLabel labels[3];
	size_t n = visit_set_labels(o, labels);

	if (label)
		labels[n++] = (MetricLabel){label, label_value};
	visit_put_labels(v, o, labels, n, number);
}

void visit_put_counter(Visit *v, const MetricObject *o, const uint64_t *counter)
{
	MetricLabel labels[2];
	size_t n = visit_set_labels(o, labels);

	put_sample(v, &(MetricSample){.labels = labels,
				      .n_labels = n,
				      .text = o->labels,
				      .n_text = n,
				      .object = number_of(v, o),
				      .of_function = o->is_function,
				      .number = whole(*counter),
				      .counter = counter});
}

MetricNumber visit_number(const Attribute *row, const Value *value)
{
	MetricNumber n = {.value = value->number, .divisor = unit_rows[row->unit].divisor};

	if (value->type == VALUE_BOOL)
		n.value = value->boolean;
	if (value->type == VALUE_ARRAY)
		n.value = value->n;
	if (value->type == VALUE_SIGNED) {
		n.value = -n.value;
		n.negative = true;
	}
	return n;
}
