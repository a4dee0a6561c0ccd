/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* After which errors of opening a device its ports are published without verbs, and what a query
 * without verbs says. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "decode.h"
#include "query-port.h"

/* What netlink and sysfs say is published for whatever reason verbs says nothing. */
static void test_without_verbs(_unused_ void **state)
{
	static const struct {
		int open_error;
		bool again; /* it is tried again soon */
		const char *why;
	} cases[] = {
		{-ECANCELED, false, "kept-closed"},  /* the configuration says so */
		{-EACCES, false, "no-permission"},   /* permissions of the node */
		{-EPERM, false, "no-permission"},    /* a container without the device */
		{-ENOENT, false, "no-node"},	     /* a container without the node */
		{-EBUSY, false, "in-use"},	     /* somebody else has it */
		{-EOPNOTSUPP, false, "no-provider"}, /* libibverbs has no driver for it */
		{-ENXIO, false, "no-verbs"},	     /* the kernel has no uverbs node for it */
		{-ERANGE, false, "too-many-ports"},  {-ENODEV, true, "cannot-open"},
		{-EIO, true, "cannot-open"},	     {-ENOMEM, true, "cannot-open"},
		{-EMFILE, true, "cannot-open"},	     {-ENFILE, true, "cannot-open"},
		{-EINTR, true, "cannot-open"},	     {-EAGAIN, true, "cannot-open"},
		{-ENOSPC, true, "cannot-open"},	     {-ETIMEDOUT, true, "cannot-open"},
		{0, true, "query-failed"}, /* it is open, and verbs alone has failed */
	};
	const DeviceSnapshot ca = {.values.node_type = NODE_TYPE_CA};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		PortSnapshot s = {.parts = READ_ALL, .open_error = cases[i].open_error};

		PORT_SUPPLY(&s, link_layer, IBV_LINK_LAYER_INFINIBAND);
		PORT_SUPPLY(&s, state, IBV_PORT_DOWN);
		assert_int_equal(port_judge_without_verbs(&s, 0), 0);
		assert_int_equal(s.failed, cases[i].again ? READ_VERBS : 0);
		port_derive(&s, &ca);
		assert_true(mask_has(&s.valid, PORT_ATTR_state));
		assert_string_equal(port_unavailable(&s, PORT_ATTR_max_mtu)->code, cases[i].why);
	}
}

/* Without the state nothing is published; nor if the hardware does not answer what files ask. */
static void test_without_state(_unused_ void **state)
{
	PortSnapshot none = {.open_error = -ENOMEM}, s = {.open_error = -ENOMEM};

	assert_int_equal(port_judge_without_verbs(&none, 0), -ENOMEM);
	assert_int_equal(port_judge_without_verbs(&none, -EMFILE), -EMFILE);
	none.open_error = 0;
	assert_int_equal(port_judge_without_verbs(&none, 0), -EIO);
	PORT_SUPPLY(&s, state, IBV_PORT_DOWN);
	assert_int_equal(port_judge_without_verbs(&s, -EIO), -EIO);
	assert_int_equal(port_judge_without_verbs(&s, -EMFILE), 0);
	assert_int_equal(s.failed, READ_VERBS);
}

/* nldev has the LIDs but not the service level: together with an older service level they would be
 * a state that the port never had. */
static void test_links_alone(_unused_ void **state)
{
	PortSnapshot ib = {.parts = READ_LINKS | READ_GIDS}, eth = {.parts = READ_LINKS};

	PORT_SUPPLY(&ib, state, IBV_PORT_ACTIVE);
	PORT_SUPPLY(&ib, lid, 7);
	PORT_SUPPLY(&ib, sm_lid, 1);
	PORT_SUPPLY(&ib, lmc, 0);
	PORT_SUPPLY(&ib, subnet_prefix, 5);
	PORT_SUPPLY(&ib, ifindex, 0);
	port_keep_links(&ib);
	assert_false(mask_has(&ib.supplied, PORT_ATTR_state));
	assert_false(mask_has(&ib.supplied, PORT_ATTR_lid));
	assert_false(mask_has(&ib.supplied, PORT_ATTR_sm_lid));
	assert_false(mask_has(&ib.supplied, PORT_ATTR_lmc));
	assert_true(mask_has(&ib.supplied, PORT_ATTR_subnet_prefix));
	assert_true(mask_has(&ib.supplied, PORT_ATTR_ifindex));

	PORT_SUPPLY(&eth, state, IBV_PORT_ACTIVE);
	PORT_SUPPLY(&eth, ifindex, 3);
	port_keep_links(&eth);
	assert_true(mask_has(&eth.supplied, PORT_ATTR_state));
	assert_true(mask_has(&eth.supplied, PORT_ATTR_ifindex));
}

/* The service level of the subnet manager is in a file, its LID is not. */
static void test_again(_unused_ void **state)
{
	PortSnapshot s = {}, again = {};

	PORT_SUPPLY(&s, state, IBV_PORT_ACTIVE);
	PORT_SUPPLY(&s, sm_lid, 1);
	PORT_SUPPLY(&s, ifindex, 3);
	PORT_SUPPLY(&again, state, IBV_PORT_ACTIVE);
	PORT_SUPPLY(&again, ifindex, 4);
	assert_false(port_take_again(&s, &again));
	assert_int_equal(s.values.ifindex, 3);
	PORT_SUPPLY(&again, sm_lid, 2);
	assert_true(port_take_again(&s, &again));
	assert_int_equal(s.values.sm_lid, 2);
	assert_false(port_take_again(&s, &again));
	PORT_SUPPLY(&again, lid, 0);
	assert_true(port_take_again(&s, &again));
	assert_true(mask_has(&s.supplied, PORT_ATTR_lid));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_without_verbs),
		cmocka_unit_test(test_without_state),
		cmocka_unit_test(test_links_alone),
		cmocka_unit_test(test_again),
	};

	return cmocka_run_group_tests_name("query-port", tests, NULL, NULL);
}
