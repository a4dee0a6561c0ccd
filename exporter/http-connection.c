/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <sys/epoll.h>
#include <sys/socket.h>

#include "http-private.h"

static void step(HttpConnection *c);

void http_pause_accept(Http *h, bool pause)
{
	h->paused = pause;
	for (size_t i = 0; i < h->n_listeners; i++)
		sd_event_source_set_enabled(h->listeners[i], pause ? SD_EVENT_OFF : SD_EVENT_ON);
}

void http_accept_again(Http *h)
{
	if (h->paused)
		http_pause_accept(h, false);
}

HttpConnection *http_connection_free(HttpConnection *c)
{
	Http *h = c->http;

	source_request_free(c->source_request);
	http_page_unref(c->page);
	sd_event_source_disable_unref(c->io);
	sd_event_source_disable_unref(c->timer);
	close_fd(c->fd);
	if (c->peer) {
		http_peer_remove(c->peer);
		*(c->previous ? &c->previous->next : &h->first) = c->next;
		*(c->next ? &c->next->previous : &h->last) = c->previous;
		h->n--;
		idle_end(h->idle);
		http_accept_again(h);
	}
	free(c);
	return NULL;
}
DEFINE_CLEANUP(HttpConnection, http_connection_free);

/* Puts C behind all others: it has just moved. */
static void touch(HttpConnection *c)
{
	Http *h = c->http;

	if (!c->next)
		return;
	*(c->previous ? &c->previous->next : &h->first) = c->next;
	c->next->previous = c->previous;
	c->previous = h->last;
	c->next = NULL;
	h->last->next = c;
	h->last = c;
}

/* From now on C waits for EVENTS, USEC at most. */
static void enter(HttpConnection *c, HttpStage stage, uint32_t events, uint64_t usec)
{
	c->stage = stage;
	sd_event_source_set_io_events(c->io, events);
	sd_event_source_set_time_relative(c->timer, usec);
	sd_event_source_set_enabled(c->timer, usec == UINT64_MAX ? SD_EVENT_OFF : SD_EVENT_ONESHOT);
}

/* Replies */

/* Begins to send PAGE, which may be NULL without memory: then there is only a head. */
static void reply(HttpConnection *c, HttpStatus status, HttpPage *page)
{
	int n;

	c->page = page;
	n = snprintf(c->head, sizeof(c->head),
		     "HTTP/1.1 %d %s\r\n"
		     "Content-Type: %s\r\n"
		     "Content-Length: %zu\r\n"
		     "%s%s%s"
		     "X-Content-Type-Options: nosniff\r\n"
		     "\r\n",
		     status, http_reason(status), page ? page->type : "text/plain",
		     page ? page->size : 0, page && page->gzip ? "Content-Encoding: gzip\r\n" : "",
		     status == HTTP_METHOD_NOT_ALLOWED ? "Allow: GET, HEAD\r\n" : "",
		     c->request.keep ? "" : "Connection: close\r\n");
	c->n_head = (size_t)n;
	if (c->request.head)
		c->page = http_page_unref(c->page);
	c->n_sent = 0;
	enter(c, HTTP_STAGE_REPLY, EPOLLOUT, HTTP_REPLY_USEC);
}

static void reply_text(HttpConnection *c, HttpStatus status, const char *text)
{
	HttpPage *page = NULL;

	(void)http_page_new(text, &page);
	reply(c, status, page);
}

static void refuse(HttpConnection *c, HttpStatus status)
{
	c->request.keep &= status == HTTP_NOT_FOUND || status == HTTP_METHOD_NOT_ALLOWED;
	reply_text(c, status, http_explain(status));
}

static void on_state(void *userdata, const SourceState *state)
{
	HttpConnection *c = userdata;
	HttpPage *page = NULL;

	c->source_request = NULL;
	if (http_pages_get(&c->http->pages, state, c->request.openmetrics, c->request.gzip, &page) <
	    0)
		refuse(c, HTTP_UNAVAILABLE);
	else
		reply(c, HTTP_OK, page);
	http_accept_again(c->http); /* this one may be closed for another one now */
	step(c);
}

/* Answers the request at the beginning of the input. */
static void answer(HttpConnection *c)
{
	c->n_requests++;
	c->request.keep &= c->n_requests < HTTP_REQUESTS_MAX;
	if (c->request.status != HTTP_OK) {
		refuse(c, c->request.status);
		return;
	}
	switch (c->request.path) {
	case HTTP_PATH_ROOT:
		reply_text(c, HTTP_OK,
			   "rdmad-exporter " RDMAD_VERSION ": the RDMA ports of this machine.\n"
			   "The metrics are at /metrics\n");
		break;
	case HTTP_PATH_HEALTHY:
		reply_text(c, HTTP_OK, http_explain(HTTP_OK));
		break;
	case HTTP_PATH_METRICS:
		enter(c, HTTP_STAGE_ANSWER, 0, UINT64_MAX);
		if (source_ask(c->http->source, on_state, c, &c->source_request) < 0)
			refuse(c, HTTP_UNAVAILABLE);
		break;
	}
}

/* Stages. These return false if there is nothing to do before the next event. *C is NULL if it was
 * closed. */

/* Reads at most SIZE bytes to BUFFER. 0: nothing more will come. -EAGAIN. */
static ssize_t receive(const HttpConnection *c, void *buffer, size_t size)
{
	ssize_t n;

	do
		n = recv(c->fd, buffer, size, 0);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

static bool read_request(HttpConnection **c)
{
	HttpConnection *is = *c;
	ssize_t n;

	if (is->n_in > 0 && http_parse(is->in, is->n_in, &is->request)) {
		answer(is);
		return true;
	}
	n = receive(is, is->in + is->n_in, sizeof(is->in) - is->n_in);
	if (n == -EAGAIN)
		return false;
	if (n <= 0) {
		*c = http_connection_free(is);
		return false;
	}
	touch(is);
	is->n_in += (size_t)n;
	if (is->stage == HTTP_STAGE_KEEP)
		enter(is, HTTP_STAGE_REQUEST, EPOLLIN, HTTP_REQUEST_USEC);
	return true;
}

/* All has been sent. */
static void end_reply(HttpConnection *c)
{
	c->page = http_page_unref(c->page);
	if (!c->request.keep) {
		shutdown(c->fd, SHUT_WR);
		c->n_sent = 0;
		enter(c, HTTP_STAGE_LINGER, EPOLLIN, HTTP_LINGER_USEC);
		return;
	}
	c->n_in -= c->request.size;
	memmove(c->in, c->in + c->request.size, c->n_in);
	/* The next request may be here already. EPOLLOUT is true at once: others have their turn
	 * before it. */
	if (c->n_in > 0)
		enter(c, HTTP_STAGE_REQUEST, EPOLLIN | EPOLLOUT, HTTP_REQUEST_USEC);
	else
		enter(c, HTTP_STAGE_KEEP, EPOLLIN, HTTP_KEEP_USEC);
}

static bool send_reply(HttpConnection **c)
{
	HttpConnection *is = *c;
	size_t of_page = is->n_sent > is->n_head ? is->n_sent - is->n_head : 0;
	struct iovec parts[2] = {
		{is->head + MIN(is->n_sent, is->n_head), is->n_head - MIN(is->n_sent, is->n_head)},
		{is->page ? is->page->text + of_page : NULL,
		 is->page ? is->page->size - of_page : 0},
	};
	struct msghdr m = {.msg_iov = parts, .msg_iovlen = 2};
	ssize_t n;

	if (parts[0].iov_len + parts[1].iov_len == 0) {
		end_reply(is);
		return is->stage == HTTP_STAGE_LINGER;
	}
	n = sendmsg(is->fd, &m, MSG_NOSIGNAL);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return errno == EINTR;
	if (n < 0) {
		*c = http_connection_free(is);
		return false;
	}
	touch(is);
	is->n_sent += (size_t)n;
	return true;
}

static bool linger(HttpConnection **c)
{
	HttpConnection *is = *c;
	char nothing[4096];
	ssize_t n = receive(is, nothing, sizeof(nothing));

	if (n == -EAGAIN)
		return false;
	if (n > 0)
		is->n_sent += (size_t)n;
	if (n <= 0 || is->n_sent > HTTP_LINGER_BYTES)
		*c = http_connection_free(is);
	return *c != NULL;
}

/* Does what can be done now. C may not exist any more afterwards. */
static void step(HttpConnection *c)
{
	bool more = true;

	while (more)
		switch (c->stage) {
		case HTTP_STAGE_KEEP:
		case HTTP_STAGE_REQUEST:
			more = read_request(&c);
			break;
		case HTTP_STAGE_ANSWER:
			more = false;
			break;
		case HTTP_STAGE_REPLY:
			more = send_reply(&c);
			break;
		case HTTP_STAGE_LINGER:
			more = linger(&c);
			break;
		}
}

static int on_io(_unused_ sd_event_source *s, _unused_ int fd, uint32_t events, void *userdata)
{
	HttpConnection *c = userdata;

	if (c->stage == HTTP_STAGE_ANSWER && events & (EPOLLHUP | EPOLLERR)) {
		http_connection_free(c);
		return 0;
	}
	if (c->stage == HTTP_STAGE_REQUEST)
		sd_event_source_set_io_events(c->io, EPOLLIN);
	step(c);
	return 0;
}

static int on_timer(_unused_ sd_event_source *s, _unused_ uint64_t usec, void *userdata)
{
	HttpConnection *c = userdata;

	if (c->stage == HTTP_STAGE_REQUEST && c->n_in > 0) {
		c->request = (HttpRequest){};
		refuse(c, HTTP_REQUEST_TIMEOUT);
		step(c);
	} else {
		http_connection_free(c);
	}
	return 0;
}

int http_connection_new(Http *h, int fd)
{
	_cleanup_(http_connection_free_pointer) HttpConnection *c = calloc(1, sizeof(*c));
	int r;

	if (!c) {
		close_fd(fd);
		return -ENOMEM;
	}
	c->http = h;
	c->fd = fd;
	r = sd_event_add_io(h->event, &c->io, fd, EPOLLIN, on_io, c);
	if (r >= 0)
		r = sd_event_add_time_relative(h->event, &c->timer, CLOCK_MONOTONIC, 0,
					       USEC_PER_MSEC, on_timer, c);
	if (r >= 0)
		r = http_peer_add(&h->peers, fd, &c->peer);
	if (r < 0)
		return r;
	c->previous = h->last;
	*(c->previous ? &c->previous->next : &h->first) = c;
	h->last = c;
	h->n++;
	idle_begin(h->idle);
	enter(c, HTTP_STAGE_REQUEST, EPOLLIN, HTTP_REQUEST_USEC);
	step(steal_pointer(&c));
	return 0;
}
