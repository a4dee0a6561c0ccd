/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The families of a machine that nobody has read, where there is no memory for it. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "metrics.h"

static bool no_memory;

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size)
{
	return no_memory ? NULL : __real_calloc(n, size);
}

static int on_family(void *userdata, _unused_ const MetricFamily *f)
{
	unsigned int *n = userdata;

	(*n)++;
	return 0;
}

static int on_sample(_unused_ void *userdata, const MetricFamily *f, _unused_ const MetricSample *s)
{
	fail_msg("%s has a sample", f->name);
	return 0;
}

static void test_no_memory(_unused_ void **state)
{
	static const MetricsVisitor visitor = {on_family, on_sample};
	unsigned int n = 0;
	int r;

	no_memory = true;
	r = metrics_visit(NULL, METRICS_ALL_FAMILIES, &visitor, &n);
	no_memory = false;
	assert_int_equal(r, -ENOMEM);
	assert_int_equal(n, 0);
	assert_int_equal(metrics_visit(NULL, METRICS_ALL_FAMILIES, &visitor, &n), 0);
	assert_true(n > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests_name("visit-memory", tests, NULL, NULL);
}
