/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "http-page.h"
#include "own-metrics.h"

#include <zlib.h>

HttpPage *http_page_unref(HttpPage *p)
{
	if (!p || --p->n_refs > 0)
		return NULL;
	if (p->at)
		*p->at = NULL;
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
	*p = (HttpPage){1, NULL, strlen(text), strdup(text), "text/plain; charset=utf-8", false};
	if (!p->text) {
		free(p);
		return -ENOMEM;
	}
	*ret = p;
	return 0;
}

static int render(HttpPages *pages, const SourceState *state, MetricsFormat format, HttpPage **ret)
{
	_cleanup_metrics_text_ MetricsText t = {.format = format};
	MetricsTemplate **template = &pages->templates[format];
	HttpPage *p;
	int r = metrics_template_renew(template, state->metrics, format, 0);

	if (r < 0)
		return r;
	(void)own_metrics_visit(state, &metrics_text_visitor,
				&t); /* metrics_text_finish() knows of errors */
	metrics_text_add_template(&t, *template);
	r = metrics_text_finish(&t);
	if (r < 0)
		return r;
	p = calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	*p = (HttpPage){1,    NULL, t.size, steal_pointer(&t.text), metrics_content_type(t.format),
			false};
	*ret = p;
	return 0;
}

/* Compresses PAGE as gzip(1) does. */
static int compress_page(const HttpPage *page, HttpPage **ret)
{
	enum { BITS = 15, GZIP = 16, MEMORY = 8 };
	z_stream z = {.next_in = (Bytef *)page->text, .avail_in = (uInt)page->size};
	_cleanup_free_ char *text = NULL;
	size_t room;
	HttpPage *p;
	int r;

	if (page->size > UINT32_MAX / 2)
		return -EFBIG;
	/* the quickest level: the best takes six times as long for an eighth less */
	if (deflateInit2(&z, Z_BEST_SPEED, Z_DEFLATED, BITS + GZIP, MEMORY, Z_DEFAULT_STRATEGY) !=
	    Z_OK)
		return -ENOMEM;
	room = deflateBound(&z, page->size);
	text = malloc(room);
	z.next_out = (Bytef *)text;
	z.avail_out = (uInt)room;
	r = text && deflate(&z, Z_FINISH) == Z_STREAM_END ? 0 : -ENOMEM;
	p = r >= 0 ? calloc(1, sizeof(*p)) : NULL;
	if (p)
		*p = (HttpPage){1, NULL, z.total_out, steal_pointer(&text), page->type, true};
	deflateEnd(&z);
	if (!p)
		return -ENOMEM;
	*ret = p;
	return 0;
}

/* The page at AT is not found there any more. */
static void drop_page(HttpPage **at)
{
	if (*at && (*at)->at)
		(*at)->at = NULL;
	else
		http_page_unref(*at);
	*at = NULL;
}

int http_pages_get(HttpPages *p, const SourceState *state, bool openmetrics, bool gzip,
		   HttpPage **ret)
{
	HttpPage **at = &p->last[openmetrics][gzip].page, *page;
	int r;

	if (!*at || p->last[openmetrics][gzip].serial != state->serial) {
		_cleanup_(http_page_unref_pointer) HttpPage *plain = NULL;

		r = gzip ? http_pages_get(p, state, openmetrics, false, &plain) : 0;
		if (r >= 0)
			r = gzip ? compress_page(plain, &page)
				 : render(p, state,
					  openmetrics ? METRICS_OPENMETRICS : METRICS_PROMETHEUS,
					  &page);
		if (r < 0)
			return r;
		drop_page(at);
		*at = page;
		p->last[openmetrics][gzip].serial = state->serial;
		if (!gzip) {
			page->at = at;
			*ret = page;
			return 0;
		}
	}
	*ret = http_page_ref(*at);
	return 0;
}

void http_pages_done(HttpPages *p)
{
	for (size_t i = 0; i < ARRAY_SIZE(p->last); i++)
		for (size_t k = 0; k < ARRAY_SIZE(p->last[i]); k++)
			drop_page(&p->last[i][k].page);
	for (size_t i = 0; i < ARRAY_SIZE(p->templates); i++)
		p->templates[i] = metrics_template_free(p->templates[i]);
}
