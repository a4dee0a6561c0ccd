/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What most attackers do: many connections, each with calls without a pause. */

#include <fcntl.h>
#include <poll.h>
#include <time.h>

#include "attack.h"

#define CONNECTIONS_MAX 250U

bool attack_goes_on(const Attacker *a)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * USEC_PER_SEC + (uint64_t)t.tv_nsec / 1000 < a->end_usec;
}

static void prepare(Flood *f, const Message *messages, const Attack *k, const Attacker *a, int null)
{
	*f = (Flood){.socket = a->socket,
		     .window = k->window,
		     .unread = k->unread,
		     .keep_fds = k->keep_fds,
		     .null = null,
		     .count = a->count};
	for (const Message *m = messages; m && m->path && f->n < CONNECTION_MESSAGES; m++) {
		message_write(&f->messages[f->n], m, a->owner);
		f->n_fds[f->n] = m->n_fds;
		f->is_answer[f->n] = m->is_answer;
		f->n++;
	}
}

static void finish(Flood *f)
{
	for (size_t i = 0; i < f->n; i++)
		bytes_free(&f->messages[i]);
}

/* A connection that has ended is opened again. */
static void turn(Connection *connections, unsigned int n, Flood *f[], unsigned int n_more)
{
	struct pollfd polls[CONNECTIONS_MAX];

	for (unsigned int i = 0; i < n; i++) {
		Connection *c = &connections[i];
		Flood *mine = f[i < n_more];

		if (c->fd < 0)
			connection_open(c, mine->socket);
		polls[i] = (struct pollfd){.fd = c->fd, .events = mine->unread ? 0 : POLLIN};
		if (connection_wants_to_send(c, mine))
			polls[i].events |= POLLOUT;
	}
	if (poll(polls, n, 20) <= 0)
		return;
	for (unsigned int i = 0; i < n; i++)
		if (polls[i].revents && connection_run(&connections[i], f[i < n_more]) < 0)
			connection_close(&connections[i]);
		else if (polls[i].revents & (POLLHUP | POLLERR))
			connection_close(&connections[i]);
}

void attack_flood(const Attack *k, const Attacker *a)
{
	Connection connections[CONNECTIONS_MAX];
	unsigned int n = MIN(k->connections, CONNECTIONS_MAX);
	_cleanup_close_ int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	Flood all, more;
	Flood *f[] = {&all, &more};

	prepare(&all, k->messages, k, a, null);
	prepare(&more, k->more, k, a, null);
	for (unsigned int i = 0; i < n; i++)
		connections[i].fd = -EBADF;
	/* one after the other, so that the first ones begin while the others connect */
	for (unsigned int open = 1; attack_goes_on(a); open = MIN(open + 1, n))
		turn(connections, open, f, k->messages_of);
	for (unsigned int i = 0; i < n; i++)
		connection_close(&connections[i]);
	finish(&all);
	finish(&more);
}

void attack_run(const Attack *k, const Attacker *a)
{
	if (k->run)
		k->run(a);
	else
		attack_flood(k, a);
}
