/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What is known of the MTU after each answer to large and small datagrams. This test is the kernel,
 * and the clock. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <poll.h>

#include "ping-mtu.h"

#define N_PEERS	   2
#define N_ROUNDS   3
#define NONE	   0 /* no answer, or no error */
#define MTU	   1024
#define START_USEC 5U

/* What the kernel does with a datagram: send() fails, or an error comes after it, which is what
 * ICMP means. */
typedef struct Fate {
	int send, comes;
} Fate;

enum { LARGE, SMALL };

typedef struct Peer {
	PingWay way;
	PingSize *size;
	Fate fates[N_ROUNDS][2];
	unsigned int n_sent[2];
	int pending[2];
} Peer;

static Peer peers[N_PEERS];
static uint64_t now_usec;

#define LOST                                                                                       \
	{                                                                                          \
		{NONE, NONE},                                                                      \
		{                                                                                  \
			NONE, ECONNREFUSED                                                         \
		}                                                                                  \
	}
#define ARRIVES                                                                                    \
	{                                                                                          \
		{NONE, ECONNREFUSED},                                                              \
		{                                                                                  \
			NONE, NONE                                                                 \
		}                                                                                  \
	}

/* The peer, and which of its sockets FD is. */
static Peer *find(int fd, int *ret_which)
{
	for (size_t i = 0; i < N_PEERS; i++)
		for (int which = LARGE; peers[i].size && which <= SMALL; which++)
			if (peers[i].size->fds[which] == fd) {
				*ret_which = which;
				return &peers[i];
			}
	fail_msg("no socket %d", fd);
	return NULL;
}

uint64_t __wrap_monotonic_now_usec(void);
uint64_t __wrap_monotonic_now_usec(void)
{
	return now_usec;
}

ssize_t __wrap_send(int fd, const void *data, size_t size, int flags);
ssize_t __wrap_send(int fd, _unused_ const void *data, size_t size, _unused_ int flags)
{
	int which = LARGE;
	Peer *p = find(fd, &which);
	const Fate *f = &p->fates[p->n_sent[which]++][which];

	assert_true(p->n_sent[which] <= N_ROUNDS);
	/* the data of a packet, and the headers of RoCE */
	assert_int_equal(size, which == LARGE ? MTU + 32 : 1);
	p->pending[which] = f->send ? 0 : f->comes;
	errno = f->send;
	return f->send ? -1 : (ssize_t)size;
}

int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *size);
int __wrap_getsockopt(int fd, int level, int name, void *value, _unused_ socklen_t *size)
{
	int which = LARGE;
	Peer *p = find(fd, &which);

	assert_int_equal(level, SOL_SOCKET);
	assert_int_equal(name, SO_ERROR);
	*(int *)value = p->pending[which];
	p->pending[which] = 0;
	return 0;
}

/* Returns at once if an answer has come, and else when the time is over. */
int __wrap_poll(struct pollfd *events, nfds_t n, int wait_msec);
int __wrap_poll(struct pollfd *events, nfds_t n, int wait_msec)
{
	int n_ready = 0, which = LARGE;

	for (nfds_t i = 0; i < n; i++) {
		events[i].revents = 0;
		if (events[i].fd >= 0 && find(events[i].fd, &which)->pending[which]) {
			events[i].revents = POLLERR;
			n_ready++;
		}
	}
	assert_true(wait_msec > 0);
	if (n_ready == 0)
		now_usec += (uint64_t)wait_msec * USEC_PER_MSEC;
	return n_ready;
}

/* Asks those whose fates are set. */
static void ask(size_t n, uint64_t end_usec)
{
	const PingSocket to = {
		.v4 = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)}};
	PingSize sizes[N_PEERS];

	now_usec = START_USEC;
	for (size_t i = 0; i < n; i++) {
		peers[i].way.mtu = MTU;
		ping_size_open(&sizes[i], &peers[i].way, &to, NULL);
		assert_true(sizes[i].fds[LARGE] >= 0 && sizes[i].fds[SMALL] >= 0);
		peers[i].size = &sizes[i];
	}
	ping_sizes_ask(sizes, n, end_usec);
	for (size_t i = 0; i < n; i++) {
		ping_size_close(&sizes[i]);
		peers[i].size = NULL;
	}
}

/* The answers in three rounds, and what is known after N_SENT large ones. */
typedef struct Case {
	Fate fates[N_ROUNDS][2];
	unsigned int n_sent;
	bool known, arrives;
} Case;

static void check(const Case *c, const Peer *p)
{
	assert_int_equal(p->way.mtu_known, c->known);
	assert_int_equal(p->way.mtu_arrives, c->arrives);
	assert_int_equal(p->n_sent[LARGE], c->n_sent);
}

static void check_each(const Case *cases, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		peers[0] = (Peer){};
		memcpy(peers[0].fates, cases[i].fates, sizeof(peers[0].fates));
		print_message("case %zu\n", i);
		ask(1, UINT64_MAX);
		check(&cases[i], &peers[0]);
	}
}

static void test_answers(_unused_ void **state)
{
	static const Case cases[] = {
		{{ARRIVES}, 1, true, true},
		{{LOST, ARRIVES}, 2, true, true},
		{{LOST, LOST, ARRIVES}, 3, true, true},
		{{LOST, LOST, LOST}, 3, true, false},
		/* a router says that its next link has a smaller MTU */
		{{{{NONE, EMSGSIZE}}}, 1, true, false},
		{{LOST, {{NONE, EMSGSIZE}}}, 2, true, false},
		/* nothing is known of one that answers no small one */
		{{{{NONE, NONE}, {NONE, NONE}}}, 1, false, false},
		{{LOST, LOST, {{NONE, NONE}, {NONE, NONE}}}, 3, false, false},
	};

	check_each(cases, ARRAY_SIZE(cases));
}

/* A router that forbids something has answered, and not the peer. */
static void test_routers(_unused_ void **state)
{
	static const int errors[] = {EHOSTUNREACH, ENETUNREACH, EACCES, EPROTO};

	for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
		const Case cases[] = {
			{{{{NONE, errors[i]}}}, 1, false, false},
			{{LOST, {{NONE, errors[i]}}}, 2, false, false},
			{{LOST, LOST, {{NONE, NONE}, {NONE, errors[i]}}}, 3, false, false},
		};

		check_each(cases, ARRAY_SIZE(cases));
	}
	/* that one is too large cannot be said of one byte */
	check_each(&(Case){{{{NONE, NONE}, {NONE, EMSGSIZE}}}, 1, false, false}, 1);
}

/* What was not sent has not arrived, and nobody has lost it. */
static void test_local_errors(_unused_ void **state)
{
	static const int errors[] = {EPERM, ENOBUFS, EAGAIN, ENETUNREACH, EMSGSIZE, EINVAL};

	for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
		const Case cases[] = {
			{{{{errors[i], NONE}}}, 1, false, false},
			{{LOST, {{errors[i], NONE}}}, 2, false, false},
			{{LOST, LOST, {{NONE, NONE}, {errors[i], NONE}}}, 3, false, false},
		};

		check_each(cases, ARRAY_SIZE(cases));
	}
	/* except the answer to the one before, which has come late */
	check_each(&(Case){{LOST, {{ECONNREFUSED, NONE}}}, 2, true, true}, 1);
}

/* Each peer has its own answers, and they are asked at the same time. */
static void test_times(_unused_ void **state)
{
	static const Case arrives = {{ARRIVES}, 1, true, true},
			  lost = {{LOST, LOST, LOST}, 3, true, false},
			  silent = {{{{NONE, NONE}}}, 1, false, false};
	static const struct {
		const Case *cases[N_PEERS];
		uint64_t took_msec;
	} all[] = {
		{{&arrives, &arrives}, 0}, {{&arrives, &silent}, 2000}, {{&silent, &silent}, 2000},
		{{&lost, &arrives}, 5200}, {{&silent, &lost}, 6200},
	};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		for (size_t k = 0; k < N_PEERS; k++) {
			peers[k] = (Peer){};
			memcpy(peers[k].fates, all[i].cases[k]->fates, sizeof(peers[k].fates));
		}
		ask(N_PEERS, UINT64_MAX);
		for (size_t k = 0; k < N_PEERS; k++)
			check(all[i].cases[k], &peers[k]);
		/* poll() waits for a millisecond more than is left */
		assert_in_range((now_usec - START_USEC) / USEC_PER_MSEC, all[i].took_msec,
				all[i].took_msec + 2 * N_ROUNDS);
	}
}

/* When the time of a wait is over, nobody is asked any more, and what was known stays. */
static void test_end(_unused_ void **state)
{
	static const Case lost = {{LOST, LOST, LOST}, 3, true, false};

	for (uint64_t msec = 0; msec <= 5200; msec += 50) {
		peers[0] = (Peer){.way = {.mtu_known = msec % 100 == 0}};
		memcpy(peers[0].fates, lost.fates, sizeof(lost.fates));
		ask(1, START_USEC + msec * USEC_PER_MSEC);
		assert_in_range(now_usec, START_USEC, START_USEC + (msec + 1) * USEC_PER_MSEC);
		assert_int_equal(peers[0].way.mtu_known, msec % 100 == 0);
		assert_false(peers[0].way.mtu_arrives);
		assert_int_equal(peers[0].n_sent[LARGE] > 0, msec > 0);
	}
	peers[0] = (Peer){};
	memcpy(peers[0].fates, lost.fates, sizeof(lost.fates));
	ask(1, START_USEC + 5300 * USEC_PER_MSEC);
	check(&lost, &peers[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answers),	     cmocka_unit_test(test_routers),
		cmocka_unit_test(test_local_errors), cmocka_unit_test(test_times),
		cmocka_unit_test(test_end),
	};

	return cmocka_run_group_tests_name("ping-mtu", tests, NULL, NULL);
}
