/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* After which errors of opening a device its ports are published without verbs. */

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stays_closed),
	};

	return cmocka_run_group_tests_name("query-port", tests, NULL, NULL);
}
