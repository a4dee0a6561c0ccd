/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A visit of the families of a machine, which have the names of rdmad (visit.c)
 * or those of node_exporter (visit-node-exporter.c). Both call the visitor by visit-put.c. */

#include "metrics-private.h"

/* A visit: where it is. */
typedef struct Visit {
	const Metrics *metrics;
	unsigned int flags;
	uint64_t since; /* only what has changed after this layout */
	const MetricsVisitor *visitor;
	void *userdata;
	MetricFamily family;
	bool announced; /* the visitor knows of the family */
	char name[METRIC_NAME_MAX];
	char help[512];
	int r; /* the first result that is negative */
} Visit;

/* metrics_visit(), for objects only that have changed since M had the layout SINCE; 0: for all. */
int visit_since(const Metrics *m, unsigned int flags, uint64_t since, const MetricsVisitor *visitor,
		void *userdata);

/* The next object of LIST, from number *I on, that is visited. NULL: there is none, or the visit
 * ends. */
static inline const MetricObject *visit_next(const Visit *v, const MetricObjects *list, size_t *i)
{
	while (v->r >= 0 && *i < list->n) {
		const MetricObject *o = &list->items[(*i)++];

		if (o->layout > v->since)
			return o;
	}
	return NULL;
}

static const MetricNumber one = {.value = 1, .divisor = 1};

static inline MetricNumber whole(uint64_t value)
{
	return (MetricNumber){.value = value, .divisor = 1};
}

static inline bool is_number(const Value *value)
{
	return value->type == VALUE_BOOL || value->type == VALUE_UNSIGNED ||
	       value->type == VALUE_SIGNED || value->type == VALUE_ARRAY;
}

/* How many values of O are before that of row I. */
static inline size_t visit_place(const MetricObject *o, size_t i)
{
	uint64_t before = o->rows.bits[i / 64] & ((UINT64_C(1) << i % 64) - 1);

	return o->n_before[i / 64] + (size_t)__builtin_popcountll(before);
}

/* The value of row I of O; VALUE_NONE if it has none. */
static inline const Value *visit_value(const MetricObject *o, size_t i)
{
	static const Value none = {};

	return mask_has(&o->rows, (unsigned int)i) ? &o->values[visit_place(o, i)] : &none;
}

/* Begins the family NAME. */
void visit_begin_family(Visit *v, const char *name, MetricType type, const char *unit,
			const char *help);
/* Sets the labels that every sample of O has, at most two; those of the machine have none. Returns
 * how many. */
size_t visit_set_labels(const MetricObject *o, MetricLabel *labels);
/* A sample of O with these labels. */
void visit_put_labels(Visit *v, const MetricObject *o, const MetricLabel *labels, size_t n,
		      MetricNumber number);
/* A sample of O, which has one more label unless LABEL is NULL. */
void visit_put_sample(Visit *v, const MetricObject *o, const char *label, const char *label_value,
		      MetricNumber number);
/* A sample of O whose number is the counter at COUNTER. */
void visit_put_counter(Visit *v, const MetricObject *o, const uint64_t *counter);
/* The number VALUE of ROW, in the unit of the metric. */
MetricNumber visit_number(const Attribute *row, const Value *value);

/* Visits the families that node_exporter has. */
void visit_node_exporter(Visit *v);
