/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "http-page.h"
#include "own-metrics.h"

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

static int add_family(void *userdata, const MetricFamily *f)
{
	metrics_text_family(userdata, f);
	return 0;
}

static int add_sample(void *userdata, const MetricFamily *f, const MetricSample *s)
{
	metrics_text_sample(userdata, f, s);
	return 0;
}

static int render(const SourceState *state, bool openmetrics, HttpPage **ret)
{
	_cleanup_metrics_text_ MetricsText t = {.format = openmetrics ? METRICS_OPENMETRICS
								      : METRICS_PROMETHEUS};
	static const MetricsVisitor visitor = {.family = add_family, .sample = add_sample};
	HttpPage *p;
	int r;

	(void)own_metrics_visit(state, &visitor, &t); /* metrics_text_finish() knows of errors */
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
