/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <sys/socket.h>

#include "compat-event.h"
#include "varlink-link.h"
#include "varlink.h"

/* How many connections root has, who makes the reports of systemd, and how many all others have. In
 * its user namespace (PrivateUsers=) the service cannot tell the others from each other. */
#define LINKS_MAX 32U
/* How many connections are looked at in which time. The bound is for the case that accept4() fails
 * again and again, with EMFILE for example. Beside a user who connects as often as he can, others
 * wait for no longer than that. */
#define ACCEPTS	     1000U
#define ACCEPTS_USEC (100 * USEC_PER_MSEC)

struct Varlink {
	sd_event *event;
	sd_event_source *listening;
	int fd;
	VarlinkLinks links;
};

/* Makes room for one more connection of UID. If there are too many, the oldest one ends that does
 * not wait for rdmad: it is idle, or does not take its replies. False: they all wait. */
static bool make_room(Varlink *v, uid_t uid)
{
	VarlinkLink *oldest = NULL;
	unsigned int n = 0;

	/* the newest one is the first */
	for (VarlinkLink *l = v->links.first; l; l = varlink_link_next(l)) {
		if ((varlink_link_uid(l) == 0) != (uid == 0))
			continue;
		n++;
		if (!varlink_link_waits(l))
			oldest = l;
	}
	if (n < LINKS_MAX)
		return true;
	if (!oldest)
		return false;
	varlink_link_free(oldest);
	return true;
}

static int on_connection(_unused_ sd_event_source *s, int fd, _unused_ uint32_t events,
			 void *userdata)
{
	Varlink *v = userdata;
	_cleanup_close_ int client = accept4(fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	struct ucred peer = {};
	socklen_t size = sizeof(peer);

	/* Nothing here is logged: a client could fill the journal with it. */
	if (client < 0 || getsockopt(client, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
		return 0;
	if (make_room(v, peer.uid))
		(void)varlink_link_new(v->event, steal_fd(&client), peer.uid, &v->links);
	return 0;
}

int varlink_new(sd_event *event, int fd, Source *source, Idle *idle, Varlink **ret)
{
	_cleanup_(varlink_free_pointer) Varlink *v = calloc(1, sizeof(*v));
	int r;

	if (!v)
		return -ENOMEM;
	v->fd = -EBADF;
	v->links.idle = idle;
	v->event = sd_event_ref(event);
	r = varlink_metrics_new(source, &v->links.metrics);
	if (r >= 0)
		r = sd_event_add_io(event, &v->listening, fd, EPOLLIN, on_connection, v);
	if (r >= 0)
		r = sd_event_source_set_ratelimit(v->listening, ACCEPTS_USEC, ACCEPTS);
	if (r < 0)
		return r;
	v->fd = fd;
	*ret = steal_pointer(&v);
	return 0;
}

void varlink_free(Varlink *v)
{
	if (!v)
		return;
	while (v->links.first)
		varlink_link_free(v->links.first);
	varlink_metrics_free(v->links.metrics);
	sd_event_source_disable_unref(v->listening);
	sd_event_unref(v->event);
	close_fd(v->fd);
	free(v);
}
