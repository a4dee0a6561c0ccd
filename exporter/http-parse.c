/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "http-parse.h"

#include <stdint.h>
#include <strings.h>

#include "util.h"

/* A part of the input, not terminated. */
typedef struct Span {
	const char *at;
	size_t n;
} Span;

static bool span_is(Span s, const char *text)
{
	return s.n == strlen(text) && memcmp(s.at, text, s.n) == 0;
}

/* The same, and upper and lower case are equal. */
static bool span_is_word(Span s, const char *text)
{
	return s.n == strlen(text) && strncasecmp(s.at, text, s.n) == 0;
}

static Span skip(Span s, size_t n)
{
	return (Span){s.at + n, s.n - n};
}

/* Takes the part of *S before the first C, or all of it; C is lost. */
static Span take(Span *s, char c)
{
	const char *end = s->n > 0 ? memchr(s->at, c, s->n) : NULL;
	Span taken = {s->at, end ? (size_t)(end - s->at) : s->n};

	*s = skip(*s, end ? taken.n + 1 : taken.n);
	return taken;
}

static Span trim(Span s)
{
	while (s.n > 0 && (*s.at == ' ' || *s.at == '\t'))
		s = skip(s, 1);
	while (s.n > 0 && (s.at[s.n - 1] == ' ' || s.at[s.n - 1] == '\t'))
		s.n--;
	return s;
}

/* RFC 9110, 5.6.2: names of methods and fields */
static bool is_token(Span s)
{
	for (size_t i = 0; i < s.n; i++) {
		char c = s.at[i];

		if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') &&
		    !(c && strchr("!#$%&'*+-.^_`|~", c)))
			return false;
	}
	return s.n > 0;
}

/* No control character but the tab. */
static bool is_text(Span s)
{
	for (size_t i = 0; i < s.n; i++)
		if (((unsigned char)s.at[i] < ' ' && s.at[i] != '\t') || s.at[i] == 0x7f)
			return false;
	return true;
}

/* Accept */

/* The weight of a media range from its parameters, in thousandths: 1000 if none says it. */
static unsigned int weight(Span parameters)
{
	while (parameters.n > 0) {
		Span p = trim(take(&parameters, ';')), name = take(&p, '=');
		unsigned int w = 0, unit = 1000;

		if (!span_is_word(name, "q") || p.n == 0)
			continue;
		for (size_t i = 0; i < MIN(p.n, (size_t)5); i++) {
			if (p.at[i] == '.')
				continue;
			if (p.at[i] < '0' || p.at[i] > '9')
				return 0;
			w += (unsigned int)(p.at[i] - '0') * unit;
			unit /= 10;
		}
		return MIN(w, 1000U);
	}
	return 1000;
}

typedef struct Accept {
	unsigned int openmetrics, text; /* the greatest weights that were named, in thousandths */
} Accept;

static void read_accept(Span value, Accept *a)
{
	while (value.n > 0) {
		Span range = take(&value, ','), type = trim(take(&range, ';'));

		if (span_is_word(type, "application/openmetrics-text"))
			a->openmetrics = MAX(a->openmetrics, weight(range));
		else if (span_is_word(type, "text/plain"))
			a->text = MAX(a->text, weight(range));
	}
}

static bool accepts_gzip(Span value)
{
	while (value.n > 0) {
		Span coding = take(&value, ','), name = trim(take(&coding, ';'));

		if (span_is_word(name, "gzip"))
			return weight(coding) > 0;
	}
	return false;
}

/* Fields */

typedef struct Fields {
	unsigned int n_hosts;
	bool close, body, gzip;
	Accept accept;
} Fields;

static void read_connection(Span value, Fields *f)
{
	while (value.n > 0)
		if (span_is_word(trim(take(&value, ',')), "close"))
			f->close = true;
}

/* "Name: value". False if it is no such line. */
static bool read_field(Span line, Fields *f)
{
	Span value = line, name = take(&value, ':');

	if (name.n == line.n || !is_token(name) || !is_text(value))
		return false;
	value = trim(value);
	if (span_is_word(name, "Host"))
		f->n_hosts++;
	else if (span_is_word(name, "Connection"))
		read_connection(value, f);
	else if (span_is_word(name, "Accept"))
		read_accept(value, &f->accept);
	else if (span_is_word(name, "Accept-Encoding"))
		f->gzip |= accepts_gzip(value);
	else if (span_is_word(name, "Transfer-Encoding"))
		f->body = true;
	else if (span_is_word(name, "Content-Length"))
		f->body |= !span_is(value, "0");
	return true;
}

/* The request line */

static HttpStatus read_target(Span target, HttpPath *ret)
{
	Span path;

	/* the absolute form, which every server has to know (RFC 9112, 3.2.2) */
	if (target.n > 7 && strncasecmp(target.at, "http://", 7) == 0) {
		const char *slash = memchr(target.at + 7, '/', target.n - 7);

		target = slash ? skip(target, (size_t)(slash - target.at)) : (Span){"/", 1};
	}
	if (target.n == 0 || *target.at != '/')
		return HTTP_BAD_REQUEST;
	path = take(&target, '?');
	if (span_is(path, "/"))
		*ret = HTTP_PATH_ROOT;
	else if (span_is(path, "/metrics"))
		*ret = HTTP_PATH_METRICS;
	else if (span_is(path, "/-/healthy"))
		*ret = HTTP_PATH_HEALTHY;
	else
		return HTTP_NOT_FOUND;
	return HTTP_OK;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* "GET /metrics HTTP/1.1". *RET_MINOR is the minor version. */
static HttpStatus read_request_line(Span line, HttpRequest *ret, char *ret_minor)
{
	Span rest = line, method = take(&rest, ' '), target = take(&rest, ' '), version = rest;

	if (!is_token(method) || target.n == 0 || !is_text(line) || memchr(line.at, '\t', line.n) ||
	    version.n != 8 || memcmp(version.at, "HTTP/", 5) != 0 || !is_digit(version.at[5]) ||
	    version.at[6] != '.' || !is_digit(version.at[7]))
		return HTTP_BAD_REQUEST;
	if (version.at[5] != '1')
		return HTTP_VERSION_NOT_SUPPORTED;
	*ret_minor = version.at[7];
	ret->head = span_is(method, "HEAD");
	if (!ret->head && !span_is(method, "GET"))
		return HTTP_METHOD_NOT_ALLOWED;
	return read_target(target, &ret->path);
}

/* Heads */

/* Takes a line, which must end with CR LF, out of *S. False: it has another end. */
static bool take_line(Span *s, Span *ret)
{
	Span line = take(s, '\n');

	if (line.n == 0 || line.at[line.n - 1] != '\r')
		return false;
	line.n--;
	*ret = line;
	return memchr(line.at, '\r', line.n) == NULL;
}

/* HEAD has all lines, and ends with an empty one. */
static HttpStatus read_head(Span head, HttpRequest *ret)
{
	Fields f = {};
	char minor = 0;
	HttpStatus status;
	Span line;

	if (!take_line(&head, &line))
		return HTTP_BAD_REQUEST;
	if (line.n + 2 > HTTP_LINE_MAX)
		return HTTP_URI_TOO_LONG;
	status = read_request_line(line, ret, &minor);
	if (status == HTTP_BAD_REQUEST || status == HTTP_VERSION_NOT_SUPPORTED)
		return status;
	for (;;) {
		if (!take_line(&head, &line))
			return HTTP_BAD_REQUEST;
		if (line.n == 0)
			break;
		if (!read_field(line, &f))
			return HTTP_BAD_REQUEST;
	}
	if (f.n_hosts > 1 || (f.n_hosts == 0 && minor != '0'))
		return HTTP_BAD_REQUEST;
	if (f.body)
		return HTTP_CONTENT_TOO_LARGE;
	ret->keep = minor != '0' && !f.close;
	ret->gzip = f.gzip;
	ret->openmetrics = f.accept.openmetrics > 0 && f.accept.openmetrics >= f.accept.text;
	return status;
}

static bool refuse(HttpStatus status, size_t n, HttpRequest *ret)
{
	*ret = (HttpRequest){.status = status, .size = n};
	return true;
}

/* Whether a line ends without CR. */
static bool has_bare_end(const char *data, size_t n)
{
	const char *end;

	for (size_t at = 0; (end = memchr(data + at, '\n', n - at)); at = (size_t)(end - data) + 1)
		if (end == data || end[-1] != '\r')
			return true;
	return false;
}

bool http_parse(const char *data, size_t n, HttpRequest *ret)
{
	HttpRequest request = {};
	const char *end, *line_end;
	size_t blank = 0;

	/* An empty line before a request is allowed (RFC 9112, 2.2). */
	if (n >= 2 && memcmp(data, "\r\n", 2) == 0)
		blank = 2;
	/* Nobody has to wait until a client that speaks TLS has sent an end of line. */
	if (n > blank && (data[blank] < 'A' || data[blank] > 'Z') && !(n == 1 && data[0] == '\r'))
		return refuse(HTTP_BAD_REQUEST, n, ret);
	n = MIN(n, (size_t)HTTP_HEAD_MAX);
	end = memmem(data + blank, n - blank, "\r\n\r\n", 4);
	if (!end) {
		if (has_bare_end(data, n))
			return refuse(HTTP_BAD_REQUEST, n, ret);
		line_end = memchr(data + blank, '\n', n - blank);
		if (!line_end && n >= HTTP_LINE_MAX + blank)
			return refuse(HTTP_URI_TOO_LONG, n, ret);
		return n >= HTTP_HEAD_MAX && refuse(HTTP_HEADERS_TOO_LARGE, n, ret);
	}
	request.size = (size_t)(end + 4 - data);
	request.status = read_head((Span){data + blank, request.size - blank}, &request);
	*ret = request;
	return true;
}

const char *http_reason(HttpStatus status)
{
	switch (status) {
#define S(status, number, reason, text)                                                            \
	case HTTP_##status:                                                                        \
		return reason;
		HTTP_STATUSES(S)
#undef S
	}
	return "Unknown";
}

const char *http_explain(HttpStatus status)
{
	switch (status) {
#define S(status, number, reason, text)                                                            \
	case HTTP_##status:                                                                        \
		return text;
		HTTP_STATUSES(S)
#undef S
	}
	return "";
}
