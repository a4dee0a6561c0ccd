/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* rdmad-query as a process: what it does with its socket. This needs no RDMA on the machine. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "nursery.h"
#include "wire.h"

#define WORKER TEST_BUILD_DIR "/daemon/rdmad-query"

typedef struct Process {
	pid_t pid;
	int fd;
} Process;

static Process start(const char *option)
{
	Process p;
	int fds[2];
	char fd_option[32];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
	snprintf(fd_option, sizeof(fd_option), "--fd=%d", fds[1]);
	p.pid = fork();
	assert_true(p.pid >= 0);
	if (p.pid == 0) {
		fcntl(fds[1], F_SETFD, 0);
		execl(WORKER, WORKER, fd_option, option, NULL);
		_exit(127);
	}
	close(fds[1]);
	p.fd = fds[0];
	return p;
}

static int end(Process *p)
{
	int status;

	close(p->fd);
	assert_int_equal(waitpid(p->pid, &status, 0), p->pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void test_ends_with_socket(_unused_ void **state)
{
	Process p = start(NULL);

	assert_int_equal(end(&p), 0);
}

/* No device has this index: exactly one END that says so, for each query, in order. */
static void test_unknown_device(_unused_ void **state)
{
	Process p = start("--hold=no");
	const char *why = NULL;
	WireMessage m;

	for (uint64_t id = 7; id < 9; id++) {
		m = (WireMessage){
			.query = {.header = wire_header(WIRE_QUERY, id, 4000000000U, 0),
				  .query = {.id = id, .device = 4000000000U, .attributes = true}}};
		port_set_add(&m.query.query.ports, 1);
		assert_int_equal(wire_send(p.fd, &m), 0);
	}
	m = (WireMessage){.header = wire_header(WIRE_FORGET, 0, 4000000000U, 0)};
	assert_int_equal(wire_send(p.fd, &m), 0);
	for (uint64_t id = 7; id < 9; id++) {
		assert_int_equal(wire_receive(p.fd, &m, &why), 1);
		assert_int_equal(m.header.type, WIRE_END);
		assert_int_equal(m.header.id, id);
		assert_int_equal(m.header.device, 4000000000U);
		/* -EPROTONOSUPPORT: a kernel without ib_core */
		assert_true(m.end.error == -ENODEV || m.end.error == -EPROTONOSUPPORT);
		assert_non_null(strstr(m.end.text, "4000000000"));
	}
	assert_int_equal(end(&p), 0);
}

/* The answer of a worker at FD that no device has this index */
static void expect_unknown_device(int fd)
{
	WireMessage m = {.query = {.header = wire_header(WIRE_QUERY, 1, 4000000000U, 0),
				   .query = {.id = 1, .device = 4000000000U}}};
	const char *why = NULL;

	assert_int_equal(wire_send(fd, &m), 0);
	assert_int_equal(wire_receive(fd, &m, &why), 1);
	assert_int_equal(m.header.type, WIRE_END);
}

/* Each process that a nursery forks is a worker, a child of this process, and lives on without the
 * nursery. */
static void test_nursery(_unused_ void **state)
{
	Process nursery = start("--nursery"), workers[3];

	for (size_t i = 0; i < ARRAY_SIZE(workers); i++) {
		int fds[2];

		assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
		assert_int_equal(nursery_ask(nursery.fd, fds[1]), 0);
		close(fds[1]);
		workers[i].fd = fds[0];
	}
	for (size_t i = 0; i < ARRAY_SIZE(workers); i++) {
		assert_int_equal(nursery_receive(nursery.fd, &workers[i].pid), 1);
		assert_true(workers[i].pid > 0);
	}
	assert_int_equal(end(&nursery), 0);
	for (size_t i = 0; i < ARRAY_SIZE(workers); i++) {
		expect_unknown_device(workers[i].fd);
		assert_int_equal(end(&workers[i]), 0);
	}
}

static void test_refuses_nonsense(_unused_ void **state)
{
	Process p = start(NULL);
	WireMessage m = {.end = {.header = wire_header(WIRE_END, 1, 0, 0)}};

	assert_int_equal(send(p.fd, "nonsense", 8, MSG_NOSIGNAL), 8);
	assert_int_equal(end(&p), 1);
	/* a message that is well-formed but not for a worker */
	p = start(NULL);
	assert_int_equal(wire_send(p.fd, &m), 0);
	assert_int_equal(end(&p), 1);
	/* a request without a descriptor */
	p = start("--nursery");
	assert_int_equal(send(p.fd, "nonsense", 8, MSG_NOSIGNAL), 8);
	assert_int_equal(end(&p), 1);
}

static void test_refuses_options(_unused_ void **state)
{
	static const char *const bad[] = {"--hold=maybe",     "--hbl=1",	 "--fd=x",
					  "--no-such-option", "argument",	 "--query=/1",
					  "--query=x/0",      "--isolated=mlx5", "--timeout=x"};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		Process p = start(bad[i]);

		assert_int_equal(end(&p), 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ends_with_socket), cmocka_unit_test(test_unknown_device),
		cmocka_unit_test(test_nursery),		 cmocka_unit_test(test_refuses_nonsense),
		cmocka_unit_test(test_refuses_options),
	};

	return cmocka_run_group_tests_name("query-worker", tests, NULL, NULL);
}
