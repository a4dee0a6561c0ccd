/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The head of an HTTP request, as it arrives in pieces. What is decided of a part of the input is
 * what is decided of all of it; and what is accepted is what a second, simpler look finds.
 */

#include "http-parse.h"
#include "input.h"

/* The first line of DATA, and the method and the version in it, are what they have to be. */
static void check_accepted(const char *data, const HttpRequest *r)
{
	static const char *const paths[] = {"/", "/metrics", "/-/healthy"};
	const char *at = startswith(data, "\r\n") ? data + 2 : data;
	const char *line_end = strstr(at, "\r\n"), *slash;

	FUZZ_CHECK(line_end && line_end - at >= 14);
	FUZZ_CHECK(startswith(at, r->head ? "HEAD " : "GET "));
	FUZZ_CHECK(startswith(line_end - 9, " HTTP/1."));
	slash = strstr(at, paths[r->path]);
	/* a target without a path is the path "/" */
	FUZZ_CHECK((slash && slash < line_end) || r->path == HTTP_PATH_ROOT);
	FUZZ_CHECK(r->size >= 4 && memcmp(data + r->size - 4, "\r\n\r\n", 4) == 0);
	FUZZ_CHECK(strlen(data) >= r->size); /* no NUL is in it */
}

static void check(const char *data, size_t n, const HttpRequest *r)
{
	FUZZ_CHECK(r->size > 0 && r->size <= n && r->size <= HTTP_HEAD_MAX);
	FUZZ_CHECK(*http_reason(r->status) && !streq(http_reason(r->status), "Unknown"));
	FUZZ_CHECK(!r->keep || r->status == HTTP_OK || r->status == HTTP_NOT_FOUND ||
		   r->status == HTTP_METHOD_NOT_ALLOWED || r->status == HTTP_BAD_REQUEST);
	if (r->status == HTTP_OK)
		check_accepted(data, r);
}

static bool equal(const HttpRequest *a, const HttpRequest *b)
{
	return a->status == b->status && a->path == b->path && a->head == b->head &&
	       a->keep == b->keep && a->openmetrics == b->openmetrics && a->gzip == b->gzip;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *text = malloc(size + 1);
	HttpRequest whole = {}, part = {};
	bool complete;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	complete = http_parse(text, size, &whole);
	FUZZ_CHECK(complete || size < HTTP_HEAD_MAX);
	if (complete)
		check(text, size, &whole);
	for (size_t n = 0; n < size; n++) {
		/* exactly so many bytes, so that AddressSanitizer finds a read after them */
		_cleanup_free_ char *exact = malloc(n ? n : 1);

		if (!exact)
			return 0;
		memcpy(exact, data, n);
		if (!http_parse(exact, n, &part))
			continue;
		FUZZ_CHECK(complete);
		/* a part may be refused for a wrong end before the rest is there */
		FUZZ_CHECK(equal(&part, &whole) || part.status != HTTP_OK);
		break;
	}
	return 0;
}
