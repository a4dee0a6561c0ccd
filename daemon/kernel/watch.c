/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reading netlink sockets. The messages are taken apart with libnl, but it does not do the reading:
 * it turns ENOBUFS into the same error as a failed malloc(), and has no bound on how much it reads
 * at once.
 */

#include "watch.h"

#include <netlink/msg.h>
#include <sys/socket.h>

#include "log.h"

int watch_netlink_open(int protocol, int *ret_fd)
{
	struct sockaddr_nl address = {.nl_family = AF_NETLINK};
	_cleanup_close_ int fd = -EBADF;

	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol);
	if (fd < 0)
		return -errno;
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		return -errno;
	*ret_fd = steal_fd(&fd);
	return 0;
}

void watch_enlarge_buffer(int fd)
{
	int size = WATCH_RECEIVE_BYTES;

	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)) < 0 &&
	    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size)) < 0)
		log_debug("receive buffer stays small: %m");
}

int watch_netlink_receive(int fd, void *buffer, size_t size, size_t *ret_n)
{
	for (unsigned int i = 0; i < WATCH_BATCH; i++) {
		struct sockaddr_nl sender = {};
		struct iovec iov = {.iov_base = buffer, .iov_len = size};
		struct msghdr m = {.msg_name = &sender,
				   .msg_namelen = sizeof(sender),
				   .msg_iov = &iov,
				   .msg_iovlen = 1};
		ssize_t n = recvmsg(fd, &m, MSG_DONTWAIT);

		if (n < 0) {
			if (errno == EINTR)
				continue;
			return -errno;
		}
		/* Any process may send to our port id; the kernel's is 0. */
		if (m.msg_namelen != sizeof(sender) || sender.nl_family != AF_NETLINK ||
		    sender.nl_pid != 0)
			continue;
		if (m.msg_flags & MSG_TRUNC)
			return -ENOBUFS;
		*ret_n = (size_t)n;
		return 0;
	}
	return -EAGAIN;
}

void watch_overrun(const WatchHandler *handler, void *userdata)
{
	handler->event(userdata, &(Event){EVENT_ALL_DEVICES, EVENT_ALL_PORTS, REASON_OVERRUN});
}

void watch_netlink_parse(void *datagram, size_t n, WatchMessage message, void *watch,
			 const WatchHandler *handler, void *userdata)
{
	struct nlmsghdr *m = datagram;
	int left = (int)n;
	bool bad = false;

	for (; nlmsg_ok(m, left); m = nlmsg_next(m, &left))
		bad |= message(watch, m) == -EBADMSG;
	/* LEFT is below 0 if the padding behind the last message is missing. The kernel may leave
	 * it out. */
	if (bad || left > 0)
		watch_overrun(handler, userdata);
}

int watch_netlink_dispatch(int fd, WatchMessage message, void *watch, const WatchHandler *handler,
			   void *userdata)
{
	uint8_t buffer[WATCH_DATAGRAM_MAX] __attribute__((aligned(NLMSG_ALIGNTO)));

	for (unsigned int i = 0; i < WATCH_BATCH; i++) {
		size_t n;
		int r = watch_netlink_receive(fd, buffer, sizeof(buffer), &n);

		if (r == -EAGAIN)
			return 0;
		if (r == -ENOBUFS)
			watch_overrun(handler, userdata);
		else if (r < 0)
			return r;
		else
			watch_netlink_parse(buffer, n, message, watch, handler, userdata);
	}
	return 0;
}
