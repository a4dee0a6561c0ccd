/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "bus-peer.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "util.h"

#define BUS_NAME      "org.freedesktop.DBus"
#define BUS_PATH      "/org/freedesktop/DBus"
#define QUESTIONS_MAX 1024U

struct Peer {
	sd_bus *bus;
	PeerReply on_reply;
	PeerSignal on_signal; /* NULL: signals are for nobody */
	void *userdata;
	bool named;
	unsigned int connections[PEER_CLIENTS]; /* the numbers in their names */
	unsigned int last_connection;
	sd_bus_message *questions[QUESTIONS_MAX]; /* in order */
	size_t n_questions;
};

static struct sockaddr_un socket_address(socklen_t *ret_size)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int n = snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "rdmad-fuzz-%d",
			 getpid());

	*ret_size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
	return address;
}

static int listening(void)
{
	static int fd = -EBADF;
	struct sockaddr_un address;
	socklen_t size;

	if (fd >= 0)
		return fd;
	address = socket_address(&size);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	FUZZ_CHECK(fd >= 0);
	FUZZ_CHECK(bind(fd, (struct sockaddr *)&address, size) == 0 && listen(fd, 8) == 0);
	return fd;
}

const char *peer_address(void)
{
	static char text[64];

	(void)listening();
	snprintf(text, sizeof(text), "unix:abstract=rdmad-fuzz-%d", getpid());
	return text;
}

bool peer_is_awaited(void)
{
	struct pollfd fd = {.fd = listening(), .events = POLLIN};

	return poll(&fd, 1, 0) > 0;
}

void peer_refuse_all(void)
{
	while (peer_is_awaited()) {
		int fd = accept4(listening(), NULL, NULL, SOCK_CLOEXEC);

		FUZZ_CHECK(fd >= 0);
		close(fd);
	}
}

static int on_message(sd_bus_message *m, void *userdata, _unused_ sd_bus_error *error)
{
	uint64_t cookie;
	Peer *p = userdata;

	if (sd_bus_message_get_reply_cookie(m, &cookie) >= 0) {
		p->on_reply(p->userdata, cookie, m);
	} else if (sd_bus_message_is_method_call(m, BUS_NAME, "Hello")) {
		return sd_bus_reply_method_return(m, "s", ":1.1");
	} else if (sd_bus_message_is_method_call(m, BUS_NAME, "RequestName")) {
		p->named = true;
		return sd_bus_reply_method_return(m, "u", 1);
	} else if (sd_bus_message_is_method_call(m, BUS_NAME, "AddMatch")) {
		return sd_bus_reply_method_return(m, NULL);
	} else if (sd_bus_message_is_method_call(m, BUS_NAME, "GetConnectionUnixUser")) {
		FUZZ_CHECK(p->n_questions < QUESTIONS_MAX);
		p->questions[p->n_questions++] = sd_bus_message_ref(m);
	}
	if (p->on_signal && sd_bus_message_is_signal(m, NULL, NULL))
		p->on_signal(p->userdata, m);
	return 1;
}

Peer *peer_new(PeerReply on_reply, void *userdata)
{
	static const sd_id128_t id = {.bytes = {1}};
	int fd = accept4(listening(), NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	Peer *p = calloc(1, sizeof(*p));

	FUZZ_CHECK(p && fd >= 0);
	p->on_reply = on_reply;
	p->userdata = userdata;
	p->last_connection = 1; /* the daemon's own */
	for (unsigned int i = 0; i < PEER_CLIENTS; i++)
		p->connections[i] = ++p->last_connection;
	FUZZ_CHECK(sd_bus_new(&p->bus) >= 0);
	FUZZ_CHECK(sd_bus_set_fd(p->bus, fd, fd) >= 0);
	FUZZ_CHECK(sd_bus_set_server(p->bus, true, id) >= 0);
	FUZZ_CHECK(sd_bus_negotiate_fds(p->bus, true) >= 0);
	FUZZ_CHECK(sd_bus_start(p->bus) >= 0);
	FUZZ_CHECK(sd_bus_add_filter(p->bus, NULL, on_message, p) >= 0);
	return p;
}

Peer *peer_free(Peer *p)
{
	if (!p)
		return NULL;
	for (size_t i = 0; i < p->n_questions; i++)
		sd_bus_message_unref(p->questions[i]);
	sd_bus_close_unref(p->bus);
	free(p);
	return NULL;
}

void peer_listen(Peer *p, PeerSignal on_signal)
{
	p->on_signal = on_signal;
}

sd_bus *peer_bus(Peer *p)
{
	return p->bus;
}

bool peer_is_ready(const Peer *p)
{
	return p->named;
}

bool peer_process(Peer *p)
{
	int r = sd_bus_process(p->bus, NULL);

	FUZZ_CHECK(r >= 0); /* the daemon never closes the connection */
	return r > 0;
}

const char *peer_client_name(const Peer *p, unsigned int client)
{
	static char name[24];

	snprintf(name, sizeof(name), ":1.%u", p->connections[client]);
	return name;
}

void peer_client_leaves(Peer *p, unsigned int client)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	const char *name = peer_client_name(p, client);

	FUZZ_CHECK(sd_bus_message_new_signal(p->bus, &m, BUS_PATH, BUS_NAME, "NameOwnerChanged") >=
		   0);
	FUZZ_CHECK(sd_bus_message_append(m, "sss", name, name, "") >= 0);
	FUZZ_CHECK(sd_bus_message_set_sender(m, BUS_NAME) >= 0);
	FUZZ_CHECK(sd_bus_send(p->bus, m, NULL) >= 0);
	p->connections[client] = ++p->last_connection;
}

size_t peer_n_questions(const Peer *p)
{
	return p->n_questions;
}

static bool has_left(const Peer *p, sd_bus_message *question)
{
	const char *name = NULL;

	FUZZ_CHECK(sd_bus_message_read_basic(question, 's', &name) > 0);
	for (unsigned int i = 0; i < PEER_CLIENTS; i++)
		if (streq(peer_client_name(p, i), name))
			return false;
	return true;
}

void peer_answer_question(Peer *p, uint32_t user, bool fails)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *question = NULL;
	int r;

	if (p->n_questions == 0)
		return;
	question = p->questions[0];
	p->n_questions--;
	memmove(p->questions, p->questions + 1, p->n_questions * sizeof(p->questions[0]));
	if (has_left(p, question))
		r = sd_bus_reply_method_errorf(question, SD_BUS_ERROR_NAME_HAS_NO_OWNER, "left");
	else if (fails)
		r = sd_bus_reply_method_errorf(question, SD_BUS_ERROR_NO_REPLY, "late");
	else
		r = sd_bus_reply_method_return(question, "u", user);
	FUZZ_CHECK(r >= 0);
}
