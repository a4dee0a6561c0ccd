/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Answers of a source that does what no good source does: for another question, twice, not at all,
 * too late.
 */

#include "fake-source.h"

static void test_end_without_answers(void **state)
{
	Test *t = *state;

	start(t);
	answer_end(last_query()->id, 0, "");
	assert_true(device(t, 1)->now.values.stale);
	assert_string_equal(TEXT_OF(&device(t, 1)->now.values, last_error),
			    "the answer is incomplete");
	assert_string_equal(TEXT_OF(&device(t, 1)->now.values, last_error_code), "incomplete");
	assert_string_equal(TEXT_OF(port(t, 1, 2), last_error_code), "incomplete");
	assert_true(port(t, 1, 2)->stale);
	/* it is asked again by itself, and that heals it */
	let_retry(t, 1);
	RUN_UNTIL(t, fake.n_queries == 2);
	answer(4);
	assert_false(device(t, 1)->now.values.stale);
	assert_string_equal(TEXT_OF(&device(t, 1)->now.values, last_error_code), "");
	assert_false(port(t, 1, 2)->stale);
	assert_string_equal(TEXT_OF(port(t, 1, 2), last_error_code), "");
}

static void test_other_ids(void **state)
{
	Test *t = *state;
	uint64_t id;

	start(t);
	id = last_query()->id;
	answer_device(id + 1, "wrong");
	answer_device(id ^ UINT64_C(1) << 40, "wrong");
	answer_port(0, 1, 0, 4);
	answer_port(id + 1, 1, 0, 4);
	answer_port(id, 0, 0, 4);
	answer_port(id, 3, 0, 4);
	answer_port(id, RDMA_PORT_MAX, 0, 4);
	answer_end(id + 1, 0, "");
	answer_end(0, -ETIMEDOUT, "wrong");
	while (sd_event_run(t->event, 0) > 0)
		;
	assert_false(device_port(device(t, 1), 1)->published);
	assert_int_equal(fake.n_queries, 1);
	answer(4);
	assert_int_equal(port(t, 1, 1)->state, 4);
	/* and once it has ended it is over */
	answer_port(id, 1, 0, 1);
	answer_end(id, -ETIMEDOUT, "late");
	assert_int_equal(port(t, 1, 1)->state, 4);
	assert_false(port(t, 1, 1)->stale);
}

static void test_port_twice(void **state)
{
	Test *t = *state;
	uint64_t id;

	start(t);
	id = last_query()->id;
	answer_device(id, NULL);
	answer_port(id, 1, 0, 4);
	answer_port(id, 1, 0, 1);
	answer_port(id, 1, -EIO, 1);
	answer_port(id, 2, 0, 4);
	answer_end(id, 0, "");
	assert_int_equal(port(t, 1, 1)->state, 4);
	assert_false(port(t, 1, 1)->stale);
	barrier(t);
	assert_int_equal(fixture_count_signals(t->f, PORT_1, "StateChanged"), 0);
}

/* The news of an event is read first, and what else the event may have changed after that. */
static void test_parts_later(void **state)
{
	Test *t = *state;

	tell(1, 1, REASON_LID_CHANGE);
	RUN_UNTIL(t, fake.n_queries == 2);
	assert_int_equal(last_query()->parts, READ_VERBS);
	answer(4);
	RUN_UNTIL(t, fake.n_queries == 3);
	assert_int_equal(last_query()->parts, READ_USUAL & ~READ_VERBS);
	answer(4);
	barrier(t);
	assert_int_equal(fake.n_queries, 3);
	/* nobody has told of the state that this answer has: everything is read */
	tell(1, 1, REASON_GID_CHANGE);
	RUN_UNTIL(t, fake.n_queries == 4);
	assert_int_equal(last_query()->parts, READ_LINKS | READ_GIDS);
	answer(1);
	RUN_UNTIL(t, fake.n_queries == 5);
	assert_int_equal(last_query()->parts, READ_VERBS | READ_DIRECT);
	answer(1);
	/* a port that has failed is read in full */
	tell(1, 1, REASON_LID_CHANGE);
	RUN_UNTIL(t, fake.n_queries == 6);
	answer_port(last_query()->id, 1, -EIO, 1);
	answer_end(last_query()->id, 0, "");
	tell(1, 1, REASON_LID_CHANGE);
	RUN_UNTIL(t, fake.n_queries == 7);
	assert_int_equal(last_query()->parts, READ_USUAL);
	answer(1);
	assert_false(port(t, 1, 1)->stale);
	barrier(t);
	assert_int_equal(fake.n_queries, 7);
}

/* Why the link is down is read after the news that it is down, in a query of its own. */
static void test_signal_later(void **state)
{
	Test *t = *state;

	fake.omits_signal = true;
	tell(1, 1, REASON_LINK);
	RUN_UNTIL(t, fake.n_queries == 2);
	assert_int_equal(last_query()->parts, READ_LINKS);
	answer(1);
	RUN_UNTIL(t, port(t, 1, 1)->state == 1);
	RUN_UNTIL(t, fake.n_queries > 2 && last_query()->parts & READ_SIGNAL);
	fake.omits_signal = false;
	answer(1);
}

static void put_table(PortSnapshot *s, PortTable table, PortAttr attr, const void *entry,
		      size_t size, bool is_there)
{
	s->tables[table] = is_there ? table_new(entry, 1, size) : NULL;
	mask_set(&s->supplied, attr, true);
}

/* What port 1 says of its interfaces. */
typedef struct Interfaces {
	EventReason reason; /* why it is asked */
	uint32_t ifindex;   /* 0: there is none */
	uint32_t bond, member;
	uint8_t gid;
	bool is_told, is_asked;
} Interfaces;

static void answer_interfaces(const Interfaces *i)
{
	NetdevEntry netdev = {.ifindex = i->ifindex};
	BondMember member = {.ifindex = i->member};
	GidEntry gid = {.gid = {i->gid}};
	PortSnapshot s = {.parts = READ_ALL};
	uint64_t id = last_query()->id;

	PORT_SUPPLY(&s, state, 4);
	PORT_SUPPLY(&s, link_layer, 2);
	PORT_SUPPLY(&s, bond_ifindex, i->bond);
	put_table(&s, PORT_TABLE_NETDEVS, PORT_ATTR_netdevs, &netdev, sizeof(netdev),
		  i->ifindex > 0);
	put_table(&s, PORT_TABLE_BOND_MEMBERS, PORT_ATTR_bond_members, &member, sizeof(member),
		  i->member > 0);
	put_table(&s, PORT_TABLE_GIDS, PORT_ATTR_gids, &gid, sizeof(gid), true);
	fake.handler->port(fake.userdata, id, 1, 0, &s);
	port_snapshot_done(&s);
	answer_end(id, 0, "");
}

/* Changes of the interfaces of a port are watched from the answer on that has them. What has
 * changed between the two is asked for at once, but where the port is looked at again anyway. */
static void test_interfaces(void **state)
{
	static const Interfaces rows[] = {
		{REASON_GID_CHANGE, 7, 0, 0, 1, true, true},
		{REASON_GID_CHANGE, 7, 0, 0, 1, false, false},
		{REASON_GID_CHANGE, 7, 0, 0, 2, true, false},
		{REASON_GID_CHANGE, 7, 9, 0, 2, true, false},
		{REASON_GID_CHANGE, 7, 9, 8, 2, true, false},
		{REASON_GID_CHANGE, 6, 9, 8, 2, true, true},
		{REASON_LINK, 5, 9, 8, 2, true, false},
		{REASON_GID_CHANGE, 0, 9, 8, 2, true, false},
	};
	Test *t = *state;
	Schedule *w = device(t, 1)->schedule;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		size_t n = fake.n_queries;
		unsigned int told = fake.n_interfaces;

		w->tokens.n = TOKENS_MAX; /* nothing waits */
		tell(1, 1, rows[i].reason);
		RUN_UNTIL(t, fake.n_queries > n);
		answer_interfaces(&rows[i]);
		assert_int_equal(fake.n_interfaces - told, rows[i].is_told);
		assert_int_equal(w->asked_id != 0, rows[i].is_asked);
		if (!w->asked_id)
			continue;
		assert_int_equal(w->asked.ports[1].reasons, REASON_BIT(REASON_NETDEV));
		answer_interfaces(&rows[i]);
		assert_int_equal(w->asked_id, 0);
	}
}

/* The source asks by itself because of an event of PORT of DEVICE, and has the answer at once. */
static void ask_by_itself(uint32_t device, uint32_t port)
{
	const uint64_t id = UINT64_C(1) << 50 | device;
	Query q = {.id = id, .device = device, .parts = READ_VERBS};

	port_set_add(&q.ports, port);
	tell(device, port, REASON_LID_CHANGE);
	assert_true(fake.handler->asking(fake.userdata, &q));
	answer_port(id, port, 0, 4);
	answer_end(id, 0, "");
}

/* Answers question I. */
static void answer_query(size_t i)
{
	const Query q = fake.queries[i];

	if (q.attributes)
		answer_device(q.id, NULL);
	for (uint32_t n = 1; n <= 2; n++)
		if (port_set_has(&q.ports, n))
			answer_port(q.id, n, 0, 4);
	answer_end(q.id, 0, "");
}

/* Answers all questions from *N on until one about DEVICE, which is answered too. */
static void answer_until(Test *t, size_t *n, uint32_t device)
{
	do {
		RUN_UNTIL(t, fake.n_queries > *n);
		answer_query(*n);
	} while (fake.queries[(*n)++].device != device);
}

/* An event and the answer because of it may come in one turn of the event loop. What else has come
 * in that turn is asked all the same: another device, the devices that there are, and all of them.
 */
static void test_answer_in_the_turn_of_its_event(void **state)
{
	Test *t = *state;
	size_t n = fake.n_queries;
	Call c = {};

	ask_by_itself(1, 1);
	assert_false(timer_runs(t->manager->flush));
	set_device(1, 2, "mlx5_2", 1);
	fake.n_devices = 2;
	tell(2, EVENT_ALL_PORTS, REASON_DEVICE);
	ask_by_itself(1, 1);
	/* the rest of the first one's ports may be read before */
	answer_until(t, &n, 2);
	tell(2, 1, REASON_LID_CHANGE);
	ask_by_itself(1, 1);
	assert_true(timer_runs(t->manager->flush));
	answer_until(t, &n, 2);
	ask_by_itself(1, 1);
	call_refresh(t, &c);
	RUN_UNTIL(t, t->manager->refresh_next.first);
	ask_by_itself(1, 1);
	while (!c.done) {
		RUN_UNTIL(t, c.done || fake.n_queries > n);
		while (n < fake.n_queries)
			answer_query(n++);
	}
	wait_call(t, &c, "");
}

/* The kernel tells of some changes before it has carried them out: the ports are looked at once
 * more, and not with the network interfaces that were found before. */
static void test_settles(void **state)
{
	Test *t = *state;
	uint32_t generation;
	size_t n = 2;

	fake.settles = true;
	tell(1, 1, REASON_LINK);
	RUN_UNTIL(t, fake.n_queries >= n);
	generation = fake.queries[1].links_generation;
	while (fake.queries[n - 1].links_generation == generation) {
		answer_query(n - 1);
		n++;
		RUN_UNTIL(t, fake.n_queries >= n);
	}
	assert_true(port_set_has(&fake.queries[n - 1].ports, 1));
	assert_true(fake.queries[n - 1].parts & READ_LINKS);
	answer_query(n - 1);
}

/* A part of the values does not make all of them younger. */
static void test_age_of_parts(void **state)
{
	Test *t = *state;
	Port *p = device_port(device(t, 1), 1);
	uint64_t full = p->answered_usec;

	tell(1, 1, REASON_PKEY_CHANGE);
	RUN_UNTIL(t, fake.n_queries == 2);
	assert_int_equal(last_query()->parts, READ_PKEYS);
	answer(4);
	assert_int_equal(p->answered_usec, full);
	RUN_UNTIL(t, fake.n_queries == 3);
	assert_int_equal(last_query()->parts, READ_USUAL);
	answer(4);
	assert_true(p->answered_usec > full);
}

/* The P_Keys of a port that became active are read after the news. */
static void test_pkeys_later(void **state)
{
	Test *t = *state;

	for (unsigned int i = 0; i < 3; i++) {
		size_t n = fake.n_queries;

		tell(1, 1, i % 2 ? REASON_CLIENT_REREGISTER : REASON_PORT_ACTIVE);
		RUN_UNTIL(t, fake.n_queries == n + 1);
		assert_false(last_query()->parts & READ_PKEYS);
		answer(4);
		RUN_UNTIL(t, fake.n_queries == n + 2);
		assert_true(last_query()->parts & READ_PKEYS);
		answer(4);
		barrier(t);
		assert_int_equal(fake.n_queries, n + 2);
	}
}

static void test_recovers_without_need(void **state)
{
	Test *t = *state;

	tell(1, EVENT_ALL_PORTS, REASON_RECOVERED);
	RUN_UNTIL(t, fake.n_queries == 2);
	answer(4);
	assert_false(port(t, 1, 1)->stale);
}

static void test_times_out_twice(void **state)
{
	Test *t = *state;
	Call c = {}, refreshing = {};
	uint64_t id;

	call_refresh(t, &refreshing);
	RUN_UNTIL(t, fake.n_queries == 2);
	id = last_query()->id;
	call_query(t, &c, PORT_1);
	barrier(t);
	answer_end(id, -ETIMEDOUT, "no answer");
	answer_end(id, -ETIMEDOUT, "no answer");
	/* nobody waits for a device that does not answer */
	wait_call(t, &c, RDMAD_ERROR_DEVICE_TIMEOUT);
	wait_call(t, &refreshing, "");
	assert_true(port(t, 1, 2)->stale);
	call_query(t, &c, PORT_1);
	wait_call(t, &c, RDMAD_ERROR_DEVICE_TIMEOUT);
	call_refresh(t, &refreshing);
	wait_call(t, &refreshing, "");
	tell(1, 1, REASON_PORT_ERROR);
	barrier(t);
	assert_int_equal(fake.n_queries, 2);
	tell(1, EVENT_ALL_PORTS, REASON_RECOVERED);
	RUN_UNTIL(t, fake.n_queries == 3);
	answer(4);
	assert_false(port(t, 1, 1)->stale);
	assert_false(device(t, 1)->now.values.stale);
	assert_string_equal(TEXT_OF(port(t, 1, 1), last_error), "");
}

/* D-Bus has no way to send such text. */
static void test_error_is_no_text(void **state)
{
	Test *t = *state;
	Call c = {};

	call_query(t, &c, PORT_1);
	RUN_UNTIL(t, fake.n_queries == 2);
	answer_end(last_query()->id, -EIO, "firmware says \xff\xfe\x01");
	wait_call(t, &c, RDMAD_ERROR_QUERY_FAILED);
	assert_string_equal(TEXT_OF(port(t, 1, 1), last_error), "firmware says ???");
}

/* A port answers for itself alone, and its error is looked at again. */
static void test_port_fails(void **state)
{
	Test *t = *state;
	const Query *q;

	tell(EVENT_ALL_DEVICES, EVENT_ALL_PORTS, REASON_RESUME);
	RUN_UNTIL(t, fake.n_queries == 2);
	q = last_query();
	answer_device(q->id, NULL);
	answer_port(q->id, 1, -EIO, 0);
	answer_port(q->id, 2, 0, 4);
	answer_end(q->id, 0, "");
	assert_true(port(t, 1, 1)->stale);
	assert_false(port(t, 1, 2)->stale);
	assert_false(device(t, 1)->now.values.stale);
	let_retry(t, 1);
	RUN_UNTIL(t, fake.n_queries == 3);
	/* an event about the health may be why it has failed */
	assert_true(last_query()->attributes && last_query()->health);
	answer(4);
	assert_false(port(t, 1, 1)->stale);
}

/* The subnet manager has told of itself while the port failed: no value says so afterwards. */
static void test_fails_while_reconfigured(void **state)
{
	Test *t = *state;
	sd_bus_message *m;
	const char *reason;

	tell(1, 1, REASON_CLIENT_REREGISTER);
	RUN_UNTIL(t, fake.n_queries == 2);
	answer_port(last_query()->id, 1, -EIO, 0);
	answer_end(last_query()->id, 0, "");
	let_retry(t, 1);
	RUN_UNTIL(t, fake.n_queries == 3);
	answer(4);
	barrier(t);
	assert_int_equal(fixture_count_signals(t->f, PORT_1, "SubnetReconfigured"), 1);
	assert_int_equal(fixture_count_signals(t->f, PORT_2, "SubnetReconfigured"), 0);
	m = fixture_wait_signal(t->f, PORT_1, "SubnetReconfigured");
	assert_true(sd_bus_message_read(m, "s", &reason) > 0);
	assert_string_equal(reason, "client-reregister");
}

/* Events about a device that fails do not put off the look that will find it well: only looks that
 * failed make the next one later. */
static void test_events_while_it_fails(void **state)
{
	Test *t = *state;
	size_t answered = fake.n_queries;
	unsigned int looks = 0;

	for (unsigned int i = 0; i < 8; i++) {
		const Query *q;

		tell(1, 1, REASON_PORT_ERROR);
		if (i % 3 == 2)
			let_retry(t, 1);
		RUN_UNTIL(t, fake.n_queries > answered);
		q = &fake.queries[answered++];
		/* no event has asked for these */
		if (q->attributes) {
			answer_device(q->id, NULL);
			looks++;
		}
		for (uint32_t n = 1; n <= 2; n++)
			if (port_set_has(&q->ports, n))
				answer_port(q->id, n, -EIO, 0);
		answer_end(q->id, 0, "");
	}
	assert_true(port(t, 1, 1)->stale);
	assert_int_equal(device(t, 1)->schedule->retry_usec, (250 * USEC_PER_MSEC) << (looks + 1));
	/* and the look comes */
	let_retry(t, 1);
	do {
		RUN_UNTIL(t, fake.n_queries > answered);
		answer(4);
	} while (!fake.queries[answered++].attributes);
	assert_false(port(t, 1, 1)->stale);
	assert_int_equal(device(t, 1)->schedule->retry_usec, 0);
}

/* A wedged device that leaves has not answered. The source takes it as recovered on its way out. */
static void test_wedged_device_leaves(void **state)
{
	Test *t = *state;

	tell(1, 1, REASON_PORT_ERROR);
	RUN_UNTIL(t, fake.n_queries == 2);
	log_capture(t);
	answer_end(last_query()->id, -ETIMEDOUT, "no answer");
	fake.n_devices = 0;
	tell(1, EVENT_ALL_PORTS, REASON_RECOVERED);
	tell(1, EVENT_ALL_PORTS, REASON_DEVICE);
	RUN_UNTIL(t, !device(t, 1));
	assert_int_equal(log_count(t, "answers again"), 0);
}

/* It is said once, and not before it is true. */
static void test_wedged_device_answers_again(void **state)
{
	Test *t = *state;

	tell(1, 1, REASON_PORT_ERROR);
	RUN_UNTIL(t, fake.n_queries == 2);
	answer_end(last_query()->id, -ETIMEDOUT, "no answer");
	log_capture(t);
	tell(1, EVENT_ALL_PORTS, REASON_RECOVERED);
	RUN_UNTIL(t, fake.n_queries == 3);
	answer_end(last_query()->id, -EIO, "still ill");
	assert_int_equal(log_count(t, "answers again"), 0);
	log_capture(t);
	for (size_t n = 4; n <= 5; n++) {
		tell(1, 1, REASON_PORT_ERROR);
		RUN_UNTIL(t, fake.n_queries == n);
		answer(4);
	}
	assert_int_equal(log_count(t, "mlx5_0: answers again"), 1);
}

/* After a failure the device is looked at again later; but not if all of it has answered before:
 * that would read P_Keys, firmware commands, without need. */
static void test_success_ends_retry(void **state)
{
	Test *t = *state;

	tell(1, 1, REASON_PORT_ERROR);
	RUN_UNTIL(t, fake.n_queries == 2);
	answer_port(last_query()->id, 1, -EIO, 0);
	answer_end(last_query()->id, 0, "");
	assert_true(timer_runs(device(t, 1)->schedule->retry));
	tell(1, 1, REASON_PORT_ERROR);
	RUN_UNTIL(t, fake.n_queries == 3);
	assert_false(last_query()->parts & READ_PKEYS);
	answer(4);
	assert_false(port(t, 1, 1)->stale);
	assert_false(timer_runs(device(t, 1)->schedule->retry));
}

/* The port has answered, but its P_Keys could not be read. No event will tell when they can be, so
 * they are read again with the next try; and not again when that has succeeded. */
static void test_table_fails(void **state)
{
	Test *t = *state;

	fake.failed = READ_PKEYS;
	tell(1, 1, REASON_PKEY_CHANGE);
	RUN_UNTIL(t, fake.n_queries == 2);
	answer(4);
	assert_false(port(t, 1, 1)->stale);
	/* other parts say nothing of it */
	tell(1, 1, REASON_LID_CHANGE);
	RUN_UNTIL(t, fake.n_queries == 3);
	assert_false(last_query()->parts & READ_PKEYS);
	answer(4);
	assert_true(timer_runs(device(t, 1)->schedule->retry));
	fake.failed = 0;
	let_retry(t, 1);
	do {
		size_t n = fake.n_queries;

		RUN_UNTIL(t, fake.n_queries == n + 1);
		answer(4);
	} while (!(last_query()->parts & READ_PKEYS));
	assert_true(port_set_has(&last_query()->ports, 1));
	assert_false(timer_runs(device(t, 1)->schedule->retry));
}

/* One port has failed, another answers: the first one is still looked at again. */
static void test_success_of_another_port(void **state)
{
	Test *t = *state;

	tell(1, 2, REASON_PORT_ERROR);
	RUN_UNTIL(t, fake.n_queries == 2);
	answer_port(last_query()->id, 2, -EIO, 0);
	answer_end(last_query()->id, 0, "");
	tell(1, 1, REASON_LID_CHANGE);
	RUN_UNTIL(t, fake.n_queries == 3);
	assert_false(port_set_has(&last_query()->ports, 2));
	answer(4);
	assert_true(port(t, 1, 2)->stale);
	/* what the first port has left for later */
	RUN_UNTIL(t, fake.n_queries == 4);
	assert_false(port_set_has(&last_query()->ports, 2));
	answer(4);
	let_retry(t, 1);
	RUN_UNTIL(t, fake.n_queries == 5);
	assert_true(port_set_has(&last_query()->ports, 2));
	answer(4);
	assert_false(port(t, 1, 2)->stale);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		NEW(test_end_without_answers),
		NEW(test_other_ids),
		NEW(test_port_twice),
		ANSWERED(test_parts_later),
		ANSWERED(test_signal_later),
		ANSWERED(test_interfaces),
		ANSWERED(test_answer_in_the_turn_of_its_event),
		ANSWERED(test_settles),
		ANSWERED(test_age_of_parts),
		ANSWERED(test_pkeys_later),
		ANSWERED(test_recovers_without_need),
		ANSWERED(test_times_out_twice),
		ANSWERED(test_error_is_no_text),
		ANSWERED(test_port_fails),
		ANSWERED(test_fails_while_reconfigured),
		ANSWERED(test_events_while_it_fails),
		ANSWERED(test_wedged_device_leaves),
		ANSWERED(test_wedged_device_answers_again),
		ANSWERED(test_success_ends_retry),
		ANSWERED(test_table_fails),
		ANSWERED(test_success_of_another_port),
	};

	unsetenv("NOTIFY_SOCKET");
	return cmocka_run_group_tests_name("manager-answers", tests, NULL, NULL);
}
