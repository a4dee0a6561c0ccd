/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Attributes by their names. */

#include "env.h"

/* Both spellings name the same attribute, for each function that takes a name. */
static void test_both_spellings(_unused_ void **state)
{
	static const char *const mtu[] = {"active-mtu", "active_mtu", "ActiveMtu"};
	static const char *const lid[] = {"lid", "Lid"};
	_cleanup_env_ Env e = env_new(TWO_DEVICES);
	RdmadObject *port = env_port(&e, "mlx5_0/1"), *roce = env_port(&e, "rocep1/1");
	gboolean carrier;

	for (size_t i = 0; i < ARRAY_SIZE(mtu); i++) {
		g_autoptr(GVariant) value = rdmad_object_get_attribute(port, mtu[i]);

		assert_non_null(value);
		assert_int_equal(g_variant_get_uint32(value), 4096);
		assert_int_equal(env_number(&e, "mlx5_0/1", mtu[i]), 4096);
		assert_true(rdmad_object_is_available(port, mtu[i]));
		assert_null(rdmad_object_why_unavailable(port, mtu[i]));
	}
	for (size_t i = 0; i < ARRAY_SIZE(lid); i++) {
		g_autoptr(GVariant) value = rdmad_object_load_sync(port, lid[i], NULL, NULL);

		assert_non_null(value);
		assert_int_equal(g_variant_get_uint32(value), 17);
		assert_false(rdmad_object_is_available(roce, lid[i]));
		assert_string_equal(rdmad_object_why_unavailable(roce, lid[i]),
				    "not on this kind of port");
	}
	assert_string_equal(rdmad_object_get_string(port, "DeviceName"), "mlx5_0");
	assert_true(rdmad_object_get_boolean(roce, "Carrier", &carrier));
}

/* An attribute that there is not, a name that is no attribute, and one that only Query() has. */
static void test_no_attribute(_unused_ void **state)
{
	static const char *const names[] = {"warp-factor", "WarpFactor", "present", "",
					    "phys_state"};
	_cleanup_env_ Env e = env_new(TWO_DEVICES);
	RdmadObject *port = env_port(&e, "mlx5_0/1");

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		g_autoptr(GAsyncResult) result = NULL;
		g_autoptr(GError) error = NULL;
		gboolean yes = TRUE;
		guint64 number = 1;

		assert_null(rdmad_object_get_attribute(port, names[i]));
		assert_null(rdmad_object_get_string(port, names[i]));
		assert_false(rdmad_object_get_number(port, names[i], &number));
		assert_int_equal(number, 0);
		assert_false(rdmad_object_get_boolean(port, names[i], &yes));
		assert_false(yes);
		assert_false(rdmad_object_is_available(port, names[i]));
		assert_string_equal(rdmad_object_why_unavailable(port, names[i]),
				    "no such attribute");
		assert_string_equal(rdmad_object_get_unavailable_code(port, names[i]),
				    "no-attribute");
		assert_null(rdmad_object_load_sync(port, names[i], NULL, &error));
		assert_true(
			g_error_matches(error, RDMAD_SERVICE_ERROR, RDMAD_SERVICE_ERROR_NOT_FOUND));
		g_clear_error(&error);
		rdmad_object_load_async(port, names[i], NULL, log_take_result, &result);
		wait_until(result);
		assert_null(rdmad_object_load_finish(port, result, &error));
		assert_true(
			g_error_matches(error, RDMAD_SERVICE_ERROR, RDMAD_SERVICE_ERROR_NOT_FOUND));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_both_spellings),
		cmocka_unit_test(test_no_attribute),
	};

	return log_run_tests(tests);
}
