/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "watch-socket.h"

#include <sys/socket.h>

#include "log.h"

void watch_socket_close(WatchSocket *s)
{
	s->source = sd_event_source_disable_unref(s->source);
}

static int on_io(_unused_ sd_event_source *source, int fd, _unused_ uint32_t revents,
		 void *userdata)
{
	WatchSocket *s = userdata;
	int r = watch_netlink_dispatch(fd, s->message, s->watch, s->handler, s->userdata);

	if (r < 0) {
		log_warning_errno(r, "%s: %m", s->loss);
		watch_socket_close(s);
		watch_overrun(s->handler, s->userdata);
	}
	return 0;
}

int watch_socket_listen(WatchSocket *s, int protocol, const int *groups, size_t n)
{
	_cleanup_close_ int fd = -EBADF;
	int r;

	if (s->source)
		return 0;
	r = watch_netlink_open(protocol, &fd);
	if (r < 0)
		return r;
	watch_enlarge_buffer(fd);
	for (size_t i = 0; i < n; i++)
		if (setsockopt(fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &groups[i],
			       sizeof(groups[i])) < 0)
			return -errno;
	r = sd_event_add_io(s->event, &s->source, fd, EPOLLIN, on_io, s);
	if (r < 0)
		return r;
	sd_event_source_set_io_fd_own(s->source, true);
	steal_fd(&fd);
	return 0;
}
