/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "command.h"
#include "util.h"

static void test_keys(_unused_ void **state)
{
	static const char *const others[] = {"",      "=",	    "times=1", "tim=1",
					     "=time", "state=time", "Time"};

	for (RecordKey k = 0; k < _RECORD_KEY_MAX; k++) {
		char word[32];

		assert_int_equal(record_key_of(record_key_name(k)), k);
		snprintf(word, sizeof(word), "%s=a=b", record_key_name(k));
		assert_int_equal(record_key_of(word), k);
	}
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		assert_int_equal(record_key_of(others[i]), _RECORD_KEY_MAX);
}

static void test_verbs(_unused_ void **state)
{
	static const char *const others[] = {"", "Set", "sets", "se", "set ", "ports"};

	for (ScenarioVerb v = 0; v < _VERB_MAX; v++)
		assert_int_equal(scenario_verb_parse(scenario_verb_name(v)), v);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		assert_int_equal(scenario_verb_parse(others[i]), _VERB_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_keys),
					   cmocka_unit_test(test_verbs)};

	return cmocka_run_group_tests_name("command", tests, NULL, NULL);
}
