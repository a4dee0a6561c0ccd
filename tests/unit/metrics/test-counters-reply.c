/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is wrong with ports and devices. The reply to GetCounters(), in which ports share sets or
 * have their own: what both say is the same metrics; and templates, which are for replies that
 * differ only by values. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "message.h"
#include "metrics.h"

#define PORT(n) "/org/rdma/device/0/port/" #n
#define ALL	COUNTERS_OF_PORTS
#define SETS	"a(asasasa{sv})"
#define PORTS	"a(ouattta{sv})"

/* A machine with two ports. */
static Metrics *machine(void)
{
	Metrics *metrics = metrics_new();
	sd_bus_message *m = message_new();

	assert_non_null(metrics);
	assert_true(sd_bus_message_append(m, "a{oa{sa{sv}}}", 2, PORT(1), 1, "org.rdma.Port", 1,
					  "DeviceName", "s", "mlx5_0", PORT(2), 1, "org.rdma.Port",
					  1, "DeviceName", "s", "mlx5_0") >= 0);
	message_seal(m);
	assert_true(metrics_read_objects(metrics, m) >= 0);
	sd_bus_message_unref(m);
	return metrics;
}

static int read_reply(Metrics *metrics, sd_bus_message *m)
{
	int r;

	message_seal(m);
	r = metrics_read_counters(metrics, m);
	sd_bus_message_unref(m);
	return MIN(r, 0);
}

static char *render(const Metrics *m, MetricsFormat format)
{
	MetricsText t = {.format = format};

	metrics_text_add(&t, m, METRICS_UNAVAILABLE);
	assert_int_equal(metrics_text_finish(&t), 0);
	return t.text;
}

/* What is wrong with a port and its device: one sample for each check, however many things it has
 * found, and none for what is a part of another finding. */
static void test_findings(void **state)
{
	static const char expected[] =
		"# TYPE rdma_finding gauge\n"
		"rdma_finding{device=\"mlx5_0\",port=\"1\",check=\"expectation\","
		"severity=\"critical\",condition=\"config\"} 2\n"
		"rdma_finding{device=\"mlx5_0\",port=\"1\",check=\"flap\","
		"severity=\"warning\"} 1\n"
		"rdma_finding{device=\"mlx5_0\",check=\"pcie-slow\","
		"severity=\"warning\",condition=\"device\"} 1\n";
	_cleanup_free_ char *text = NULL;
	Metrics *metrics = metrics_new();
	sd_bus_message *m = message_new();

	(void)state;
	assert_non_null(metrics);
	assert_true(sd_bus_message_append(
			    m, "a{oa{sa{sv}}}", 2, PORT(1), 1, "org.rdma.Port", 2, "DeviceName",
			    "s", "mlx5_0", "Findings", "a(sssa{sv})", 4, "expectation", "critical",
			    "Lid is 1, expected 2", 2, "Since", "t", UINT64_C(7), "Condition", "s",
			    "config", "flap", "warning", "twice", 0, "expectation", "critical",
			    "Rate is 1", 1, "Condition", "s", "config", "slow", "warning", "HDR", 2,
			    "Condition", "s", "link", "Cause", "s", "expectation",
			    "/org/rdma/device/0", 1, "org.rdma.Device", 2, "Name", "s", "mlx5_0",
			    "Findings", "a(sssa{sv})", 1, "pcie-slow", "warning", "slow", 1,
			    "Condition", "s", "device") >= 0);
	message_seal(m);
	assert_true(metrics_read_objects(metrics, m) >= 0);
	sd_bus_message_unref(m);
	text = render(metrics, METRICS_PROMETHEUS);
	assert_non_null(strstr(text, expected));
	assert_non_null(strstr(text, "rdma_port_findings{device=\"mlx5_0\",port=\"1\"} 4\n"));
	metrics_free(metrics);
}

/* Replies */

static sd_bus_message *all_reply(void)
{
	sd_bus_message *m = message_new();

	assert_true(sd_bus_message_append(
			    m, ALL, 3, PORT(1), 5, /* the first port */
			    "counters", "port_xmit_bytes", UINT64_C(400), "bytes", "valid", "", 0,
			    "counters", "symbol_error", UINT64_C(65535), "events", "saturated", "",
			    0, "counters", "VL15_dropped", UINT64_C(0), "packets", "missing",
			    "not-reported", 0, "hw_counters", "driver's own", UINT64_MAX, "unknown",
			    "valid", "", 0, "later_group", "x", UINT64_C(1), "unknown", "valid", "",
			    0, UINT64_C(5), UINT64_C(6), 0, PORT(2), 0, /* the second */
			    UINT64_C(0), UINT64_C(0), 2, "Error", "s", "firmware-timeout",
			    "ErrorMessage", "s", "hangs", PORT(9), 1, /* one that is not shown */
			    "counters", "symbol_error", UINT64_C(9), "events", "valid", "", 0,
			    UINT64_C(5), UINT64_C(6), 0) >= 0);
	return message_counter_values(m);
}

static sd_bus_message *values_reply(void)
{
	sd_bus_message *m = message_new();

	assert_true(sd_bus_message_append(m, SETS, 2,			    /* the first set */
					  1, "counters", 1, "symbol_error", /* the second */
					  1, "events", 0, 5, "counters", "counters", "counters",
					  "hw_counters", "later_group", 5, "port_xmit_bytes",
					  "symbol_error", "VL15_dropped", "driver's own", "x", 5,
					  "bytes", "events", "packets", "unknown", "unknown",
					  0) >= 0);
	assert_true(sd_bus_message_append(
			    m, PORTS, 3, PORT(1), 1, 5, UINT64_C(400), UINT64_C(65535), UINT64_C(0),
			    UINT64_MAX, UINT64_C(1), UINT64_C(5), UINT64_C(6), 3, "Saturated", "au",
			    1, 1, "Later", "t", UINT64_C(3), "Missing", "a{us}", 1, 2,
			    "not-reported", PORT(2), 0, 0, UINT64_C(0), UINT64_C(0), 2, "Error",
			    "s", "firmware-timeout", "ErrorMessage", "s", "hangs", PORT(9), 0, 1,
			    UINT64_C(9), UINT64_C(5), UINT64_C(6), 0) >= 0);
	return m;
}

static void test_same(_unused_ void **state)
{
	for (MetricsFormat f = 0; f < _METRICS_FORMAT_MAX; f++) {
		Metrics *all = machine(), *values = machine();
		_cleanup_free_ char *expected = NULL, *is = NULL;

		assert_int_equal(read_reply(all, all_reply()), 0);
		assert_int_equal(read_reply(values, values_reply()), 0);
		expected = render(all, f);
		is = render(values, f);
		assert_string_equal(is, expected);
		assert_non_null(strstr(is, "rdma_port_saturated{"));
		assert_non_null(strstr(is, "rdma_port_hw_driver_s_own{"));
		assert_null(strstr(is, "vl15_dropped"));
		metrics_free(all);
		metrics_free(values);
	}
}

/* What port N has: whether its counters could be read, -1 if nothing is said of that; and whether
 * it has the counter symbol_error. */
static void assert_port(const Metrics *m, unsigned int n, int available, bool has_counter)
{
	_cleanup_free_ char *text = render(m, METRICS_PROMETHEUS);
	char line[128];

	for (int i = 0; i < 2; i++) {
		snprintf(line, sizeof(line),
			 "\nrdma_port_counters_available{device=\"mlx5_0\",port=\"%u\"} %i\n", n,
			 i);
		assert_int_equal(strstr(text, line) != NULL, available == i);
	}
	snprintf(line, sizeof(line),
		 "\nrdma_port_symbol_error_total{device=\"mlx5_0\",port=\"%u\"} ", n);
	assert_int_equal(strstr(text, line) != NULL, has_counter);
}

/* A reply says of each port whether it could be read, and nothing of an earlier one stays. */
static void test_available(_unused_ void **state)
{
	sd_bus_message *(*const replies[])(void) = {all_reply, values_reply};

	for (size_t i = 0; i < ARRAY_SIZE(replies); i++) {
		Metrics *m = machine();
		sd_bus_message *none = message_new();

		assert_port(m, 1, -1, false);
		assert_int_equal(read_reply(m, replies[i]()), 0);
		assert_port(m, 1, 1, true);
		assert_port(m, 2, 0, false);
		/* no port answers */
		assert_true(sd_bus_message_append(none, SETS PORTS, 0, 0) >= 0);
		assert_int_equal(read_reply(m, none), 0);
		assert_port(m, 1, 0, false);
		assert_port(m, 2, 0, false);
		assert_int_equal(read_reply(m, replies[i]()), 0);
		assert_port(m, 1, 1, true);
		metrics_free(m);
	}
}

/* Replies that no rdmad sends. */

/* One set of N_GROUPS and N_NAMES, and one port with set SET and N_VALUES; KEY is about counter I.
 */
static void assert_bad(int n_groups, int n_names, unsigned int set, int n_values, const char *key,
		       unsigned int i)
{
	static const char *const groups[] = {"counters", "counters", "counters", NULL};
	static const char *const names[] = {"symbol_error", "link_downed", "VL15_dropped", NULL};
	static const uint64_t values[3];
	Metrics *metrics = machine();
	sd_bus_message *m = message_new();

	assert_true(sd_bus_message_open_container(m, 'a', "(asasasa{sv})") >= 0);
	assert_true(sd_bus_message_open_container(m, 'r', "asasasa{sv}") >= 0);
	assert_true(sd_bus_message_append_strv(m, CONST_CAST(char **, groups + 3 - n_groups)) >= 0);
	assert_true(sd_bus_message_append_strv(m, CONST_CAST(char **, names + 3 - n_names)) >= 0);
	assert_true(sd_bus_message_append(m, "asa{sv}", 0, 0) >= 0);
	assert_true(sd_bus_message_close_container(m) >= 0);
	assert_true(sd_bus_message_close_container(m) >= 0);
	assert_true(sd_bus_message_open_container(m, 'a', "(ouattta{sv})") >= 0);
	assert_true(sd_bus_message_open_container(m, 'r', "ouattta{sv}") >= 0);
	assert_true(sd_bus_message_append(m, "ou", PORT(1), set) >= 0);
	assert_true(sd_bus_message_append_array(m, 't', values,
						(size_t)n_values * sizeof(values[0])) >= 0);
	assert_true(sd_bus_message_append(m, "tt", UINT64_C(1), UINT64_C(1)) >= 0);
	if (streq(key, "Missing"))
		assert_true(sd_bus_message_append(m, "a{sv}", 1, key, "a{us}", 1, i, "x") >= 0);
	else
		assert_true(sd_bus_message_append(m, "a{sv}", 1, key, "au", 1, i) >= 0);
	assert_true(sd_bus_message_close_container(m) >= 0);
	assert_true(sd_bus_message_close_container(m) >= 0);
	assert_int_equal(read_reply(metrics, m), -EBADMSG);
	metrics_free(metrics);
}

static void test_bad(_unused_ void **state)
{
	assert_bad(3, 2, 0, 2, "Saturated", 0); /* fewer names than groups */
	assert_bad(2, 3, 0, 2, "Saturated", 0);
	assert_bad(2, 2, 1, 2, "Saturated", 0); /* no such set */
	assert_bad(2, 2, UINT32_MAX, 2, "Saturated", 0);
	assert_bad(2, 2, 0, 1, "Saturated", 0); /* not as many values as counters */
	assert_bad(2, 2, 0, 3, "Saturated", 0);
	assert_bad(2, 2, 0, 2, "Saturated", 2); /* no such value */
	assert_bad(2, 2, 0, 2, "Missing", 2);
	assert_bad(2, 2, 7, 0, "Missing", 0); /* a port without values */
}

/* Templates */

/* A reply about the first port: these counters of hw_counters/ with VALUE and the next numbers. */
static sd_bus_message *hardware_reply(uint64_t value, const char *conditions[3],
				      const char *foreign)
{
	static const char *const names[] = {"out_of_buffer", "rx_write_requests"};
	sd_bus_message *m = message_new();

	assert_true(sd_bus_message_open_container(m, 'a', "(oa(sstsssa{sv})tta{sv})") >= 0);
	assert_true(sd_bus_message_open_container(m, 'r', "oa(sstsssa{sv})tta{sv}") >= 0);
	assert_true(sd_bus_message_append(m, "o", PORT(1)) >= 0);
	assert_true(sd_bus_message_open_container(m, 'a', "(sstsssa{sv})") >= 0);
	for (size_t i = 0; i < 2; i++)
		assert_true(sd_bus_message_append(m, "(sstsssa{sv})", "hw_counters", names[i],
						  value + i, "packets", conditions[i], "", 0) >= 0);
	for (size_t i = 0; i < 2; i++) {
		char name[32];

		snprintf(name, sizeof(name), "%s%zu", foreign, i);
		assert_true(sd_bus_message_append(m, "(sstsssa{sv})", "hw_counters", name,
						  value + 2 + i, "unknown", conditions[2], "",
						  0) >= 0);
	}
	assert_true(sd_bus_message_close_container(m) >= 0);
	assert_true(sd_bus_message_append(m, "tta{sv}", UINT64_C(1), UINT64_C(1), 0) >= 0);
	assert_true(sd_bus_message_close_container(m) >= 0);
	assert_true(sd_bus_message_close_container(m) >= 0);
	return message_counter_values(m);
}

/* A reply about both ports, the second one first. A port has so many counters of the driver's own;
 * if that is negative, it could not be read. */
static sd_bus_message *ports_reply(int n_first, int n_second)
{
	static const char *const paths[] = {PORT(2), PORT(1)};
	const int n[] = {n_second, n_first};
	sd_bus_message *m = message_new();

	assert_true(sd_bus_message_open_container(m, 'a', "(oa(sstsssa{sv})tta{sv})") >= 0);
	for (size_t i = 0; i < 2; i++) {
		assert_true(sd_bus_message_open_container(m, 'r', "oa(sstsssa{sv})tta{sv}") >= 0);
		assert_true(sd_bus_message_append(m, "o", paths[i]) >= 0);
		assert_true(sd_bus_message_open_container(m, 'a', "(sstsssa{sv})") >= 0);
		for (int k = 0; k < n[i]; k++)
			assert_true(sd_bus_message_append(m, "(sstsssa{sv})", "hw_counters", "own",
							  UINT64_C(5), "unknown", "valid", "",
							  0) >= 0);
		assert_true(sd_bus_message_close_container(m) >= 0);
		assert_true(sd_bus_message_append(m, "tt", UINT64_C(1), UINT64_C(1)) >= 0);
		assert_true((n[i] < 0 ? sd_bus_message_append(m, "a{sv}", 1, "Error", "s", "x")
				      : sd_bus_message_append(m, "a{sv}", 0)) >= 0);
		assert_true(sd_bus_message_close_container(m) >= 0);
	}
	assert_true(sd_bus_message_close_container(m) >= 0);
	return message_counter_values(m);
}

/* The samples of a family are in the order of the ports. */
static void test_order(_unused_ void **state)
{
	_cleanup_free_ char *text = NULL;
	Metrics *m = machine();
	const char *first, *second;

	assert_int_equal(read_reply(m, ports_reply(1, 1)), 0);
	text = render(m, METRICS_PROMETHEUS);
	first = strstr(text, "\nrdma_port_hw_own{device=\"mlx5_0\",port=\"1\"} 5\n");
	second = strstr(text, "\nrdma_port_hw_own{device=\"mlx5_0\",port=\"2\"} 5\n");
	assert_true(first && second && first < second);
	metrics_free(m);
}

/* A machine, and the template of each format for its last layout. */
typedef struct Shown {
	Metrics *metrics;
	MetricsTemplate *templates[_METRICS_FORMAT_MAX];
} Shown;

static void renew_templates(Shown *s)
{
	for (MetricsFormat f = 0; f < _METRICS_FORMAT_MAX; f++)
		assert_int_equal(metrics_template_renew(&s->templates[f], s->metrics, f,
							METRICS_UNAVAILABLE),
				 0);
}

/* The templates give what a visit gives. */
static void assert_shown(const Shown *s)
{
	for (MetricsFormat f = 0; f < _METRICS_FORMAT_MAX; f++) {
		_cleanup_free_ char *expected = render(s->metrics, f);
		_cleanup_metrics_text_ MetricsText t = {.format = f};

		metrics_text_add_template(&t, s->templates[f]);
		assert_int_equal(metrics_text_finish(&t), 0);
		assert_string_equal(t.text, expected);
	}
}

/* Reads M, which changes the layout only if CHANGES. */
static void show(Shown *s, sd_bus_message *m, bool changes)
{
	uint64_t layout = metrics_layout(s->metrics);

	assert_int_equal(read_reply(s->metrics, m), 0);
	assert_int_equal(metrics_layout(s->metrics) != layout, changes);
	if (changes)
		renew_templates(s);
	assert_shown(s);
}

static void test_templates(_unused_ void **state)
{
	const char *valid[] = {"valid", "valid", "valid"};
	const char *missing[] = {"valid", "missing", "valid"};
	const char *saturated[] = {"valid", "saturated", "valid"};
	const char *no_foreign[] = {"valid", "valid", "missing"};
	Shown s = {.metrics = machine()};

	renew_templates(&s);
	assert_shown(&s);
	show(&s, hardware_reply(7, valid, "own"), true);
	show(&s, hardware_reply(0, valid, "own"), false);
	show(&s, hardware_reply(UINT64_MAX - 3, valid, "own"), false);
	show(&s, hardware_reply(8, missing, "own"), true);
	show(&s, hardware_reply(9, missing, "own"), false);
	show(&s, hardware_reply(9, saturated, "own"), true);
	show(&s, hardware_reply(10, valid, "own"), true);
	show(&s, hardware_reply(11, valid, "other"), true);
	show(&s, hardware_reply(12, valid, "other"), false);
	show(&s, hardware_reply(13, no_foreign, "other"), true);
	show(&s, hardware_reply(14, valid, "other"), true);
	/* a reply without that port, one with an error, and the same with other sets */
	show(&s, all_reply(), true);
	show(&s, values_reply(), false);
	show(&s, all_reply(), false);
	show(&s, hardware_reply(15, valid, "own"), true);
	show(&s, hardware_reply(16, valid, "own"), false);
	/* both ports could be read, and what there is is on the one or the other */
	show(&s, ports_reply(1, 0), true);
	show(&s, ports_reply(1, 0), false);
	show(&s, ports_reply(0, 1), true);
	show(&s, ports_reply(1, 1), true);
	/* a port that has none could be read, or not */
	show(&s, ports_reply(1, 0), true);
	show(&s, ports_reply(1, -1), true);
	show(&s, ports_reply(1, -1), false);
	for (MetricsFormat f = 0; f < _METRICS_FORMAT_MAX; f++)
		metrics_template_free(s.templates[f]);
	metrics_free(s.metrics);
}

static void test_empty_template(_unused_ void **state)
{
	MetricsTemplate *template = NULL;
	MetricsText t = {.format = METRICS_OPENMETRICS};

	assert_int_equal(metrics_template_renew(&template, NULL, METRICS_OPENMETRICS, 0), 0);
	metrics_text_add_template(&t, template);
	assert_int_equal(metrics_text_finish(&t), 0);
	assert_string_equal(t.text, "# EOF\n");
	metrics_text_done(&t);
	metrics_template_free(template);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_findings),       cmocka_unit_test(test_same),
		cmocka_unit_test(test_available),      cmocka_unit_test(test_bad),
		cmocka_unit_test(test_order),	       cmocka_unit_test(test_templates),
		cmocka_unit_test(test_empty_template),
	};

	return cmocka_run_group_tests_name("counters-reply", tests, NULL, NULL);
}
