/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "ping-mtu.h"

#include <arpa/inet.h>
#include <poll.h>

#include "clock.h"

#define ROUNDS	  3U
#define WAIT_USEC USEC_PER_SEC
/* After a burst of six, a kernel answers one datagram in a second. With this time before it, a
 * large datagram is not left without an answer because a small one has just got it. */
#define PAUSE_USEC (1100 * USEC_PER_MSEC)
/* What a write of RDMA has around its data: the headers BTH and RETH, and the checksum. */
#define AROUND 32U

enum { LARGE, SMALL };

static int open_socket(const PingSocket *to, const PingSocket *from)
{
	bool v4 = to->any.sa_family == AF_INET;
	int fd = socket(to->any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	/* not in fragments, whatever this machine has learned of the path */
	int probe = v4 ? IP_PMTUDISC_PROBE : IPV6_PMTUDISC_PROBE;
	PingSocket peer = *to;

	/* the service "discard", in both families of addresses */
	peer.v4.sin_port = htons(9);
	if (fd < 0 ||
	    (setsockopt(fd, v4 ? IPPROTO_IP : IPPROTO_IPV6,
			v4 ? IP_MTU_DISCOVER : IPV6_MTU_DISCOVER, &probe, sizeof(probe)) == 0 &&
	     (!from || bind(fd, &from->any, sizeof(*from)) == 0) &&
	     connect(fd, &peer.any, sizeof(peer)) == 0))
		return fd;
	close(fd);
	return -1;
}

void ping_size_open(PingSize *s, PingWay *way, const PingSocket *to, const PingSocket *from)
{
	*s = (PingSize){.way = way};
	s->fds[LARGE] = open_socket(to, from);
	s->fds[SMALL] = s->fds[LARGE] < 0 ? -1 : open_socket(to, from);
	if (s->fds[SMALL] < 0)
		ping_size_close(s);
}

void ping_size_close(PingSize *s)
{
	close_pointer(&s->fds[LARGE]);
	close_pointer(&s->fds[SMALL]);
	s->fds[LARGE] = s->fds[SMALL] = -1;
}

/* What the socket says: 0 while nothing has come. */
static int take_error(int fd)
{
	int error = 0;
	socklen_t size = sizeof(error);

	(void)getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
	return error;
}

/* The network has answered on the socket WHICH of S, with ERROR. ECONNREFUSED is of the peer, which
 * has got the datagram, and EMSGSIZE of a router before a link with a smaller MTU. Any other is of
 * a router that forbids something, and says nothing about the MTU. */
static void take_answer(PingSize *s, int which, int error)
{
	bool arrives = error == ECONNREFUSED;

	if (which == SMALL && arrives && ++s->n_lost < ROUNDS)
		return;
	if (arrives || (which == LARGE && error == EMSGSIZE)) {
		s->way->mtu_known = true;
		s->way->mtu_arrives = which == LARGE && arrives;
	}
	ping_size_close(s);
}

static void send_all(PingSize *sizes, size_t n, int which)
{
	static const uint8_t data[4096 + AROUND];

	for (size_t i = 0; i < n; i++) {
		PingSize *s = &sizes[i];
		size_t size = which == LARGE ? MIN(s->way->mtu + AROUND, sizeof(data)) : 1;

		if (s->fds[which] < 0 || send(s->fds[which], data, size, 0) >= 0)
			continue;
		/* the late answer to the one before, or this machine does not send it */
		if (errno == ECONNREFUSED)
			take_answer(s, which, errno);
		else
			ping_size_close(s);
	}
}

/* Waits for the answers to what was sent. */
static void wait_for_all(PingSize *sizes, size_t n, int which, struct pollfd *events,
			 uint64_t end_usec)
{
	uint64_t now = monotonic_now_usec(), end = MIN(now + WAIT_USEC, end_usec);
	size_t n_left = 0;

	for (size_t i = 0; i < n; i++) {
		events[i] = (struct pollfd){.fd = sizes[i].fds[which]};
		n_left += events[i].fd >= 0;
	}
	for (; n_left > 0 && now < end; now = monotonic_now_usec()) {
		(void)poll(events, n, poll_msec(end - now));
		for (size_t i = 0; i < n; i++) {
			int error = events[i].fd >= 0 && events[i].revents
					    ? take_error(events[i].fd)
					    : 0;

			if (!error)
				continue;
			take_answer(&sizes[i], which, error);
			events[i].fd = -1;
			n_left--;
		}
	}
	/* without an answer to small datagrams nothing is known of the large ones */
	for (size_t i = 0; which == SMALL && i < n; i++)
		if (events[i].fd >= 0)
			ping_size_close(&sizes[i]);
}

static bool any_open(const PingSize *sizes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (sizes[i].fds[LARGE] >= 0)
			return true;
	return false;
}

void ping_sizes_ask(PingSize *sizes, size_t n, uint64_t end_usec)
{
	_cleanup_free_ struct pollfd *events = calloc(n + 1, sizeof(*events));
	uint64_t now;

	for (unsigned int round = 0; events && any_open(sizes, n) && round < ROUNDS &&
				     (now = monotonic_now_usec()) < end_usec;
	     round++) {
		if (round > 0)
			(void)poll(NULL, 0, poll_msec(MIN(PAUSE_USEC, end_usec - now)));
		for (int which = LARGE; which <= SMALL; which++) {
			send_all(sizes, n, which);
			wait_for_all(sizes, n, which, events, end_usec);
		}
	}
}
