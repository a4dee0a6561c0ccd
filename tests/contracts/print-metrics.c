/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Prints the names, types and units of all metrics that there can be, and the labels of those that
 * only say something with labels: one in each line, as monitoring/metrics-version-1.txt has them.
 */

#include <stdio.h>

#include "metrics.h"
#include "own-metrics.h"

static const char *const types[_METRIC_TYPE_MAX] = {
	[METRIC_TYPE_GAUGE] = "gauge",	     [METRIC_TYPE_COUNTER] = "counter",
	[METRIC_TYPE_STATESET] = "stateset", [METRIC_TYPE_INFO] = "info",
	[METRIC_TYPE_UNKNOWN] = "unknown",
};

static int print_family(_unused_ void *userdata, const MetricFamily *f)
{
	printf("metric %s %s%s%s\n", f->name, types[f->type], *f->unit ? " " : "", f->unit);
	return 0;
}

/* The labels of the info metrics, and the states of those that have a label for the state. */
static void print_labels(const Attribute *rows, size_t n)
{
	char name[METRIC_NAME_MAX];

	for (size_t i = 0; i < n; i++) {
		const char *const *states = attr_type_names(rows[i].type);

		if (rows[i].metric == METRIC_INFO) {
			metric_label_name(&rows[i], name);
			printf("label %s %s\n", metric_info_name(&rows[i]), name);
		}
		if (rows[i].metric != METRIC_STATESET || !metric_row_name(&rows[i], name))
			continue;
		for (size_t k = 0; states && states[k]; k++)
			printf("state %s %s\n", name, states[k]);
	}
}

int main(void)
{
	static const MetricsVisitor visitor = {.family = print_family};
	const SourceState state = {};
	unsigned int all = METRICS_ALL_FAMILIES | METRICS_UNAVAILABLE;

	if (metrics_visit(NULL, all, &visitor, NULL) < 0 ||
	    own_metrics_visit(&state, &visitor, NULL) < 0 ||
	    metrics_visit(NULL, all | METRICS_NODE_EXPORTER, &visitor, NULL) < 0)
		return 1;
	print_labels(port_attributes, _PORT_ATTR_MAX);
	print_labels(device_attributes, _DEVICE_ATTR_MAX);
	return fflush(stdout) == 0 ? 0 : 1;
}
