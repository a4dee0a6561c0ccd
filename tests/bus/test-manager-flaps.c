/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Links that go down and come back before the port is read, and interfaces that change before
 * anybody listens for that. */

#include "decode.h"
#include "fake-source.h"
#include "log.h"

#define MESSAGE_ID_STATE "889996fde0584a548466e442896fef12"

/* The last transition in the journal, with its fields. */
static char logged[512];

void __wrap_log_with_fields(int level, const LogField *fields, size_t n, const char *format, ...)
	_printf_(4, 5);
void __wrap_log_with_fields(int level, const LogField *fields, size_t n, const char *format, ...)
{
	char *at = logged;
	va_list args;

	if (!streq(fields[0].value, MESSAGE_ID_STATE))
		return;
	at += sprintf(at, "%d ", level);
	for (size_t i = 1; i < n; i++)
		at += sprintf(at, "%s=%s ", fields[i].key, fields[i].value);
	va_start(args, format);
	vsprintf(at, format, args);
	va_end(args);
}

static const History *history(Test *t)
{
	return &device_port(device(t, 1), 1)->history;
}

static void assert_entry(Test *t, size_t i, uint32_t from, uint32_t to, EventReason reason)
{
	const Transition *e = history_entry(history(t), i);

	assert_int_equal(e->from, from);
	assert_int_equal(e->to, to);
	assert_int_equal(e->reason, reason);
}

/* Each time the port is active again when it is read. */
static void test_flaps(void **state)
{
	Test *t = *state;
	uint64_t generation;

	generation = port(t, 1, 1)->generation;
	for (unsigned int i = 0; i < 5; i++) {
		tell(1, 1, REASON_PORT_ERROR);
		tell(1, 1, REASON_PORT_ACTIVE);
	}
	RUN_UNTIL(t, fake.n_queries == 2);
	answer(PORT_STATE_ACTIVE);
	barrier(t);
	assert_int_equal(port(t, 1, 1)->link_downs, 5);
	assert_int_equal(port(t, 1, 1)->generation, generation + 1);
	assert_int_equal(port(t, 1, 2)->link_downs, 0);
	assert_int_equal(history(t)->n, 11);
	for (size_t i = 1; i < 11; i += 2) {
		assert_entry(t, i, PORT_STATE_ACTIVE, STATE_NOT_ACTIVE, REASON_PORT_ERROR);
		assert_entry(t, i + 1, STATE_NOT_ACTIVE, PORT_STATE_ACTIVE, REASON_PORT_ACTIVE);
	}
	assert_int_equal(port(t, 1, 1)->state_change, history_last(history(t))->realtime_usec);
	assert_int_equal(fixture_count_signals(t->f, PORT_1, "PropertiesChanged"), 1);
	assert_int_equal(fixture_count_signals(t->f, PORT_1, "StateChanged"), 0);
}

/* What an event leaves open, the answer says. */
static void test_down(void **state)
{
	Test *t = *state;
	size_t n;

	tell(1, 1, REASON_PORT_ERROR);
	RUN_UNTIL(t, fake.n_queries == 2);
	answer(PORT_STATE_INIT);
	answer_rest(t, 1, PORT_STATE_INIT);
	assert_int_equal(history(t)->n, 2);
	assert_entry(t, 1, PORT_STATE_ACTIVE, PORT_STATE_INIT, REASON_PORT_ERROR);
	assert_int_equal(port(t, 1, 1)->link_downs, 1);
	/* the port is active when it is read, and its own event comes afterwards */
	n = fake.n_queries;
	tell(1, 1, REASON_LID_CHANGE);
	RUN_UNTIL(t, fake.n_queries > n);
	answer(PORT_STATE_ACTIVE);
	answer_rest(t, 1, PORT_STATE_ACTIVE);
	assert_entry(t, 2, PORT_STATE_INIT, PORT_STATE_ACTIVE, REASON_LID_CHANGE);
	n = fake.n_queries;
	tell(1, 1, REASON_PORT_ACTIVE);
	RUN_UNTIL(t, fake.n_queries > n);
	answer(PORT_STATE_ACTIVE);
	assert_int_equal(history(t)->n, 3);
	assert_int_equal(port(t, 1, 1)->link_downs, 1);
}

/* An answer that is on its way when the event comes may be older than the event. */
static void test_event_during_query(void **state)
{
	Test *t = *state;

	tell(1, 1, REASON_GID_CHANGE);
	RUN_UNTIL(t, fake.n_queries == 2);
	tell(1, 1, REASON_PORT_ERROR);
	answer(PORT_STATE_ACTIVE);
	RUN_UNTIL(t, fake.n_queries == 3);
	answer(PORT_STATE_DOWN);
	assert_int_equal(history(t)->n, 2);
	assert_entry(t, 1, PORT_STATE_ACTIVE, PORT_STATE_DOWN, REASON_PORT_ERROR);
	assert_int_equal(port(t, 1, 1)->link_downs, 1);
}

/* The reason of a transition to active is not that the port had an error before. */
static void test_reason(void **state)
{
	Test *t = *state;
	const char *new, *old, *reason;
	sd_bus_message *m;
	size_t n;

	tell(1, 1, REASON_PORT_ERROR);
	RUN_UNTIL(t, fake.n_queries == 2);
	answer(PORT_STATE_DOWN);
	answer_rest(t, 1, PORT_STATE_DOWN);
	barrier(t);
	fixture_forget(t->f);
	n = fake.n_queries;
	tell(1, 1, REASON_PORT_ERROR);
	tell(1, 1, REASON_PORT_ACTIVE);
	RUN_UNTIL(t, fake.n_queries > n);
	answer(PORT_STATE_ACTIVE);
	barrier(t);
	m = fixture_wait_signal(t->f, PORT_1, "StateChanged");
	assert_true(sd_bus_message_read(m, "sss", &new, &old, &reason) > 0);
	assert_string_equal(new, "active");
	assert_string_equal(old, "down");
	assert_string_equal(reason, "port-active");
}

/* What the journal says of port 2, which has gone down and is active again. */
static void test_journal(void **state)
{
	static const struct {
		EventReason reason;
		uint32_t state;
		const char *logged;
	} cases[] = {
		{REASON_PORT_ERROR, PORT_STATE_DOWN,
		 "5 RDMA_DEVICE=mlx5_0 RDMA_PORT=2 "
		 "RDMA_OLD_STATE=active RDMA_STATE=down RDMA_REASON=port-error "
		 "mlx5_0/2: active -> down (port-error)"},
		{REASON_PORT_ACTIVE, PORT_STATE_ACTIVE,
		 "6 RDMA_DEVICE=mlx5_0 RDMA_PORT=2 "
		 "RDMA_OLD_STATE=down RDMA_STATE=active RDMA_REASON=port-active "
		 "mlx5_0/2: down -> active (port-active)"},
	};
	Test *t = *state;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		size_t n = fake.n_queries;

		*logged = '\0';
		tell(1, 2, cases[i].reason);
		RUN_UNTIL(t, fake.n_queries > n);
		answer(cases[i].state);
		RUN_UNTIL(t, *logged);
		assert_string_equal(logged, cases[i].logged);
		answer_rest(t, 1, cases[i].state);
	}
}

/* Events of a port that does not exist, or that was never read, change no history. */
static void test_strange_events(void **state)
{
	Test *t = *state;

	start(t);
	tell(1, 1, REASON_PORT_ERROR);
	tell(1, 0, REASON_PORT_ERROR);
	tell(1, 200, REASON_PORT_ERROR);
	tell(7, 1, REASON_PORT_ERROR);
	answer(PORT_STATE_ACTIVE);
	assert_int_equal(history(t)->n, 1);
	RUN_UNTIL(t, fake.n_queries == 2);
	answer(PORT_STATE_ACTIVE);
	assert_int_equal(history(t)->n, 1);
	assert_int_equal(port(t, 1, 1)->link_downs, 0);
}

/* The interface of the port may have changed between the first look and the moment from which on
 * somebody listens. So there is another look. */
static void test_first_interface(void **state)
{
	Test *t = *state;
	const NetdevEntry e = {.ifindex = 7, .name = "eth0"};
	PortSnapshot s = {.parts = READ_ALL};
	const Query *q;

	start(t);
	q = last_query();
	answer_device(q->id, NULL);
	PORT_SUPPLY(&s, link_layer, LINK_LAYER_ETHERNET);
	PORT_SUPPLY(&s, state, PORT_STATE_ACTIVE);
	s.tables[PORT_TABLE_NETDEVS] = table_new(&e, 1, sizeof(e));
	mask_set(&s.supplied, PORT_ATTR_netdevs, true);
	fake.handler->port(fake.userdata, q->id, 1, 0, &s);
	port_snapshot_done(&s);
	answer_port(q->id, 2, 0, PORT_STATE_ACTIVE);
	answer_end(q->id, 0, "");
	RUN_UNTIL(t, fake.n_queries == 2);
	assert_true(port_set_has(&last_query()->ports, 1));
	assert_false(port_set_has(&last_query()->ports, 2));
	assert_false(last_query()->parts & READ_PKEYS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ANSWERED(test_flaps),	ANSWERED(test_down),	  ANSWERED(test_event_during_query),
		ANSWERED(test_reason),	NEW(test_strange_events), NEW(test_first_interface),
		ANSWERED(test_journal),
	};

	unsetenv("NOTIFY_SOCKET");
	return cmocka_run_group_tests_name("manager-flaps", tests, NULL, NULL);
}
