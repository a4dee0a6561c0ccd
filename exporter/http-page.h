/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The texts that are sent. All connections that send the same page share it: what slow readers hold
 * is one page for each second, and not one for each of them. */

#include "source.h"

typedef struct HttpPage {
	unsigned int n_refs;
	struct HttpPage **at; /* where it is found as long as somebody sends it; NULL: nowhere */
	size_t size;
	char *text;
	const char *type; /* for Content-Type: */
	bool gzip;	  /* TEXT is compressed */
} HttpPage;

/* Takes NULL; returns NULL. */
HttpPage *http_page_unref(HttpPage *p);
HttpPage *http_page_ref(HttpPage *p);
DEFINE_CLEANUP(HttpPage, http_page_unref);

/* A page of plain text, which is copied. -ENOMEM. */
int http_page_new(const char *text, HttpPage **ret);

/* The last page of metrics in each format, and the same compressed. Zeroed, there is none. */
typedef struct HttpPages {
	struct {
		HttpPage *page;	 /* as long as somebody sends it: it is quickly made again. A
				    compressed one stays, which is small and takes long to make */
		uint64_t serial; /* of the state in it */
	} last[2][2];
	/* The part of the pages that stays while only counters change, in each format. */
	MetricsTemplate *templates[_METRICS_FORMAT_MAX];
} HttpPages;

void http_pages_done(HttpPages *p);
/* The metrics of STATE. Compressed a page has a sixth of the bytes, which takes 0.2 ms for 40 KiB,
 * once for all. *RET is a reference of the caller's. -ENOMEM. */
int http_pages_get(HttpPages *p, const SourceState *state, bool openmetrics, bool gzip,
		   HttpPage **ret);
