/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "query-netlink.h"

#include "clock.h"

#include <sys/socket.h>

/* The kernel puts at most 32 KiB of a dump into one datagram. The message about one interface may
 * have an attribute of 64 KiB, the virtual functions, or of more: then the rest of its length is
 * missing (query-vfs.c), and -EMSGSIZE says so too. */
#define DATAGRAM_MAX (96 * 1024)

int netlink_ignore(_unused_ const struct nlmsghdr *message, _unused_ void *userdata)
{
	return 0;
}

int netlink_open(Netlink *n, int protocol)
{
	if (n->fd >= 0)
		return 0;
	n->fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol);
	return n->fd < 0 ? -errno : 0;
}

void netlink_close(Netlink *n)
{
	n->fd = close_fd(n->fd);
}

/* One datagram from the kernel; others are dropped. */
static ssize_t receive(int fd, void *buffer, size_t size)
{
	for (;;) {
		struct sockaddr_nl from = {};
		struct iovec iov = {.iov_base = buffer, .iov_len = size};
		struct msghdr m = {.msg_name = &from,
				   .msg_namelen = sizeof(from),
				   .msg_iov = &iov,
				   .msg_iovlen = 1};
		ssize_t n = recvmsg(fd, &m, 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (m.msg_flags & MSG_TRUNC)
			return -EMSGSIZE;
		if (m.msg_namelen == sizeof(from) && from.nl_pid == 0)
			return n;
	}
}

/* Whether the answer ends with message H, and how in *RET. */
static bool is_end(struct nlmsghdr *h, int *ret)
{
	*ret = 0;
	if (h->nlmsg_type == NLMSG_DONE)
		return true;
	if (h->nlmsg_type != NLMSG_ERROR)
		return false;
	*ret = -EBADMSG;
	if (nlmsg_datalen(h) >= (int)sizeof(struct nlmsgerr))
		*ret = ((const struct nlmsgerr *)nlmsg_data(h))->error;
	return true;
}

static int receive_answer(Netlink *n, NetlinkHandler handler, void *userdata)
{
	_cleanup_free_ char *buffer = malloc(DATAGRAM_MAX);
	bool interrupted = false;
	int first_error = 0;

	if (!buffer)
		return -ENOMEM;
	for (;;) {
		ssize_t size;
		int left;

		/* The kernel makes the next part of a dump when this one is read. */
		if ((n->deadline_usec && monotonic_now_usec() > n->deadline_usec) ||
		    (n->gives_way && n->gives_way(n->userdata)))
			return -ETIME;
		size = receive(n->fd, buffer, DATAGRAM_MAX);
		left = (int)size;

		if (size < 0)
			return (int)size;
		for (struct nlmsghdr *h = (struct nlmsghdr *)buffer; nlmsg_ok(h, left);
		     h = nlmsg_next(h, &left)) {
			int r;

			if (h->nlmsg_seq != n->sequence)
				continue; /* rest of an answer that was given up */
			/* The list changed while the kernel dumped it: something may be missing. */
			interrupted |= h->nlmsg_flags & NLM_F_DUMP_INTR;
			if (is_end(h, &r))
				return first_error < 0 ? first_error
				       : r < 0	       ? r
				       : interrupted   ? -EINTR
						       : 0;
			r = handler(h, userdata);
			if (first_error == 0)
				first_error = r;
			/* Without NLM_F_ACK an answer to a question for one thing is one message.
			 */
			if (!(h->nlmsg_flags & NLM_F_MULTI))
				return first_error;
		}
	}
}

int netlink_ask(Netlink *n, struct nl_msg *request, NetlinkHandler handler, void *userdata)
{
	struct nlmsghdr *h = nlmsg_hdr(request);
	ssize_t sent;

	h->nlmsg_seq = ++n->sequence;
	h->nlmsg_flags |= NLM_F_REQUEST;
	do
		sent = send(n->fd, h, h->nlmsg_len, 0);
	while (sent < 0 && errno == EINTR);
	nlmsg_free(request);
	return sent < 0 ? -errno : receive_answer(n, handler, userdata);
}
