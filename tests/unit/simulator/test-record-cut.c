/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A crash may have cut the last line of a record, or have left zeros there: the rest is played, and
 * a message says what is lost. Of another scenario each line counts. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "scenario.h"

#define WHOLE                                                                                      \
	"[device a]\nrecorded = yes\nports = 1\n"                                                  \
	"[script]\nat 1s: answer a/1 state=down\n"
#define HEAD "# rdmad record 1\n"

static char path[] = "/tmp/test-record-cut.XXXXXX";

/* Loads TEXT and END behind it, of N bytes. */
static int load(const char *text, const char *end, size_t n, Scenario **ret, char **ret_message)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fwrite(end, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
	return scenario_load(path, ret, ret_message);
}

static void test_cut(void **state)
{
	static const struct {
		const char *text;
		size_t n;
	} ends[] = {{"", 0},
		    {"at 2s: ans", 10},
		    {"at 2s: answer a/1 state=active", 30},
		    {"\0\0\0\0", 4},
		    {"\0x\nat 3s\n", 9}};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		Scenario *s = NULL;
		_cleanup_free_ char *message = NULL, *other = NULL;
		size_t n;

		if (load(HEAD WHOLE, ends[i].text, ends[i].n, &s, &message) < 0)
			fail_msg("%zu: %s", i, message);
		(void)scenario_steps(s, &n);
		assert_int_equal(n, 1);
		scenario_free(s);
		s = NULL;
		if (load(WHOLE, ends[i].text, ends[i].n, &s, &other) < 0)
			continue;
		(void)scenario_steps(s, &n);
		assert_int_equal(n, i == 0 ? 1 : 2);
		scenario_free(s);
	}
}

static int setup(void **state)
{
	(void)state;
	return close_fd(mkstemp(path)) == -EBADF ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	return unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_cut)};

	return cmocka_run_group_tests(tests, setup, teardown);
}
