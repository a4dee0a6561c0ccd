/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a worker is waited for, as a message says it. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "worker-answer.h"

static void assert_next(const Answer *a, const Query *q, const char *expected)
{
	char text[64];

	answer_describe_next(a, q, text, sizeof(text));
	assert_string_equal(text, expected);
}

static void test_next(_unused_ void **state)
{
	Answer a = {};
	Query q = {.name = "mlx5_0", .attributes = true};

	port_set_add(&q.ports, 1);
	port_set_add(&q.ports, 3);
	port_set_add(&q.ports, RDMA_PORT_MAX);
	assert_next(&a, &q, "mlx5_0");
	a.has_device = true;
	assert_next(&a, &q, "port 1 of mlx5_0");
	port_set_add(&a.has_ports, 1);
	assert_next(&a, &q, "port 3 of mlx5_0");
	port_set_add(&a.has_ports, 3);
	assert_next(&a, &q, "port 1024 of mlx5_0");
	port_set_add(&a.has_ports, RDMA_PORT_MAX);
	assert_next(&a, &q, "the end of mlx5_0");
	/* the device is not asked for */
	assert_next(&(Answer){}, &(Query){.name = "rxe0", .ports = q.ports}, "port 1 of rxe0");
	assert_next(&(Answer){}, &(Query){.name = "rxe0"}, "the end of rxe0");
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_next)};

	return cmocka_run_group_tests_name("worker-answer", tests, NULL, NULL);
}
