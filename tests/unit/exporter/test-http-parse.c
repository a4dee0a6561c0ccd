/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "http-parse.h"
#include "util.h"

#define HOST "Host: localhost\r\n"
#define END  HOST "\r\n"

/* Parses all of TEXT, which must be a request or be refused. What is read behind N bytes is found
 * by the sanitizers. */
static HttpRequest parse_bytes(const char *text, size_t n)
{
	_cleanup_free_ char *exact = malloc(n ? n : 1);
	HttpRequest r = {};

	assert_non_null(exact);
	memcpy(exact, text, n);
	assert_true(http_parse(exact, n, &r));
	return r;
}

static HttpRequest parse(const char *text)
{
	return parse_bytes(text, strlen(text));
}

static void assert_status(const char *text, HttpStatus expected)
{
	HttpRequest r = parse(text);

	if (r.status != expected)
		fail_msg("%d and not %d: %s", r.status, expected, text);
}

static void assert_partial(const char *text)
{
	HttpRequest r;

	assert_false(http_parse(text, strlen(text), &r));
}

static void test_get(_unused_ void **state)
{
	HttpRequest r = parse("GET /metrics HTTP/1.1\r\n" END);

	assert_int_equal(r.status, HTTP_OK);
	assert_int_equal(r.path, HTTP_PATH_METRICS);
	assert_int_equal(r.size, strlen("GET /metrics HTTP/1.1\r\n" END));
	assert_true(r.keep);
	assert_false(r.head);
	assert_false(r.openmetrics);
	r = parse("HEAD / HTTP/1.1\r\n" END "GET");
	assert_int_equal(r.status, HTTP_OK);
	assert_int_equal(r.path, HTTP_PATH_ROOT);
	assert_int_equal(r.size, strlen("HEAD / HTTP/1.1\r\n" END));
	assert_true(r.head);
}

static void test_paths(_unused_ void **state)
{
	static const struct {
		const char *target;
		HttpStatus status;
		HttpPath path;
	} rows[] = {
		{"/", HTTP_OK, HTTP_PATH_ROOT},
		{"/metrics", HTTP_OK, HTTP_PATH_METRICS},
		{"/metrics?name[]=a&b", HTTP_OK, HTTP_PATH_METRICS},
		{"/-/healthy", HTTP_OK, HTTP_PATH_HEALTHY},
		{"http://a:1/metrics", HTTP_OK, HTTP_PATH_METRICS},
		{"HTTP://a", HTTP_OK, HTTP_PATH_ROOT},
		{"/metrics/", HTTP_NOT_FOUND, 0},
		{"/Metrics", HTTP_NOT_FOUND, 0},
		{"//metrics", HTTP_NOT_FOUND, 0},
		{"/metrics%00", HTTP_NOT_FOUND, 0},
		{"metrics", HTTP_BAD_REQUEST, 0},
		{"*", HTTP_BAD_REQUEST, 0},
		{"?", HTTP_BAD_REQUEST, 0},
		{"https://a/metrics", HTTP_BAD_REQUEST, 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char text[256];
		HttpRequest r;

		snprintf(text, sizeof(text), "GET %s HTTP/1.1\r\n" END, rows[i].target);
		r = parse(text);
		if (r.status != rows[i].status || (r.status == HTTP_OK && r.path != rows[i].path))
			fail_msg("%s: %d, %d", rows[i].target, r.status, r.path);
	}
}

static void test_request_lines(_unused_ void **state)
{
	assert_status("POST /metrics HTTP/1.1\r\n" END, HTTP_METHOD_NOT_ALLOWED);
	assert_status("OPTIONS * HTTP/1.1\r\n" END, HTTP_METHOD_NOT_ALLOWED);
	assert_status("GE /metrics HTTP/1.1\r\n" END, HTTP_METHOD_NOT_ALLOWED);
	assert_status("GETT /metrics HTTP/1.1\r\n" END, HTTP_METHOD_NOT_ALLOWED);
	assert_status("get /metrics HTTP/1.1\r\n" END, HTTP_BAD_REQUEST);
	assert_status("GET  /metrics HTTP/1.1\r\n" END, HTTP_BAD_REQUEST);
	assert_status("GET /metrics  HTTP/1.1\r\n" END, HTTP_BAD_REQUEST);
	assert_status("GET /metrics HTTP/1.1 \r\n" END, HTTP_BAD_REQUEST);
	assert_status("GET\t/metrics HTTP/1.1\r\n" END, HTTP_BAD_REQUEST);
	assert_status("GET /a b HTTP/1.1\r\n" END, HTTP_BAD_REQUEST);
	assert_status("GET /metrics\r\n" END, HTTP_BAD_REQUEST);
	assert_status("GET\r\n" END, HTTP_BAD_REQUEST);
	assert_status("GET /metrics HTTP/1\r\n" END, HTTP_BAD_REQUEST);
	assert_status("GET /metrics HTTP/11\r\n" END, HTTP_BAD_REQUEST);
	assert_status("GET /metrics http/1.1\r\n" END, HTTP_BAD_REQUEST);
	assert_status("GET /metrics HTTP/2.0\r\n" END, HTTP_VERSION_NOT_SUPPORTED);
	assert_status("G(T /metrics HTTP/1.1\r\n" END, HTTP_BAD_REQUEST);
	assert_status(" GET /metrics HTTP/1.1\r\n" END, HTTP_BAD_REQUEST);
	/* one empty line before it is allowed */
	assert_status("\r\nGET /metrics HTTP/1.1\r\n" END, HTTP_OK);
	assert_status("\r\n\r\nGET /metrics HTTP/1.1\r\n" END, HTTP_BAD_REQUEST);
}

static void test_fields(_unused_ void **state)
{
#define LINE "GET /metrics HTTP/1.1\r\n"
	assert_status(LINE "\r\n", HTTP_BAD_REQUEST);
	assert_status("GET /metrics HTTP/1.0\r\n\r\n", HTTP_OK);
	assert_status(LINE HOST END, HTTP_BAD_REQUEST);
	assert_status(LINE "hOST:a\r\n\r\n", HTTP_OK);
	assert_status(LINE "Host:\r\n\r\n", HTTP_OK);
	assert_status(LINE "X : a\r\n" END, HTTP_BAD_REQUEST);
	assert_status(LINE ": a\r\n" END, HTTP_BAD_REQUEST);
	assert_status(LINE "X\r\n" END, HTTP_BAD_REQUEST);
	assert_status(LINE HOST " folded\r\n\r\n", HTTP_BAD_REQUEST);
	assert_status(LINE "X: a\rb\r\n" END, HTTP_BAD_REQUEST);
	assert_status(LINE "X: a\x01\r\n" END, HTTP_BAD_REQUEST);
	assert_status(LINE "X: a\x7f\r\n" END, HTTP_BAD_REQUEST);
	assert_status(LINE "X: \xc3\xa4\t\xff\r\n" END, HTTP_OK);
	assert_status(LINE "Content-Length: 0\r\n" END, HTTP_OK);
	assert_status(LINE "Content-Length: 00\r\n" END, HTTP_CONTENT_TOO_LARGE);
	assert_status(LINE "Content-Length: 1\r\n" END, HTTP_CONTENT_TOO_LARGE);
	assert_status(LINE "Content-Length: -1\r\n" END, HTTP_CONTENT_TOO_LARGE);
	assert_status(LINE "content-length:0\r\nContent-Length: 5\r\n" END, HTTP_CONTENT_TOO_LARGE);
	assert_status(LINE "Transfer-Encoding: chunked\r\n" END, HTTP_CONTENT_TOO_LARGE);
}

/* No next request is looked for where it is not known where that begins. */
static void test_keep(_unused_ void **state)
{
	assert_true(parse("GET /x HTTP/1.1\r\n" END).keep);
	assert_false(parse("GET / HTTP/1.0\r\n\r\n").keep);
	assert_false(parse("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").keep);
	assert_false(parse("GET / HTTP/1.1\r\nConnection: close\r\n" END).keep);
	assert_false(parse("GET / HTTP/1.1\r\nConnection: TE , CLOSE\r\n" END).keep);
	assert_true(parse("GET / HTTP/1.1\r\nConnection: closed\r\n" END).keep);
	assert_false(parse("GET / HTTP/1.1\r\nContent-Length: 5\r\n" END).keep);
	assert_false(parse("GET / HTTP/1.1\r\nX\r\n" END).keep);
}

static void test_accept(_unused_ void **state)
{
#define OPEN "application/openmetrics-text"
	static const struct {
		const char *value;
		bool openmetrics;
	} rows[] = {
		{"*/*", false},
		{"text/plain", false},
		{OPEN, true},
		{OPEN "; version=1.0.0; charset=utf-8", true},
		{OPEN ";version=1.0.0," OPEN ";version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,"
		      "*/*;q=0.1",
		 true},
		{"text/plain;q=0.9," OPEN ";q=0.8", false},
		{"text/plain;q=0.9 , " OPEN " ; q=0.95", true},
		{"text/plain;q=0.123," OPEN ";q=0.124", true},
		{OPEN ";q=0", false},
		{OPEN ";q=0.000", false},
		{OPEN ";q=abc", false},
		{OPEN ";q=", true},
		{OPEN ";Q=1.0", true},
		{OPEN "x", false},
		{",,;,", false},
		{"", false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char text[512];
		HttpRequest r;

		snprintf(text, sizeof(text), LINE "Accept: %s\r\n" END, rows[i].value);
		r = parse(text);
		assert_int_equal(r.status, HTTP_OK);
		if (r.openmetrics != rows[i].openmetrics)
			fail_msg("Accept: %s: %d", rows[i].value, r.openmetrics);
	}
}

static void test_accept_encoding(_unused_ void **state)
{
	static const struct {
		const char *value;
		bool gzip;
	} rows[] = {
		{"gzip", true},
		{"deflate, GZIP", true},
		{"gzip;q=0", false},
		{"gzip;q=0.001", true},
		{"identity", false},
		{"*", false},
		{"br , gzip ; q=1", true},
		{"", false},
		{"gzipped", false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char text[512];

		snprintf(text, sizeof(text), LINE "Accept-Encoding: %s\r\n" END, rows[i].value);
		if (parse(text).gzip != rows[i].gzip)
			fail_msg("Accept-Encoding: %s", rows[i].value);
	}
	assert_false(parse(LINE END).gzip);
}

/* Each beginning of a request is no request yet, and is not refused. */
static void test_partial(_unused_ void **state)
{
	static const char whole[] = "\r\nGET /metrics HTTP/1.1\r\nAccept: */*\r\n" END;
	HttpRequest r;

	for (size_t n = 0; n < sizeof(whole) - 1; n++) {
		_cleanup_free_ char *exact = malloc(n ? n : 1);

		assert_non_null(exact);
		memcpy(exact, whole, n);
		if (http_parse(exact, n, &r))
			fail_msg("%zu bytes: %d", n, r.status);
	}
	assert_partial("GET");
}

/* What can never become a request is refused at once. */
static void test_early(_unused_ void **state)
{
	assert_int_equal(parse("\x16\x03\x01").status, HTTP_BAD_REQUEST);
	assert_int_equal(parse("{").status, HTTP_BAD_REQUEST);
	assert_int_equal(parse("\n").status, HTTP_BAD_REQUEST);
	assert_int_equal(parse("GET / HTTP/1.1\n").status, HTTP_BAD_REQUEST);
	assert_int_equal(parse(LINE "Host: a\n").status, HTTP_BAD_REQUEST);
	assert_int_equal(parse_bytes("\0", 1).status, HTTP_BAD_REQUEST);
}

/* BEFORE, N times 'a', AFTER. */
static HttpRequest parse_long(const char *before, size_t n, const char *after)
{
	size_t size = strlen(before) + n + strlen(after);
	_cleanup_free_ char *text = malloc(size + 1);

	assert_non_null(text);
	memcpy(text, before, strlen(before));
	memset(text + strlen(before), 'a', n);
	strcpy(text + strlen(before) + n, after);
	return parse_bytes(text, size);
}

static void test_limits(_unused_ void **state)
{
	const size_t line = HTTP_LINE_MAX - strlen("GET / HTTP/1.1\r\n");
	const size_t head = HTTP_HEAD_MAX - strlen(LINE "X: \r\n" END);

	assert_int_equal(parse_long("GET /", line, " HTTP/1.1\r\n" END).status, HTTP_NOT_FOUND);
	assert_int_equal(parse_long("GET /", line + 1, " HTTP/1.1\r\n" END).status,
			 HTTP_URI_TOO_LONG);
	assert_int_equal(parse_long("GET /", HTTP_LINE_MAX - 5, "").status, HTTP_URI_TOO_LONG);
	assert_int_equal(parse_long("GET /", HTTP_HEAD_MAX, "").status, HTTP_URI_TOO_LONG);
	assert_int_equal(parse_long(LINE "X: ", head, "\r\n" END).status, HTTP_OK);
	assert_int_equal(parse_long(LINE "X: ", head + 1, "\r\n" END).status,
			 HTTP_HEADERS_TOO_LARGE);
	assert_int_equal(parse_long(LINE "X: ", HTTP_HEAD_MAX, "").status, HTTP_HEADERS_TOO_LARGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_get),	      cmocka_unit_test(test_paths),
		cmocka_unit_test(test_request_lines), cmocka_unit_test(test_fields),
		cmocka_unit_test(test_keep),	      cmocka_unit_test(test_accept),
		cmocka_unit_test(test_partial),	      cmocka_unit_test(test_early),
		cmocka_unit_test(test_limits),	      cmocka_unit_test(test_accept_encoding),
	};

	return cmocka_run_group_tests_name("http-parse", tests, NULL, NULL);
}
