/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Metrics as text: the text format of Prometheus, version 0.0.4, and OpenMetrics 1.0.
 *
 * They differ in this: a family of OpenMetrics has its name without "_total" and "_info", the types
 * "info" and "unknown", lines UNIT, and an end. A state set is a gauge in both: OpenMetrics wants
 * its label to have the name of the family, so that one query could not serve both formats.
 */

#include "text-put.h"

const char *metrics_format_name(MetricsFormat format)
{
	static const char *const names[_METRICS_FORMAT_MAX] = {
		[METRICS_PROMETHEUS] = "prometheus",
		[METRICS_OPENMETRICS] = "openmetrics",
	};

	return names[format];
}

const char *metrics_content_type(MetricsFormat format)
{
	static const char *const types[_METRICS_FORMAT_MAX] = {
		[METRICS_PROMETHEUS] = "text/plain; version=0.0.4; charset=utf-8",
		[METRICS_OPENMETRICS] =
			"application/openmetrics-text; version=1.0.0; charset=utf-8",
	};

	return types[format];
}

/* How long the name of F is as the format has it. */
static size_t family_length(const MetricsText *t, const MetricFamily *f)
{
	size_t n = strlen(f->name);

	if (t->format == METRICS_OPENMETRICS && f->type == METRIC_TYPE_COUNTER)
		return n - strlen("_total");
	if (t->format == METRICS_OPENMETRICS && f->type == METRIC_TYPE_INFO)
		return n - strlen("_info");
	return n;
}

static const char *type_name(MetricsFormat format, MetricType type)
{
	bool open = format == METRICS_OPENMETRICS;

	switch (type) {
	case METRIC_TYPE_COUNTER:
		return "counter";
	case METRIC_TYPE_INFO:
		return open ? "info" : "gauge";
	case METRIC_TYPE_UNKNOWN:
		return open ? "unknown" : "untyped";
	case METRIC_TYPE_GAUGE:
	case METRIC_TYPE_STATESET:
	case _METRIC_TYPE_MAX:
		break;
	}
	return "gauge";
}

/* "# WHAT NAME " */
static void begin_comment(MetricsText *t, const char *what, const MetricFamily *f)
{
	text_put_text(t, what);
	text_put(t, f->name, family_length(t, f));
	text_put(t, " ", 1);
}

void metrics_text_family(MetricsText *t, const MetricFamily *f)
{
	begin_comment(t, "# HELP ", f);
	text_put_escaped(t, f->help, t->format == METRICS_OPENMETRICS);
	text_put(t, "\n", 1);
	begin_comment(t, "# TYPE ", f);
	text_put_text(t, type_name(t->format, f->type));
	text_put(t, "\n", 1);
	if (t->format != METRICS_OPENMETRICS || !*f->unit)
		return;
	begin_comment(t, "# UNIT ", f);
	text_put_text(t, f->unit);
	text_put(t, "\n", 1);
}

void text_put_before_number(MetricsText *t, const MetricFamily *f, const MetricSample *s)
{
	text_put_text(t, f->name);
	if (s->n_labels == 0) {
		text_put(t, " ", 1);
		return;
	}
	text_put(t, "{", 1);
	if (s->text)
		text_put_text(t, s->text);
	text_put_labels(t, s->labels, s->text ? s->n_text : 0, s->n_labels);
	text_put(t, "} ", 2);
}

void metrics_text_sample(MetricsText *t, const MetricFamily *f, const MetricSample *s)
{
	char number[METRIC_NUMBER_MAX];

	text_put_before_number(t, f, s);
	text_put_text(t, metric_number_format(s->number, number));
	text_put(t, "\n", 1);
}

static int add_family(void *userdata, const MetricFamily *f)
{
	MetricsText *t = userdata;

	metrics_text_family(t, f);
	return t->error;
}

static int add_sample(void *userdata, const MetricFamily *f, const MetricSample *s)
{
	MetricsText *t = userdata;

	metrics_text_sample(t, f, s);
	return t->error;
}

const MetricsVisitor metrics_text_visitor = {.family = add_family, .sample = add_sample};

void metrics_text_add(MetricsText *t, const Metrics *m, unsigned int flags)
{
	int r = metrics_visit(m, flags, &metrics_text_visitor, t);

	if (r < 0 && t->error == 0)
		t->error = r;
}

int metrics_text_finish(MetricsText *t)
{
	if (t->format == METRICS_OPENMETRICS)
		text_put_text(t, "# EOF\n");
	text_put(t, "", 1);
	if (t->error == 0)
		t->size--;
	return t->error;
}
