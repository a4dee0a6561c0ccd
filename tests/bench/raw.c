/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "raw.h"

#include <endian.h>
#include <poll.h>
#include <stdarg.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "bench.h"

#if __BYTE_ORDER != __LITTLE_ENDIAN
#error "The benchmark's own D-Bus is little-endian."
#endif

#define DBUS	     "org.freedesktop.DBus"
#define DBUS_PATH    "/org/freedesktop/DBus"
#define FIXED_HEADER 16
#define NO_REPLY     1

enum { PATH = 1, INTERFACE, MEMBER, ERROR_NAME, REPLY_SERIAL, DESTINATION, SENDER, SIGNATURE };

struct Raw {
	int fd;
	uint32_t serial;
	uint8_t *buffer;
	size_t room, start,
		end; /* the buffer: its size, and the part that holds bytes not looked at yet */
};

static size_t align(size_t n, size_t to)
{
	return (n + to - 1) & ~(to - 1);
}

static uint32_t get_u32(const uint8_t *p)
{
	uint32_t value;

	memcpy(&value, p, sizeof(value));
	return value;
}

uint32_t raw_u32(const uint8_t *p)
{
	return get_u32(p);
}

/* Writing */

/* Appends to the SIZE bytes at B. The caller makes sure that there is enough memory. */
static size_t put_u32(uint8_t *b, size_t size, uint32_t value)
{
	while (size % 4)
		b[size++] = 0;
	memcpy(b + size, &value, sizeof(value));
	return size + sizeof(value);
}

static size_t put_string(uint8_t *b, size_t size, const char *s)
{
	size_t n = strlen(s);

	size = put_u32(b, size, (uint32_t)n);
	memcpy(b + size, s, n + 1);
	return size + n + 1;
}

static size_t pad(uint8_t *b, size_t size)
{
	while (size % 8)
		b[size++] = 0;
	return size;
}

static size_t put_field(uint8_t *b, size_t size, uint8_t code, char type, const char *value)
{
	if (!value)
		return size;
	size = pad(b, size);
	b[size++] = code;
	b[size++] = 1;
	b[size++] = (uint8_t)type;
	b[size++] = 0;
	if (type != 'g')
		return put_string(b, size, value);
	b[size++] = (uint8_t)strlen(value);
	memcpy(b + size, value, strlen(value) + 1);
	return size + strlen(value) + 1;
}

static size_t put_start(uint8_t *b, uint8_t type)
{
	memset(b, 0, FIXED_HEADER);
	b[0] = 'l';
	b[1] = type;
	b[3] = 1;
	return FIXED_HEADER;
}

/* Ends the header of a message whose body has BODY_SIZE bytes. */
static size_t put_end(uint8_t *b, size_t size, size_t body_size)
{
	put_u32(b, 4, (uint32_t)body_size);
	put_u32(b, 12, (uint32_t)(size - FIXED_HEADER));
	return pad(b, size);
}

void raw_call(RawCall *call, const char *destination, const char *path, const char *interface,
	      const char *member, const char *signature, ...)
{
	uint8_t *b = call->bytes, body[512];
	size_t size, n = 0;
	va_list args;

	va_start(args, signature);
	for (const char *s = signature; *s; s++)
		switch (*s) {
		case 's': {
			const char *text = va_arg(args, const char *);

			if (n + strlen(text) + 8 > sizeof(body))
				bench_die("%s: an argument is too long", member);
			n = put_string(body, n, text);
			break;
		}
		case 'u':
			n = put_u32(body, n, va_arg(args, uint32_t));
			break;
		case 'a':
			n = pad(body, put_u32(body, n, 0));
			s += strlen("{sv}");
			break;
		default:
			bench_die("%s: the type %c is not supported", member, *s);
		}
	va_end(args);
	size = put_start(b, RAW_CALL);
	size = put_field(b, size, DESTINATION, 's', destination);
	size = put_field(b, size, PATH, 'o', path);
	size = put_field(b, size, INTERFACE, 's', interface);
	size = put_field(b, size, MEMBER, 's', member);
	size = put_field(b, size, SIGNATURE, 'g', *signature ? signature : NULL);
	size = put_end(b, size, n);
	if (size + n > sizeof(call->bytes))
		bench_die("%s: the message is too long", member);
	memcpy(b + size, body, n);
	call->size = size + n;
}

static void write_all(int fd, struct iovec *iov, int n)
{
	while (n > 0) {
		ssize_t done = writev(fd, iov, n);

		if (done < 0)
			bench_die("write to the bus: %m");
		while (n > 0 && (size_t)done >= iov->iov_len) {
			done -= (ssize_t)iov->iov_len;
			iov++;
			n--;
		}
		if (n > 0) {
			iov->iov_base = (uint8_t *)iov->iov_base + done;
			iov->iov_len -= (size_t)done;
		}
	}
}

uint32_t raw_send(Raw *r, RawCall *call)
{
	struct iovec iov = {call->bytes, call->size};

	put_u32(call->bytes, 8, ++r->serial);
	write_all(r->fd, &iov, 1);
	return r->serial;
}

void raw_post(Raw *r, RawCall *call)
{
	call->bytes[2] = NO_REPLY;
	raw_send(r, call);
}

void raw_reply(Raw *r, const RawMessage *call, const char *signature, const void *body, size_t size)
{
	uint8_t b[512];
	size_t n = put_start(b, RAW_REPLY);
	struct iovec iov[2];

	n = put_field(b, n, DESTINATION, 's', call->sender);
	n = put_field(b, n, SIGNATURE, 'g', signature);
	n = pad(b, n);
	b[n++] = REPLY_SERIAL;
	b[n++] = 1;
	b[n++] = 'u';
	b[n++] = 0;
	n = put_u32(b, n, call->serial);
	put_u32(b, 8, ++r->serial);
	n = put_end(b, n, size);
	iov[0] = (struct iovec){b, n};
	iov[1] = (struct iovec){CONST_CAST(void *, body), size};
	write_all(r->fd, iov, size > 0 ? 2 : 1);
}

/* Reading */

/* Reads until there are WANTED bytes. */
static const uint8_t *fill(Raw *r, size_t wanted)
{
	if (r->start == r->end)
		r->start = r->end = 0;
	if (r->start + wanted > r->room) {
		memmove(r->buffer, r->buffer + r->start, r->end - r->start);
		r->end -= r->start;
		r->start = 0;
	}
	if (wanted > r->room) {
		r->room = wanted * 2;
		r->buffer = realloc(r->buffer, r->room);
		if (!r->buffer)
			bench_die("no memory");
	}
	while (r->end - r->start < wanted) {
		ssize_t n = read(r->fd, r->buffer + r->end, r->room - r->end);

		if (n <= 0)
			bench_die("the connection to the bus has ended: %s",
				  n < 0 ? strerror(errno) : "end of file");
		r->end += (size_t)n;
	}
	return r->buffer + r->start;
}

bool raw_wait(Raw *r, uint64_t nsec)
{
	struct pollfd pollfd = {.fd = r->fd, .events = POLLIN};
	struct timespec t = {.tv_sec = (time_t)(nsec / 1000000000),
			     .tv_nsec = (long)(nsec % 1000000000)};

	return r->start < r->end || ppoll(&pollfd, 1, &t, NULL) > 0;
}

void raw_receive(Raw *r, RawMessage *ret)
{
	const uint8_t *m = fill(r, FIXED_HEADER);
	size_t header = FIXED_HEADER + get_u32(m + 12);
	RawMessage message = {.body_size = get_u32(m + 4)};

	m = fill(r, align(header, 8) + message.body_size);
	r->start += align(header, 8) + message.body_size;
	message.type = m[1];
	message.wants_reply = !(m[2] & NO_REPLY);
	message.serial = get_u32(m + 8);
	message.body = m + align(header, 8);
	for (size_t i = FIXED_HEADER; i < header; i = align(i, 8)) {
		uint8_t code = m[i], type = m[i + 2];
		const char *text;

		i += 4;
		if (type == 'u') {
			if (code == REPLY_SERIAL)
				message.reply_serial = get_u32(m + i);
			i += 4;
			continue;
		}
		if (type == 'g') {
			text = (const char *)m + i + 1;
			i += m[i] + 2U;
		} else {
			text = (const char *)m + i + 4;
			i += get_u32(m + i) + 5;
		}
		switch (code) {
		case PATH:
			message.path = text;
			break;
		case INTERFACE:
			message.interface = text;
			break;
		case MEMBER:
			message.member = text;
			break;
		case ERROR_NAME:
			message.error = text;
			break;
		case SENDER:
			message.sender = text;
			break;
		case SIGNATURE:
			message.signature = text;
			break;
		default:
			break;
		}
	}
	*ret = message;
}

bool raw_try(Raw *r, RawCall *call, RawMessage *ret)
{
	uint32_t serial = raw_send(r, call);

	do
		raw_receive(r, ret);
	while (ret->reply_serial != serial);
	return ret->type == RAW_REPLY;
}

void raw_roundtrip(Raw *r, RawCall *call, RawMessage *ret)
{
	if (!raw_try(r, call, ret))
		bench_die("%s: %.*s", ret->error, (int)ret->body_size - 5,
			  ret->body_size > 5 ? (const char *)ret->body + 4 : "");
}

/* The bus */

static void authenticate(Raw *r)
{
	char uid[16], line[96], answer[128];
	size_t n = 0;

	snprintf(uid, sizeof(uid), "%u", geteuid());
	n = (size_t)snprintf(line, sizeof(line), "%cAUTH EXTERNAL ", 0);
	for (const char *p = uid; *p; p++)
		n += (size_t)snprintf(line + n, sizeof(line) - n, "%02x", (unsigned char)*p);
	n += (size_t)snprintf(line + n, sizeof(line) - n, "\r\n");
	if (write(r->fd, line, n) != (ssize_t)n)
		bench_die("cannot authenticate: %m");
	for (n = 0; n < sizeof(answer) && (n == 0 || answer[n - 1] != '\n'); n++)
		if (read(r->fd, answer + n, 1) != 1)
			bench_die("no answer to the authentication");
	if (strncmp(answer, "OK ", 3) != 0)
		bench_die("the bus refuses the connection");
	if (write(r->fd, "BEGIN\r\n", 7) != 7)
		bench_die("cannot authenticate: %m");
}

static void call_bus(Raw *r, const char *member, const char *argument, RawMessage *ret)
{
	RawCall call;

	raw_call(&call, DBUS, DBUS_PATH, DBUS, member, argument ? "s" : "", argument);
	raw_roundtrip(r, &call, ret);
}

Raw *raw_connect(const char *path, const char *name)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	Raw *r = calloc(1, sizeof(Raw));
	RawMessage m;
	RawCall call;

	if (!r)
		bench_die("no memory");
	text_copy(address.sun_path, sizeof(address.sun_path), path);
	r->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (r->fd < 0 || connect(r->fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		bench_die("%s: %m", path);
	authenticate(r);
	call_bus(r, "Hello", NULL, &m);
	if (name) {
		raw_call(&call, DBUS, DBUS_PATH, DBUS, "RequestName", "su", name, UINT32_C(0));
		raw_roundtrip(r, &call, &m);
	}
	return r;
}

Raw *raw_free(Raw *r)
{
	if (!r)
		return NULL;
	close_fd(r->fd);
	free(r->buffer);
	free(r);
	return NULL;
}

void raw_match(Raw *r, const char *rule)
{
	RawMessage m;

	call_bus(r, "AddMatch", rule, &m);
}

bool raw_name_has_owner(Raw *r, const char *name)
{
	RawMessage m;

	call_bus(r, "NameHasOwner", name, &m);
	return get_u32(m.body);
}

bool raw_wait_name(Raw *r, const char *name, pid_t pid)
{
	char rule[256];
	RawMessage m;

	snprintf(rule, sizeof(rule),
		 "type='signal',sender='" DBUS "',member='NameOwnerChanged',arg0='%s'", name);
	raw_match(r, rule);
	while (!raw_name_has_owner(r, name)) {
		/* look again after each message, and also if none comes for a while */
		if (!raw_wait(r, 100000000)) {
			siginfo_t info = {};

			if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0 ||
			    info.si_pid == pid)
				return false;
			continue;
		}
		raw_receive(r, &m);
	}
	call_bus(r, "RemoveMatch", rule, &m);
	return true;
}
