/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "special.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "bodies.h"
#include "names.h"

#define PORT "/org/rdma/device/0/port/1"

/* special_depart(): processes of the one user, and calls of each connection. */
#define DEPARTING_PROCESSES 4U
#define DEPARTING_CALLS	    100U

/* Connects, sends N of MESSAGES and leaves, again and again. */
static void come_and_go(const Attacker *a, const Message *messages, size_t n_messages,
			unsigned int n)
{
	Flood f = {.socket = a->socket,
		   .n = n_messages,
		   .window = n + 1,
		   .null = -EBADF,
		   .count = a->count};

	for (size_t i = 0; i < n_messages; i++)
		message_write(&f.messages[i], &messages[i], a->owner);
	while (attack_goes_on(a)) {
		Connection c;

		if (connection_open(&c, a->socket) < 0)
			continue;
		connection_run(&c, &f);
		connection_close(&c);
	}
	for (size_t i = 0; i < n_messages; i++)
		bytes_free(&f.messages[i]);
}

void special_connect(const Attacker *a)
{
	static const Message ping = {
		.path = "/", .interface = "org.freedesktop.DBus.Peer", .member = "Ping"};

	come_and_go(a, &ping, 1, 1);
}

void special_leave(const Attacker *a)
{
	static const Message messages[] = {
		{.path = RDMAD_ROOT_PATH,
		 .interface = RDMAD_INTERFACE_MANAGER,
		 .member = "WaitFor",
		 .signature = "a{sv}t",
		 .body = body_wait_long,
		 .n = 8},
		{.path = PORT,
		 .interface = RDMAD_INTERFACE_PORT,
		 .member = "Query",
		 .signature = "a{sv}",
		 .body = body_max_age},
		{.path = RDMAD_ROOT_PATH,
		 .interface = RDMAD_INTERFACE_MANAGER,
		 .member = "OpenSnapshot",
		 .signature = "a{sv}",
		 .body = body_options},
		{.path = RDMAD_ROOT_PATH,
		 .interface = RDMAD_INTERFACE_MANAGER,
		 .member = "ListPorts",
		 .signature = "a{sv}",
		 .body = body_options},
	};

	come_and_go(a, messages, ARRAY_SIZE(messages), 60);
}

/* Sends N calls of M and leaves without reading a reply, again and again. */
static void call_and_leave(const Attacker *a, const Message *m, unsigned int n)
{
	Flood f = {.socket = a->socket,
		   .n = 1,
		   .window = n + 1, /* and Hello */
		   .unread = true,
		   .null = -EBADF,
		   .count = a->count};

	message_write(&f.messages[0], m, a->owner);
	while (attack_goes_on(a)) {
		Connection c;

		if (connection_open(&c, a->socket) < 0)
			continue;
		while (connection_wants_to_send(&c, &f) && connection_run(&c, &f) >= 0) {
			struct pollfd p = {.fd = c.fd, .events = POLLOUT};

			if (connection_wants_to_send(&c, &f) && poll(&p, 1, 1000) <= 0)
				break;
		}
		connection_close(&c);
	}
	bytes_free(&f.messages[0]);
}

/* Becomes DEPARTING_PROCESSES processes. Returns the number of this one. */
static unsigned int multiply(void)
{
	for (unsigned int i = 1; i < DEPARTING_PROCESSES; i++)
		if (fork() == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			return i;
		}
	return 0;
}

void special_depart(const Attacker *a)
{
	static const Message get_all = {.path = PORT,
					.interface = "org.freedesktop.DBus.Properties",
					.member = "GetAll",
					.signature = "s",
					.body = body_port_interface};

	multiply();
	call_and_leave(a, &get_all, DEPARTING_CALLS);
}

void special_depart_others(const Attacker *a)
{
	static const Message messages[DEPARTING_PROCESSES] = {
		{.path = RDMAD_ROOT_PATH,
		 .interface = RDMAD_INTERFACE_MANAGER,
		 .member = "ListPorts",
		 .signature = "a{sv}",
		 .body = body_options},
		{.path = RDMAD_ROOT_PATH,
		 .interface = RDMAD_INTERFACE_MANAGER,
		 .member = "FindPorts",
		 .signature = "sa{sv}",
		 .body = body_subnet_options},
		{.path = PORT,
		 .interface = RDMAD_INTERFACE_PORT,
		 .member = "GetUsers",
		 .signature = "a{sv}",
		 .body = body_options},
		{.path = RDMAD_ROOT_PATH,
		 .interface = RDMAD_INTERFACE_MANAGER,
		 .member = "GetCounters",
		 .signature = "a{sv}",
		 .body = body_options},
	};

	call_and_leave(a, &messages[multiply()], DEPARTING_CALLS);
}

/* Sends all of a call but the last 8 bytes. */
static void send_part(const Attacker *a, Connection *c)
{
	static const Message m = {.path = RDMAD_ROOT_PATH,
				  .interface = RDMAD_INTERFACE_MANAGER,
				  .member = "GetPort",
				  .signature = "sa{sv}",
				  .body = body_text_options,
				  .n = 100000};
	Bytes b = {};

	if (connection_open(c, a->socket) < 0)
		return;
	message_write(&b, &m, a->owner);
	if (write(c->fd, b.p, b.size - 8) > 0)
		a->count->sent++;
	bytes_free(&b);
}

void special_half(const Attacker *a)
{
	enum { N = 32 };
	Connection connections[N];

	while (attack_goes_on(a)) {
		for (unsigned int i = 0; i < N; i++) {
			connections[i].fd = -EBADF;
			if (i % 2 == 0)
				connections[i].fd = connection_open_silent(a->socket);
			else
				send_part(a, &connections[i]);
		}
		poll(NULL, 0, 100);
		for (unsigned int i = 0; i < N; i++)
			connection_close(&connections[i]);
	}
}
