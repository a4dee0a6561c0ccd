/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The metrics that the collector "infiniband" of node_exporter 1.5 has, with
 * its names, types, labels and units. Their values are those of rdmad. The
 * names of its counters are a column of counters.def.
 */

#include "decode.h"
#include "visit.h"

static void begin(Visit *v, MetricType type, const char *name, const char *unit, const char *help)
{
	snprintf(v->name, sizeof(v->name), "node_infiniband_%s%s", name,
		 type == METRIC_TYPE_COUNTER ? "_total" : "");
	visit_begin_family(v, v->name, type, unit, help);
}

/* node_infiniband_info: one for each device, with three labels */
static void visit_info(Visit *v)
{
	static const DeviceAttr rows[] = {DEVICE_ATTR_board_id, DEVICE_ATTR_fw_ver,
					  DEVICE_ATTR_hca_type};
	const MetricObjects *list = &v->metrics->objects[METRIC_DEVICES];
	char names[ARRAY_SIZE(rows)][METRIC_NAME_MAX];
	const MetricObject *o;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		metric_label_name(&device_attributes[rows[i]], names[i]);
	begin(v, METRIC_TYPE_INFO, "info", "", "What the device is, as labels; the value is 1.");
	for (size_t n = 0; (o = visit_next(v, list, &n));) {
		MetricLabel labels[2 + ARRAY_SIZE(rows)];
		size_t n_labels = visit_set_labels(o, labels);

		for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
			const Value *value = visit_value(o, rows[i]);

			if (value->type == VALUE_TEXT && *value->text)
				labels[n_labels++] = (MetricLabel){names[i], value->text};
		}
		visit_put_labels(v, o, labels, n_labels, one);
	}
}

/* The code of an enumeration. */
static void visit_code(Visit *v, PortAttr a, const char *name)
{
	const MetricObjects *list = &v->metrics->objects[METRIC_PORTS];
	const MetricObject *o;

	begin(v, METRIC_TYPE_GAUGE, name, "", attr_help(&port_attributes[a]));
	for (size_t n = 0; (o = visit_next(v, list, &n));) {
		const Value *value = visit_value(o, a);
		uint32_t code;

		if (value->type == VALUE_TEXT &&
		    decode_value(port_attributes[a].type, value->text, &code) == 0)
			visit_put_sample(v, o, NULL, NULL, whole(code));
	}
}

static void visit_rate(Visit *v)
{
	const MetricObjects *list = &v->metrics->objects[METRIC_PORTS];
	const Attribute *row = &port_attributes[PORT_ATTR_rate];
	const MetricObject *o;

	begin(v, METRIC_TYPE_GAUGE, "rate_bytes_per_second", metric_row_unit(row), attr_help(row));
	for (size_t n = 0; (o = visit_next(v, list, &n));) {
		const Value *value = visit_value(o, PORT_ATTR_rate);

		if (is_number(value))
			visit_put_sample(v, o, NULL, NULL, visit_number(row, value));
	}
}

static void visit_counter(Visit *v, size_t i)
{
	const MetricObjects *list = &v->metrics->objects[METRIC_PORTS];
	const CounterRow *row = &counter_rows[i];
	const MetricObject *o;

	if (!*row->node_exporter)
		return;
	begin(v, METRIC_TYPE_COUNTER, row->node_exporter,
	      row->unit == COUNTER_BYTES ? counter_unit_name(row->unit) : "", counter_help(row));
	for (size_t n = 0; (o = visit_next(v, list, &n));)
		if (o->counters && o->counters[i].valid)
			visit_put_counter(v, o, &o->counters[i].value);
}

void visit_node_exporter(Visit *v)
{
	visit_info(v);
	visit_code(v, PORT_ATTR_state, "state_id");
	visit_code(v, PORT_ATTR_phys_state, "physical_state_id");
	visit_rate(v);
	for (size_t i = 0; i < n_counter_rows; i++)
		visit_counter(v, i);
}
