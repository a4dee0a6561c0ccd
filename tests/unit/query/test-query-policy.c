/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which devices are opened and held. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "query-dv.h"

#define NEW KERNEL(7, 0)

static const Unavailable *why; /* that of the last decision */

/* As the worker decides: the provider of its direct verbs says whether a device is exclusive. */
static Policy decide_with(const PolicyOptions *o, const char *name, const char *driver, int64_t id,
			  unsigned int kernel)
{
	PolicyDevice d = {.name = name, .kernel_driver = driver, .driver_id = id, .kernel = kernel};
	const DvProvider *dv = dv_find(&d);

	d.exclusive = dv && dv->exclusive;
	return policy_decide(o, &d, &why);
}

static Policy decide(const char *name, const char *driver, int64_t id, unsigned int kernel)
{
	const PolicyOptions o = {.hold = true};

	return decide_with(&o, name, driver, id, kernel);
}

static void test_hold(_unused_ void **state)
{
	assert_int_equal(decide("mlx5_0", "mlx5_core", 1, NEW), POLICY_HOLD);
	assert_null(why);
	/* mlx5 and mlx4: in the oldest kernel that is supported */
	assert_int_equal(decide("mlx5_0", "mlx5_core", 1, KERNEL(5, 10)), POLICY_HOLD);
	assert_int_equal(decide("mlx4_0", "mlx4_core", 2, KERNEL(5, 10)), POLICY_HOLD);
	assert_int_equal(decide("mlx5_0", "mlx5_core", 1, KERNEL(5, 9)), POLICY_OPEN_BRIEFLY);
	assert_string_equal(why->code, "kernel-not-held");
	/* bnxt_re: not in 6.1 */
	assert_int_equal(decide("bnxt_re0", "bnxt_en", 6, KERNEL(6, 1)), POLICY_OPEN_BRIEFLY);
	assert_int_equal(decide("bnxt_re0", "bnxt_en", 6, KERNEL(6, 12)), POLICY_HOLD);
	/* rxe: not in 7.2 */
	assert_int_equal(decide("rxe0", "", 14, KERNEL(7, 2)), POLICY_OPEN_BRIEFLY);
	assert_string_equal(why->code, "kernel-not-held");
	assert_int_equal(decide("rxe0", "", 14, KERNEL(7, 3)), POLICY_HOLD);
	/* efa, unknown, none */
	assert_int_equal(decide("efa_0", "efa", 17, NEW), POLICY_OPEN_BRIEFLY);
	assert_string_equal(why->code, "driver-not-held");
	assert_int_equal(decide("new0", "new", 99, NEW), POLICY_OPEN_BRIEFLY);
	assert_int_equal(decide("new0", "new", -1, NEW), POLICY_OPEN_BRIEFLY);
	/* a kernel whose version is not known */
	assert_int_equal(decide("mlx5_0", "mlx5_core", 1, 0), POLICY_OPEN_BRIEFLY);
}

static void test_hbl(_unused_ void **state)
{
	const PolicyOptions with_hbl = {.hold = true, .hbl = true};

	assert_int_equal(decide("ionic_0", "ionic", 21, NEW), POLICY_HOLD);
	assert_int_equal(decide("ionic_0", "ionic", 21, KERNEL(6, 12)), POLICY_OPEN_BRIEFLY);
	assert_int_equal(decide("ibp1s0", "", 21, NEW), POLICY_NEVER_OPEN);
	assert_string_equal(why->code, "one-user");
	assert_int_equal(decide("ibp1s0", "habanalabs_cn", -1, NEW), POLICY_NEVER_OPEN);
	assert_int_equal(decide("hbl_0", "", 14, NEW), POLICY_NEVER_OPEN);
	assert_int_equal(decide("hblx", "", 14, NEW), POLICY_OPEN_BRIEFLY);
	assert_int_equal(decide_with(&with_hbl, "hbl_0", "", 21, NEW), POLICY_ISOLATE);
}

static void test_options(_unused_ void **state)
{
	char first[] = "rxe*", second[] = "mlx5_[01]";
	char *globs[] = {first, second, NULL};
	const PolicyOptions never = {.hold = true, .hbl = true, .never_open = globs};
	const PolicyOptions no_hold = {.hold = false};

	assert_int_equal(decide_with(&never, "rxe7", "", 14, NEW), POLICY_NEVER_OPEN);
	assert_string_equal(why->code, "kept-closed");
	assert_int_equal(decide_with(&never, "mlx5_1", "mlx5_core", 1, NEW), POLICY_NEVER_OPEN);
	assert_int_equal(decide_with(&never, "mlx5_2", "mlx5_core", 1, NEW), POLICY_HOLD);
	assert_int_equal(decide_with(&no_hold, "mlx5_2", "mlx5_core", 1, NEW), POLICY_OPEN_BRIEFLY);
	assert_string_equal(why->code, "not-held");
}

static void test_kernel_version(_unused_ void **state)
{
	assert_int_equal(kernel_parse_version("6.12.117+deb12-amd64"), KERNEL(6, 12));
	assert_int_equal(kernel_parse_version("7.0-rc1"), KERNEL(7, 0));
	assert_int_equal(kernel_parse_version("seven"), 0);
	assert_true(kernel_version() > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hold),
		cmocka_unit_test(test_hbl),
		cmocka_unit_test(test_options),
		cmocka_unit_test(test_kernel_version),
	};

	return cmocka_run_group_tests_name("query-policy", tests, NULL, NULL);
}
