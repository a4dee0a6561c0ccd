/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The counters of the ports at the other ends of links, with a source and an rdmad-fabric that the
 * test plays: when it is asked, and what callers hear.
 */

#include <fcntl.h>
#include <unistd.h>

#include "fake-source.h"

#define FABRIC_NAME "org.rdma.Fabric"
#define FABRIC_PATH "/org/rdma/fabric"

static const Config config = {.query_timeout_usec = USEC_PER_SEC};

/* rdmad-fabric */
static struct {
	sd_bus *bus;
	sd_bus_message *call; /* the last one, which waits for answer_fabric() */
	unsigned int n_calls;
	uint32_t ports; /* of the last call, as a mask */
} fabric;

static int on_fabric(sd_bus_message *m, _unused_ void *userdata, _unused_ sd_bus_error *error)
{
	const char *device;
	uint32_t port;

	assert_string_equal(sd_bus_message_get_member(m), "GetCounters");
	fabric.n_calls++;
	fabric.ports = 0;
	assert_true(sd_bus_message_enter_container(m, 'a', "(su)") > 0);
	while (sd_bus_message_read(m, "(su)", &device, &port) > 0) {
		assert_string_equal(device, "mlx5_0");
		fabric.ports |= 1U << port;
	}
	sd_bus_message_unref(fabric.call);
	fabric.call = sd_bus_message_ref(m);
	return 1;
}

static void make_sign(Test *t)
{
	int fd = open(t->manager->neighbor_asks[NEIGHBORS_OF_FABRIC].path,
		      O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	close(fd);
}

static void answer_state(Test *t, uint32_t layer, uint32_t state)
{
	tell(1, EVENT_ALL_PORTS, REASON_RECONCILE);
	barrier(t);
	answer_ports(2, layer, state);
	barrier(t);
}

static int setup_far(void **state)
{
	Test *t;

	setup_with(state, &config);
	t = *state;
	memset(&fabric, 0, sizeof(fabric));
	fabric.bus = fixture_client(t->f);
	assert_true(sd_bus_add_object(fabric.bus, NULL, FABRIC_PATH, on_fabric, NULL) >= 0);
	assert_true(sd_bus_request_name(fabric.bus, FABRIC_NAME, 0) >= 0);
	assert_true(sd_bus_attach_event(fabric.bus, t->event, 0) >= 0);
	make_sign(t);
	start(t);
	answer_ports(2, 1, 4);
	barrier(t);
	return 0;
}

static int teardown_far(void **state)
{
	Test *t = *state;

	(void)unlink(t->manager->neighbor_asks[NEIGHBORS_OF_FABRIC].path);
	fabric.call = sd_bus_message_unref(fabric.call);
	fabric.bus = sd_bus_flush_close_unref(fabric.bus);
	return teardown(state);
}

static Reading *far_of(Test *t, uint32_t number)
{
	return reading_of(device_port(device(t, 1), number), QUERY_FAR);
}

/* A second has passed. */
static void let_old(Test *t)
{
	for (uint32_t n = 1; n <= 2; n++)
		if (far_of(t, n))
			far_of(t, n)->began_usec = far_of(t, n)->monotonic_usec = 0;
}

/* A second has not passed, however slow the machine is. */
static bool keep_young(Test *t)
{
	Reading *r = far_of(t, 1);

	r->began_usec = monotonic_usec(t->manager);
	/* 0: there was an error */
	if (r->monotonic_usec)
		r->monotonic_usec = r->began_usec;
	return true;
}

/* Calls again while the last answer is young, and waits for the same. */
static void call_young(Test *t, Call *c, const char *error)
{
	call_far_counters(t, c, PORT_1);
	RUN_UNTIL(t, keep_young(t) && c->done);
	wait_call(t, c, error);
}

static uint64_t value_of(Test *t, uint32_t number, const char *file)
{
	TABLE_FOREACH(CounterEntry, e, far_of(t, number)->table)
		if (streq(e->file, file))
			return e->value;
	return UINT64_MAX;
}

/* The fabric is asked for PATH, and says what follows. */
#define ASK(t, c, path, ...)                                                                       \
	do {                                                                                       \
		unsigned int n_ = fabric.n_calls;                                                  \
		let_old(t);                                                                        \
		call_far_counters(t, c, path);                                                     \
		RUN_UNTIL(t, fabric.n_calls > n_);                                                 \
		assert_true(sd_bus_reply_method_return(fabric.call, __VA_ARGS__) >= 0);            \
	} while (0)

static void test_counters(void **state)
{
	size_t n = fake.n_queries;
	Test *t = *state;
	Call c = {};

	ASK(t, &c, PORT_1, "a(susa(st))", 2, "mlx5_0", 2, "", 1, "symbol_error", UINT64_C(1),
	    "mlx5_0", 1, "", 4, "symbol_error", UINT64_C(7), "port_xmit_data", UINT64_C(8),
	    "no_such", UINT64_C(9), "symbol_error", UINT64_C(10));
	assert_int_equal(fabric.ports, 1U << 1);
	wait_call(t, &c, "");
	/* one that is not known, or comes twice, is left out */
	assert_int_equal(far_of(t, 1)->table->n, 2);
	assert_int_equal(value_of(t, 1, "symbol_error"), 7);
	assert_int_equal(value_of(t, 1, "port_xmit_data"), 8);
	/* who asks within a second gets the same, and the device is asked for no counters */
	call_young(t, &c, "");
	assert_int_equal(fabric.n_calls, 1);
	for (; n < fake.n_queries; n++)
		assert_int_equal(fake.queries[n].kind, QUERY_ATTRIBUTES);
	/* what was not asked for was not taken */
	assert_null(far_of(t, 2));
	ASK(t, &c, PORT_1, "a(susa(st))", 1, "mlx5_0", 1, "", 1, "symbol_error", UINT64_C(8));
	wait_call(t, &c, "");
	assert_int_equal(value_of(t, 1, "symbol_error"), 8);
}

/* There is one question at a time, and what is wanted meanwhile is in the next. */
static void test_together(void **state)
{
	Call c = {}, again = {}, other = {};
	Test *t = *state;

	call_far_counters(t, &c, PORT_1);
	RUN_UNTIL(t, fabric.n_calls == 1);
	call_far_counters(t, &again, PORT_1);
	call_far_counters(t, &other, PORT_2);
	barrier(t);
	assert_int_equal(fabric.n_calls, 1);
	assert_true(sd_bus_reply_method_return(fabric.call, "a(susa(st))", 1, "mlx5_0", 1, "", 1,
					       "symbol_error", UINT64_C(7)) >= 0);
	wait_call(t, &c, "");
	wait_call(t, &again, "");
	RUN_UNTIL(t, fabric.n_calls == 2);
	assert_int_equal(fabric.ports, 1U << 2);
	assert_false(other.done);
	assert_true(sd_bus_reply_method_return(fabric.call, "a(susa(st))", 1, "mlx5_0", 2,
					       "no-answer", 0) >= 0);
	wait_call(t, &other, "no-answer");
}

/* What the fabric says of a port that it does not know, or does not say, is a code. */
static void test_codes(void **state)
{
	static const struct {
		const char *said, *code;
	} cases[] = {
		{"no-answer", "no-answer"},	      {"refused", "refused"},
		{"not-configured", "not-configured"}, {"other", "not-asked"},
		{"not-known", "not-asked"}, /* rdmad does not say that */
	};
	Test *t = *state;
	Call c = {};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		ASK(t, &c, PORT_1, "a(susa(st))", 1, "mlx5_0", 1, cases[i].said, 0);
		wait_call(t, &c, cases[i].code);
		assert_string_equal(far_of(t, 1)->error_text,
				    unavailable_find(cases[i].code)->text);
	}
	/* an error is no reason to ask before a second has passed */
	call_young(t, &c, "not-asked");
	assert_int_equal(fabric.n_calls, ARRAY_SIZE(cases));
	/* nothing of this port, no answer, and an error */
	ASK(t, &c, PORT_1, "a(susa(st))", 0);
	wait_call(t, &c, "not-asked");
	ASK(t, &c, PORT_1, "as", 1, "leaf");
	wait_call(t, &c, "not-asked");
	let_old(t);
	call_far_counters(t, &c, PORT_1);
	RUN_UNTIL(t, fabric.n_calls == ARRAY_SIZE(cases) + 3);
	assert_true(sd_bus_reply_method_errno(fabric.call, ETIMEDOUT, NULL) >= 0);
	wait_call(t, &c, "firmware-timeout");
	/* neither counters nor why not; then it says them */
	ASK(t, &c, PORT_1, "a(susa(st))", 1, "mlx5_0", 1, "", 0);
	wait_call(t, &c, "not-asked");
	ASK(t, &c, PORT_1, "a(susa(st))", 1, "mlx5_0", 1, "", 1, "symbol_error", UINT64_C(1));
	wait_call(t, &c, "");
}

static void assert_refused(Test *t, const char *code)
{
	Call c = {};

	let_old(t);
	call_far_counters(t, &c, PORT_1);
	wait_call(t, &c, code);
	assert_int_equal(fabric.n_calls, 0);
}

/* Where no answer can come nobody is asked. */
static void test_nobody_asked(void **state)
{
	Test *t = *state;

	answer_state(t, 1, 1);
	assert_refused(t, "link-down");
	answer_state(t, 1, 2);
	assert_refused(t, "not-configured");
	answer_state(t, 2, 4);
	assert_refused(t, "not-applicable");
	answer_state(t, 1, 4);
	assert_int_equal(unlink(t->manager->neighbor_asks[NEIGHBORS_OF_FABRIC].path), 0);
	assert_refused(t, "not-asked");
	make_sign(t);
	sd_bus_release_name(fabric.bus, FABRIC_NAME);
	assert_refused(t, "not-asked");
}

/* The device goes while the question is under way: its callers hear so, and the answer is late. */
static void test_gone(void **state)
{
	Test *t = *state;
	Call c = {};

	call_far_counters(t, &c, PORT_2);
	RUN_UNTIL(t, fabric.n_calls == 1);
	set_device(0, 1, "mlx5_0", 1);
	tell(1, EVENT_ALL_PORTS, REASON_DEVICE);
	RUN_UNTIL(t, device(t, 1)->n_ports == 1);
	/* a port that has gone is left out of the reply */
	wait_call(t, &c, "");
	assert_true(sd_bus_reply_method_return(fabric.call, "a(susa(st))", 1, "mlx5_0", 2, "", 1,
					       "symbol_error", UINT64_C(7)) >= 0);
	RUN_UNTIL(t, !t->manager->far_asked);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_counters, setup_far, teardown_far),
		cmocka_unit_test_setup_teardown(test_together, setup_far, teardown_far),
		cmocka_unit_test_setup_teardown(test_codes, setup_far, teardown_far),
		cmocka_unit_test_setup_teardown(test_nobody_asked, setup_far, teardown_far),
		cmocka_unit_test_setup_teardown(test_gone, setup_far, teardown_far),
	};

	return cmocka_run_group_tests_name("manager-far", tests, NULL, NULL);
}
