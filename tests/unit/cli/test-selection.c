/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which ports the arguments of a command choose: without memory none. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "bus.h"
#include "selection.h"

/* The allocation that fails, from 1; 0: none */
static unsigned int fails_at, n_allocations;

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size)
{
	return ++n_allocations == fails_at ? NULL : __real_calloc(n, size);
}

/* rdmad has no ports. */
ExitStatus __wrap_bus_read_objects(_unused_ sd_bus *bus, ObjectList *ret);
ExitStatus __wrap_bus_read_objects(_unused_ sd_bus *bus, ObjectList *ret)
{
	*ret = (ObjectList){};
	return STATUS_OK;
}

static void test_no_memory(_unused_ void **state)
{
	Context c = {};
	Selection s = {};
	unsigned int all;

	fails_at = n_allocations = 0;
	assert_int_equal(selection_read(&c, 0, NULL, &s), STATUS_OK);
	assert_int_equal(s.n, 0);
	assert_int_equal(s.n_missing, 0);
	selection_done(&s);
	all = n_allocations;
	/* the arguments, the ports, and those that are missing */
	assert_int_equal(all, 3);
	for (unsigned int i = 1; i <= all; i++) {
		Selection none = {};

		fails_at = i;
		n_allocations = 0;
		assert_int_equal(selection_read(&c, 0, NULL, &none), STATUS_FAILED);
		assert_null(none.ports);
		assert_null(none.missing);
	}
	fails_at = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests_name("selection", tests, NULL, NULL);
}
