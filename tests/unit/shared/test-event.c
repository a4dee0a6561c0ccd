/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the reasons' table says of the parts of a port. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "event.h"

/* Each reason has something read, at once or in the looks that follow it, and nothing twice. */
static void test_each_reason_reads(void **state)
{
	(void)state;
	for (EventReason r = 0; r < _REASON_MAX; r++) {
		unsigned int at_once = event_parts_at_once(REASON_BIT(r));

		assert_true(at_once & READ_ALL ||
			    REASON_BIT(r) & event_reasons_meaning(MEANS_SETTLING));
		assert_int_equal(event_parts_later(REASON_BIT(r), READ_ALL), 0);
	}
	assert_int_equal(event_parts_at_once(0), 0);
	assert_int_equal(event_parts_later(0, 0), 0);
}

/* At once or later, each reason has everything read but the P_Keys. */
static void test_nothing_is_left_out(void **state)
{
	(void)state;
	for (EventReason r = 0; r < _REASON_MAX; r++) {
		unsigned int at_once = event_parts_at_once(REASON_BIT(r));
		unsigned int later = event_parts_later(REASON_BIT(r), at_once);

		if (REASON_BIT(r) & event_reasons_meaning(MEANS_SETTLING))
			later |= event_parts_at_once(REASON_BIT(REASON_SETTLE)) & ~at_once;
		assert_int_equal((at_once | later) & READ_USUAL, READ_USUAL);
		assert_int_equal(at_once & later, 0);
	}
}

static void test_several_reasons(void **state)
{
	uint32_t reasons = REASON_BIT(REASON_LID_CHANGE) | REASON_BIT(REASON_PKEY_CHANGE);

	(void)state;
	assert_int_equal(event_parts_at_once(reasons), READ_VERBS | READ_PKEYS);
	assert_int_equal(event_parts_later(reasons, READ_VERBS | READ_PKEYS),
			 READ_LINKS | READ_GIDS | READ_DIRECT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_reason_reads),
		cmocka_unit_test(test_nothing_is_left_out),
		cmocka_unit_test(test_several_reasons),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
