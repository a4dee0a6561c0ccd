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

/* S(status, number, reason, text): TEXT is for people. */
#define HTTP_STATUSES(S)                                                                           \
	S(OK, 200, "OK", "OK\n")                                                                   \
	S(BAD_REQUEST, 400, "Bad Request", "This is no HTTP request.\n")                           \
	S(NOT_FOUND, 404, "Not Found", "Nothing is here. The metrics are at /metrics\n")           \
	S(METHOD_NOT_ALLOWED, 405, "Method Not Allowed", "There are only GET and HEAD.\n")         \
	S(REQUEST_TIMEOUT, 408, "Request Timeout", "The request took too long.\n")                 \
	S(CONTENT_TOO_LARGE, 413, "Content Too Large", "A request has no content here.\n")         \
	S(URI_TOO_LONG, 414, "URI Too Long", "The request line is too long.\n")                    \
	S(HEADERS_TOO_LARGE, 431, "Request Header Fields Too Large",                               \
	  "The head of the request is too long.\n")                                                \
	S(UNAVAILABLE, 503, "Service Unavailable", "There is no memory for the metrics now.\n")    \
	S(VERSION_NOT_SUPPORTED, 505, "HTTP Version Not Supported",                                \
	  "This server knows HTTP/1.0 and HTTP/1.1.\n")

typedef enum HttpStatus {
#define S(status, number, reason, text) HTTP_##status = number,
	HTTP_STATUSES(S)
#undef S
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
/* The text of a page that says so. */
const char *http_explain(HttpStatus status);
