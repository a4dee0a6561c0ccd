/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "pool-fixture.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "../descriptors.h"
#include "fake-worker.h"

/* The clock */

typedef struct Timer {
	sd_event_source *source;
	uint64_t usec; /* when it fires */
} Timer;

static bool own_clock;
static uint64_t clock_usec;
static Timer timers[4096];
static size_t n_timers;

/* What the linker puts in the place of functions of libsystemd */
int __wrap_sd_event_now(sd_event *e, clockid_t clock, uint64_t *ret);
int __real_sd_event_now(sd_event *e, clockid_t clock, uint64_t *ret);
int __wrap_sd_event_add_time(sd_event *e, sd_event_source **ret, clockid_t clock, uint64_t usec,
			     uint64_t accuracy, sd_event_time_handler_t callback, void *userdata);
int __real_sd_event_add_time(sd_event *e, sd_event_source **ret, clockid_t clock, uint64_t usec,
			     uint64_t accuracy, sd_event_time_handler_t callback, void *userdata);
int __wrap_sd_event_source_set_time(sd_event_source *s, uint64_t usec);
int __real_sd_event_source_set_time(sd_event_source *s, uint64_t usec);
int __wrap_sd_event_source_get_time(sd_event_source *s, uint64_t *ret);
int __real_sd_event_source_get_time(sd_event_source *s, uint64_t *ret);

int __wrap_sd_event_now(sd_event *e, clockid_t clock, uint64_t *ret)
{
	if (!own_clock)
		return __real_sd_event_now(e, clock, ret);
	*ret = clock_usec;
	return 0;
}

/* For the loop the time of a source is long ago, or never. */
static int arm(const Timer *timer)
{
	return __real_sd_event_source_set_time(timer->source,
					       timer->usec <= clock_usec ? 0 : UINT64_MAX);
}

int __wrap_sd_event_add_time(sd_event *e, sd_event_source **ret, clockid_t clock, uint64_t usec,
			     uint64_t accuracy, sd_event_time_handler_t callback, void *userdata)
{
	Timer *timer = &timers[n_timers];
	int r = __real_sd_event_add_time(e, ret, clock, usec, accuracy, callback, userdata);

	if (r < 0 || !own_clock)
		return r;
	assert_true(n_timers < ARRAY_SIZE(timers));
	/* The reference is the test's, so that a source that the pool has given up can be looked
	 * at.
	 */
	*timer = (Timer){sd_event_source_ref(*ret), usec};
	n_timers++;
	return arm(timer);
}

static Timer *find_timer(const sd_event_source *s)
{
	for (size_t i = n_timers; i > 0; i--)
		if (timers[i - 1].source == s)
			return &timers[i - 1];
	return NULL;
}

int __wrap_sd_event_source_set_time(sd_event_source *s, uint64_t usec)
{
	Timer *timer = find_timer(s);

	if (!timer)
		return __real_sd_event_source_set_time(s, usec);
	timer->usec = usec;
	return arm(timer);
}

int __wrap_sd_event_source_get_time(sd_event_source *s, uint64_t *ret)
{
	const Timer *timer = find_timer(s);

	if (!timer)
		return __real_sd_event_source_get_time(s, ret);
	*ret = timer->usec;
	return 0;
}

/* Goes on to just after the next time that the pool waits for, but not further than UNTIL_USEC. */
static void advance_clock(uint64_t until_usec)
{
	uint64_t next = until_usec;

	for (size_t i = 0; i < n_timers; i++)
		if (sd_event_source_get_enabled(timers[i].source, NULL) > 0)
			next = MIN(next, timers[i].usec);
	for (size_t i = 0; i < n_timers; i++)
		if (timers[i].usec > clock_usec && timers[i].usec <= next)
			assert_true(__real_sd_event_source_set_time(timers[i].source, 0) >= 0);
	clock_usec = MAX(clock_usec, MIN(next + 1, until_usec));
}

static void end_clock(void)
{
	for (size_t i = 0; i < n_timers; i++)
		sd_event_source_unref(timers[i].source);
	n_timers = 0;
	own_clock = false;
}

/* Whether no child can do anything before somebody does something for it. */
static bool all_wait(void)
{
	unsigned int pids[N_CHILDREN_MAX], n = children(pids, ARRAY_SIZE(pids));

	for (unsigned int i = 0; i < n; i++) {
		char state = process_state(pids[i]);

		if (state && !strchr("STZ", state))
			return false;
	}
	return true;
}

void run_once(Test *t, uint64_t until_usec)
{
	int r = sd_event_run(t->event, own_clock ? 0 : 10 * USEC_PER_MSEC);

	assert_true(r >= 0);
	if (r > 0 || !own_clock)
		return;
	if (!all_wait() || clock_usec >= until_usec) {
		assert_true(sd_event_run(t->event, USEC_PER_MSEC) >= 0);
		return;
	}
	/* What a child has sent before it waits is there by now. */
	r = sd_event_run(t->event, 0);
	assert_true(r >= 0);
	if (r == 0)
		advance_clock(until_usec);
}

/* The rest */

static Call *record(Test *t, unsigned int kind)
{
	Call *c = &t->calls[t->n++];

	assert_true(t->n <= N_CALLS);
	*c = (Call){.kind = kind};
	return c;
}

Query make_query(Test *t, uint32_t device, const char *what)
{
	Query q = {.id = ++t->next_id, .device = device, .adapter = t->adapter, .attributes = true};

	text_copy(q.name, sizeof(q.name), what);
	port_set_add(&q.ports, 1);
	port_set_add(&q.ports, 2);
	q.leave.ports = t->no_leave ? 0 : 2;
	return q;
}

uint64_t ask(Test *t, uint32_t device, const char *what)
{
	Query q = make_query(t, device, what);

	assert_int_equal(pool_query(t->pool, &q), 0);
	return q.id;
}

uint64_t ask_once(Test *t, uint32_t device, const char *what)
{
	AttrText name;

	snprintf(name, sizeof(name), "%.30s:%.31s", what, t->flag);
	return ask(t, device, name);
}

uint64_t ask_until_healed(Test *t, uint32_t device, const char *what)
{
	AttrText name;

	snprintf(name, sizeof(name), "%.30s?%.31s", what, t->flag);
	return ask(t, device, name);
}

void heal(Test *t)
{
	int fd = open(t->flag, O_CREAT | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	close(fd);
}

static void on_event(void *userdata, const Event *event)
{
	record(userdata, CALL_EVENT)->event = *event;
}

static bool on_asking(void *userdata, const Query *q)
{
	Test *t = userdata;
	Call *c = record(t, CALL_ASKING);

	c->id = q->id;
	c->port = port_set_last(&q->ports);
	snprintf(c->text, sizeof(c->text), "%s", q->name);
	return !t->refuses;
}

static void on_device(void *userdata, uint64_t id, DeviceSnapshot *s)
{
	Call *c = record(userdata, CALL_DEVICE);

	c->id = id;
	c->open_error = s->open_error;
	c->unanswered = s->unanswered;
	c->pid = s->values.node_guid;
	c->n_table = s->tables[DEVICE_TABLE_CHARDEVS] ? s->tables[DEVICE_TABLE_CHARDEVS]->n : 0;
	text_copy(c->argv, sizeof(c->argv), TEXT_OF(&s->values, board_id));
}

bool forget(Test *t, uint32_t device)
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
	c->open_error = s->open_error;
	c->unanswered = s->unanswered;
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

static void on_end(void *userdata, uint64_t id, int error, QueryErrorCode code, const char *text)
{
	Test *t = userdata;
	Call *c = record(t, CALL_END);

	c->id = id;
	c->error = error;
	c->code = code;
	snprintf(c->text, sizeof(c->text), "%s", text);
	if (t->forget_in_end)
		forget(t, t->forget_in_end);
	if (t->query_in_end) {
		ask(t, t->query_in_end, "ok");
		t->query_in_end = 0;
	}
}

static const SourceHandler handler = {.event = on_event,
				      .asking = on_asking,
				      .device = on_device,
				      .port = on_port,
				      .end = on_end};

const PoolTiming quick = {
	.answer_usec = 300 * USEC_PER_MSEC,
	.exit_usec = 100 * USEC_PER_MSEC,
	.retry_usec = 20 * USEC_PER_MSEC,
	.retry_max_usec = 100 * USEC_PER_MSEC,
	.turn_usec = USEC_PER_MSEC,
	.restart_usec = 10 * USEC_PER_MSEC,
	.restart_max_usec = 40 * USEC_PER_MSEC,
	.calm_usec = 60 * USEC_PER_SEC,
	.queue_usec = 200 * USEC_PER_MSEC,
};

const PoolTiming slow = {
	.answer_usec = GUARD_USEC * 2,
	.exit_usec = GUARD_USEC * 2,
	.retry_usec = GUARD_USEC * 2,
	.retry_max_usec = GUARD_USEC * 2,
	.turn_usec = USEC_PER_MSEC,
	.restart_usec = 1,
	.restart_max_usec = 1,
	.calm_usec = 60 * USEC_PER_SEC,
	.queue_usec = GUARD_USEC * 2,
};

void start_as_is(Test *t, const char *path, uint64_t query_timeout_usec)
{
	t->config.query_timeout_usec = query_timeout_usec;
	assert_int_equal(pool_new(t->event, &t->config, path, &handler, t, &t->pool), 0);
}

void start(Test *t, const char *path, uint64_t query_timeout_usec, const PoolTiming *timing)
{
	start_as_is(t, path, query_timeout_usec);
	pool_set_timing(t->pool, timing);
	pool_set_main(t->pool, 1);
}

int setup(void **state)
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

int setup_clock(void **state)
{
	own_clock = true;
	clock_usec = real_now_usec();
	return setup(state);
}

int teardown(void **state)
{
	Test *t = *state;
	siginfo_t status;
	unsigned int n;

	pool_free(t->pool);
	end_clock();
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

uint64_t now_usec(void)
{
	return own_clock ? clock_usec : real_now_usec();
}

uint64_t real_now_usec(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * USEC_PER_SEC + (uint64_t)ts.tv_nsec / 1000;
}

const Call *find_end(const Test *t, uint64_t id)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->calls[i].kind == CALL_END && t->calls[i].id == id)
			return &t->calls[i];
	return NULL;
}

const Call *find_device(const Test *t, uint64_t id)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->calls[i].kind == CALL_DEVICE && t->calls[i].id == id)
			return &t->calls[i];
	return NULL;
}

unsigned int count_events(const Test *t, uint32_t device, EventReason reason)
{
	unsigned int n = 0;

	for (size_t i = 0; i < t->n; i++)
		if (t->calls[i].kind == CALL_EVENT && t->calls[i].event.device == device &&
		    t->calls[i].event.reason == reason)
			n++;
	return n;
}

unsigned int count_kind(const Test *t, unsigned int kind, uint64_t id)
{
	unsigned int n = 0;

	for (size_t i = 0; i < t->n; i++)
		if (t->calls[i].kind == kind && t->calls[i].id == id)
			n++;
	return n;
}

unsigned int count_ends(const Test *t, int error)
{
	unsigned int n = 0;

	for (size_t i = 0; i < t->n; i++)
		n += t->calls[i].kind == CALL_END && t->calls[i].error == error;
	return n;
}

const Call *wait_end(Test *t, uint64_t id)
{
	RUN_UNTIL(t, find_end(t, id));
	return find_end(t, id);
}

uint64_t expect_answer(Test *t, uint64_t id)
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

/* The code that goes with what people read. */
static QueryErrorCode code_of(const char *text)
{
	static const struct {
		const char *begin;
		QueryErrorCode code;
	} codes[] = {
		{"no answer for ", QUERY_ERROR_TIMEOUT},
		{"no end of the answer ", QUERY_ERROR_NO_END},
		{"not asked, ", QUERY_ERROR_NOT_ASKED},
		{"worker broke the protocol: ", QUERY_ERROR_PROTOCOL},
		{"worker ", QUERY_ERROR_WORKER_LOST},
		{"no worker ", QUERY_ERROR_NO_WORKER},
	};

	for (size_t i = 0; i < ARRAY_SIZE(codes); i++)
		if (startswith(text, codes[i].begin))
			return codes[i].code;
	return QUERY_ERROR_DEVICE;
}

void expect_error(Test *t, uint64_t id, int error, const char *text)
{
	const Call *end = wait_end(t, id);

	assert_int_equal(end->code, code_of(text));
	assert_string_equal(end->text, text);
	assert_int_equal(end->error, error);
	assert_int_equal(count_kind(t, CALL_END, id), 1);
}

void expect_refused(Test *t, uint32_t device, int error)
{
	Query q = make_query(t, device, "ok");

	assert_int_equal(pool_query(t->pool, &q), error);
}

void expect_event(Test *t, uint32_t device, EventReason reason)
{
	RUN_UNTIL(t, count_events(t, device, reason) > 0);
	for (size_t i = 0; i < t->n; i++)
		if (t->calls[i].kind == CALL_EVENT && t->calls[i].event.device == device &&
		    t->calls[i].event.reason == reason)
			assert_int_equal(t->calls[i].event.port, EVENT_ALL_PORTS);
}

char process_state(uint64_t pid)
{
	char path[64], line[256];
	ssize_t n;
	char *p;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/stat", (unsigned int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	/* The process may end meanwhile. A stream would be most of what the tests with a clock of
	 * their own take: they ask this of 200 processes at each step. */
	n = read(fd, line, sizeof(line) - 1);
	close(fd);
	line[MAX(n, 0)] = '\0';
	p = strrchr(line, ')');
	return p ? p[2] : 0;
}

unsigned int children(unsigned int *ret, unsigned int n_ret)
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

bool is_named(uint64_t pid, const char *name)
{
	char path[64], line[32] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u/comm", (unsigned int)pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	if (fgets(line, sizeof(line), f))
		line[strcspn(line, "\n")] = '\0';
	fclose(f);
	return streq(line, name);
}

unsigned int count_children(void)
{
	unsigned int pids[N_CHILDREN_MAX], n = children(pids, ARRAY_SIZE(pids)), count = n;

	for (unsigned int i = 0; i < n; i++)
		count -= is_named(pids[i], FAKE_NURSERY);
	return count;
}

bool child_stopped(void)
{
	unsigned int pids[N_CHILDREN_MAX], n = children(pids, ARRAY_SIZE(pids));

	for (unsigned int i = 0; i < n; i++)
		if (process_state(pids[i]) == 'T')
			return true;
	return false;
}

void continue_children(void)
{
	unsigned int pids[N_CHILDREN_MAX], n = children(pids, ARRAY_SIZE(pids));

	for (unsigned int i = 0; i < n; i++)
		kill((pid_t)pids[i], SIGCONT);
}
