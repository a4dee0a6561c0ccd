/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the worker may ask by itself because of events. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "query-leave.h"

#define NOW (100 * USEC_PER_SEC)

static Query query_with_leave(uint32_t device, uint32_t ports, uint32_t tokens)
{
	return (Query){.id = 1000 + device,
		       .device = device,
		       .name = "mlx5_0",
		       .attributes = true,
		       .links_generation = 5,
		       .leave = {.ports = ports, .tokens = {tokens, NOW}}};
}

static Touched touch(uint32_t device, uint32_t port, EventReason reason)
{
	Touched t = {};

	touched_add(&t, &(Event){device, port, reason});
	return t;
}

/* Only the port of an event may be asked, and only if that is all that the event touches. */
static void test_which_events(_unused_ void **state)
{
	static const EventReason port_alone[] = {
		REASON_PORT_ACTIVE, REASON_PORT_ERROR,	      REASON_LID_CHANGE, REASON_SM_CHANGE,
		REASON_PKEY_CHANGE, REASON_CLIENT_REREGISTER, REASON_GID_CHANGE};
	static const EventReason more[] = {REASON_DEVICE_FATAL, REASON_OVERRUN, REASON_DEVICE,
					   REASON_LINK, REASON_CHARDEV};
	Leaves l = {};
	Query q = query_with_leave(3, 2, 10), own;
	Touched t = {};

	leaves_note(&l, &q);
	assert_false(leaves_take(&l, &t, NOW, &own)); /* no event */
	for (size_t i = 0; i < ARRAY_SIZE(port_alone); i++) {
		t = touch(3, 2, port_alone[i]);
		assert_true(leaves_take(&l, &t, NOW, &own));
		assert_int_equal(own.id, 1003);
		assert_int_equal(own.device, 3);
		assert_string_equal(own.name, "mlx5_0");
		assert_int_equal(own.links_generation, 5);
		assert_int_equal(own.ports.bits[0], 1 << 2);
		assert_false(own.attributes || own.kind != QUERY_ATTRIBUTES);
		assert_int_equal(own.parts, event_parts_at_once(REASON_BIT(port_alone[i])));
	}
	for (size_t i = 0; i < ARRAY_SIZE(more); i++) {
		t = touch(3, 2, more[i]);
		assert_false(leaves_take(&l, &t, NOW, &own));
	}
	t = touch(3, EVENT_ALL_PORTS, REASON_SPEED_CHANGE);
	assert_false(leaves_take(&l, &t, NOW, &own));
	t = touch(3, RDMA_PORT_MAX + 1, REASON_LID_CHANGE);
	assert_false(leaves_take(&l, &t, NOW, &own));
	leaves_done(&l);
}

/* All events of one turn are one query: of the device of the first. */
static void test_one_turn(_unused_ void **state)
{
	Leaves l = {};
	Query q = query_with_leave(3, 2, 10), own;
	Touched t = touch(3, 1, REASON_PORT_ERROR);

	leaves_note(&l, &q);
	touched_add(&t, &(Event){4, 1, REASON_DEVICE_FATAL});
	touched_add(&t, &(Event){3, 1, REASON_PORT_ACTIVE});
	touched_add(&t, &(Event){3, 2, REASON_PKEY_CHANGE});
	assert_int_equal(t.n, 4);
	assert_true(leaves_take(&l, &t, NOW, &own));
	assert_int_equal(own.device, 3);
	assert_int_equal(own.ports.bits[0], 6);
	assert_true(own.parts & READ_PKEYS && own.parts & READ_VERBS);
	assert_int_equal(l.entries[0].leave.tokens.n, 9);
	/* the core has to ask for the rest of that, so it asks for all of it */
	touched_add(&t, &(Event){3, 1, REASON_DEVICE_FATAL});
	assert_false(leaves_take(&l, &t, NOW, &own));
	assert_int_equal(l.entries[0].leave.tokens.n, 9);
	leaves_done(&l);
}

/* Without leave, without a token, and for other ports, the core asks. */
static void test_without_leave(_unused_ void **state)
{
	Touched t = touch(3, 2, REASON_LID_CHANGE), other = touch(4, 1, REASON_LID_CHANGE);
	Leaves l = {};
	Query q = query_with_leave(3, 2, 1), own;

	assert_false(leaves_take(&l, &t, NOW, &own));
	leaves_note(&l, &q);
	assert_false(leaves_take(&l, &other, NOW, &own));
	assert_true(leaves_take(&l, &t, NOW, &own));
	assert_false(leaves_take(&l, &t, NOW, &own));
	assert_false(leaves_take(&l, &t, NOW + 99 * USEC_PER_MSEC, &own));
	assert_true(leaves_take(&l, &t, NOW + 100 * USEC_PER_MSEC, &own));
	/* the port is not among those of the leave */
	q = query_with_leave(3, 1, 10);
	leaves_note(&l, &q);
	assert_false(leaves_take(&l, &t, NOW, &own));
	/* taken back */
	q = query_with_leave(3, 2, 10);
	leaves_note(&l, &q);
	q = query_with_leave(4, 1, 10);
	leaves_note(&l, &q);
	q = query_with_leave(3, 0, 10);
	leaves_note(&l, &q);
	assert_false(leaves_take(&l, &t, NOW, &own));
	assert_true(leaves_take(&l, &other, NOW, &own));
	/* forgotten */
	leaves_forget(&l, 4);
	leaves_forget(&l, 77);
	assert_false(leaves_take(&l, &other, NOW, &own));
	assert_int_equal(l.n, 1);
	leaves_done(&l);
}

/* Many devices; the number of the links is that of the last query of all. */
static void test_many(_unused_ void **state)
{
	Leaves l = {};
	Query q, own;
	Touched t;

	for (uint32_t i = 0; i < 100; i++) {
		q = query_with_leave(i, 1, 10);
		q.links_generation = i;
		leaves_note(&l, &q);
	}
	for (uint32_t i = 0; i < 100; i++) {
		t = touch(i, 1, REASON_LID_CHANGE);
		assert_true(leaves_take(&l, &t, NOW, &own));
		assert_int_equal(own.id, 1000 + i);
		assert_int_equal(own.links_generation, 99);
		leaves_forget(&l, i);
	}
	assert_int_equal(l.n, 0);
	leaves_done(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_which_events),
		cmocka_unit_test(test_one_turn),
		cmocka_unit_test(test_without_leave),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests_name("query-leave", tests, NULL, NULL);
}
