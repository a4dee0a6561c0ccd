/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Who counts as one peer of the exporter: addresses, which this test makes. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "http-peers.h"

/* By the number of the descriptor; "": a user on a Unix socket, NULL: it has gone */
static const char *const addresses[] = {
	"192.0.2.1",
	"192.0.2.2",
	"::ffff:192.0.2.1",
	"::ffff:192.0.2.2",
	"2001:db8::1",
	"2001:db8::2",
	"2001:db8:0:1::1",
	"",
	"",
	NULL,
	"0.0.0.0",
	"192.0.2.1",
};
/* Those with the same number are one peer. */
static const int peers[] = {1, 2, 1, 2, 3, 3, 4, 5, 6, 7, 8, 1};
static const uid_t users[] = {[7] = 1000, [8] = 1001};

int __wrap_getpeername(int fd, struct sockaddr *a, socklen_t *size);
int __wrap_getpeername(int fd, struct sockaddr *a, socklen_t *size)
{
	const char *text = addresses[fd];

	assert_true(*size >= sizeof(struct sockaddr_un));
	if (!text)
		return -1;
	if (!*text)
		a->sa_family = AF_UNIX;
	else if (strchr(text, ':'))
		a->sa_family = AF_INET6;
	else
		a->sa_family = AF_INET;
	if (a->sa_family == AF_INET6)
		assert_int_equal(inet_pton(AF_INET6, text, &((struct sockaddr_in6 *)a)->sin6_addr),
				 1);
	else if (a->sa_family == AF_INET)
		assert_int_equal(inet_pton(AF_INET, text, &((struct sockaddr_in *)a)->sin_addr), 1);
	return 0;
}

int __wrap_getsockopt(int fd, int level, int option, void *value, socklen_t *size);
int __wrap_getsockopt(int fd, int level, int option, void *value, socklen_t *size)
{
	assert_true(level == SOL_SOCKET && option == SO_PEERCRED);
	assert_int_equal(*size, sizeof(struct ucred));
	*(struct ucred *)value = (struct ucred){.pid = fd, .uid = users[fd], .gid = 1};
	return 0;
}

static void test_peers(_unused_ void **state)
{
	HttpPeers p = {};
	HttpPeer *of[ARRAY_SIZE(addresses)];
	unsigned int n = 0;

	for (int i = 0; i < (int)ARRAY_SIZE(addresses); i++)
		assert_int_equal(http_peer_add(&p, i, &of[i]), 0);
	for (size_t i = 0; i < ARRAY_SIZE(addresses); i++)
		for (size_t k = 0; k < ARRAY_SIZE(addresses); k++)
			if ((of[i] == of[k]) != (peers[i] == peers[k]))
				fail_msg("%zu and %zu", i, k);
	assert_int_equal(of[0]->n, 3);
	assert_int_equal(of[7]->n, 1);
	for (const HttpPeer *i = p.first; i; i = i->next)
		n++;
	assert_int_equal(n, 8);
	/* the last connection of a peer takes it out, wherever it is in the list */
	http_peer_remove(of[0]);
	assert_int_equal(of[0]->n, 2);
	for (size_t i = 1; i < ARRAY_SIZE(addresses); i++)
		http_peer_remove(of[(i * 5) % ARRAY_SIZE(addresses)]);
	assert_null(p.first);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_peers),
	};

	return cmocka_run_group_tests_name("http-peers", tests, NULL, NULL);
}
