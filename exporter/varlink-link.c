/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <sys/socket.h>

#include "varlink-link.h"

/* A client may be connected for so long without a call, and take so long to send one and to take
 * the replies. systemd-report waits for as long. */
#define TIME_MAX (30 * USEC_PER_SEC)

struct VarlinkLink {
	VarlinkLinks *links;
	VarlinkLink *next, *previous;
	uid_t uid;
	int fd;
	sd_event_source *io, *timer;
	char calls[VARLINK_CALL_MAX]; /* what was read of them and is not answered */
	size_t n_calls;
	VarlinkQuestion *question; /* NULL: none is asked */
	bool oneway;		   /* nobody wants the answer of it */
	VarlinkText *text;	   /* the replies; NULL: there are none to send */
	size_t sent;
};

VarlinkLink *varlink_link_next(const VarlinkLink *link)
{
	return link->next;
}

uid_t varlink_link_uid(const VarlinkLink *link)
{
	return link->uid;
}

bool varlink_link_waits(const VarlinkLink *link)
{
	return link->question != NULL;
}

static void insert_link(VarlinkLink *link, VarlinkLinks *links)
{
	link->links = links;
	link->next = links->first;
	if (link->next)
		link->next->previous = link;
	links->first = link;
	idle_begin(links->idle);
}

static void remove_link(VarlinkLink *link)
{
	if (link->next)
		link->next->previous = link->previous;
	if (link->previous)
		link->previous->next = link->next;
	else
		link->links->first = link->next;
	idle_end(link->links->idle);
}

void varlink_link_free(VarlinkLink *link)
{
	if (!link)
		return;
	if (link->links)
		remove_link(link);
	varlink_question_free(link->question);
	varlink_text_unref(link->text);
	sd_event_source_disable_unref(link->io);
	sd_event_source_disable_unref(link->timer);
	close_fd(link->fd);
	free(link);
}

/* Sends as much as there is room for. False: the client is gone. */
static bool send_text(VarlinkLink *link)
{
	ssize_t n = send(link->fd, link->text->text + link->sent, link->text->n - link->sent,
			 MSG_DONTWAIT | MSG_NOSIGNAL);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	link->sent += (size_t)n;
	if (link->sent < link->text->n)
		return true;
	link->text = varlink_text_unref(link->text);
	link->sent = 0;
	return sd_event_source_set_time_relative(link->timer, TIME_MAX) >= 0;
}

/* Whether a whole call has been read. *RET is its length then, without its zero. */
static bool has_call(const VarlinkLink *link, size_t *ret)
{
	const char *end = memchr(link->calls, 0, link->n_calls);

	if (!end)
		return false;
	*ret = (size_t)(end - link->calls);
	return true;
}

/* False: the client is gone, or has sent more than a call may have. */
static bool read_calls(VarlinkLink *link)
{
	size_t room = sizeof(link->calls) - link->n_calls;
	ssize_t n = room > 0 ? recv(link->fd, link->calls + link->n_calls, room, MSG_DONTWAIT) : 0;

	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	link->n_calls += (size_t)n;
	return n > 0;
}

/* Waits for what the connection needs next. */
static bool wait_for_more(VarlinkLink *link)
{
	uint32_t events = EPOLLIN;
	size_t n;

	if (link->question)
		events = 0; /* the end of the connection is reported even so */
	else if (link->text || has_call(link, &n))
		events = EPOLLOUT; /* it goes on as soon as replies can be sent */
	return sd_event_source_set_io_events(link->io, events) >= 0;
}

static void on_answer(void *userdata, VarlinkText *text)
{
	VarlinkLink *link = userdata;

	link->question = NULL;
	if (text && !link->oneway)
		link->text = varlink_text_ref(text);
	if (!text || !wait_for_more(link))
		varlink_link_free(link);
}

/* Answers the first call, which has N bytes, or asks for the answer. */
static int answer_call(VarlinkLink *link, size_t n)
{
	VarlinkCall call = {};
	VarlinkWork work;
	int r = varlink_call_parse(link->calls, n, &call);

	if (r < 0)
		return r;
	link->n_calls -= n + 1;
	memmove(link->calls, link->calls + n + 1, link->n_calls);
	link->oneway = call.oneway;
	r = varlink_service_call(&call, &link->text, &work);
	varlink_call_done(&call);
	if (r < 0)
		return r;
	if (!link->text)
		return varlink_metrics_ask(link->links->metrics, work, on_answer, link,
					   &link->question);
	if (link->oneway)
		link->text = varlink_text_unref(link->text);
	return 0;
}

/* One step: at most one call, so that a client that sends many does not keep the others waiting.
 * False: the connection ends. */
static bool go_on(VarlinkLink *link)
{
	size_t n;

	if (link->text && !send_text(link))
		return false;
	if (link->text || link->question)
		return wait_for_more(link);
	if (!has_call(link, &n) && !read_calls(link))
		return false;
	if (has_call(link, &n) && answer_call(link, n) < 0)
		return false;
	return wait_for_more(link);
}

static int on_io(_unused_ sd_event_source *s, _unused_ int fd, uint32_t events, void *userdata)
{
	VarlinkLink *link = userdata;

	if (events & (EPOLLHUP | EPOLLERR) || !go_on(link))
		varlink_link_free(link);
	return 0;
}

static int on_time(_unused_ sd_event_source *s, _unused_ uint64_t usec, void *userdata)
{
	varlink_link_free(userdata);
	return 0;
}

int varlink_link_new(sd_event *event, int fd, uid_t uid, VarlinkLinks *links)
{
	_cleanup_(varlink_link_free_pointer) VarlinkLink *link = calloc(1, sizeof(*link));
	int r;

	if (!link) {
		close_fd(fd);
		return -ENOMEM;
	}
	link->fd = fd;
	link->uid = uid;
	r = sd_event_add_io(event, &link->io, fd, EPOLLIN, on_io, link);
	if (r >= 0)
		r = sd_event_add_time_relative(event, &link->timer, CLOCK_MONOTONIC, TIME_MAX, 0,
					       on_time, link);
	if (r < 0)
		return r;
	insert_link(link, links);
	steal_pointer(&link);
	return 0;
}
