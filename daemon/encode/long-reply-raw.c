/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "long-reply-raw.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <systemd/sd-id128.h>
#include <unistd.h>

#include "bus-header.h"

/* The memory of what the other end has is given back in pieces of at least so many bytes. A short
 * reply has none. */
#define GIVE_BACK_SIZE (1U << 20)

struct LongReplyRaw {
	sd_bus *connection; /* the end that receives messages; NULL: there is no connection */
	int fd;		    /* the end that bytes are written into */
};

static void close_both_ends(LongReplyRaw *x)
{
	x->connection = sd_bus_close_unref(x->connection);
	x->fd = close_fd(x->fd);
}

/* Lets both ends authenticate to each other. What one writes the other can read at once, so that
 * this never waits. */
static int shake_hands(sd_bus *a, sd_bus *b)
{
	int ready_a, ready_b, r, k;

	do {
		r = sd_bus_process(a, NULL);
		if (r < 0)
			return r;
		k = sd_bus_process(b, NULL);
		if (k < 0)
			return k;
		ready_a = sd_bus_is_ready(a);
		ready_b = sd_bus_is_ready(b);
		if (ready_a > 0 && ready_b > 0)
			return 0;
	} while (r > 0 || k > 0);
	return -EPROTO;
}

/* Makes a connection of one end of a pair of sockets. On success *FD is the connection's. */
static int new_end(int *fd, const char *description, sd_bus **ret)
{
	_cleanup_(sd_bus_close_unrefp) sd_bus *bus = NULL;
	int r = sd_bus_new(&bus);

	if (r >= 0)
		r = sd_bus_set_description(bus, description);
	if (r >= 0)
		r = sd_bus_negotiate_fds(bus, false);
	if (r >= 0)
		r = sd_bus_set_fd(bus, *fd, *fd);
	if (r < 0)
		return r;
	steal_fd(fd);
	*ret = steal_pointer(&bus);
	return 0;
}

static int open_both_ends(LongReplyRaw *x)
{
	_cleanup_(sd_bus_close_unrefp) sd_bus *out = NULL, *in = NULL;
	_cleanup_close_ int out_fd = -EBADF, in_fd = -EBADF, fd = -EBADF;
	sd_id128_t id =
		SD_ID128_MAKE(2f, 14, 61, 3e, 25, 8c, 4d, 0e, 92, 66, 35, 06, 12, 9f, 7d, b1);
	int pair[2], r;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0)
		return -errno;
	out_fd = pair[0];
	in_fd = pair[1];
	fd = fcntl(in_fd, F_DUPFD_CLOEXEC, 3);
	if (fd < 0)
		return -errno;
	r = new_end(&out_fd, "long-reply-raw", &out);
	if (r >= 0)
		r = new_end(&in_fd, "long-reply-raw-server", &in);
	if (r >= 0)
		r = sd_bus_set_server(in, true, id);
	if (r >= 0)
		r = sd_bus_start(in);
	if (r >= 0)
		r = sd_bus_start(out);
	if (r >= 0)
		r = shake_hands(in, out);
	if (r < 0)
		return r;
	/* IN was needed for the authentication only; FD is a copy of its socket. */
	x->connection = steal_pointer(&out);
	x->fd = steal_fd(&fd);
	return 0;
}

int long_reply_raw_new(LongReplyRaw **ret)
{
	LongReplyRaw *x = calloc(1, sizeof(LongReplyRaw));

	if (!x)
		return -ENOMEM;
	x->fd = -EBADF;
	*ret = x;
	return 0;
}

LongReplyRaw *long_reply_raw_free(LongReplyRaw *x)
{
	if (x) {
		close_both_ends(x);
		free(x);
	}
	return NULL;
}

/* Gives back the whole pages between *FROM, which moves, and TO. The message at the other end has
 * their bytes; without this the body of a reply would be in memory twice. */
static void give_back(uintptr_t *from, const void *to)
{
	const uintptr_t mask = ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);
	uintptr_t begin = (*from + ~mask) & mask, end = (uintptr_t)to & mask;

	if (end < begin + GIVE_BACK_SIZE)
		return;
	(void)madvise((void *)begin, end - begin, MADV_DONTNEED);
	*from = end;
}

/* Writes PARTS into one end until the other end has received them as one message. */
static int pass(LongReplyRaw *x, struct iovec parts[2], sd_bus_message **ret)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	uintptr_t kept = (uintptr_t)parts[1].iov_base;
	bool stuck;
	int r;

	do {
		struct msghdr header = {.msg_iov = parts, .msg_iovlen = 2};
		ssize_t n = sendmsg(x->fd, &header, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0 && errno != EAGAIN)
			return -errno;
		n = MAX(n, 0);
		stuck = n == 0;
		for (size_t i = 0; i < 2; i++) {
			size_t k = MIN((size_t)n, parts[i].iov_len);

			parts[i].iov_base = (uint8_t *)parts[i].iov_base + k;
			parts[i].iov_len -= k;
			n -= (ssize_t)k;
		}
		give_back(&kept, parts[1].iov_base);
		r = sd_bus_process(x->connection, &m);
		if (r < 0)
			return r;
	} while (!m && (r > 0 || !stuck));
	/* sd-bus drops bytes that are no valid message. */
	if (!m)
		return -EBADMSG;
	*ret = steal_pointer(&m);
	return 0;
}

int long_reply_raw_make(LongReplyRaw *x, sd_bus_message *call, const char *signature, void *body,
			size_t size, sd_bus_message **ret)
{
	_cleanup_(bus_writer_done) BusWriter header = {};
	struct iovec parts[2];
	uint64_t serial;
	int r = sd_bus_message_get_cookie(call, &serial);

	if (r < 0)
		return r;
	if (!x->connection) {
		r = open_both_ends(x);
		if (r < 0)
			return r;
	}
	bus_header_begin(&header, &(BusHeader){.type = BUS_METHOD_RETURN,
					       .reply_serial = (uint32_t)serial,
					       .destination = sd_bus_message_get_sender(call),
					       .signature = signature});
	bus_header_set_body_size(&header, size);
	if (bus_writer_error(&header) < 0)
		return bus_writer_error(&header);
	parts[0] = (struct iovec){header.data, header.size};
	parts[1] = (struct iovec){body, size};
	r = pass(x, parts, ret);
	if (r < 0)
		close_both_ends(x); /* a part of the message may still be in it */
	return r;
}
