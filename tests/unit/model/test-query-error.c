/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The codes of queries that have failed. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "query-error.h"

static void test_codes(_unused_ void **state)
{
	for (QueryErrorCode i = 0; i < _QUERY_ERROR_MAX; i++) {
		QueryErrorCode read = _QUERY_ERROR_MAX;
		AttrText text;

		assert_ptr_equal(query_error_format(i, -EIO, text), text);
		if (i == QUERY_ERROR_DEVICE)
			assert_string_equal(text, "device-error:EIO");
		else
			assert_string_equal(text, query_error_name(i));
		assert_int_equal(query_error_parse(text, &read), 0);
		assert_int_equal(read, i);
		assert_true(*query_error_meaning(i) != '\0');
	}
}

static void test_errno(_unused_ void **state)
{
	AttrText text;

	assert_string_equal(query_error_format(QUERY_ERROR_DEVICE, -4000, text),
			    "device-error:4000");
}

/* A part of a code, and more than one, are none. */
static void test_no_codes(_unused_ void **state)
{
	static const char *const wrong[] = {"", ":EIO", "time", "timeouts", "device-error ", "EIO"};
	QueryErrorCode read = QUERY_ERROR_PROTOCOL;

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		assert_int_equal(query_error_parse(wrong[i], &read), -EINVAL);
	assert_int_equal(read, QUERY_ERROR_PROTOCOL);
}

/* Of an errno that several have, the first one is meant, if the words do not say another one. */
static void test_of(_unused_ void **state)
{
	static const struct {
		int error;
		const char *text;
		QueryErrorCode code;
	} cases[] = {
		{-ETIMEDOUT, "x", QUERY_ERROR_TIMEOUT},
		{-ETIMEDOUT, QUERY_ERROR_TEXT_NOT_ASKED, QUERY_ERROR_NOT_ASKED},
		{-EPIPE, "", QUERY_ERROR_WORKER_LOST},
		{-EPROTO, "", QUERY_ERROR_PROTOCOL},
		{-EIO, "", QUERY_ERROR_DEVICE},
		{0, "", QUERY_ERROR_DEVICE},
		{ETIMEDOUT, "", QUERY_ERROR_DEVICE},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(query_error_of(cases[i].error, cases[i].text), cases[i].code);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_codes),
		cmocka_unit_test(test_errno),
		cmocka_unit_test(test_no_codes),
		cmocka_unit_test(test_of),
	};

	return cmocka_run_group_tests_name("query-error", tests, NULL, NULL);
}
