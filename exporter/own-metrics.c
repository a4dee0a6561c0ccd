/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "own-metrics.h"

static const MetricFamily duration = {.name = "rdma_scrape_duration_seconds",
				      .type = METRIC_TYPE_GAUGE,
				      .unit = "seconds",
				      .help = "How long it took to ask rdmad for these metrics."};
static const MetricFamily build = {.name = "rdma_exporter_build_info",
				   .type = METRIC_TYPE_INFO,
				   .unit = "",
				   .help = "The version of rdmad-exporter."};

/* A family with one sample. */
static int visit(const MetricsVisitor *visitor, void *userdata, const MetricFamily *f,
		 const MetricSample *s)
{
	int r = visitor->family ? visitor->family(userdata, f) : 0;

	return r >= 0 && visitor->sample ? visitor->sample(userdata, f, s) : r;
}

int own_metrics_visit(const SourceState *state, const MetricsVisitor *visitor, void *userdata)
{
	const MetricLabel version = {"version", RDMAD_VERSION};
	const MetricSample is_up = {.number = {state->up, 1, false}};
	const MetricSample usec = {.number = {state->duration_usec, USEC_PER_SEC, false}};
	const MetricSample built = {.labels = &version, .n_labels = 1, .number = {1, 1, false}};
	int r = visit(visitor, userdata, &metrics_up, &is_up);

	if (r >= 0)
		r = visit(visitor, userdata, &duration, &usec);
	return r < 0 ? r : visit(visitor, userdata, &build, &built);
}
