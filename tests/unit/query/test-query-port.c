/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* After which errors of opening a device its ports are published without verbs, and what a query
 * without verbs says. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "query-port.h"

static void test_stays_closed(_unused_ void **state)
{
	static const struct {
		int error;
		bool stays;
	} cases[] = {
		{0, true},	     /* the configuration says so */
		{-EACCES, true},     /* permissions of the node */
		{-EPERM, true},	     /* a container without the device */
		{-ENOENT, true},     /* a container without the node */
		{-EBUSY, true},	     /* somebody else has it */
		{-EOPNOTSUPP, true}, /* libibverbs has no driver for it */
		{-ENXIO, true},	     /* the kernel has no uverbs node for it */
		{-ECANCELED, true},  /* the configuration says so */
		{-ENODEV, false},    /* it is being removed */
		{-EIO, false},	     {-ENOMEM, false}, {-EMFILE, false},
		{-EINTR, false},     {-EAGAIN, false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(port_stays_closed(cases[i].error), cases[i].stays);
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
		cmocka_unit_test(test_stays_closed),
		cmocka_unit_test(test_links_alone),
		cmocka_unit_test(test_again),
	};

	return cmocka_run_group_tests_name("query-port", tests, NULL, NULL);
}
