/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A template that follows the changes of a machine has the text that a new one would have. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "message.h"
#include "metrics.h"

#define DEVICES 3U
#define PORTS	2U
#define FLAGS	METRICS_UNAVAILABLE

/* A machine, and the template of each format that follows it. */
typedef struct Followed {
	Metrics *metrics;
	MetricsTemplate *templates[_METRICS_FORMAT_MAX];
} Followed;

static void put_interface(sd_bus_message *m, const char *path, const char *interface,
			  const char *property, const char *name)
{
	assert_true(sd_bus_message_append(m, "{oa{sa{sv}}}", path, 1, interface, 1, property, "s",
					  name) >= 0);
}

/* DEVICES devices with PORTS ports each, in another order than that of their numbers. */
static Metrics *machine(void)
{
	Metrics *metrics = metrics_new();
	sd_bus_message *m = message_new();

	assert_non_null(metrics);
	assert_true(sd_bus_message_open_container(m, 'a', "{oa{sa{sv}}}") >= 0);
	for (unsigned int d = DEVICES; d > 0; d--) {
		char path[64], name[16];

		snprintf(name, sizeof(name), "mlx5_%u", d - 1);
		snprintf(path, sizeof(path), "/org/rdma/device/%u", d - 1);
		put_interface(m, path, "org.rdma.Device", "Name", name);
		for (unsigned int p = 1; p <= PORTS; p++) {
			snprintf(path, sizeof(path), "/org/rdma/device/%u/port/%u", d - 1, p);
			put_interface(m, path, "org.rdma.Port", "DeviceName", name);
		}
	}
	assert_true(sd_bus_message_close_container(m) >= 0);
	message_seal(m);
	assert_true(metrics_read_objects(metrics, m) >= 0);
	sd_bus_message_unref(m);
	return metrics;
}

static void assert_same(const Followed *f)
{
	for (MetricsFormat k = 0; k < _METRICS_FORMAT_MAX; k++) {
		_cleanup_metrics_text_ MetricsText is = {.format = k}, expected = {.format = k};

		metrics_text_add(&expected, f->metrics, FLAGS);
		assert_int_equal(metrics_text_finish(&expected), 0);
		metrics_text_add_template(&is, f->templates[k]);
		assert_int_equal(metrics_text_finish(&is), 0);
		assert_string_equal(is.text, expected.text);
	}
}

static void follow(Followed *f)
{
	for (MetricsFormat k = 0; k < _METRICS_FORMAT_MAX; k++)
		assert_int_equal(metrics_template_renew(&f->templates[k], f->metrics, k, FLAGS), 0);
	assert_same(f);
}

static void done(Followed *f)
{
	for (MetricsFormat k = 0; k < _METRICS_FORMAT_MAX; k++)
		metrics_template_free(f->templates[k]);
	metrics_free(f->metrics);
}

/* Which properties of an object have a value. */
enum {
	LID = 1 << 0,
	STATE = 1 << 1,
	FINDING = 1 << 2,
	UNAVAILABLE = 1 << 3,
	FIRMWARE = 1 << 4,
};

/* Reads the object at PATH, which has the values of MASK. */
static void read_object(Metrics *metrics, const char *path, unsigned int device, unsigned int mask)
{
	bool is_port = strstr(path, "port");
	sd_bus_message *m = message_new();
	char name[16];
	int r = sd_bus_message_open_container(m, 'a', "{sv}");

	snprintf(name, sizeof(name), "mlx5_%u", device);
	if (r >= 0)
		r = sd_bus_message_append(m, "{sv}", is_port ? "DeviceName" : "Name", "s", name);
	if (r >= 0 && is_port && mask & LID)
		r = sd_bus_message_append(m, "{sv}", "Lid", "u", 10 + mask);
	if (r >= 0 && is_port && mask & STATE)
		r = sd_bus_message_append(m, "{sv}", "State", "s", "active");
	if (r >= 0 && mask & FINDING)
		r = sd_bus_message_append(m, "{sv}", "Findings", "a(sssa{sv})", 1, "flap",
					  "warning", "", 0);
	if (r >= 0 && mask & UNAVAILABLE)
		r = sd_bus_message_append(m, "{sv}", "Unavailable", "a{ss}", 1,
					  is_port ? "SmLid" : "BoardId", "not-reported");
	if (r >= 0 && !is_port && mask & FIRMWARE)
		r = sd_bus_message_append(m, "{sv}", "FirmwareVersion", "s", "1.2.3");
	if (r >= 0)
		r = sd_bus_message_close_container(m);
	assert_true(r >= 0);
	message_seal(m);
	assert_int_equal(metrics_read_object(metrics, path, m), 0);
	sd_bus_message_unref(m);
}

static void read_machine(Metrics *metrics, bool finding)
{
	sd_bus_message *m = message_new();

	assert_true((finding ? sd_bus_message_append(m, "v", "a(sssa{sv})", 1, "count", "warning",
						     "", 0)
			     : sd_bus_message_append(m, "v", "a(sssa{sv})", 0)) >= 0);
	message_seal(m);
	assert_int_equal(metrics_read_machine(metrics, m), 0);
	sd_bus_message_unref(m);
}

/* Change number N, of one object. */
static void change(Metrics *metrics, unsigned int n)
{
	unsigned int device = n % DEVICES, port = n / DEVICES % (PORTS + 1), mask = n * 7 % 32;
	char path[64];

	if (n % 11 == 0) {
		read_machine(metrics, n % 2);
		return;
	}
	if (port == 0)
		snprintf(path, sizeof(path), "/org/rdma/device/%u", device);
	else
		snprintf(path, sizeof(path), "/org/rdma/device/%u/port/%u", device, port);
	read_object(metrics, path, device, mask);
}

/* Families come with the first object that has a value and go with the last, and what an object
 * has stands between what others have. */
static void test_one_after_another(_unused_ void **state)
{
	Followed f = {.metrics = machine()};

	follow(&f);
	for (unsigned int n = 0; n < 500; n++) {
		change(f.metrics, n);
		follow(&f);
	}
	done(&f);
}

/* Several objects change before somebody looks. */
static void test_together(_unused_ void **state)
{
	Followed f = {.metrics = machine()};

	follow(&f);
	for (unsigned int n = 0; n < 500; n++) {
		change(f.metrics, n * 5);
		if (n % 4 == 0)
			follow(&f);
	}
	done(&f);
}

/* All objects lose all that they have. */
static void test_nothing_left(_unused_ void **state)
{
	Followed f = {.metrics = machine()};

	for (unsigned int mask = 32; mask-- > 0;)
		for (unsigned int d = 0; d < DEVICES; d++) {
			char path[64];

			snprintf(path, sizeof(path), "/org/rdma/device/%u/port/2", d);
			read_object(f.metrics, path, d, mask);
			follow(&f);
		}
	done(&f);
}

static bool is_first(_unused_ void *userdata, const char *path)
{
	return strstr(path, "/device/0") != NULL;
}

/* Another machine, none, and one with fewer objects. */
static void test_another_machine(_unused_ void **state)
{
	Followed f = {.metrics = machine()};
	Metrics *first = f.metrics;

	change(f.metrics, 1);
	follow(&f);
	f.metrics = machine();
	follow(&f);
	change(f.metrics, 4);
	follow(&f);
	metrics_keep(f.metrics, is_first, NULL);
	follow(&f);
	metrics_free(f.metrics);
	f.metrics = NULL;
	follow(&f);
	f.metrics = first;
	follow(&f);
	done(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_after_another),
		cmocka_unit_test(test_together),
		cmocka_unit_test(test_nothing_left),
		cmocka_unit_test(test_another_machine),
	};

	return cmocka_run_group_tests_name("template", tests, NULL, NULL);
}
