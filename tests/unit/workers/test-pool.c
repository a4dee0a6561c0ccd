/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The pool of workers against processes that do everything wrong (fake-worker.c). */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "log.h"
#include "pool.h"

#define FAKE_WORKER TEST_BUILD_DIR "/tests/unit/fake-worker"

/* Longer than anything here takes, on a slow machine under valgrind */
#define GUARD_USEC (60 * USEC_PER_SEC)
/* A deadline that only a worker which does not run misses */
#define PATIENT_USEC (30 * USEC_PER_SEC)
/* One that a stopped worker misses soon; long enough for one that runs, on a busy machine */
#define SHORT_USEC (1000 * USEC_PER_MSEC)

#define N_CALLS 1024U

typedef struct Call {
	enum { CALL_DEVICE, CALL_PORT, CALL_END, CALL_EVENT } kind;
	uint64_t id;
	Event event;
	uint32_t port;
	int error;
	char text[160];
	uint64_t pid;	    /* of the worker that answered */
	uint64_t forgotten; /* FORGETs that it had seen */
	AttrText argv;
	uint32_t n_table; /* GIDs or character devices */
} Call;

typedef struct Test {
	sd_event *event;
	Pool *pool;
	Config config;
	Call calls[N_CALLS];
	size_t n;
	uint64_t next_id;
	char flag[32]; /* a file that does not exist */
	unsigned int n_descriptors;
	/* What the handler does in the middle of a call */
	uint32_t forget_in_port, forget_in_end, query_in_end;
} Test;

/* In the place of the one of the C library: a machine that has no descriptor left. */
static bool no_pidfd;

int pidfd_open(pid_t pid, unsigned int flags)
{
	if (!no_pidfd)
		return (int)syscall(SYS_pidfd_open, pid, flags);
	errno = ENFILE;
	return -1;
}

static Call *record(Test *t, unsigned int kind)
{
	Call *c = &t->calls[t->n++];

	assert_true(t->n <= N_CALLS);
	*c = (Call){.kind = kind};
	return c;
}

static Query make_query(Test *t, uint32_t device, const char *what)
{
	Query q = {.id = ++t->next_id, .device = device, .attributes = true};

	text_copy(q.name, sizeof(q.name), what);
	port_set_add(&q.ports, 1);
	port_set_add(&q.ports, 2);
	return q;
}

/* Asks; WHAT is what the fake worker is to do. Returns the id. */
static uint64_t ask(Test *t, uint32_t device, const char *what)
{
	Query q = make_query(t, device, what);

	assert_int_equal(pool_query(t->pool, &q), 0);
	return q.id;
}

static uint64_t ask_once(Test *t, uint32_t device, const char *what)
{
	AttrText name;

	snprintf(name, sizeof(name), "%.30s:%.31s", what, t->flag);
	return ask(t, device, name);
}

static void on_event(void *userdata, const Event *event)
{
	record(userdata, CALL_EVENT)->event = *event;
}

static void on_device(void *userdata, uint64_t id, DeviceSnapshot *s)
{
	Call *c = record(userdata, CALL_DEVICE);

	c->id = id;
	c->pid = s->values.node_guid;
	c->n_table = s->chardevs ? s->chardevs->n : 0;
	memcpy(c->argv, s->values.board_id, sizeof(c->argv));
}

static bool forget(Test *t, uint32_t device)
{
	uint64_t asked;

	return pool_forget(t->pool, device, &asked);
}

static void on_port(void *userdata, uint64_t id, uint32_t port, int error, PortSnapshot *s)
{
	Test *t = userdata;
	Call *c = record(t, CALL_PORT);

	c->id = id;
	c->port = port;
	c->error = error;
	c->pid = s->values.subnet_prefix;
	c->forgotten = s->values.lid;
	if (s->tables[PORT_TABLE_GIDS]) {
		_cleanup_(table_free_pointer) Table *taken =
			steal_pointer(&s->tables[PORT_TABLE_GIDS]);
		uint32_t i = 0;

		c->n_table = taken->n;
		TABLE_FOREACH(GidEntry, e, taken)
			assert_int_equal(e->index, i++);
	}
	if (t->forget_in_port)
		forget(t, t->forget_in_port);
}

static void on_end(void *userdata, uint64_t id, int error, const char *text)
{
	Test *t = userdata;
	Call *c = record(t, CALL_END);

	c->id = id;
	c->error = error;
	snprintf(c->text, sizeof(c->text), "%s", text);
	if (t->forget_in_end)
		forget(t, t->forget_in_end);
	if (t->query_in_end) {
		ask(t, t->query_in_end, "ok");
		t->query_in_end = 0;
	}
}

static const SourceHandler handler = {
	.event = on_event, .device = on_device, .port = on_port, .end = on_end};

static unsigned int count_descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	unsigned int n = 0;

	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static const PoolTiming quick = {
	.answer_usec = 300 * USEC_PER_MSEC,
	.exit_usec = 100 * USEC_PER_MSEC,
	.retry_usec = 20 * USEC_PER_MSEC,
	.retry_max_usec = 100 * USEC_PER_MSEC,
	.restart_usec = 10 * USEC_PER_MSEC,
	.restart_max_usec = 40 * USEC_PER_MSEC,
	.calm_usec = 60 * USEC_PER_SEC,
	.queue_usec = 200 * USEC_PER_MSEC,
};

/* No worker is killed or tried again by itself. */
static const PoolTiming slow = {
	.answer_usec = GUARD_USEC * 2,
	.exit_usec = GUARD_USEC * 2,
	.retry_usec = GUARD_USEC * 2,
	.retry_max_usec = GUARD_USEC * 2,
	.restart_usec = 1,
	.restart_max_usec = 1,
	.calm_usec = 60 * USEC_PER_SEC,
	.queue_usec = GUARD_USEC * 2,
};

static void start(Test *t, const char *path, uint64_t query_timeout_usec, const PoolTiming *timing)
{
	t->config.query_timeout_usec = query_timeout_usec;
	assert_int_equal(pool_new(t->event, &t->config, path, &handler, t, &t->pool), 0);
	pool_set_timing(t->pool, timing);
}

static int setup(void **state)
{
	Test *t = calloc(1, sizeof(*t));
	int fd;

	if (!t)
		return -1;
	t->n_descriptors = count_descriptors();
	if (sd_event_new(&t->event) < 0)
		return -1;
	/* A name that nobody has, in a short path: it has to fit an AttrText. */
	text_copy(t->flag, sizeof(t->flag), "/tmp/rdmad-pool-XXXXXX");
	fd = mkstemp(t->flag);
	if (fd < 0)
		return -1;
	close(fd);
	unlink(t->flag);
	t->config = (Config)CONFIG_DEFAULT;
	*state = t;
	return 0;
}

/* Nothing is left: no descriptor, and no process that is not killed. */
static int teardown(void **state)
{
	Test *t = *state;
	siginfo_t status;
	unsigned int n;

	pool_free(t->pool);
	sd_event_unref(t->event);
	unlink(t->flag);
	n = count_descriptors();
	if (n != t->n_descriptors) {
		print_error("%u descriptors before, %u after\n", t->n_descriptors, n);
		return -1;
	}
	while (waitid(P_ALL, 0, &status, WEXITED) == 0)
		if (status.si_code == CLD_STOPPED)
			return -1;
	free(t);
	return 0;
}

static uint64_t now_usec(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * USEC_PER_SEC + (uint64_t)ts.tv_nsec / 1000;
}

/* Runs the loop until CONDITION. */
#define RUN_UNTIL(t, condition)                                                                    \
	do {                                                                                       \
		uint64_t until = now_usec() + GUARD_USEC;                                          \
                                                                                                   \
		while (!(condition)) {                                                             \
			if (now_usec() > until)                                                    \
				fail_msg("waited too long for %s", #condition);                    \
			assert_true(sd_event_run((t)->event, 10 * USEC_PER_MSEC) >= 0);            \
		}                                                                                  \
	} while (false)

static const Call *find_end(const Test *t, uint64_t id)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->calls[i].kind == CALL_END && t->calls[i].id == id)
			return &t->calls[i];
	return NULL;
}

static const Call *find_device(const Test *t, uint64_t id)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->calls[i].kind == CALL_DEVICE && t->calls[i].id == id)
			return &t->calls[i];
	return NULL;
}

static unsigned int count_events(const Test *t, uint32_t device, EventReason reason)
{
	unsigned int n = 0;

	for (size_t i = 0; i < t->n; i++)
		if (t->calls[i].kind == CALL_EVENT && t->calls[i].event.device == device &&
		    t->calls[i].event.reason == reason)
			n++;
	return n;
}

static unsigned int count_kind(const Test *t, unsigned int kind, uint64_t id)
{
	unsigned int n = 0;

	for (size_t i = 0; i < t->n; i++)
		if (t->calls[i].kind == kind && t->calls[i].id == id)
			n++;
	return n;
}

static const Call *wait_end(Test *t, uint64_t id)
{
	RUN_UNTIL(t, find_end(t, id));
	return find_end(t, id);
}

/* The pid of the worker that answered ID well. */
static uint64_t expect_answer(Test *t, uint64_t id)
{
	const Call *end = wait_end(t, id), *device = find_device(t, id);

	assert_string_equal(end->text, "");
	assert_int_equal(end->error, 0);
	assert_non_null(device);
	assert_int_equal(count_kind(t, CALL_DEVICE, id), 1);
	assert_int_equal(count_kind(t, CALL_PORT, id), 2);
	assert_int_equal(count_kind(t, CALL_END, id), 1);
	return device->pid;
}

static void expect_error(Test *t, uint64_t id, int error, const char *text)
{
	const Call *end = wait_end(t, id);

	assert_string_equal(end->text, text);
	assert_int_equal(end->error, error);
	assert_int_equal(count_kind(t, CALL_END, id), 1);
}

static void expect_refused(Test *t, uint32_t device, int error)
{
	Query q = make_query(t, device, "ok");

	assert_int_equal(pool_query(t->pool, &q), error);
}

static void expect_event(Test *t, uint32_t device, EventReason reason)
{
	RUN_UNTIL(t, count_events(t, device, reason) > 0);
	for (size_t i = 0; i < t->n; i++)
		if (t->calls[i].kind == CALL_EVENT && t->calls[i].event.device == device &&
		    t->calls[i].event.reason == reason)
			assert_int_equal(t->calls[i].event.port, EVENT_ALL_PORTS);
}

/* The state letter of a process (proc(5)), 0 if there is none. */
static char process_state(uint64_t pid)
{
	char path[64], line[256] = "";
	FILE *f;
	char *p;

	snprintf(path, sizeof(path), "/proc/%u/stat", (unsigned int)pid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	if (!fgets(line, sizeof(line), f))
		line[0] = '\0';
	fclose(f);
	p = strrchr(line, ')');
	return p ? p[2] : 0;
}

/* The children of this process: pids into RET, their number. */
static unsigned int children(unsigned int *ret, unsigned int n_ret)
{
	char path[64];
	unsigned int n = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
	f = fopen(path, "re");
	assert_non_null(f);
	while (n < n_ret && fscanf(f, "%u", &ret[n]) == 1)
		n++;
	fclose(f);
	return n;
}

static unsigned int count_children(void)
{
	unsigned int pids[256];

	return children(pids, ARRAY_SIZE(pids));
}

static bool child_stopped(void)
{
	unsigned int pids[256], n = children(pids, ARRAY_SIZE(pids));

	for (unsigned int i = 0; i < n; i++)
		if (process_state(pids[i]) == 'T')
			return true;
	return false;
}

static void continue_children(void)
{
	unsigned int pids[256], n = children(pids, ARRAY_SIZE(pids));

	for (unsigned int i = 0; i < n; i++)
		kill((pid_t)pids[i], SIGCONT);
}

static void test_answers(void **state)
{
	Test *t = *state;
	uint64_t ids[40], pid = 0;

	start(t, FAKE_WORKER, PATIENT_USEC, &quick);
	assert_int_equal(count_children(), 0); /* it starts with the first query */
	for (uint32_t i = 0; i < ARRAY_SIZE(ids); i++)
		ids[i] = ask(t, i, "ok");
	assert_int_equal(t->n, 0); /* nothing from inside a call */
	expect_refused(t, 39, -EBUSY);
	for (uint32_t i = 0; i < ARRAY_SIZE(ids); i++) {
		uint64_t by = expect_answer(t, ids[i]);

		assert_true(i == 0 || by == pid);
		pid = by;
	}
	/* Each in order: device, ports with their tables, end */
	assert_int_equal(t->n, 4 * ARRAY_SIZE(ids));
	for (uint32_t i = 0; i < ARRAY_SIZE(ids); i++) {
		const Call *c = &t->calls[4 * (size_t)i];

		assert_int_equal(c[0].kind, CALL_DEVICE);
		assert_int_equal(c[0].n_table, 1);
		assert_int_equal(c[1].kind, CALL_PORT);
		assert_int_equal(c[1].port, 1);
		assert_int_equal(c[1].n_table, 100);
		assert_int_equal(c[2].kind, CALL_PORT);
		assert_int_equal(c[2].port, 2);
		assert_int_equal(c[2].n_table, 100);
		assert_int_equal(c[3].kind, CALL_END);
		for (unsigned int k = 0; k < 4; k++)
			assert_int_equal(c[k].id, ids[i]);
	}
	assert_int_equal(count_children(), 1);
}

static void test_errors_pass(void **state)
{
	Test *t = *state;
	uint64_t id;

	start(t, FAKE_WORKER, PATIENT_USEC, &quick);
	expect_error(t, ask(t, 1, "device-error"), -ENODEV, "no such device");
	id = ask(t, 1, "port-error");
	expect_answer(t, id);
	for (size_t i = 0; i < t->n; i++)
		if (t->calls[i].kind == CALL_PORT && t->calls[i].id == id)
			assert_int_equal(t->calls[i].error, -EIO);
}

static void test_arguments(void **state)
{
	static char a[] = "hbl*", b[] = "mlx?";
	Test *t = *state;
	char *globs[] = {a, b, NULL};
	uint64_t id;

	t->config.hold_contexts = false;
	t->config.hbl = true;
	t->config.never_open = globs;
	start(t, FAKE_WORKER, PATIENT_USEC, &quick);
	id = ask(t, 1, "ok");
	expect_answer(t, id);
	assert_string_equal(find_device(t, id)->argv,
			    "hold=no hbl=yes timeout=30000 never-open=hbl* never-open=mlx?");
	/* The worker has standard input, output, error, and its connection. */
	assert_int_equal(expect_answer(t, ask(t, 1, "descriptors")), 4);
}

/* A device that hangs does not hold up others, and recovers when it answers. */
static void test_stuck(void **state)
{
	Test *t = *state;
	uint64_t old, new, stuck, waiting[30];

	start(t, FAKE_WORKER, SHORT_USEC, &slow);
	ask(t, 1, "ok");
	ask(t, 2, "ok");
	old = expect_answer(t, ask(t, 3, "ok"));
	stuck = ask(t, 1, "stop");
	for (uint32_t i = 0; i < ARRAY_SIZE(waiting); i++)
		waiting[i] = ask(t, 3 + i, "ok");
	expect_error(t, stuck, -ETIMEDOUT, "no answer for 1000 ms while reading stop");
	expect_refused(t, 1, -ETIMEDOUT);
	new = expect_answer(t, waiting[0]);
	assert_int_not_equal(old, new);
	for (uint32_t i = 1; i < ARRAY_SIZE(waiting); i++)
		assert_int_equal(expect_answer(t, waiting[i]), new);
	expect_event(t, 2, REASON_OVERRUN); /* which was not asked again */
	expect_event(t, 3, REASON_OVERRUN);
	assert_int_equal(count_events(t, 1, REASON_OVERRUN), 0);
	assert_int_equal(count_events(t, 1, REASON_RECOVERED), 0);
	expect_refused(t, 1, -ETIMEDOUT);

	kill((pid_t)old, SIGCONT);
	expect_event(t, 1, REASON_RECOVERED);
	assert_int_equal(count_events(t, 1, REASON_RECOVERED), 1);
	assert_int_equal(count_kind(t, CALL_END, stuck), 1);
	assert_int_equal(count_kind(t, CALL_DEVICE, stuck), 0);
	assert_int_equal(expect_answer(t, ask(t, 1, "ok")), new);
	RUN_UNTIL(t, count_children() == 1); /* the old one left by itself */
}

static void test_stuck_says_where(void **state)
{
	Test *t = *state;
	uint64_t id;

	start(t, FAKE_WORKER, SHORT_USEC, &slow);
	id = ask(t, 1, "stop-in-port-2");
	expect_error(t, id, -ETIMEDOUT,
		     "no answer for 1000 ms while reading port 2 of stop-in-port-2");
	assert_int_equal(count_kind(t, CALL_DEVICE, id), 1);
	continue_children();
	expect_event(t, 1, REASON_RECOVERED);
}

/* How long a worker takes to start is not the fault of the device that it is to be asked about: on
 * a busy machine every new worker would spoil another one. */
static void test_slow_start(void **state)
{
	Test *t = *state;
	uint64_t first, second, enough;

	setenv("FAKE_WORKER_STOP_AT_START", "1", 1);
	start(t, FAKE_WORKER, SHORT_USEC, &slow);
	first = ask(t, 1, "ok");
	second = ask(t, 2, "stop");
	unsetenv("FAKE_WORKER_STOP_AT_START");
	RUN_UNTIL(t, child_stopped());
	enough = now_usec() + 5 * SHORT_USEC / 2;
	RUN_UNTIL(t, now_usec() >= enough);
	assert_int_equal(count_kind(t, CALL_END, first), 0);
	continue_children();
	expect_answer(t, first);
	/* from then on it counts */
	expect_error(t, second, -ETIMEDOUT, "no answer for 1000 ms while reading stop");
	continue_children();
	expect_event(t, 2, REASON_RECOVERED);
}

/* Events of a worker that was set aside are not those of the one that serves. */
static void test_stuck_is_not_heard(void **state)
{
	Test *t = *state;

	start(t, FAKE_WORKER, SHORT_USEC, &slow);
	wait_end(t, ask(t, 1, "stop-then-event"));
	continue_children();
	expect_event(t, 1, REASON_RECOVERED);
	assert_int_equal(count_events(t, 1, REASON_LID_CHANGE), 0);
}

/* It never answers: it is killed, and the device tried again and again in a worker of its own until
 * it does. */
static void test_stuck_for_long(void **state)
{
	Test *t = *state;
	uint64_t shared;

	start(t, FAKE_WORKER, SHORT_USEC, &quick);
	shared = ask(t, 2, "ok");
	wait_end(t, ask_once(t, 1, "stop"));
	expect_refused(t, 1, -ETIMEDOUT);
	shared = expect_answer(t, ask(t, 2, "ok"));
	expect_event(t, 1, REASON_RECOVERED);
	assert_int_equal(count_kind(t, CALL_DEVICE, 2),
			 0); /* the probe's answer was not for the core */
	assert_int_equal(expect_answer(t, ask(t, 1, "ok")), shared);
	RUN_UNTIL(t, count_children() == 1);
}

/* Three probes hang or crash, nobody else suffers. */
static void test_stuck_again_and_again(void **state)
{
	Test *t = *state;
	PoolTiming timing = quick;
	uint64_t shared, id;

	timing.answer_usec = 10 * USEC_PER_MSEC;
	start(t, FAKE_WORKER, SHORT_USEC, &timing);
	id = ask(t, 1, "stop");
	wait_end(t, id);
	shared = expect_answer(t, ask(t, 2, "ok"));
	for (unsigned int i = 0; i < 3; i++) {
		unsigned int pids[8];

		/* The probe runs, hangs, and is gone again */
		RUN_UNTIL(t, count_children() == 2 && child_stopped());
		assert_int_equal(children(pids, 8), 2);
		RUN_UNTIL(t, count_children() == 1);
	}
	assert_int_equal(expect_answer(t, ask(t, 2, "ok")), shared);
	assert_int_equal(count_kind(t, CALL_END, id), 1);
	expect_refused(t, 1, -ETIMEDOUT);
	assert_int_equal(count_events(t, 1, REASON_RECOVERED), 0);
	forget(t, 1);
	expect_answer(t, ask(t, 1, "ok"));
}

static void test_stuck_then_crash(void **state)
{
	Test *t = *state;

	start(t, FAKE_WORKER, SHORT_USEC, &quick);
	wait_end(t, ask_once(t, 1, "stop-then-crash"));
	continue_children();
	expect_event(t, 1, REASON_RECOVERED); /* from the probe */
	expect_answer(t, ask(t, 1, "ok"));
}

/* The second time in a row it gets a worker of its own, and hangs alone. */
static void test_stuck_twice(void **state)
{
	Test *t = *state;
	uint64_t shared;

	start(t, FAKE_WORKER, SHORT_USEC, &slow);
	for (unsigned int i = 0; i < 3; i++) {
		wait_end(t, ask(t, 1, "stop"));
		continue_children();
		RUN_UNTIL(t, count_events(t, 1, REASON_RECOVERED) == i + 1);
		if (i == 1)
			expect_answer(t, ask(t, 2, "ok"));
	}
	assert_int_equal(count_events(t, 2, REASON_OVERRUN), 0);
	shared = expect_answer(t, ask(t, 2, "ok"));
	assert_int_not_equal(expect_answer(t, ask(t, 1, "ok")), shared);
	/* That was in time: once more through the shared worker, so that its events are heard again
	 */
	RUN_UNTIL(t, count_events(t, 1, REASON_RECOVERED) == 4);
	assert_int_equal(expect_answer(t, ask(t, 1, "ok")), shared);
}

static void test_forget_stuck(void **state)
{
	Test *t = *state;

	start(t, FAKE_WORKER, SHORT_USEC, &slow);
	wait_end(t, ask(t, 1, "stop"));
	assert_true(forget(t, 1)); /* it was wedged */
	RUN_UNTIL(t, count_children() == 0);
	expect_answer(t, ask(t, 1, "ok"));
}

/* It hangs in a device that has gone: nobody to tell, but the others must go on. */
static void test_forget_then_stuck(void **state)
{
	Test *t = *state;
	uint64_t forgotten, id;

	start(t, FAKE_WORKER, SHORT_USEC, &slow);
	forgotten = ask(t, 1, "stop");
	id = ask(t, 2, "ok");
	forget(t, 1);
	expect_answer(t, id);
	assert_int_equal(count_kind(t, CALL_END, forgotten), 0);
	RUN_UNTIL(t, count_children() == 1);
}

static void test_forget(void **state)
{
	Test *t = *state;
	uint64_t sent, queued, again, last, asked = 1;

	start(t, FAKE_WORKER, PATIENT_USEC, &slow);
	assert_false(pool_forget(t->pool, 77, &asked)); /* never heard of */
	assert_int_equal(asked, 0);
	sent = ask(t, 0, "ok");
	for (uint32_t i = 1; i < 30; i++)
		ask(t, i, "ok");
	queued = ask(t, 30, "ok"); /* not in the window */
	assert_false(pool_forget(t->pool, 0, &asked));
	assert_int_equal(asked, sent);
	forget(t, 30);
	again = ask(t, 0, "ok");
	last = ask(t, 31, "ok");
	expect_answer(t, again);
	expect_answer(t, last);
	assert_false(pool_forget(t->pool, 31, &asked));
	assert_int_equal(asked, 0); /* it has ended */
	assert_int_equal(count_kind(t, CALL_DEVICE, sent), 0);
	assert_int_equal(count_kind(t, CALL_END, sent), 0);
	assert_int_equal(count_kind(t, CALL_END, queued), 0);
	for (size_t i = 0; i < t->n; i++)
		if (t->calls[i].kind == CALL_PORT && t->calls[i].id == last)
			assert_int_equal(t->calls[i].forgotten, 2);
}

static void test_forget_in_handler(void **state)
{
	Test *t = *state;
	uint64_t id, other;

	start(t, FAKE_WORKER, PATIENT_USEC, &slow);
	t->forget_in_port = 1;
	id = ask(t, 1, "ok");
	other = ask(t, 2, "ok");
	wait_end(t, other);
	assert_int_equal(count_kind(t, CALL_PORT, id), 1);
	assert_int_equal(count_kind(t, CALL_END, id), 0);
	t->forget_in_port = 0;
	t->forget_in_end = 3;
	t->query_in_end = 4;
	wait_end(t, ask(t, 3, "ok"));
	RUN_UNTIL(t, find_end(t, t->next_id));
	t->forget_in_end = 5;
	wait_end(t, ask(t, 5, "crash"));
	t->forget_in_end = 6;
	wait_end(t, ask(t, 6, "crash"));
	expect_answer(t, ask(t, 6, "ok"));
}

/* In the worker of its own, too, where that ends the worker which is being read. */
static void test_forget_in_handler_on_probation(void **state)
{
	Test *t = *state;
	uint64_t id;

	start(t, FAKE_WORKER, PATIENT_USEC, &quick);
	wait_end(t, ask(t, 1, "crash"));
	wait_end(t, ask(t, 1, "crash"));
	t->forget_in_port = 1;
	id = ask(t, 1, "ok");
	RUN_UNTIL(t, count_kind(t, CALL_PORT, id) == 1);
	RUN_UNTIL(t, count_children() == 0);
	assert_int_equal(count_kind(t, CALL_END, id), 0);
}

static void test_crash(void **state)
{
	Test *t = *state;
	uint64_t old, id, other;

	start(t, FAKE_WORKER, PATIENT_USEC, &quick);
	ask(t, 9, "ok");
	old = expect_answer(t, ask(t, 1, "ok"));
	id = ask(t, 1, "crash");
	other = ask(t, 2, "ok");
	expect_error(t, id, -EPIPE, "worker died: signal 11");
	assert_int_not_equal(expect_answer(t, other), old);
	expect_event(t, 9, REASON_OVERRUN);
	assert_int_equal(count_events(t, 1, REASON_OVERRUN), 0);
	expect_answer(t, ask(t, 1, "ok"));

	expect_error(t, ask(t, 1, "exit"), -EPIPE, "worker died: exit status 3");
	id = ask(t, 3, "half-and-crash");
	expect_error(t, id, -EPIPE, "worker died: signal 11");
	assert_int_equal(count_kind(t, CALL_DEVICE, id), 1);
	RUN_UNTIL(t, count_children() <= 1);
}

/* What it said before it died counts. */
static void test_answer_and_crash(void **state)
{
	Test *t = *state;
	uint64_t id, other;

	start(t, FAKE_WORKER, PATIENT_USEC, &quick);
	id = ask(t, 1, "answer-and-crash");
	expect_answer(t, id);
	other = ask(t, 2, "ok"); /* whether or not that reaches the one that dies */
	wait_end(t, other);
	expect_event(t, 1, REASON_OVERRUN);
	expect_answer(t, ask(t, 3, "ok"));
}

static void test_hang_up(void **state)
{
	Test *t = *state;
	uint64_t id, other;

	start(t, FAKE_WORKER, SHORT_USEC, &quick);
	id = ask(t, 1, "hang-up");
	other = ask(t, 2, "ok");
	expect_error(t, id, -EPIPE, "worker closed its connection");
	expect_answer(t, other);
	RUN_UNTIL(t, count_children() == 1);
}

/* The second crash in a row sends a device on probation: the others do not notice the third. */
static void test_crash_twice(void **state)
{
	Test *t = *state;
	uint64_t shared, own;

	start(t, FAKE_WORKER, PATIENT_USEC, &quick);
	wait_end(t, ask(t, 1, "crash"));
	wait_end(t, ask(t, 1, "crash"));
	shared = expect_answer(t, ask(t, 2, "ok"));
	for (unsigned int i = 0; i < 4; i++)
		expect_error(t, ask(t, 1, "crash"), -EPIPE, "worker died: signal 11");
	assert_int_equal(expect_answer(t, ask(t, 2, "ok")), shared);
	assert_int_equal(count_events(t, 2, REASON_OVERRUN), 0);
	own = expect_answer(t, ask(t, 1, "ok"));
	assert_int_not_equal(own, shared);
	expect_event(t, 1, REASON_RECOVERED);
	assert_int_equal(expect_answer(t, ask(t, 1, "ok")), shared);
	RUN_UNTIL(t, count_children() == 1);
}

/* A worker that ends at once: each query fails by itself, or, where that never came as far as to be
 * sent, when it is too old. Restarts pause. */
static void test_exit_at_once(void **state)
{
	Test *t = *state;
	uint64_t ids[6], began = now_usec();

	start(t, "/bin/false", PATIENT_USEC, &quick);
	for (uint32_t i = 0; i < ARRAY_SIZE(ids); i++)
		ids[i] = ask(t, i, "ok");
	for (uint32_t i = 0; i < ARRAY_SIZE(ids); i++)
		assert_int_equal(wait_end(t, ids[i])->error, -EPIPE);
	/* 0, 10, 20, 40, 40 ms between the six: not less */
	assert_true(now_usec() - began >= 110 * USEC_PER_MSEC);
}

/* No worker can be started: queries wait, and fail when that was too long. */
static void test_no_worker(void **state)
{
	Test *t = *state;
	uint64_t ids[6];

	start(t, "/nonexistent/rdmad-query", PATIENT_USEC, &quick);
	for (uint32_t i = 0; i < ARRAY_SIZE(ids); i++)
		ids[i] = ask(t, i, "ok");
	assert_int_equal(t->n, 0);
	for (uint32_t i = 0; i < ARRAY_SIZE(ids); i++)
		expect_error(t, ids[i], -EPIPE, "no worker could be kept running");
}

/* A shortage that passes is not seen from outside. */
static void test_no_descriptors(void **state)
{
	Test *t = *state;
	PoolTiming timing = quick;
	struct rlimit limit, few;
	siginfo_t status;
	int taken[64];
	size_t n = 0;
	uint64_t id;

	timing.queue_usec = GUARD_USEC;
	start(t, FAKE_WORKER, PATIENT_USEC, &timing);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	few = limit;
	few.rlim_cur = 40;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	while (n < ARRAY_SIZE(taken) && (taken[n] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0)
		n++;
	id = ask(t, 1, "ok");
	assert_int_equal(waitid(P_ALL, 0, &status, WEXITED | WNOHANG | WNOWAIT), -1);
	assert_int_equal(errno, ECHILD);
	while (n > 0)
		close(taken[--n]);
	expect_answer(t, id);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

/* A worker that cannot be watched is ended at once, and nothing is left of it. */
static void test_no_pidfd(void **state)
{
	Test *t = *state;
	PoolTiming timing = quick;
	siginfo_t status;
	uint64_t id;

	timing.queue_usec = GUARD_USEC;
	start(t, FAKE_WORKER, PATIENT_USEC, &timing);
	no_pidfd = true;
	id = ask(t, 1, "ok");
	no_pidfd = false;
	assert_int_equal(waitid(P_ALL, 0, &status, WEXITED | WNOHANG | WNOWAIT), -1);
	assert_int_equal(errno, ECHILD);
	expect_answer(t, id);
}

static void test_lies(void **state)
{
	static const struct {
		const char *what, *rule;
	} lies[] = {
		{"garbage", "not a message"},
		{"truncated", "wrong size for its type"},
		{"oversized", "not a message"},
		{"wrong-id", "an answer to another question"},
		{"wrong-device", "an answer to another question"},
		{"wrong-port", "a port that was not asked for"},
		{"port-twice", "a port twice"},
		{"port-first", "a port before its device"},
		{"device-twice", "a device not in the first place"},
		{"device-with-port", "a device with a port number"},
		{"query-back", "a message of the other direction"},
		{"early-end", "an end without all ports"},
		{"empty-end", "an end without the device"},
		{"table-first", "a table without its object"},
		{"table-of-other-port", "a table without its object"},
		{"table-twice", "a table twice"},
		{"table-unfinished", "a table that does not go on"},
		{"table-in-the-middle", "a page that does not continue its table"},
		{"table-not-supplied", "a table that is not supplied"},
		{"chardevs-twice", "a table twice"},
		{"table-too-large", "table size out of bounds"},
		{"bad-event", "reason unknown"},
	};
	Test *t = *state;

	start(t, FAKE_WORKER, PATIENT_USEC, &slow);
	for (uint32_t i = 0; i < ARRAY_SIZE(lies); i++) {
		uint64_t id = ask(t, i, lies[i].what), other = ask(t, 1000 + i, "ok");
		char text[128];

		snprintf(text, sizeof(text), "worker broke the protocol: %s", lies[i].rule);
		expect_error(t, id, -EPIPE, text);
		expect_answer(t, other);
		assert_int_equal(count_kind(t, CALL_END, id), 1);
	}
	RUN_UNTIL(t, count_children() == 1);
}

/* A device that was not asked for, and an answer when nothing is asked */
static void test_unasked(void **state)
{
	Test *t = *state;
	Query q;

	start(t, FAKE_WORKER, PATIENT_USEC, &slow);
	q = make_query(t, 1, "port-twice");
	q.attributes = false;
	assert_int_equal(pool_query(t->pool, &q), 0);
	expect_error(t, q.id, -EPIPE, "worker broke the protocol: a device that was not asked for");
	q = make_query(t, 2, "ok");
	q.attributes = false;
	assert_int_equal(pool_query(t->pool, &q), 0);
	wait_end(t, q.id);
	assert_int_equal(count_kind(t, CALL_DEVICE, q.id), 0);

	expect_answer(t, ask(t, 3, "table-after-end"));
	expect_event(t, 3, REASON_OVERRUN);
	expect_answer(t, ask(t, 3, "ok"));
}

static void test_events(void **state)
{
	Test *t = *state;
	Call *all = &t->calls[0], *one = &t->calls[1];

	start(t, FAKE_WORKER, PATIENT_USEC, &slow);
	expect_answer(t, ask(t, 5, "events"));
	/* Not that of device 6, which it was not asked about; port 255 is any. */
	assert_int_equal(t->n, 6);
	assert_int_equal(all->kind, CALL_EVENT);
	assert_int_equal(all->event.device, 5);
	assert_int_equal(all->event.port, EVENT_ALL_PORTS);
	assert_int_equal(all->event.reason, REASON_PORT_ERROR);
	assert_int_equal(one->kind, CALL_EVENT);
	assert_int_equal(one->event.port, 2);
	assert_int_equal(one->event.reason, REASON_PORT_ACTIVE);
}

/* 2000 events: the first of them, and what stands for the rest; what comes last is not lost */
static void test_burst(void **state)
{
	Test *t = *state;

	start(t, FAKE_WORKER, PATIENT_USEC, &slow);
	expect_answer(t, ask(t, 1, "burst"));
	expect_event(t, 1, REASON_OVERRUN);
	expect_event(t, 1, REASON_CLIENT_REREGISTER);
	assert_in_range(count_events(t, 1, REASON_GID_CHANGE), 1, N_CALLS - 100);
	expect_answer(t, ask(t, 1, "ok"));
}

/* Without end: the worker is replaced. */
static void test_flood(void **state)
{
	Test *t = *state;
	uint64_t old;

	start(t, FAKE_WORKER, PATIENT_USEC, &slow);
	old = expect_answer(t, ask(t, 1, "flood"));
	RUN_UNTIL(t, (t->n = 0, process_state(old)) == 0);
	assert_int_not_equal(expect_answer(t, ask(t, 1, "ok")), old);
}

/* More messages than the socket takes: they wait. */
static void test_socket_full(void **state)
{
	Test *t = *state;
	uint64_t id = 0;

	setenv("FAKE_WORKER_STOP_AT_FORGET", "1", 1);
	start(t, FAKE_WORKER, PATIENT_USEC, &slow);
	unsetenv("FAKE_WORKER_STOP_AT_FORGET");
	for (uint32_t i = 0; i < 1000; i++) {
		t->n = 0;
		setenv("FAKE_WORKER_STOP_AT_FORGET", "1", 1);
		id = ask(t, i, "ok");
		if (i % 10 == 0)
			wait_end(t, id);
	}
	unsetenv("FAKE_WORKER_STOP_AT_FORGET");
	RUN_UNTIL(t, (t->n = find_end(t, id) ? t->n : 0, find_end(t, id)));
	forget(t, 0);
	RUN_UNTIL(t, child_stopped());
	for (uint32_t i = 1; i < 1000; i++)
		forget(t, i);
	t->n = 0;
	id = ask(t, 5000, "ok");
	continue_children();
	expect_answer(t, id);
	for (size_t i = 0; i < t->n; i++)
		if (t->calls[i].kind == CALL_PORT && t->calls[i].id == id)
			assert_int_equal(t->calls[i].forgotten, 1000);
}

/* One that does not go when its connection is closed is killed. */
static void test_lingers(void **state)
{
	Test *t = *state;

	setenv("FAKE_WORKER_LINGER", "1", 1);
	start(t, FAKE_WORKER, SHORT_USEC, &quick);
	wait_end(t, ask_once(t, 1, "stop"));
	continue_children();
	expect_event(t, 1, REASON_RECOVERED);
	RUN_UNTIL(t, count_children() == 0);
	unsetenv("FAKE_WORKER_LINGER");
}

/* Not more processes than the bound, however many devices hang. */
static void test_process_limit(void **state)
{
	Test *t = *state;
	uint64_t ids[POOL_PROCESSES_MAX + 4];
	PoolTiming timing = slow;

	timing.restart_usec = timing.restart_max_usec = 10 * USEC_PER_MSEC;
	timing.queue_usec = 100 * USEC_PER_MSEC;
	start(t, FAKE_WORKER, 100 * USEC_PER_MSEC, &timing);
	for (uint32_t i = 0; i < ARRAY_SIZE(ids); i++)
		ids[i] = ask(t, i, "stop");
	for (uint32_t i = 0; i < ARRAY_SIZE(ids); i++) {
		const Call *end = wait_end(t, ids[i]);

		assert_int_equal(end->error, i < POOL_PROCESSES_MAX ? -ETIMEDOUT : -EPIPE);
		assert_true(count_children() <= POOL_PROCESSES_MAX);
	}
	/* One leaves, one can come. */
	forget(t, 0);
	RUN_UNTIL(t, count_children() < POOL_PROCESSES_MAX);
	ask(t, 0, "stop");
	RUN_UNTIL(t, count_children() == POOL_PROCESSES_MAX);
}

/* In the middle of everything */
static void test_end_of_all(void **state)
{
	Test *t = *state;

	start(t, FAKE_WORKER, SHORT_USEC, &slow);
	wait_end(t, ask(t, 1, "stop"));
	wait_end(t, ask(t, 2, "crash"));
	wait_end(t, ask(t, 2, "crash"));
	ask(t, 2, "ok");
	for (uint32_t i = 3; i < 30; i++)
		ask(t, i, "ok");
	forget(t, 4);
	t->pool = pool_free(t->pool);
	assert_null(pool_free(NULL));
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_answers),
		TEST(test_errors_pass),
		TEST(test_arguments),
		TEST(test_stuck),
		TEST(test_stuck_says_where),
		TEST(test_slow_start),
		TEST(test_stuck_is_not_heard),
		TEST(test_stuck_for_long),
		TEST(test_stuck_again_and_again),
		TEST(test_stuck_then_crash),
		TEST(test_stuck_twice),
		TEST(test_forget),
		TEST(test_forget_stuck),
		TEST(test_forget_then_stuck),
		TEST(test_forget_in_handler),
		TEST(test_forget_in_handler_on_probation),
		TEST(test_crash),
		TEST(test_answer_and_crash),
		TEST(test_hang_up),
		TEST(test_crash_twice),
		TEST(test_exit_at_once),
		TEST(test_no_worker),
		TEST(test_no_descriptors),
		TEST(test_no_pidfd),
		TEST(test_lies),
		TEST(test_unasked),
		TEST(test_events),
		TEST(test_burst),
		TEST(test_flood),
		TEST(test_socket_full),
		TEST(test_lingers),
		TEST(test_process_limit),
		TEST(test_end_of_all),
	};

	/* What happens here is meant to. */
	log_max_level = getenv("VERBOSE") ? LOG_DEBUG : LOG_ERR;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
