/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "http-private.h"

/* So many connections are accepted before the others have their turn. */
#define ACCEPTS_MAX 16U
/* After an error that will not go at once, such as no memory, nothing is accepted for so long. */
#define PAUSE_USEC (100 * USEC_PER_MSEC)

/* Closes the connection that has not moved for the longest time, of those of the peer that has the
 * most; those that wait for the source do not count. False: there is none. */
static bool evict(Http *h)
{
	HttpConnection *victim = NULL;

	for (HttpConnection *c = h->first; c; c = c->next)
		if (c->stage != HTTP_STAGE_ANSWER && (!victim || c->peer->n > victim->peer->n))
			victim = c;
	if (victim)
		http_connection_free(victim);
	return victim != NULL;
}

static int on_again(_unused_ sd_event_source *s, _unused_ uint64_t usec, void *userdata)
{
	http_accept_again(userdata);
	return 0;
}

/* Without limits the kernel keeps up to 4 MiB for each reader that does not read (tcp_wmem), for
 * which the memory of the service is charged. */
static void limit_socket(int fd)
{
	const int send = HTTP_SEND_BYTES, receive = HTTP_HEAD_MAX, one = 1;

	(void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &send, sizeof(send));
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &receive, sizeof(receive));
	/* the end of a reply does not wait for more; fails on a Unix socket */
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
}

/* Accepts one connection. False: there is none, or not now. */
static bool accept_one(Http *h, int listener)
{
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0) {
		if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
			http_pause_accept(h, true);
			sd_event_source_set_time_relative(h->again, PAUSE_USEC);
			sd_event_source_set_enabled(h->again, SD_EVENT_ONESHOT);
		}
		/* the others are about a connection that has gone: accept(2) */
		return false;
	}
	if (h->n >= HTTP_CONNECTIONS_MAX && !evict(h)) {
		/* cannot be: on_accept() looks before */
		close_fd(fd);
		return false;
	}
	limit_socket(fd);
	return http_connection_new(h, fd) >= 0;
}

static bool has_room(const Http *h)
{
	if (h->n < HTTP_CONNECTIONS_MAX)
		return true;
	for (const HttpConnection *c = h->first; c; c = c->next)
		if (c->stage != HTTP_STAGE_ANSWER)
			return true;
	return false;
}

static int on_accept(_unused_ sd_event_source *s, int fd, _unused_ uint32_t events, void *userdata)
{
	Http *h = userdata;

	for (unsigned int i = 0; i < ACCEPTS_MAX; i++) {
		if (!has_room(h)) { /* until one of them has its answer */
			http_pause_accept(h, true);
			break;
		}
		if (!accept_one(h, fd))
			break;
	}
	return 0;
}

int http_listen(Http *h, int fd)
{
	int r;

	if (h->n_listeners == HTTP_LISTENERS_MAX)
		return -E2BIG;
	r = sd_event_add_io(h->event, &h->listeners[h->n_listeners], fd, EPOLLIN, on_accept, h);
	if (r >= 0)
		r = sd_event_source_set_io_fd_own(h->listeners[h->n_listeners], true);
	if (r >= 0)
		h->n_listeners++;
	return r;
}

int http_new(sd_event *event, Source *source, Idle *idle, Http **ret)
{
	_cleanup_(http_free_pointer) Http *h = calloc(1, sizeof(Http));
	int r;

	if (!h)
		return -ENOMEM;
	h->event = sd_event_ref(event);
	h->source = source;
	h->idle = idle;
	r = sd_event_add_time_relative(event, &h->again, CLOCK_MONOTONIC, 0, USEC_PER_MSEC,
				       on_again, h);
	if (r >= 0)
		r = sd_event_source_set_enabled(h->again, SD_EVENT_OFF);
	if (r < 0)
		return r;
	*ret = steal_pointer(&h);
	return 0;
}

void http_free(Http *h)
{
	if (!h)
		return;
	while (h->first)
		http_connection_free(h->first);
	for (size_t i = 0; i < h->n_listeners; i++)
		sd_event_source_disable_unref(h->listeners[i]);
	sd_event_source_disable_unref(h->again);
	http_pages_done(&h->pages);
	sd_event_unref(h->event);
	free(h);
}
