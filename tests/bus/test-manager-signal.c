/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How many bits of a link are errors, which is measured between readings of a counter.
 */

#include "decode.h"
#include "error-ratio.h"
#include "fake-source.h"

#define GBIT UINT64_C(1000000000)

static Port *port_1(Test *t)
{
	return device_port(device(t, 1), 1);
}

/* Port 1 is active and has four lanes of 25 Gb/s. */
static void connect_port(Test *t)
{
	PortSnapshot *s = &port_1(t)->now;

	PORT_SUPPLY(s, active_width, 2 /* 4X */);
	PORT_SUPPLY(s, active_speed, 32 /* EDR */);
	port_derive(s, &device(t, 1)->now);
	assert_int_equal(s->values.rate, 100 * GBIT);
}

/* The same on Ethernet, with FEC. */
static void connect_ethernet(Test *t)
{
	PORT_SUPPLY(&port_1(t)->now, link_layer, 2);
	PORT_SUPPLY(&port_1(t)->now, netdev_speed, 100 * GBIT);
	PORT_SUPPLY_TEXT(&port_1(t)->now, fec_mode, "rs");
	PORT_SUPPLY(&port_1(t)->now, fec_corrected_bits, 0);
	connect_port(t);
}

/* It is measured for SECONDS more than it was. */
static void age(Test *t, uint64_t seconds)
{
	if (port_1(t)->errors) {
		port_1(t)->errors->first.usec -= seconds * USEC_PER_SEC;
		port_1(t)->errors->next.usec -= seconds * USEC_PER_SEC;
	}
	if (reading_of(port_1(t), QUERY_COUNTERS))
		reading_of(port_1(t), QUERY_COUNTERS)->monotonic_usec = 0;
}

/* SECONDS later a program has the counters read, and there were N symbol errors. */
static void count(Test *t, uint64_t seconds, uint64_t n)
{
	size_t queries = fake.n_queries;
	Call c = {};

	age(t, seconds);
	call_counters(t, &c, PORT_1);
	RUN_UNTIL(t, fake.n_queries > queries && last_query()->kind == QUERY_COUNTERS);
	answer_counters(last_query()->id, 1, n);
	answer_end(last_query()->id, 0, "");
	wait_call(t, &c, "");
}

/* SECONDS later the port answers what the PHY says, and FEC has corrected N bits. */
static void correct(Test *t, uint64_t seconds, uint64_t n)
{
	PortChange change = {.port = port_1(t), .cause = CHANGE_ANSWER, .parts = READ_SIGNAL};

	age(t, seconds);
	port_1(t)->now.values.fec_corrected_bits = n;
	manager_signal_port(t->manager, &change);
}

static bool has(Test *t, PortAttr a)
{
	return mask_has(&port_1(t)->now.valid, a);
}

static bool has_signal(Test *t)
{
	return port_interfaces(&port_1(t)->now) & 1U << INTERFACE_SIGNAL;
}

static const char *why_not(Test *t, PortAttr a)
{
	return port_unavailable(&port_1(t)->now, a)->code;
}

static void test_symbol_errors(void **state)
{
	Test *t = *state;
	const PortValues *v = &port_1(t)->now.values;

	connect_port(t);
	count(t, 0, 100);
	assert_string_equal(why_not(t, PORT_ATTR_bit_error_ratio_upper), "too-early");
	/* in less than ten seconds nothing is known */
	count(t, 8, 100);
	assert_false(has(t, PORT_ATTR_bit_error_ratio_upper));
	/* then there are bounds, and from ten errors on a ratio */
	count(t, 92, 109);
	assert_true(has(t, PORT_ATTR_bit_error_ratio_lower) &&
		    has(t, PORT_ATTR_bit_error_ratio_upper));
	assert_true(v->bit_error_ratio_lower > 0);
	assert_string_equal(why_not(t, PORT_ATTR_bit_error_ratio), "too-early");
	count(t, 900, 200);
	assert_true(has(t, PORT_ATTR_bit_error_ratio));
	/* a hundred in 10^14 bits, and some more bits for the time that the test takes */
	assert_in_range(v->bit_error_ratio, 900000, 1000000);
	assert_in_range(v->bit_error_interval, 1000 * USEC_PER_SEC, 1100 * USEC_PER_SEC);
	/* what is left after FEC says nothing of what FEC can correct */
	assert_string_equal(why_not(t, PORT_ATTR_bit_error_margin), "not-applicable");
}

/* A counter that is full stands still, and one that is wider than the architecture says does not.
 */
static void test_counter_full(void **state)
{
	Test *t = *state;
	PortChange change = {.port = port_1(t), .cause = CHANGE_ANSWER}, answered;
	PortSnapshot answer = {.parts = READ_VERBS};

	connect_port(t);
	count(t, 0, UINT16_MAX - 20);
	count(t, 1000, UINT16_MAX - 1);
	assert_true(has(t, PORT_ATTR_bit_error_ratio));
	count(t, 100, UINT16_MAX);
	assert_string_equal(why_not(t, PORT_ATTR_bit_error_interval), "counter-full");
	assert_null(port_1(t)->errors);
	/* an answer leaves that */
	PORT_SUPPLY(&answer, link_layer, 1);
	PORT_SUPPLY(&answer, state, 4 /* active */);
	cache_apply_port(port_1(t), &answer, 0, 3000, &answered);
	port_change_done(&answered);
	assert_string_equal(why_not(t, PORT_ATTR_bit_error_ratio), "counter-full");
	/* somebody has cleared it */
	connect_port(t);
	count(t, 100, 0);
	assert_string_equal(why_not(t, PORT_ATTR_bit_error_ratio), "too-early");
	/* of a link that goes down nothing is known any more */
	count(t, 100, UINT16_MAX);
	mask_set(&change.changed, PORT_ATTR_state_change, true);
	manager_signal_port(t->manager, &change);
	assert_string_equal(why_not(t, PORT_ATTR_bit_error_ratio), "too-early");
	count(t, 100, UINT16_MAX + 10);
	count(t, 1000, UINT16_MAX + 100);
	assert_true(has(t, PORT_ATTR_bit_error_ratio));
}

static void test_corrected_bits(void **state)
{
	Test *t = *state;
	const PortValues *v = &port_1(t)->now.values;
	PortSnapshot answer = {.parts = READ_VERBS};
	PortChange change;

	connect_ethernet(t);
	/* symbol errors are not what is measured here */
	count(t, 0, 0);
	count(t, 100, 50);
	assert_string_equal(why_not(t, PORT_ATTR_bit_error_ratio), "too-early");
	correct(t, 0, 0);
	correct(t, 1000, 1000000);
	/* a million in 10^14 bits: 1e-8, and FEC corrects 5e-5 */
	assert_in_range(v->bit_error_ratio, UINT64_C(9900000000), UINT64_C(10000000000));
	assert_true(has(t, PORT_ATTR_bit_error_margin));
	assert_in_range(v->bit_error_margin, 3690, 3710);
	PORT_SUPPLY_TEXT(&port_1(t)->now, fec_mode, "llrs");
	correct(t, 1000, 2000000);
	assert_true(has(t, PORT_ATTR_bit_error_ratio));
	assert_string_equal(why_not(t, PORT_ATTR_bit_error_margin), "not-applicable");
	/* an answer without the part leaves it */
	PORT_SUPPLY(&answer, link_layer, 2);
	PORT_SUPPLY(&answer, state, 4 /* active */);
	cache_apply_port(port_1(t), &answer, 0, 3000, &change);
	port_change_done(&change);
	assert_true(has(t, PORT_ATTR_bit_error_ratio));
}

/* On InfiniBand, where nobody says which FEC it is */
static void test_corrected_on_infiniband(void **state)
{
	Test *t = *state;

	connect_port(t);
	count(t, 0, 0);
	count(t, 1000, 20);
	assert_true(has(t, PORT_ATTR_bit_error_ratio));
	/* from now on bits are counted: those, and not what is left */
	PORT_SUPPLY(&port_1(t)->now, fec_corrected_bits, 0);
	port_derive(&port_1(t)->now, &device(t, 1)->now);
	correct(t, 0, 1000);
	assert_string_equal(why_not(t, PORT_ATTR_bit_error_ratio), "too-early");
	assert_string_equal(why_not(t, PORT_ATTR_bit_error_margin), "not-reported");
	count(t, 500, 40);
	correct(t, 500, 1001000);
	count(t, 0, UINT16_MAX);
	assert_in_range(port_1(t)->now.values.bit_error_ratio, UINT64_C(9900000000),
			UINT64_C(10000000000));
	assert_string_equal(why_not(t, PORT_ATTR_bit_error_margin), "not-reported");
	/* they are not counted any more */
	mask_set(&port_1(t)->now.supplied, PORT_ATTR_fec_corrected_bits, false);
	port_derive(&port_1(t)->now, &device(t, 1)->now);
	count(t, 100, 2000000);
	assert_string_equal(why_not(t, PORT_ATTR_bit_error_ratio), "too-early");
}

/* CorrectedBits is of one interface of a LAG, and Rate of all. */
static void test_lag(void **state)
{
	Test *t = *state;

	connect_ethernet(t);
	PORT_SUPPLY(&port_1(t)->now, port_speed, 200 * GBIT);
	port_derive(&port_1(t)->now, &device(t, 1)->now);
	assert_int_equal(port_1(t)->now.values.rate, 200 * GBIT);
	correct(t, 0, 0);
	correct(t, 1000, 1000000);
	assert_in_range(port_1(t)->now.values.bit_error_ratio, UINT64_C(9900000000),
			UINT64_C(10000000000));
	assert_in_range(port_1(t)->now.values.bit_error_margin, 3690, 3710);
	/* without the speed of the interface nothing is known */
	mask_set(&port_1(t)->now.supplied, PORT_ATTR_netdev_speed, false);
	port_derive(&port_1(t)->now, &device(t, 1)->now);
	correct(t, 1000, 2000000);
	correct(t, 1000, 3000000);
	assert_false(has(t, PORT_ATTR_bit_error_ratio));
}

/* A driver has the counter although nothing is corrected. */
static void test_no_fec(void **state)
{
	Test *t = *state;

	connect_ethernet(t);
	PORT_SUPPLY_TEXT(&port_1(t)->now, fec_mode, "off");
	correct(t, 0, 0);
	correct(t, 1000, 0);
	assert_string_equal(why_not(t, PORT_ATTR_bit_error_ratio_upper), "not-applicable");
}

/* A link that has come up again is measured anew. */
static void test_link_down(void **state)
{
	Test *t = *state;
	PortChange change = {.port = port_1(t), .cause = CHANGE_ANSWER}, answered;
	PortSnapshot answer = {.parts = READ_VERBS};

	connect_port(t);
	count(t, 0, 0);
	assert_false(has_signal(t));
	count(t, 1000, 20);
	assert_true(has(t, PORT_ATTR_bit_error_ratio));
	mask_set(&change.changed, PORT_ATTR_state_change, true);
	manager_signal_port(t->manager, &change);
	assert_null(port_1(t)->errors);
	assert_string_equal(why_not(t, PORT_ATTR_bit_error_ratio), "too-early");
	/* its interface stays, and an answer leaves it */
	assert_true(has_signal(t));
	PORT_SUPPLY(&answer, link_layer, 1);
	PORT_SUPPLY(&answer, state, 4 /* active */);
	cache_apply_port(port_1(t), &answer, 0, 3000, &answered);
	port_change_done(&answered);
	assert_true(has_signal(t));
	connect_port(t);
	count(t, 0, 20);
	port_1(t)->now.values.state = 2 /* init */;
	count(t, 1000, 40);
	assert_null(port_1(t)->errors);
}

/* A port of which nothing counts errors says so. */
static void test_not_counted(void **state)
{
	Test *t = *state;

	PORT_SUPPLY(&port_1(t)->now, link_layer, 2);
	connect_port(t);
	PORT_SUPPLY(&port_1(t)->now, protocol, PROTOCOL_ROCE);
	assert_string_equal(why_not(t, PORT_ATTR_bit_error_ratio), "not-reported");
	PORT_SUPPLY(&port_1(t)->now, protocol, PROTOCOL_OPA);
	assert_string_equal(why_not(t, PORT_ATTR_bit_error_ratio), "not-reported");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ANSWERED(test_symbol_errors), ANSWERED(test_corrected_bits),
		ANSWERED(test_lag),	      ANSWERED(test_no_fec),
		ANSWERED(test_link_down),     ANSWERED(test_not_counted),
		ANSWERED(test_counter_full),  ANSWERED(test_corrected_on_infiniband),
	};

	return cmocka_run_group_tests_name("manager-signal", tests, NULL, NULL);
}
