/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "http-page.h"

HttpPage *http_page_unref(HttpPage *p)
{
	if (!p || --p->n_refs > 0)
		return NULL;
	free(p->text);
	free(p);
	return NULL;
}

HttpPage *http_page_ref(HttpPage *p)
{
	p->n_refs++;
	return p;
}

int http_page_new(const char *text, HttpPage **ret)
{
	HttpPage *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	*p = (HttpPage){1, strlen(text), strdup(text), "text/plain; charset=utf-8"};
	if (!p->text) {
		free(p);
		return -ENOMEM;
	}
	*ret = p;
	return 0;
}

/* A family with one sample. */
static void add(MetricsText *t, const MetricFamily *f, const MetricSample *s)
{
	metrics_text_family(t, f);
	metrics_text_sample(t, f, s);
}

/* What is about the exporter and not about a device. */
static void add_own(MetricsText *t, const SourceState *state)
{
	static const MetricFamily up = {"rdma_rdmad_up", METRIC_TYPE_GAUGE, "",
					"Whether rdmad answers."};
	static const MetricFamily duration = {"rdma_scrape_duration_seconds", METRIC_TYPE_GAUGE,
					      "seconds",
					      "How long it took to ask rdmad for these metrics."};
	static const MetricFamily build = {"rdma_exporter_build_info", METRIC_TYPE_INFO, "",
					   "The version of rdmad-exporter."};
	static const MetricLabel version = {"version", RDMAD_VERSION};

	add(t, &up, &(MetricSample){.number = {state->up, 1, false}});
	add(t, &duration, &(MetricSample){.number = {state->duration_usec, USEC_PER_SEC, false}});
	add(t, &build, &(MetricSample){.labels = &version, .n_labels = 1, .number = {1, 1, false}});
}

static int render(const SourceState *state, bool openmetrics, HttpPage **ret)
{
	_cleanup_metrics_text_ MetricsText t = {.format = openmetrics ? METRICS_OPENMETRICS
								      : METRICS_PROMETHEUS};
	HttpPage *p;
	int r;

	add_own(&t, state);
	metrics_text_add(&t, state->metrics, 0);
	r = metrics_text_finish(&t);
	if (r < 0)
		return r;
	p = calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	*p = (HttpPage){1, t.size, steal_pointer(&t.text), metrics_content_type(t.format)};
	*ret = p;
	return 0;
}

int http_pages_get(HttpPages *p, const SourceState *state, bool openmetrics, HttpPage **ret)
{
	HttpPage *page;
	int r;

	if (!p->last[openmetrics].page || p->last[openmetrics].serial != state->serial) {
		r = render(state, openmetrics, &page);
		if (r < 0)
			return r;
		http_page_unref(p->last[openmetrics].page);
		p->last[openmetrics].page = page;
		p->last[openmetrics].serial = state->serial;
	}
	*ret = http_page_ref(p->last[openmetrics].page);
	return 0;
}

void http_pages_done(HttpPages *p)
{
	for (size_t i = 0; i < ARRAY_SIZE(p->last); i++)
		p->last[i].page = http_page_unref(p->last[i].page);
}
