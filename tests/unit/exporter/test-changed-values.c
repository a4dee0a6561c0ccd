/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is taken from the records of a port that has changed, and when rdmad has to be asked. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "../metrics/message.h"
#include "changed-values.h"

#define BIT(NAME)      (UINT64_C(1) << RDMAD_FIELD_##NAME)
#define LABELS	       "{device=\"mlx5_0\",port=\"1\"} "
#define ALWAYS_PRESENT "rdma_port_link_width_lanes" LABELS "4\n"

/* A machine with a port that has a value of each type. */
static Metrics *machine(void)
{
	Metrics *metrics = metrics_new();
	sd_bus_message *m = message_new();

	assert_non_null(metrics);
	assert_true(sd_bus_message_append(m, "a{oa{sa{sv}}}", 1, "/org/rdma/device/3/port/1", 1, "",
					  8, "DeviceName", "s", "mlx5_0", "State", "s", "active",
					  "LinkWidth", "u", 4, "Lid", "u", 17, "Lmc", "u", 0,
					  "ConfigGeneration", "t", UINT64_C(5), "FitSince", "t",
					  UINT64_C(7000000), "LastQueryTimestamp", "t",
					  UINT64_C(9000000)) >= 0);
	message_seal(m);
	assert_true(metrics_read_objects(metrics, m) >= 0);
	sd_bus_message_unref(m);
	return metrics;
}

static ChangedPort unchanged(void)
{
	const struct rdmad_port r = {
		.hot = {.flags = RDMAD_PORT_PRESENT,
			.device_index = 3,
			.port_num = 1,
			.valid = BIT(STATE) | BIT(ACTIVE_WIDTH) | BIT(LID) | BIT(LMC),
			.generation = 5,
			.last_query = 9000000,
			.lid = 17,
			.state = 4,
			.active_width = 2,
			.protocol = 1},
		.health = 1,
		.rest_generation = 8,
		.fit_since = 7000000,
		.device_name = "mlx5_0",
		.netdev = "ib0"};

	return (ChangedPort){r, r};
}

static void expect(const Metrics *m, const char *line)
{
	_cleanup_metrics_text_ MetricsText t = {};

	metrics_text_add(&t, m, 0);
	assert_int_equal(metrics_text_finish(&t), 0);

	assert_non_null(strstr(t.text, line));
	assert_non_null(strstr(t.text, ALWAYS_PRESENT));
}

/* Numbers, texts and times. */
static void test_taken(void **state)
{
	Metrics *m = machine();
	ChangedPort c = unchanged();
	uint64_t layout = metrics_layout(m);

	(void)state;
	assert_true(changed_values_take(m, &c));
	assert_int_equal(metrics_layout(m), layout);
	c.is.hot.lid = 18;
	c.is.hot.state = 1;
	c.is.hot.lmc = 2;
	c.is.hot.generation = 6;
	c.is.hot.last_query = 9500000;
	c.is.fit_since = 9400000;
	/* no metric of the machine is made of these */
	c.is.gid_generation = c.is.pkey_generation = c.is.sm_generation = 3;
	c.is.hot.sm_lid = 5;
	assert_true(changed_values_take(m, &c));
	assert_int_not_equal(metrics_layout(m), layout);
	expect(m, "rdma_port_lid" LABELS "18\n");
	expect(m, "rdma_port_state{device=\"mlx5_0\",port=\"1\",state=\"down\"} 1\n");
	expect(m, "rdma_port_state{device=\"mlx5_0\",port=\"1\",state=\"active\"} 0\n");
	expect(m, "lmc=\"2\"");
	expect(m, "rdma_port_config_generation_total" LABELS "6\n");
	expect(m, "rdma_port_last_query_timestamp_seconds" LABELS "9.5\n");
	expect(m, "rdma_port_fit_since_seconds" LABELS "9.4\n");
	metrics_free(m);
}

/* The record does not tell all. */
static void test_not_taken(void **state)
{
	Metrics *m = machine();
	ChangedPort c;

	(void)state;
#define REFUSED(...)                                                                               \
	c = unchanged();                                                                           \
	c.is.hot.lid = 18;                                                                         \
	__VA_ARGS__;                                                                               \
	assert_false(changed_values_take(m, &c));                                                  \
	expect(m, "rdma_port_lid" LABELS "17\n");
	REFUSED(c.is.rest_generation++)
	REFUSED(c.is.health = 2)
	REFUSED(c.is.hot.flags |= RDMAD_PORT_STALE)
	REFUSED(c.is.hot.valid &= ~BIT(LMC))
	REFUSED(c.is.hot.protocol = 2)
	REFUSED(c.is.ifindex = 4)
	REFUSED(c.is.netdev[0] = 'x')
	/* another port, and a state that has no name any more */
	REFUSED(c.was.hot.port_num = c.is.hot.port_num = 2)
	REFUSED(c.is.hot.state = 0; c.is.hot.lid = 17; c.is.hot.active_width = 99)
	metrics_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_taken),
		cmocka_unit_test(test_not_taken),
	};

	return cmocka_run_group_tests_name("changed values", tests, NULL, NULL);
}
