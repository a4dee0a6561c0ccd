/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The values of one object that replace those that a machine has of it. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "message.h"
#include "metrics.h"

#define PORT	"/org/rdma/device/0/port/1"
#define OBJECTS "a{oa{sa{sv}}}"

static bool no_memory;

void *__real_realloc(void *p, size_t size);
void *__wrap_realloc(void *p, size_t size);
void *__wrap_realloc(void *p, size_t size)
{
	return no_memory ? NULL : __real_realloc(p, size);
}

/* A machine with a device that has one port. */
static Metrics *machine(void)
{
	Metrics *metrics = metrics_new();
	sd_bus_message *m = message_new();

	assert_non_null(metrics);
	assert_true(sd_bus_message_append(m, OBJECTS, 2, "/org/rdma/device/0", 1, "org.rdma.Device",
					  1, "Name", "s", "mlx5_0", PORT, 1, "org.rdma.Port", 1,
					  "DeviceName", "s", "mlx5_0") >= 0);
	message_seal(m);
	assert_true(metrics_read_objects(metrics, m) >= 0);
	sd_bus_message_unref(m);
	return metrics;
}

static void expect(const Metrics *m, const char *line, bool there)
{
	_cleanup_metrics_text_ MetricsText t = {};

	metrics_text_add(&t, m, 0);
	assert_int_equal(metrics_text_finish(&t), 0);
	assert_int_equal(strstr(t.text, line) != NULL, there);
}

/* Reads the reply to GetAll("") of the object at PATH: a name and a LID. 0: it has no LID. */
static void read_one(Metrics *metrics, const char *path, const char *name, uint32_t lid,
		     int expected)
{
	uint64_t layout = metrics_layout(metrics);
	sd_bus_message *m = message_new();

	if (lid > 0)
		assert_true(sd_bus_message_append(m, "a{sv}", 2, "DeviceName", "s", name, "Lid",
						  "u", lid) >= 0);
	else
		assert_true(sd_bus_message_append(m, "a{sv}", 1, "DeviceName", "s", name) >= 0);
	message_seal(m);
	assert_int_equal(metrics_read_object(metrics, path, m), expected);
	assert_int_equal(metrics_layout(metrics) != layout, expected == 0);
	sd_bus_message_unref(m);
}

/* The values of one object replace those that it had; another object, or one that cannot be read,
 * changes nothing. */
static void test_one_object(_unused_ void **state)
{
	static const char line[] = "rdma_port_lid{device=\"mlx5_0\",port=\"1\"} 18\n";
	Metrics *metrics = machine();
	sd_bus_message *m = message_new();

	read_one(metrics, PORT, "mlx5_0", 17, 0);
	read_one(metrics, PORT, "mlx5_0", 18, 0);
	expect(metrics, line, true);
	read_one(metrics, PORT, "mlx5_1", 19, -ENOENT);
	read_one(metrics, PORT "1", "mlx5_0", 19, -ENOENT);
	read_one(metrics, "/org/rdma", "mlx5_0", 19, -ENOENT);
	assert_true(sd_bus_message_append(m, "a{ss}", 1, "DeviceName", "mlx5_0") >= 0);
	message_seal(m);
	assert_int_equal(metrics_read_object(metrics, PORT, m), -ENXIO);
	sd_bus_message_unref(m);
	no_memory = true; /* for its labels */
	read_one(metrics, PORT, "mlx5_0", 19, -ENOMEM);
	no_memory = false;
	expect(metrics, line, true);
	expect(metrics, "rdma_device_info{device=\"mlx5_0\"} 1\n", true);
	read_one(metrics, PORT, "mlx5_0", 0, 0);
	expect(metrics, "rdma_port_lid", false);
	metrics_free(metrics);
}

/* Reads the port with a finding of CHECK; NULL: nothing is wrong with it. */
static void read_finding(Metrics *metrics, const char *check)
{
	sd_bus_message *m = message_new();
	int r = sd_bus_message_open_container(m, 'a', "{sv}");

	if (r >= 0)
		r = sd_bus_message_append(m, "{sv}", "DeviceName", "s", "mlx5_0");
	if (r >= 0 && check)
		r = sd_bus_message_append(m, "{sv}", "Findings", "a(sssa{sv})", 1, check, "warning",
					  "", 1, "Condition", "s", "link");
	if (r >= 0)
		r = sd_bus_message_close_container(m);
	assert_true(r >= 0);
	message_seal(m);
	assert_int_equal(metrics_read_object(metrics, PORT, m), 0);
	sd_bus_message_unref(m);
}

/* What is wrong with the object is replaced with its values. */
static void test_findings(_unused_ void **state)
{
	static const char flap[] = "rdma_finding{device=\"mlx5_0\",port=\"1\",check=\"flap\","
				   "severity=\"warning\",condition=\"link\"} 1\n";
	Metrics *metrics = machine();

	read_finding(metrics, "flap");
	expect(metrics, flap, true);
	read_finding(metrics, "slow");
	expect(metrics, "check=\"slow\"", true);
	expect(metrics, "check=\"flap\"", false);
	read_finding(metrics, NULL);
	expect(metrics, "rdma_finding", false);
	metrics_free(metrics);
}

/* Reads that the machine has a finding of CHECK; NULL: nothing is wrong with it. */
static void read_machine(Metrics *metrics, const char *check)
{
	sd_bus_message *m = message_new();
	int r = sd_bus_message_open_container(m, 'v', "a(sssa{sv})");

	if (r >= 0 && check)
		r = sd_bus_message_append(m, "a(sssa{sv})", 1, check, "critical", "", 1,
					  "Condition", "s", "port");
	else if (r >= 0)
		r = sd_bus_message_append(m, "a(sssa{sv})", 0);
	if (r >= 0)
		r = sd_bus_message_close_container(m);
	assert_true(r >= 0);
	message_seal(m);
	assert_int_equal(metrics_read_machine(metrics, m), 0);
	sd_bus_message_unref(m);
}

/* What is wrong with the machine has no label of a device, and is replaced as well. */
static void test_machine(_unused_ void **state)
{
	static const char count[] =
		"rdma_finding{check=\"count\",severity=\"critical\",condition=\"port\"} 1\n";
	Metrics *metrics = machine();
	uint64_t layout = metrics_layout(metrics);
	sd_bus_message *m = message_new();

	read_machine(metrics, "count");
	assert_int_not_equal(metrics_layout(metrics), layout);
	expect(metrics, count, true);
	assert_true(sd_bus_message_append(m, "v", "s", "") >= 0);
	message_seal(m);
	assert_true(metrics_read_machine(metrics, m) < 0);
	sd_bus_message_unref(m);
	expect(metrics, count, true);
	read_machine(metrics, "missing");
	expect(metrics, "check=\"missing\"", true);
	expect(metrics, "check=\"count\"", false);
	read_machine(metrics, NULL);
	expect(metrics, "rdma_finding", false);
	metrics_free(metrics);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_object),
		cmocka_unit_test(test_findings),
		cmocka_unit_test(test_machine),
	};

	return cmocka_run_group_tests_name("one object", tests, NULL, NULL);
}
