/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The process that has a device to itself: this program again, which does what FAKE says, and the
 * real one. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */
#include <signal.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "log.h"
#include "query-isolated.h"
#include "wire.h"

#define PATIENT_USEC (60 * USEC_PER_SEC)
#define SHORT_USEC   (200 * USEC_PER_MSEC)

/* The process */

static void answer(const char *what, const WireMessage *q)
{
	uint32_t port = (uint32_t)q->header.id;
	WireMessage m = {.port = {.header = wire_header(WIRE_PORT, port, q->header.device, port)}};
	PortSnapshot s = {};

	PORT_SUPPLY(&s, max_num_of_qps, 100 + port);
	PORT_SUPPLY(&s, state, 4);
	if (streq(what, "port"))
		m.header.port++;
	if (streq(what, "device"))
		m.header.device++;
	if (streq(what, "id"))
		m.header.id++;
	if (streq(what, "row"))
		PORT_SUPPLY(&s, generation, 7);
	if (streq(what, "table"))
		mask_set(&s.supplied, PORT_ATTR_gids, true);
	if (streq(what, "error"))
		m.port.error = -EBUSY;
	if (streq(what, "type"))
		m = (WireMessage){
			.end = {.header = wire_header(WIRE_END, port, q->header.device, 0)}};
	else {
		m.port.values = s.values;
		m.port.supplied = s.supplied;
	}
	if (streq(what, "garbage"))
		send(3, "garbage", 7, MSG_NOSIGNAL);
	else
		wire_send(3, &m);
}

static int fake(const char *what)
{
	const char *why = NULL;
	WireMessage m;

	signal(SIGSEGV, SIG_DFL);
	while (wire_receive(3, &m, &why) > 0) {
		if (streq(what, "crash"))
			raise(SIGSEGV);
		if (streq(what, "exit"))
			return 3;
		if (streq(what, "hang"))
			raise(SIGSTOP);
		answer(what, &m);
	}
	if (streq(what, "linger"))
		raise(SIGSTOP);
	return 0;
}

/* The worker's side */

/* Replaces that of the C library. It can fail as on a machine that has no descriptor left. */
static bool no_pidfd;

int pidfd_open(pid_t pid, unsigned int flags)
{
	if (!no_pidfd)
		return (int)syscall(SYS_pidfd_open, pid, flags);
	errno = ENFILE;
	return -1;
}

static Isolation isolation;

static Isolated begin(const char *what, uint64_t answer_usec)
{
	setenv("FAKE", what, 1);
	isolation = (Isolation){.answer_usec = answer_usec, .stray = -EBADF};
	return isolated_new(&isolation, "hbl_0", false);
}

/* On a slow machine the process may not have ended yet when the worker goes on. Leaves no zombie.
 */
static void wait_stray(void)
{
	siginfo_t status;

	if (isolation.stray >= 0)
		assert_int_equal(waitid(P_PIDFD, (id_t)isolation.stray, &status, WEXITED), 0);
	isolation.stray = close_fd(isolation.stray);
}

static void test_good(_unused_ void **state)
{
	Isolated p = begin("", PATIENT_USEC);

	for (uint32_t port = 1; port <= RDMA_PORT_MAX; port += 100) {
		PortSnapshot s = {};

		assert_int_equal(isolated_query(&p, &dv_hbl, 5, port, &s), 0);
		assert_int_equal(s.values.max_num_of_qps, 100 + port);
		assert_int_equal(s.values.state, 4);
		assert_true(mask_has(&s.supplied, PORT_ATTR_max_num_of_qps));
		assert_false(mask_has(&s.supplied, PORT_ATTR_max_cq_size));
	}
	assert_true(p.pidfd >= 0);
	isolated_done(&p);
	assert_true(p.pidfd < 0 && isolation.stray < 0 && !p.gave_up);
}

/* An error in an answer does not mean that the process has failed. What came with it is taken. */
static void test_error(_unused_ void **state)
{
	Isolated p = begin("error", PATIENT_USEC);
	PortSnapshot s = {};

	assert_int_equal(isolated_query(&p, &dv_hbl, 5, 1, &s), -EBUSY);
	assert_true(mask_has(&s.supplied, PORT_ATTR_max_num_of_qps));
	assert_false(p.failed);
	isolated_done(&p);
	assert_false(p.gave_up);
}

static void test_bad(_unused_ void **state)
{
	static const struct {
		const char *what;
		uint64_t answer_usec;
		int error;
	} bad[] = {
		{"crash", PATIENT_USEC, -EPIPE},   {"exit", PATIENT_USEC, -EPIPE},
		{"hang", SHORT_USEC, -ETIMEDOUT},  {"garbage", PATIENT_USEC, -EBADMSG},
		{"port", PATIENT_USEC, -EBADMSG},  {"device", PATIENT_USEC, -EBADMSG},
		{"id", PATIENT_USEC, -EBADMSG},	   {"row", PATIENT_USEC, -EBADMSG},
		{"table", PATIENT_USEC, -EBADMSG}, {"type", PATIENT_USEC, -EBADMSG},
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		Isolated p = begin(bad[i].what, bad[i].answer_usec), next;
		PortSnapshot s = {};

		assert_int_equal(isolated_query(&p, &dv_hbl, 5, 1, &s), bad[i].error);
		assert_true(mask_is_empty(&s.supplied));
		/* The process has ended, and there is no other: not for this query, */
		assert_true(p.pidfd < 0);
		wait_stray();
		assert_int_equal(isolated_query(&p, &dv_hbl, 5, 2, &s), -EPIPE);
		isolated_done(&p);
		assert_true(p.gave_up);
		/* and not for one that spares the library. */
		setenv("FAKE", "", 1);
		isolation.answer_usec = PATIENT_USEC;
		next = isolated_new(&isolation, "hbl_0", true);
		assert_int_equal(isolated_query(&next, &dv_hbl, 5, 1, &s), -EPIPE);
		assert_false(next.gave_up);
		isolated_done(&next);
		next = isolated_new(&isolation, "hbl_0", false);
		assert_int_equal(isolated_query(&next, &dv_hbl, 5, 1, &s), 0);
		isolated_done(&next);
	}
}

/* A process that does not end by itself is killed. */
static void test_linger(_unused_ void **state)
{
	Isolated p = begin("linger", PATIENT_USEC);
	PortSnapshot s = {};

	assert_int_equal(isolated_query(&p, &dv_hbl, 5, 1, &s), 0);
	isolation.answer_usec = SHORT_USEC;
	isolated_done(&p);
	assert_true(p.pidfd < 0);
	wait_stray();
	isolation_done(&isolation);
}

/* A process that cannot be watched is ended at once, and nothing is left of it. */
static void test_no_pidfd(_unused_ void **state)
{
	Isolated p = begin("", PATIENT_USEC);
	PortSnapshot s = {};

	no_pidfd = true;
	assert_int_equal(isolated_query(&p, &dv_hbl, 5, 1, &s), -ENFILE);
	no_pidfd = false;
	isolated_done(&p);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	/* The next query can start one. */
	p = isolated_new(&isolation, "hbl_0", false);
	assert_int_equal(isolated_query(&p, &dv_hbl, 5, 1, &s), 0);
	isolated_done(&p);
}

/* rdmad-query itself, of a device that does not exist here. */
static void test_real(_unused_ void **state)
{
	Isolated p = begin("", PATIENT_USEC);
	PortSnapshot s = {};

	isolation.program = TEST_BUILD_DIR "/daemon/rdmad-query";
	assert_int_equal(isolated_query(&p, &dv_hbl, 2000000000, 1, &s), -ENODEV);
	assert_int_equal(isolated_query(&p, &dv_hbl, 2000000000, 254, &s), -ENODEV);
	assert_true(mask_is_empty(&s.supplied));
	isolated_done(&p);
	assert_false(p.failed);
	/* a program that is not there */
	p = begin("", PATIENT_USEC);
	isolation.program = "/nonexistent";
	assert_int_equal(isolated_query(&p, &dv_hbl, 5, 1, &s), -ENOENT);
	isolated_done(&p);
}

int main(int argc, char *argv[])
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),	 cmocka_unit_test(test_error),
		cmocka_unit_test(test_bad),	 cmocka_unit_test(test_linger),
		cmocka_unit_test(test_no_pidfd), cmocka_unit_test(test_real),
	};

	if (argc > 1 && streq(argv[1], "--isolated=hbl"))
		return fake(getenv("FAKE"));
	log_max_level = LOG_ERR;
	return cmocka_run_group_tests_name("query-isolated", tests, NULL, NULL);
}
