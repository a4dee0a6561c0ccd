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

/* Until there are metrics of ports. */
static int render(const SourceState *state, bool openmetrics, HttpPage **ret)
{
	char text[256];

	snprintf(text, sizeof(text),
		 "# HELP rdma_rdmad_up Whether rdmad answers.\n# TYPE rdma_rdmad_up gauge\n"
		 "rdma_rdmad_up %d\n%s",
		 state->up, openmetrics ? "# EOF\n" : "");
	return http_page_new(text, ret);
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
