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
#include <sys/time.h>
#include <sys/wait.h>

#include "log.h"
#include "query-isolated.h"
#include "query-verbs.h"
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
		m.port.error = m.port.open_error = -EBUSY;
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
		assert_int_equal(s.open_error, 0);
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
	assert_int_equal(s.open_error, -EBUSY);
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
		assert_int_equal(s.open_error, -EPIPE);
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

	/* on a busy machine one that was killed before may end only now */
	while (waitpid(-1, NULL, 0) > 0)
		;
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

/* The process itself, in this one: what it finds of the device, and what it answers. */

typedef struct Machine {
	bool has_list, is_usable;
	int open_error; /* an errno; 0 is no reason, and negative that it opens */
	int verbs;	/* of the port */
	unsigned int n_lists, n_open, n_opened, n_closed, n_failed, n_verbs;
	struct itimerval timers[8];
	size_t n_timers;
} Machine;

static Machine machine;
static struct ibv_device devices[3];
static struct ibv_context context;

struct ibv_device **__wrap_said_list_devices(void);
struct ibv_device **__wrap_said_list_devices(void)
{
	static struct ibv_device *list[] = {&devices[0], &devices[1], &devices[2], NULL};

	machine.n_lists += machine.has_list;
	return machine.has_list ? list : NULL;
}

int __wrap_ibv_get_device_index(struct ibv_device *d);
int __wrap_ibv_get_device_index(struct ibv_device *d)
{
	return 5 + (int)(d - devices);
}

void __wrap_ibv_free_device_list(struct ibv_device **list);
void __wrap_ibv_free_device_list(_unused_ struct ibv_device **list)
{
	machine.n_lists--;
}

struct ibv_context *__wrap_said_open_device(struct ibv_device *d);
struct ibv_context *__wrap_said_open_device(struct ibv_device *d)
{
	machine.n_opened++;
	if (machine.open_error >= 0) {
		if (machine.open_error > 0)
			errno = machine.open_error;
		return NULL;
	}
	machine.n_open++;
	context.device = d;
	return &context;
}

int __wrap_ibv_close_device(struct ibv_context *c);
int __wrap_ibv_close_device(struct ibv_context *c)
{
	assert_ptr_equal(c, &context);
	machine.n_closed++;
	return 0;
}

int __wrap_verbs_query_device(struct ibv_context *c, DeviceSnapshot *s, unsigned int *ret);
int __wrap_verbs_query_device(_unused_ struct ibv_context *c, _unused_ DeviceSnapshot *s,
			      unsigned int *ret)
{
	*ret = 17;
	return 0;
}

int __wrap_verbs_query_port(struct ibv_context *c, uint32_t port, VerbsDevice *d, PortSnapshot *s);
int __wrap_verbs_query_port(_unused_ struct ibv_context *c, uint32_t port, VerbsDevice *d,
			    PortSnapshot *s)
{
	assert_true(port <= VERBS_PORT_MAX);
	assert_true(d->cap_flags == 17 && d->driver_id < 0);
	machine.n_verbs++;
	PORT_SUPPLY(s, state, 4);
	return machine.verbs;
}

int __wrap_setitimer(__itimer_which_t which, const struct itimerval *t, struct itimerval *was);
int __wrap_setitimer(__itimer_which_t which, const struct itimerval *t,
		     _unused_ struct itimerval *was)
{
	assert_int_equal(which, ITIMER_REAL);
	machine.timers[machine.n_timers++ % ARRAY_SIZE(machine.timers)] = *t;
	return 0;
}

static bool is_usable(struct ibv_device *d)
{
	assert_ptr_equal(d, &devices[0]);
	return machine.is_usable;
}

static int query_port(struct ibv_context *c, uint32_t port, PortSnapshot *s)
{
	assert_ptr_equal(c->device, &devices[0]);
	PORT_SUPPLY(s, max_num_of_qps, 100 + port);
	return 0;
}

static void open_failed(int error, PortSnapshot *s)
{
	machine.n_failed++;
	PORT_SUPPLY(s, max_cq_size, (uint32_t)-error);
}

static const DvProvider provider = {
	.query_port = query_port, .is_usable = is_usable, .open_failed = open_failed};

static void send_question(int fd, uint32_t device, uint32_t port)
{
	WireMessage m = {.query = {.header = wire_header(WIRE_QUERY, port, device, 0),
				   .query = {.id = port, .device = device}}};

	port_set_add(&m.query.query.ports, port);
	text_copy(m.query.query.name, sizeof(m.query.query.name), "hbl_0");
	assert_int_equal(wire_send(fd, &m), 0);
}

/* Asks about the two PORTS of DEVICE; both answers. Returns what the process returns. */
static int serve(uint32_t device, const uint32_t ports[2], WireMessage ret[2])
{
	const char *why = NULL;
	int fds[2], r;

	machine.n_lists = machine.n_open = machine.n_opened = machine.n_closed = 0;
	machine.n_failed = machine.n_verbs = 0;
	machine.n_timers = 0;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
	for (size_t i = 0; i < 2; i++)
		send_question(fds[0], device, ports[i]);
	assert_int_equal(shutdown(fds[0], SHUT_WR), 0);
	r = isolated_serve(fds[1], &provider, 8 * USEC_PER_SEC);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(wire_receive(fds[0], &ret[i], &why), 1);
		assert_int_equal(ret[i].header.id, ports[i]);
		assert_int_equal(ret[i].header.port, ports[i]);
		assert_int_equal(ret[i].header.device, device);
	}
	close(fds[0]);
	close(fds[1]);
	assert_int_equal(machine.n_lists, 0);
	assert_int_equal(machine.n_closed, machine.n_open);
	return r;
}

/* What a device is that is not opened, once for all its ports. */
static void test_serve_closed(_unused_ void **state)
{
	static const struct {
		Machine machine;
		uint32_t device;
		int error;
		unsigned int n_opened;
	} cases[] = {
		{{.has_list = false}, 5, -ENODEV, 0},
		{{.has_list = true, .is_usable = true, .open_error = -1}, 4, -ENODEV, 0},
		{{.has_list = true, .is_usable = true, .open_error = -1}, 8, -ENODEV, 0},
		{{.has_list = true, .is_usable = false, .open_error = -1}, 5, -EOPNOTSUPP, 0},
		{{.has_list = true, .is_usable = true, .open_error = EBUSY}, 5, -EBUSY, 1},
		{{.has_list = true, .is_usable = true, .open_error = EPERM}, 5, -EPERM, 1},
		{{.has_list = true, .is_usable = true, .open_error = 0}, 5, -EIO, 1},
	};
	const uint32_t ports[] = {1, 2};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		WireMessage answers[2];

		machine = cases[i].machine;
		assert_int_equal(serve(cases[i].device, ports, answers), 0);
		for (size_t k = 0; k < 2; k++) {
			const WirePort *p = &answers[k].port;

			assert_int_equal(p->error, cases[i].error);
			assert_int_equal(p->open_error, cases[i].error);
			assert_int_equal(p->values.max_cq_size, -cases[i].error);
			assert_true(mask_has(&p->supplied, PORT_ATTR_max_cq_size));
			assert_false(mask_has(&p->supplied, PORT_ATTR_max_num_of_qps));
		}
		assert_int_equal(machine.n_opened, cases[i].n_opened);
		assert_int_equal(machine.n_failed, 2);
	}
}

/* What verbs and the provider say of ports; verbs has no number for the second one. */
static void test_serve_open(_unused_ void **state)
{
	const uint32_t ports[] = {VERBS_PORT_MAX, VERBS_PORT_MAX + 1};
	WireMessage answers[2];

	machine = (Machine){.has_list = true, .is_usable = true, .open_error = -1};
	assert_int_equal(serve(5, ports, answers), 0);
	assert_int_equal(machine.n_opened, 1);
	assert_int_equal(machine.n_verbs, 1);
	assert_int_equal(machine.n_failed, 0);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(answers[i].port.error, 0);
		assert_int_equal(answers[i].port.values.max_num_of_qps, 100 + ports[i]);
		assert_int_equal(mask_has(&answers[i].port.supplied, PORT_ATTR_state), i == 0);
	}
	/* it may take as long as the worker waits and an eighth more, and a quarter for its end */
	assert_int_equal(machine.n_timers, 6);
	for (size_t i = 0; i < machine.n_timers; i++) {
		assert_int_equal(machine.timers[i].it_value.tv_sec, i % 2 == 0 ? 0 : i < 4 ? 9 : 3);
		assert_int_equal(machine.timers[i].it_interval.tv_sec, 0);
	}
	/* verbs has failed: the provider has its rows */
	machine.verbs = -EIO;
	assert_int_equal(serve(5, (const uint32_t[]){1, 2}, answers), 0);
	assert_int_equal(answers[0].port.error, -EIO);
	assert_int_equal(answers[0].port.values.max_num_of_qps, 101);
}

/* How the process ends for what is no question, and for a worker that has gone. */
static void test_serve_ends(_unused_ void **state)
{
	for (unsigned int i = 0; i < 3; i++) {
		WireMessage m = {.header = wire_header(WIRE_FORGET, 0, 5, 0)};
		int fds[2];

		machine = (Machine){.has_list = true, .is_usable = true, .open_error = -1};
		assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
		if (i == 0)
			assert_int_equal(wire_send(fds[0], &m), 0);
		else if (i == 1)
			send_question(fds[0], 5, 1);
		else
			assert_int_equal(send(fds[0], "garbage", 7, MSG_NOSIGNAL), 7);
		assert_int_equal(i == 1 ? close(fds[0]) : shutdown(fds[0], SHUT_WR), 0);
		assert_int_equal(isolated_serve(fds[1], &provider, USEC_PER_SEC),
				 i == 1 ? 0 : -EBADMSG);
		assert_int_equal(machine.n_open, machine.n_closed);
		assert_int_equal(machine.n_open, i == 1);
		close(fds[1]);
		if (i != 1)
			close(fds[0]);
	}
}

int main(int argc, char *argv[])
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),	     cmocka_unit_test(test_error),
		cmocka_unit_test(test_bad),	     cmocka_unit_test(test_linger),
		cmocka_unit_test(test_no_pidfd),     cmocka_unit_test(test_real),
		cmocka_unit_test(test_serve_closed), cmocka_unit_test(test_serve_open),
		cmocka_unit_test(test_serve_ends),
	};

	if (argc > 1 && streq(argv[1], "--isolated=hbl"))
		return fake(getenv("FAKE"));
	log_max_level = LOG_ERR;
	return cmocka_run_group_tests_name("query-isolated", tests, NULL, NULL);
}
