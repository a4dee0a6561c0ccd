/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "simulated-device.h"

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

static int set(DeviceSnapshot *s, const char *key, const char *value)
{
	char *message = NULL;
	int r = simulated_device_set(s, key, value, &message);

	assert_int_equal(message != NULL, r < 0);
	free(message);
	return r;
}

/* The accelerators in their order, "c1 PIX 2 10de:2330, ...". */
static const char *list(const DeviceSnapshot *s)
{
	static char text[256];
	size_t used = 0;

	text[0] = '\0';
	TABLE_FOREACH(AcceleratorEntry, e, s->tables[DEVICE_TABLE_ACCELERATORS])
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s %s %u %s",
					 used ? ", " : "", e->address, e->distance, e->hops,
					 e->model);
	return text;
}

/* They are in the order that the worker gives them. */
static void test_accelerators(void **state _unused_)
{
	DeviceSnapshot s = {};

	assert_int_equal(set(&s, "accelerator.c1", "SYS 3 10de:2330"), 0);
	assert_int_equal(set(&s, "accelerator.c3", "PIX,2,10de:2330"), 0);
	assert_int_equal(set(&s, "accelerator.c2", "SYS 3 1002:74a1"), 0);
	assert_int_equal(set(&s, "accelerator.c4", "NODE 2 10de:2330"), 0);
	assert_string_equal(list(&s),
			    "c3 PIX 2 10de:2330, c4 NODE 2 10de:2330, c1 SYS 3 10de:2330, "
			    "c2 SYS 3 1002:74a1");
	assert_int_equal(set(&s, "accelerator.c3", "SYS 5 10de:2330"), 0);
	assert_int_equal(set(&s, "accelerator.c4", ""), 0);
	assert_string_equal(list(&s), "c1 SYS 3 10de:2330, c2 SYS 3 1002:74a1, c3 SYS 5 10de:2330");
	assert_true(mask_has(&s.supplied, DEVICE_ATTR_accelerators));
	device_snapshot_done(&s);
}

static void test_refused(void **state _unused_)
{
	static const char *const values[] = {
		"NEAR 2 10de:2330",  "PIX 2 10de:2330 x", "PIX 2", "PIX -2 10de:2330",
		"PIX 200 10de:2330", "2 PIX 10de:2330",	  "PIX"};
	DeviceSnapshot s = {};

	for (size_t i = 0; i < ARRAY_SIZE(values); i++)
		assert_int_equal(set(&s, "accelerator.c1", values[i]), -EINVAL);
	assert_int_equal(set(&s, "accelerator.", "PIX 2 10de:2330"), -EINVAL);
	assert_int_equal(set(&s, "accelerator.0000:c1:00.01234", "PIX 2 10de:2330"), -EINVAL);
	assert_int_equal(set(&s, "accelerators", "x"), -EINVAL);
	assert_null(s.tables[DEVICE_TABLE_ACCELERATORS]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_accelerators),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
