/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * GetUsers() with a source and an rdmad-processes that the test plays: what is asked and how often,
 * and what callers get of answers that are whole, cut, late, wrong, or do not come.
 */

#include "fake-source.h"

#include "clock.h"

#define PROCESSES_NAME "org.rdma.Processes"
#define PROCESSES_PATH "/org/rdma/processes"

#define TRAIN  4711U
#define THREAD 4712U /* of the same process */
#define GONE   4713U

/* rdmad-processes: the calls of Describe() are kept until the test answers. */
static struct {
	sd_bus *bus;
	sd_bus_message *call; /* the last one */
	unsigned int n_calls;
} processes;

/* A call of GetUsers() and what came. */
typedef struct UsersCall {
	bool done;
	char error[80];
	char text[1024]; /* each user, and the counts, with a blank behind each */
	sd_bus_slot *slot;
} UsersCall;

static int on_describe(sd_bus_message *m, _unused_ void *userdata, _unused_ sd_bus_error *error)
{
	sd_bus_message_unref(processes.call);
	processes.call = sd_bus_message_ref(m);
	processes.n_calls++;
	return 1;
}

/* clang-format off */
static const sd_bus_vtable processes_vtable[] = {
	SD_BUS_VTABLE_START(0),
	SD_BUS_METHOD("Describe", "au", "a(uuutss)", on_describe, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_VTABLE_END,
};
/* clang-format on */

static const Config recorded = {.query_timeout_usec = USEC_PER_SEC, .record_max = 1 << 20};

static int setup_users(void **state)
{
	Test *t;

	setup_with(state, &recorded);
	t = *state;
	start(t);
	answer(4);
	barrier(t);
	fixture_forget(t->f);
	fake.users = true;
	processes.n_calls = 0;
	processes.bus = fixture_client(t->f);
	assert_true(sd_bus_add_object_vtable(processes.bus, NULL, PROCESSES_PATH, PROCESSES_NAME,
					     processes_vtable, NULL) >= 0);
	assert_true(sd_bus_request_name(processes.bus, PROCESSES_NAME, 0) >= 0);
	assert_true(sd_bus_attach_event(processes.bus, t->event, 0) >= 0);
	return 0;
}

static int teardown_users(void **state)
{
	processes.call = sd_bus_message_unref(processes.call);
	processes.bus = sd_bus_flush_close_unref(processes.bus);
	return teardown(state);
}

static void read_text(sd_bus_message *m, char *text, size_t size)
{
	_cleanup_free_ char *dump = NULL;
	size_t length = 0, n = 0;
	FILE *f = open_memstream(&dump, &length);

	assert_non_null(f);
	assert_true(sd_bus_message_dump(m, f, SD_BUS_MESSAGE_DUMP_SUBTREE_ONLY) >= 0);
	assert_int_equal(fclose(f), 0);
	/* the values alone: what is in quotes, and numbers behind their type */
	for (const char *at = dump; (at = strpbrk(at, "S3B")) && n < size;) {
		const char *value = startswith(at, "STRING ")	 ? at + 7
				    : startswith(at, "32 ")	 ? at + 3
				    : startswith(at, "BOOLEAN ") ? at + 8
								 : NULL;
		int k = value ? (int)strcspn(value, ";") : 0;

		if (value)
			n += (size_t)snprintf(text + n, size - n, "%.*s ", k, value);
		at += value ? value - at + k : 1;
	}
}

static int on_reply(sd_bus_message *m, void *userdata, _unused_ sd_bus_error *error)
{
	const sd_bus_error *e = sd_bus_message_get_error(m);
	UsersCall *c = userdata;

	snprintf(c->error, sizeof(c->error), "%s", e ? e->name : "");
	if (!e)
		read_text(m, c->text, sizeof(c->text));
	c->done = true;
	return 0;
}

static void get_users(Test *t, UsersCall *c, const char *path)
{
	*c = (UsersCall){};
	barrier(t); /* the name is there */
	assert_true(sd_bus_call_method_async(t->f->bus, &c->slot, RDMAD_BUS_NAME, path,
					     RDMAD_INTERFACE_PORT, "GetUsers", on_reply, c, "a{sv}",
					     0) >= 0);
}

static void wait_users(Test *t, UsersCall *c, const char *error)
{
	RUN_UNTIL(t, c->done);
	assert_string_equal(c->error, error);
	c->slot = sd_bus_slot_unref(c->slot);
}

static void assert_says(const UsersCall *c, const char *expected)
{
	if (!strstr(c->text, expected))
		fail_msg("not there: %s\n%s", expected, c->text);
}

static size_t count_asked(void)
{
	size_t n = 0;

	for (size_t i = 0; i < fake.n_queries; i++)
		n += fake.queries[i].kind == QUERY_USERS;
	return n;
}

/* What the kernel says of PORT: two threads of one process, another one, an unknown one, itself. */
static void answer_users(uint64_t id, uint32_t port, int error)
{
	static const HolderEntry entries[] = {
		{.kind = USER_PROCESS, .pid = TRAIN, .qps = 8, .uid = USER_NO_UID},
		{.kind = USER_PROCESS, .pid = THREAD, .qps = 16, .uid = USER_NO_UID},
		{.kind = USER_PROCESS, .pid = GONE, .qps = 32, .uid = USER_NO_UID},
		{.kind = USER_UNKNOWN, .qps = 64, .uid = USER_NO_UID},
		{.kind = USER_KERNEL, .name = "ib_core", .qps = 128, .uid = USER_NO_UID},
	};
	PortSnapshot s = {};

	s.tables[PORT_TABLE_USERS] = table_new(entries, ARRAY_SIZE(entries), sizeof(*entries));
	mask_set(&s.supplied, PORT_ATTR_users, true);
	fake.handler->port(fake.userdata, id, port, error, &s);
	port_snapshot_done(&s);
}

/* Says that THREAD is of TRAIN, which STARTED then; GONE is another process now. */
static void describe(uint64_t started)
{
	assert_non_null(processes.call);
	assert_true(sd_bus_reply_method_return(
			    processes.call, "a(uuutss)", 3, TRAIN, TRAIN, getuid(), started,
			    "train", "/system.slice/train.service", THREAD, TRAIN, getuid(),
			    started, "train", "/system.slice/train.service", GONE, GONE, getuid(),
			    UINT64_MAX, "other", "/") >= 0);
}

#define COUNTS "\"QpCount\" 248 \"ProcessCount\" 2 \"KernelQpCount\" 128 "

/* However many call, the source and rdmad-processes are asked once, and nobody gets half of what
 * they say. */
static void test_asked_once(void **state)
{
	UsersCall first, second, third;
	Test *t = *state;
	uint64_t id;

	get_users(t, &first, PORT_1);
	RUN_UNTIL(t, count_asked() >= 1);
	id = last_query()->id;
	assert_true(port_set_has(&last_query()->ports, 1) &&
		    !port_set_has(&last_query()->ports, 2));
	get_users(t, &second, PORT_1);
	barrier(t);
	answer_users(id, 2, 0); /* was not asked for */
	answer_users(id, 1, 0);
	answer_users(id, 1, -EIO); /* twice */
	answer_end(id, 0, "");
	RUN_UNTIL(t, processes.n_calls >= 1);
	get_users(t, &third, PORT_1);
	barrier(t);
	assert_false(first.done || second.done || third.done);
	describe(1);
	wait_users(t, &first, "");
	wait_users(t, &second, "");
	wait_users(t, &third, "");
	assert_int_equal(count_asked(), 1);
	assert_int_equal(processes.n_calls, 1);
	assert_string_equal(first.text, second.text);
	assert_string_equal(first.text, third.text);
	assert_says(&first, COUNTS);
	assert_says(&first, "\"Complete\" true ");
	assert_says(&first, "\"unknown\" \"\" 0 4294967295 64 ");
	assert_says(&first, "\"kernel\" \"ib_core\" 0 4294967295 128 ");
	if (getuid() == 0) {
		assert_says(&first, "\"process\" \"train\" 4711 0 24 \"Unit\" \"train.service\" ");
		/* its number was used again after the kernel had been asked */
		assert_says(&first, "\"process\" \"\" 4713 4294967295 32 ");
	}
}

/* Whether users were asked for N times; what else is asked is answered: ports have STATE. */
static bool is_asked(Test *t, size_t n, uint32_t state)
{
	if (count_asked() >= n)
		return true;
	if (device(t, 1)->schedule->asked_id && last_query()->kind != QUERY_USERS)
		answer(state);
	return false;
}

/* Asks for the users of port 1, which are read with ERROR, until rdmad-processes is asked. */
static void ask_processes(Test *t, UsersCall *c, int error)
{
	get_users(t, c, PORT_1);
	RUN_UNTIL(t, count_asked() >= 1);
	answer_users(last_query()->id, 1, error);
	answer_end(last_query()->id, 0, "");
	RUN_UNTIL(t, processes.n_calls >= 1);
}

/* There was no time to read all. */
static void test_incomplete(void **state)
{
	Test *t = *state;
	UsersCall c;

	ask_processes(t, &c, -ETIME);
	describe(1);
	wait_users(t, &c, "");
	assert_says(&c, COUNTS);
	assert_says(&c, "\"Complete\" false ");
}

/* A question gives way to an event, once; the caller gets what there was, and what is under way for
 * other reasons is not hurried. */
static void test_gives_way(void **state)
{
	Test *t = *state;
	size_t n = fake.n_queries;
	UsersCall c, other;
	Query q;

	get_users(t, &c, PORT_1);
	RUN_UNTIL(t, count_asked() >= 1);
	q = *last_query();
	get_users(t, &other, PORT_2);
	barrier(t);
	assert_int_equal(fake.n_hurried, 0);
	tell(1, 2, REASON_PORT_ERROR);
	RUN_UNTIL(t, fake.n_hurried >= 1);
	tell(1, 1, REASON_LID_CHANGE);
	barrier(t);
	assert_int_equal(fake.n_hurried, 1);
	assert_int_equal(fake.n_queries, n + 1);
	answer_users(q.id, 1, -ETIME);
	answer_end(q.id, 0, "");
	/* now what the events are about */
	RUN_UNTIL(t, fake.n_queries >= n + 2);
	assert_true(last_query()->kind != QUERY_USERS && port_set_has(&last_query()->ports, 2));
	tell(1, 1, REASON_PKEY_CHANGE);
	barrier(t);
	assert_int_equal(fake.n_hurried, 1);
	RUN_UNTIL(t, processes.n_calls >= 1);
	describe(1);
	wait_users(t, &c, "");
	assert_says(&c, "\"Complete\" false ");
	/* the next question may be hurried again */
	RUN_UNTIL(t, is_asked(t, 2, 4));
	tell(1, 2, REASON_PORT_ACTIVE);
	RUN_UNTIL(t, fake.n_hurried >= 2);
	answer_users(last_query()->id, 2, 0);
	answer_end(last_query()->id, 0, "");
	RUN_UNTIL(t, processes.n_calls >= 2);
	describe(1);
	wait_users(t, &other, "");
}

/* Port 1 goes down: its users are asked for. */
static void go_down(Test *t)
{
	tell(1, 1, REASON_PORT_ERROR);
	RUN_UNTIL(t, device(t, 1)->schedule->asked_id);
	answer(1);
	RUN_UNTIL(t, is_asked(t, 1, 1));
	log_capture(t);
}

/* The question for the users of port 1 ends before anything was read. */
static void cut_users(void)
{
	PortSnapshot s = {};
	uint64_t id = last_query()->id;

	mask_set(&s.supplied, PORT_ATTR_users, true);
	fake.handler->port(fake.userdata, id, 1, -ETIME, &s);
	answer_end(id, 0, "");
}

/* Who was on a link that has gone down is asked until it is known. */
static void test_down(void **state)
{
	Test *t = *state;

	go_down(t);
	for (size_t n = 2; n < 5; n++) {
		cut_users();
		RUN_UNTIL(t, is_asked(t, n, 1));
	}
	answer_users(last_query()->id, 1, 0);
	answer_end(last_query()->id, 0, "");
	RUN_UNTIL(t, processes.n_calls >= 1);
	describe(1);
	RUN_UNTIL(t, history_last(&device(t, 1)->ports[0]->history)->qps == 120);
	barrier(t);
	assert_int_equal(log_count(t, "mlx5_0/1: went down under 120 QPs of 2 processes: "), 1);
	assert_int_equal(count_asked(), 4);
}

/* The link is up again when it is known who was on it: the file has it all the same. */
static void test_down_earlier(void **state)
{
	Test *t = *state;
	const History *h;
	size_t n = 0;

	go_down(t);
	tell(1, 1, REASON_PORT_ACTIVE);
	RUN_UNTIL(t, fake.n_hurried >= 1);
	answer_users(last_query()->id, 1, 0);
	answer_end(last_query()->id, 0, "");
	RUN_UNTIL(t, device(t, 1)->schedule->asked_id);
	answer(4);
	RUN_UNTIL(t, processes.n_calls >= 1);
	RUN_UNTIL(t, history_last(&device(t, 1)->ports[0]->history)->taken);
	describe(1);
	RUN_UNTIL(t, history_entry(&device(t, 1)->ports[0]->history, 1)->qps == 120);
	assert_int_equal(log_count(t, "went down under 120 QPs"), 1);
	start_again(t, &recorded);
	answer(4);
	barrier(t);
	h = &device(t, 1)->ports[0]->history;
	assert_int_equal(history_last(h)->to, 4);
	for (size_t i = 0; i < h->n; i++)
		n += history_entry(h, i)->qps == 120 && history_entry(h, i)->processes == 2;
	assert_int_equal(n, 1);
}

/* It is not asked without an end, and then the journal says so. */
static void test_down_unknown(void **state)
{
	Test *t = *state;
	size_t n = 1;

	go_down(t);
	while (device(t, 1)->schedule->asked_id) {
		assert_true(n < 20);
		cut_users();
		barrier(t);
		n += 1;
		is_asked(t, n, 1);
	}
	assert_int_equal(log_count(t, "mlx5_0/1: went down; its queue pairs are not known: there "
				      "was no time to read all"),
			 1);
	assert_int_equal(count_asked(), 8);
}

/* The source fails: the journal says so. */
static void test_down_failed(void **state)
{
	Test *t = *state;

	go_down(t);
	answer_users(last_query()->id, 1, -EIO);
	answer_end(last_query()->id, 0, "");
	barrier(t);
	assert_int_equal(
		log_count(t, "mlx5_0/1: went down; its queue pairs are not known: Input/output"),
		1);
	assert_int_equal(count_asked(), 1);
}

/* rdmad-processes is forgotten with the bus: nobody waits for its answer any more. */
static void test_forgotten(void **state)
{
	Test *t = *state;
	UsersCall c;

	ask_processes(t, &c, 0);
	assert_false(c.done);
	manager_forget_processes(t->manager);
	assert_int_equal(reading_of(device_port(device(t, 1), 1), QUERY_USERS)->step, READING_IDLE);
	wait_users(t, &c, "");
	assert_says(&c, "\"QpCount\" 248 \"ProcessCount\" 3 ");
}

/* A port goes with a device that hangs: that would not say who was on it, and nobody asks. */
static void test_down_hangs(void **state)
{
	Test *t = *state;

	tell(1, 1, REASON_PORT_ERROR);
	RUN_UNTIL(t, device(t, 1)->schedule->asked_id);
	answer_end(last_query()->id, -ETIMEDOUT, "no answer");
	log_capture(t);
	fake.n_devices = 0;
	tell(1, EVENT_ALL_PORTS, REASON_DEVICE);
	RUN_UNTIL(t, !device(t, 1));
	assert_int_equal(log_count(t, "queue pairs"), 0);
	assert_int_equal(count_asked(), 0);
}

/* Without rdmad-processes the numbers are all that is known. */
static void test_no_processes(void **state)
{
	Test *t = *state;
	UsersCall c;

	ask_processes(t, &c, 0);
	assert_true(sd_bus_reply_method_errorf(processes.call, SD_BUS_ERROR_ACCESS_DENIED, "no") >=
		    0);
	wait_users(t, &c, "");
	assert_says(&c, "\"QpCount\" 248 \"ProcessCount\" 3 \"KernelQpCount\" 128 ");
	if (getuid() == 0)
		assert_says(&c, "\"process\" \"\" 4711 4294967295 8 ");
}

/* The source fails, does not answer, or does not take the question. */
static void test_no_answer(void **state)
{
	Test *t = *state;
	UsersCall c;

	get_users(t, &c, PORT_1);
	RUN_UNTIL(t, count_asked() >= 1);
	answer_users(last_query()->id, 1, -EIO);
	answer_end(last_query()->id, 0, "");
	wait_users(t, &c, RDMAD_ERROR_QUERY_FAILED);
	get_users(t, &c, PORT_1);
	RUN_UNTIL(t, count_asked() >= 2);
	answer_end(last_query()->id, 0, "");
	wait_users(t, &c, RDMAD_ERROR_QUERY_FAILED);
	assert_int_equal(processes.n_calls, 0);
	fake.users = false;
	get_users(t, &c, PORT_1);
	wait_users(t, &c, RDMAD_ERROR_QUERY_FAILED);
}

#define USERS(test) cmocka_unit_test_setup_teardown(test, setup_users, teardown_users)

int main(void)
{
	const struct CMUnitTest tests[] = {
		USERS(test_asked_once),	  USERS(test_incomplete),   USERS(test_gives_way),
		USERS(test_no_processes), USERS(test_no_answer),    USERS(test_down),
		USERS(test_down_earlier), USERS(test_down_unknown), USERS(test_down_failed),
		USERS(test_down_hangs),	  USERS(test_forgotten),
	};

	return cmocka_run_group_tests_name("manager-users", tests, NULL, NULL);
}
