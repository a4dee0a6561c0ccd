/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "connection.h"

#include <sys/socket.h>
#include <sys/un.h>

#define DBUS "org.freedesktop.DBus"

int connection_open_silent(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct timeval second = {.tv_sec = 1};
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	text_copy(address.sun_path, sizeof(address.sun_path), path);
	if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &second, sizeof(second)) < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &second, sizeof(second)) < 0 ||
	    connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		return -errno;
	return steal_fd(&fd);
}

static int send_all(int fd, const void *p, size_t size)
{
	return send(fd, p, size, MSG_NOSIGNAL) == (ssize_t)size ? 0 : -EPIPE;
}

/* The bus has answered with two lines. */
static int read_lines(int fd)
{
	char c = '\0';

	for (int lines = 0; lines < 2; lines += c == '\n')
		if (recv(fd, &c, 1, 0) != 1)
			return -EPIPE;
	return 0;
}

static int authenticate(int fd)
{
	char line[128], uid[16];
	int n;

	snprintf(uid, sizeof(uid), "%u", geteuid());
	n = snprintf(line, sizeof(line), "%cAUTH EXTERNAL ", 0);
	for (const char *p = uid; *p; p++)
		n += snprintf(line + n, sizeof(line) - (size_t)n, "%02x", (unsigned char)*p);
	n += snprintf(line + n, sizeof(line) - (size_t)n, "\r\nNEGOTIATE_UNIX_FD\r\nBEGIN\r\n");
	return send_all(fd, line, (size_t)n);
}

int connection_open(Connection *c, const char *path)
{
	static const Message hello = {.destination = DBUS,
				      .path = "/org/freedesktop/DBus",
				      .interface = DBUS,
				      .member = "Hello"};
	Bytes b = {};
	int r;

	*c = (Connection){.fd = connection_open_silent(path), .serial = 1};
	if (c->fd < 0)
		return c->fd;
	message_write(&b, &hello, NULL);
	r = authenticate(c->fd);
	if (r >= 0)
		r = send_all(c->fd, b.p, b.size);
	if (r >= 0)
		r = read_lines(c->fd);
	bytes_free(&b);
	if (r < 0)
		c->fd = close_fd(c->fd);
	else
		c->waiting = 1;
	return r;
}

void connection_close(Connection *c)
{
	c->fd = close_fd(c->fd);
}

bool connection_wants_to_send(const Connection *c, const Flood *f)
{
	return c->sent > 0 || f->window == 0 || c->waiting < f->window;
}

/* Sends what is left of the message B, with its descriptors if it begins. */
static ssize_t send_part(Connection *c, const Flood *f, const Bytes *b)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int) * 16)];
	struct iovec iov = {b->p + c->sent, b->size - c->sent};
	struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};
	unsigned int n = f->n_fds[c->next];

	if (n > 0 && c->sent == 0) {
		struct cmsghdr *header = (struct cmsghdr *)control;

		*header = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof(int) * n),
					   .cmsg_level = SOL_SOCKET,
					   .cmsg_type = SCM_RIGHTS};
		for (unsigned int i = 0; i < n; i++)
			memcpy(CMSG_DATA(header) + i * sizeof(int), &f->null, sizeof(int));
		m.msg_control = control;
		m.msg_controllen = CMSG_SPACE(sizeof(int) * n);
	}
	return sendmsg(c->fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* 1: a whole message was sent. 0: the bus takes no more. */
static int send_one(Connection *c, Flood *f)
{
	Bytes *b = &f->messages[c->next];

	if (c->sent == 0)
		c->serial++;
	/* another connection may have sent a part of the same message meanwhile */
	bytes_set_u32(b, MESSAGE_SERIAL, c->serial);
	if (f->is_answer[c->next])
		bytes_set_u32(b, MESSAGE_REPLY_SERIAL, c->serial);
	while (c->sent < b->size) {
		ssize_t n = send_part(c, f, b);

		if (n < 0)
			return errno == EAGAIN ? 0 : -errno;
		c->sent += (size_t)n;
	}
	c->sent = 0;
	c->next = (c->next + 1) % (unsigned int)f->n;
	c->waiting++;
	f->count->sent++;
	return 1;
}

/* Counts the replies in the N bytes at P. */
static void count_replies(Connection *c, const Flood *f, const uint8_t *p, size_t n)
{
	while (n > 0) {
		size_t part;

		if (c->n_begin < sizeof(c->begin)) {
			part = MIN(n, sizeof(c->begin) - c->n_begin);
			memcpy(c->begin + c->n_begin, p, part);
			c->n_begin += part;
			if (c->n_begin == sizeof(c->begin))
				c->left = message_size(c->begin) - sizeof(c->begin);
		} else {
			part = MIN(n, c->left);
			c->left -= part;
		}
		p += part;
		n -= part;
		if (c->n_begin < sizeof(c->begin) || c->left > 0)
			continue;
		c->n_begin = 0;
		if (c->begin[1] != MESSAGE_REPLY && c->begin[1] != MESSAGE_ERROR)
			continue;
		f->count->answered++;
		f->count->refused += c->begin[1] == MESSAGE_ERROR;
		if (c->waiting > 0)
			c->waiting--;
	}
}

static int receive(Connection *c, const Flood *f)
{
	static uint8_t buffer[65536];
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int) * 16)];

	for (int turns = 0; turns < 16; turns++) {
		struct iovec iov = {buffer, sizeof(buffer)};
		struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};
		ssize_t n;

		/* without room for descriptors the kernel closes them */
		if (f->keep_fds) {
			m.msg_control = control;
			m.msg_controllen = sizeof(control);
		}
		n = recvmsg(c->fd, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
		if (n < 0)
			return errno == EAGAIN ? 0 : -errno;
		if (n == 0)
			return -EPIPE;
		count_replies(c, f, buffer, (size_t)n);
		if ((size_t)n < sizeof(buffer))
			return 0;
	}
	return 0;
}

int connection_run(Connection *c, Flood *f)
{
	int r = 0;

	if (!f->unread)
		r = receive(c, f);
	for (int turns = 0; r >= 0 && turns < 64 && connection_wants_to_send(c, f); turns++) {
		r = send_one(c, f);
		if (r == 0)
			break;
	}
	return MIN(r, 0);
}
