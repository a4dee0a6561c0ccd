/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The head of an HTTP request (RFC 9112), strictly: lines end with CR LF, there is one Host, there
 * are no folded lines, and no control characters. So nobody else, a proxy for example, reads the
 * same bytes as another request. A request with a body is refused, as no method here takes one.
 */

#include <stdbool.h>
#include <stddef.h>

/* The longest request line, and the longest head, with all their ends of lines. */
#define HTTP_LINE_MAX 2048U
#define HTTP_HEAD_MAX 8192U

typedef enum HttpStatus {
	HTTP_OK = 200,
	HTTP_BAD_REQUEST = 400,
	HTTP_NOT_FOUND = 404,
	HTTP_METHOD_NOT_ALLOWED = 405,
	HTTP_REQUEST_TIMEOUT = 408,
	HTTP_CONTENT_TOO_LARGE = 413,
	HTTP_URI_TOO_LONG = 414,
	HTTP_HEADERS_TOO_LARGE = 431,
	HTTP_UNAVAILABLE = 503,
	HTTP_VERSION_NOT_SUPPORTED = 505,
} HttpStatus;

typedef enum HttpPath {
	HTTP_PATH_ROOT,
	HTTP_PATH_METRICS,
	HTTP_PATH_HEALTHY,
} HttpPath;

typedef struct HttpRequest {
	HttpStatus status; /* HTTP_OK, or why the request is refused */
	size_t size;	   /* how many bytes it has */
	HttpPath path;
	bool head;	  /* the method is HEAD */
	bool keep;	  /* the connection may stay open afterwards. False if it is not known where
			     the next request begins */
	bool openmetrics; /* the client prefers OpenMetrics to the older text format */
	bool gzip;	  /* the reply may be compressed */
} HttpRequest;

/* Looks for a request at the beginning of the N bytes at DATA. False: it is not complete yet, and
 * as far as it goes nothing is wrong with it; N is less than HTTP_HEAD_MAX then. */
bool http_parse(const char *data, size_t n, HttpRequest *ret);

/* "Not Found" */
const char *http_reason(HttpStatus status);
