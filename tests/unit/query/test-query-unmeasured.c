/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What drivers do not measure is not published. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include <rdma/ib_user_ioctl_verbs.h>

#include "decode.h"
#include "query-unmeasured.h"

#define NOT_MEASURED "not-measured"

/* What the driver of EFA says of its port, on KERNEL, as it is published. */
static PortSnapshot efa_port(unsigned int kernel, int64_t driver_id)
{
	const PolicyDevice d = {
		.name = "efa_0", .kernel_driver = "efa", .driver_id = driver_id, .kernel = kernel};
	AttrMask rows = unmeasured_rows(&d);
	DeviceSnapshot device = {};
	PortSnapshot s = {};

	DEVICE_SUPPLY(&device, node_type, NODE_TYPE_UNSPECIFIED);
	PORT_SUPPLY(&s, link_layer, LINK_LAYER_UNSPECIFIED);
	PORT_SUPPLY(&s, state, PORT_STATE_ACTIVE);
	PORT_SUPPLY(&s, phys_state, 5);
	PORT_SUPPLY(&s, active_width, 2);
	PORT_SUPPLY(&s, active_speed, 32);
	PORT_SUPPLY(&s, max_mtu, 5);
	PORT_SUPPLY(&s, active_mtu, 5);
	unmeasured_drop(&rows, &s);
	port_derive(&s, &device);
	return s;
}

static void assert_unmeasured(const PortSnapshot *s, PortAttr a)
{
	assert_false(mask_has(&s->valid, a));
	assert_string_equal(port_unavailable(s, a)->code, NOT_MEASURED);
}

static void test_efa(_unused_ void **state)
{
	PortSnapshot s = efa_port(KERNEL(6, 12), RDMA_DRIVER_EFA);

	assert_unmeasured(&s, PORT_ATTR_state);
	assert_unmeasured(&s, PORT_ATTR_phys_state);
	assert_unmeasured(&s, PORT_ATTR_active_width);
	assert_unmeasured(&s, PORT_ATTR_link_speed);
	assert_unmeasured(&s, PORT_ATTR_rate);
	assert_unmeasured(&s, PORT_ATTR_data_rate);
	/* the device says which MTU it has, and nothing says that the link is down */
	assert_true(mask_has(&s.valid, PORT_ATTR_active_mtu));
	assert_true(mask_has(&s.valid, PORT_ATTR_max_mtu));
	assert_null(port_unavailable(&s, PORT_ATTR_active_mtu));
}

/* Since 6.13 the speed is what the device says that it can do. */
static void test_efa_speed(_unused_ void **state)
{
	PortSnapshot s = efa_port(KERNEL(6, 13), RDMA_DRIVER_EFA);

	assert_unmeasured(&s, PORT_ATTR_state);
	assert_unmeasured(&s, PORT_ATTR_phys_state);
	assert_true(mask_has(&s.valid, PORT_ATTR_active_width));
	assert_true(mask_has(&s.valid, PORT_ATTR_rate));
	assert_true(s.values.rate == UINT64_C(100000000000));
}

/* Without a node of uverbs only the name of the driver is known. */
static void test_other_drivers(_unused_ void **state)
{
	PortSnapshot without_id = efa_port(KERNEL(6, 12), -1);
	PortSnapshot other = efa_port(KERNEL(6, 12), RDMA_DRIVER_MLX5);

	assert_unmeasured(&without_id, PORT_ATTR_state);
	assert_true(mask_has(&other.valid, PORT_ATTR_state));
	assert_true(mask_has(&other.valid, PORT_ATTR_rate));
	assert_null(port_unavailable(&other, PORT_ATTR_state));
	assert_true(mask_is_empty(&other.unmeasured));
}

/* A constant of 100 Gb/s; the speed of the interface is a rate that somebody has measured. */
static void test_mana(_unused_ void **state)
{
	for (unsigned int minor = 16; minor <= 17; minor++) {
		const PolicyDevice d = {.name = "mana_0",
					.kernel_driver = "mana",
					.driver_id = DRIVER_MANA,
					.kernel = KERNEL(6, minor)};
		const DeviceSnapshot device = {.values.node_type = NODE_TYPE_CA};
		AttrMask rows = unmeasured_rows(&d);
		PortSnapshot s = {.parts = READ_ALL};

		PORT_SUPPLY(&s, link_layer, LINK_LAYER_ETHERNET);
		PORT_SUPPLY(&s, state, PORT_STATE_ACTIVE);
		PORT_SUPPLY(&s, active_width, 2);
		PORT_SUPPLY(&s, active_speed, 32);
		unmeasured_drop(&rows, &s);
		port_derive(&s, &device);
		assert_true(mask_has(&s.valid, PORT_ATTR_state));
		assert_int_equal(mask_has(&s.valid, PORT_ATTR_rate), minor == 17);
		if (minor == 17)
			continue;
		assert_unmeasured(&s, PORT_ATTR_active_width);
		assert_unmeasured(&s, PORT_ATTR_link_speed);
		assert_unmeasured(&s, PORT_ATTR_rate);
		assert_unmeasured(&s, PORT_ATTR_rate_source);
		PORT_SUPPLY(&s, netdev_speed, UINT64_C(200000000000));
		port_derive(&s, &device);
		assert_true(mask_has(&s.valid, PORT_ATTR_rate));
		assert_true(s.values.rate == UINT64_C(200000000000));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_efa),
		cmocka_unit_test(test_efa_speed),
		cmocka_unit_test(test_other_drivers),
		cmocka_unit_test(test_mana),
	};

	return cmocka_run_group_tests_name("query-unmeasured", tests, NULL, NULL);
}
