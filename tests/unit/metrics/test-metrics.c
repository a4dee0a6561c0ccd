/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names, numbers and texts of metrics, and replies that no rdmad of today sends. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */
#include <ctype.h>

#include "message.h"
#include "metrics.h"

#define PORT	 "/org/rdma/device/0/port/1"
#define DEVICE	 "/org/rdma/device/0"
#define OBJECTS	 "a{oa{sa{sv}}}"
#define COUNTERS COUNTERS_OF_PORTS

/* Messages */

static void read_message(sd_bus_message *m, int (*read)(Metrics *, sd_bus_message *),
			 Metrics *metrics, int expected)
{
	message_seal(m);
	assert_int_equal(MIN(read(metrics, m), 0), expected);
	sd_bus_message_unref(m);
}

/* A machine with one port, whose device has the name NAME. The properties that follow in SIGNATURE
 * are those of org.rdma.Port. */
static Metrics *machine(const char *name, sd_bus_message *(*add)(sd_bus_message *m))
{
	Metrics *metrics = metrics_new();
	sd_bus_message *m = message_new();

	assert_non_null(metrics);
	assert_true(sd_bus_message_open_container(m, 'a', "{oa{sa{sv}}}") >= 0);
	assert_true(sd_bus_message_append(m, "{oa{sa{sv}}}", DEVICE, 1, "org.rdma.Device", 1,
					  "Name", "s", name) >= 0);
	assert_true(sd_bus_message_open_container(m, 'e', "oa{sa{sv}}") >= 0);
	assert_true(sd_bus_message_append(m, "o", PORT) >= 0);
	assert_true(sd_bus_message_open_container(m, 'a', "{sa{sv}}") >= 0);
	assert_true(sd_bus_message_append(m, "{sa{sv}}", "org.rdma.Port", 1, "DeviceName", "s",
					  name) >= 0);
	if (add)
		m = add(m);
	assert_true(sd_bus_message_close_container(m) >= 0);
	assert_true(sd_bus_message_close_container(m) >= 0);
	assert_true(sd_bus_message_close_container(m) >= 0);
	read_message(m, metrics_read_objects, metrics, 0);
	return metrics;
}

/* The text of M, which the caller frees. */
static char *render(const Metrics *m, MetricsFormat format, unsigned int flags)
{
	MetricsText t = {.format = format};

	metrics_text_add(&t, m, flags);
	assert_int_equal(metrics_text_finish(&t), 0);
	assert_int_equal(strlen(t.text), t.size);
	return t.text;
}

static void expect(const Metrics *m, MetricsFormat format, unsigned int flags, const char *line,
		   bool there)
{
	char *text = render(m, format, flags);

	if ((strstr(text, line) != NULL) != there)
		fail_msg("%s is %sthere:\n%s", line, there ? "not " : "", text);
	free(text);
}

/* Numbers */

static void check_number(uint64_t value, uint32_t divisor, bool negative, const char *text)
{
	char buffer[METRIC_NUMBER_MAX];

	memset(buffer, 'x', sizeof(buffer));
	assert_string_equal(metric_number_format((MetricNumber){value, divisor, negative}, buffer),
			    text);
}

static void test_numbers(void **state)
{
	(void)state;
	check_number(0, 1, false, "0");
	check_number(7, 1, true, "-7");
	check_number(UINT64_MAX, 1, false, "18446744073709551615");
	check_number(9007199254740993, 1, false, "9007199254740993"); /* 2^53 + 1 */
	/* bits as bytes */
	check_number(UINT64_C(400000000000), 8, false, "50000000000");
	check_number(1, 8, false, "0.125");
	check_number(UINT64_MAX, 8, false, "2305843009213693951.875");
	check_number(12, 8, false, "1.5");
	/* microseconds as seconds */
	check_number(4096, 1000000, false, "0.004096");
	check_number(1, 1000000, false, "0.000001");
	check_number(1000000, 1000000, false, "1");
	check_number(1500000, 1000000, false, "1.5");
	check_number(1795403364720079, 1000000, false, "1795403364.720079");
	check_number(UINT64_MAX, 1000000, true, "-18446744073709.551615");
}

/* Names */

typedef struct Names {
	char names[256][METRIC_NAME_MAX];
	size_t n;
} Names;

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), n_end = strlen(end);

	return n > n_end && streq(text + n - n_end, end);
}

/* What promtool checks too, and what OpenMetrics wants. */
static int check_family(void *userdata, const MetricFamily *f)
{
	Names *n = userdata;
	char base[METRIC_NAME_MAX];

	for (const char *c = f->name; *c; c++)
		assert_true(islower((unsigned char)*c) || isdigit((unsigned char)*c) || *c == '_');
	assert_null(strstr(f->name, "__"));
	assert_null(strstr(f->name, "_counter_"));
	assert_null(strstr(f->name, "_gauge_"));
	for (size_t i = 0; i < n->n; i++)
		assert_string_not_equal(n->names[i], f->name);
	assert_int_equal(ends_with(f->name, "_total"), f->type == METRIC_TYPE_COUNTER);
	assert_int_equal(ends_with(f->name, "_info"), f->type == METRIC_TYPE_INFO);
	text_copy(base, sizeof(base), f->name);
	if (f->type == METRIC_TYPE_COUNTER)
		base[strlen(base) - strlen("_total")] = '\0';
	assert_false(ends_with(base, "_count") || ends_with(base, "_sum") ||
		     ends_with(base, "_bucket") || ends_with(base, "_created"));
	assert_true(!*f->unit || ends_with(base, f->unit));
	assert_true(strlen(f->help) > 10 && strchr(".", f->help[strlen(f->help) - 1]));
	assert_true(n->n < ARRAY_SIZE(n->names));
	text_copy(n->names[n->n++], METRIC_NAME_MAX, f->name);
	return 0;
}

static int fail_sample(_unused_ void *userdata, const MetricFamily *f,
		       _unused_ const MetricSample *s)
{
	fail_msg("%s has a sample", f->name);
	return 0;
}

static void test_families(void **state)
{
	static const MetricsVisitor visitor = {check_family, fail_sample};
	Names names = {};

	(void)state;
	/* a machine without devices has no families */
	assert_int_equal(metrics_visit(NULL, METRICS_UNAVAILABLE, &visitor, &names), 0);
	assert_int_equal(names.n, 0);
	assert_int_equal(
		metrics_visit(NULL, METRICS_UNAVAILABLE | METRICS_ALL_FAMILIES, &visitor, &names),
		0);
	assert_true(names.n > n_counter_rows + 40);
	names.n = 0;
	assert_int_equal(
		metrics_visit(NULL, METRICS_NODE_EXPORTER | METRICS_ALL_FAMILIES, &visitor, &names),
		0);
	assert_int_equal(names.n, 25); /* as many as version 1.5 has of a port with all counters */
}

static const Attribute *find_row(const Attribute *rows, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (streq(rows[i].name, name))
			return &rows[i];
	fail_msg("no row %s", name);
	return NULL;
}

static void check_name(const Attribute *row, const char *expected)
{
	char name[METRIC_NAME_MAX];

	assert_true(metric_row_name(row, name));
	assert_string_equal(name, expected);
}

static void test_names(void **state)
{
	const struct {
		const char *row, *name;
	} ports[] = {
		{"State", "rdma_port_state"},
		{"Rate", "rdma_port_rate_bytes_per_second"},
		{"ActiveMtu", "rdma_port_active_mtu_bytes"},
		{"LinkWidth", "rdma_port_link_width_lanes"},
		{"VirtualLanes", "rdma_port_virtual_lanes"},
		{"LinkDownCount", "rdma_port_link_down_total"},
		{"SubnetTimeoutUSec", "rdma_port_subnet_timeout_seconds"},
		{"LastQueryTimestamp", "rdma_port_last_query_timestamp_seconds"},
		{"GidTableLength", "rdma_port_gid_table_length_entries"},
		{"SmGeneration", "rdma_port_sm_generation_total"},
		{"Gids", "rdma_port_gids"},
		{"Stale", "rdma_port_stale"},
	};
	const CounterRow counters[] = {
		{.group = COUNTER_GROUP_PORT, .name = "port_xmit_bytes", .unit = COUNTER_BYTES},
		{.group = COUNTER_GROUP_PORT, .name = "VL15_dropped", .unit = COUNTER_PACKETS},
		{.group = COUNTER_GROUP_HARDWARE, .name = "port_x", .unit = COUNTER_EVENTS},
		{.group = COUNTER_GROUP_HARDWARE,
		 .name = "Rcv-Hdr.Ovr[0]\n",
		 .unit = COUNTER_UNKNOWN},
	};
	const char *const counter_names[] = {
		"rdma_port_xmit_bytes_total",
		"rdma_port_vl15_dropped_total",
		"rdma_port_hw_port_x_total",
		"rdma_port_hw_rcv_hdr_ovr_0__",
	};
	char name[METRIC_NAME_MAX];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(ports); i++)
		check_name(find_row(port_attributes, _PORT_ATTR_MAX, ports[i].row), ports[i].name);
	check_name(&device_attributes[DEVICE_ATTR_port_count], "rdma_device_ports");
	check_name(&device_attributes[DEVICE_ATTR_stale], "rdma_device_stale");
	assert_false(metric_row_name(&device_attributes[DEVICE_ATTR_fw_ver], name));
	metric_label_name(&device_attributes[DEVICE_ATTR_fw_ver], name);
	assert_string_equal(name, "firmware_version");
	for (size_t i = 0; i < ARRAY_SIZE(counters); i++) {
		metric_counter_name(counters[i].group, counters[i].name, counters[i].unit, name);
		assert_string_equal(name, counter_names[i]);
	}
}

/* What a row that is a metric must be. */
static void check_rows(const Attribute *rows, size_t n)
{
	size_t n_labels = 0;

	for (size_t i = 0; i < n; i++) {
		const Attribute *row = &rows[i];
		bool is_table = attr_table_entry_size(row->type) > 0;
		char first = attr_signature(row->type)[0];

		if (row->interface == INTERFACE_RAW)
			assert_int_equal(row->metric, METRIC_NONE);
		if (row->metric == METRIC_STATESET)
			assert_non_null(attr_type_names(row->type));
		if (row->metric == METRIC_COUNTER)
			assert_non_null(strchr("ut", first));
		if (row->metric == METRIC_GAUGE)
			assert_true(is_table || strchr("utib", first));
		if (row->metric == METRIC_INFO)
			assert_true(attr_is_list(row->type) || strchr("suti", first));
		n_labels += row->metric == METRIC_LABEL;
	}
	assert_int_equal(n_labels, rows == port_attributes ? 2 : 1);
	assert_int_equal(port_attributes[PORT_ATTR_device_name].metric, METRIC_LABEL);
	assert_int_equal(port_attributes[PORT_ATTR_port_num].metric, METRIC_LABEL);
	assert_int_equal(device_attributes[DEVICE_ATTR_name].metric, METRIC_LABEL);
}

static void test_rows(void **state)
{
	(void)state;
	check_rows(port_attributes, _PORT_ATTR_MAX);
	check_rows(device_attributes, _DEVICE_ATTR_MAX);
}

/* Texts */

/* Text has quotes and backslashes. A control character, which rdmad does not send, is replaced. */
static void test_escapes(void **state)
{
	Metrics *m = machine("a\"b\\c\nd", NULL);

	(void)state;
	expect(m, METRICS_PROMETHEUS, 0, "rdma_port_info{device=\"a\\\"b\\\\c?d\",port=\"1\"} 1\n",
	       true);
	expect(m, METRICS_OPENMETRICS, 0, "rdma_device_info{device=\"a\\\"b\\\\c?d\"} 1\n", true);
	metrics_free(m);
}

static void test_help(void **state)
{
	const MetricFamily f = {
		.name = "x_info", .type = METRIC_TYPE_INFO, .unit = "", .help = "a \"b\"\\\nc"};
	const MetricFamily c = {
		.name = "x_bytes_total", .type = METRIC_TYPE_COUNTER, .unit = "bytes", .help = "c"};
	MetricsText t = {.format = METRICS_PROMETHEUS};

	(void)state;
	metrics_text_family(&t, &f);
	metrics_text_family(&t, &c);
	assert_int_equal(metrics_text_finish(&t), 0);
	assert_string_equal(t.text, "# HELP x_info a \"b\"\\\\\\nc\n# TYPE x_info gauge\n"
				    "# HELP x_bytes_total c\n# TYPE x_bytes_total counter\n");
	metrics_text_done(&t);
	t.format = METRICS_OPENMETRICS;
	metrics_text_family(&t, &f);
	metrics_text_family(&t, &c);
	metrics_text_sample(&t, &c, &(MetricSample){.number = {1, 8, false}});
	assert_int_equal(metrics_text_finish(&t), 0);
	assert_string_equal(t.text, "# HELP x a \\\"b\\\"\\\\\\nc\n# TYPE x info\n"
				    "# HELP x_bytes c\n# TYPE x_bytes counter\n"
				    "# UNIT x_bytes bytes\nx_bytes_total 0.125\n# EOF\n");
	metrics_text_done(&t);
	assert_null(t.text);
}

/* Replies */

static sd_bus_message *add_strange(sd_bus_message *m)
{
	/* interfaces and properties of a later rdmad, values of other types, and "Unavailable"
	 * before what it is about */
	assert_true(sd_bus_message_append(m, "{sa{sv}}", "org.rdma.Port.Future", 1, "Rate", "t",
					  UINT64_C(5)) >= 0);
	assert_true(sd_bus_message_append(m, "{sa{sv}}", "org.rdma.Port", 8, "Unavailable", "a{ss}",
					  2, "Rate", "link-down", "Lid", "a-new-reason", "Rate",
					  "t", UINT64_C(8), "Future", "(uu)", 1, 2, "LinkWidth",
					  "d", 4.0, "ActiveMtu", "t", UINT64_C(4096), "State", "s",
					  "unknown(9)", "Stale", "b", true, "PhysicalState", "s",
					  "link-up") >= 0);
	assert_true(sd_bus_message_append(m, "{sa{sv}}", "org.rdma.Port.InfiniBand", 2, "Lid", "u",
					  7, "SmLid", "i", -3) >= 0);
	return m;
}

static void test_strange_values(void **state)
{
	Metrics *m = machine("mlx5_0", add_strange);

	(void)state;
	expect(m, METRICS_PROMETHEUS, 0, "rate", false);
	expect(m, METRICS_PROMETHEUS, 0, "rdma_port_lid", false);
	expect(m, METRICS_PROMETHEUS, 0, "width", false);
	expect(m, METRICS_PROMETHEUS, 0,
	       "rdma_port_active_mtu_bytes{device=\"mlx5_0\",port=\"1\"} 4096\n", true);
	expect(m, METRICS_PROMETHEUS, 0, "rdma_port_sm_lid{device=\"mlx5_0\",port=\"1\"} -3\n",
	       true);
	expect(m, METRICS_PROMETHEUS, 0,
	       "rdma_port_state{device=\"mlx5_0\",port=\"1\",state=\"unknown(9)\"} 1\n", true);
	expect(m, METRICS_PROMETHEUS, 0,
	       "rdma_port_state{device=\"mlx5_0\",port=\"1\",state=\"active\"} 0\n", true);
	expect(m, METRICS_PROMETHEUS, 0,
	       "rdma_port_physical_state{device=\"mlx5_0\",port=\"1\",state=\"link-up\"} 1\n",
	       true);
	expect(m, METRICS_PROMETHEUS, 0, "rdma_port_stale{device=\"mlx5_0\",port=\"1\"} 1\n", true);
	expect(m, METRICS_PROMETHEUS, METRICS_UNAVAILABLE,
	       "rdma_port_unavailable{device=\"mlx5_0\",port=\"1\",attribute=\"Lid\",reason=\"a-"
	       "new-reason\"} 1\n",
	       true);
	expect(m, METRICS_PROMETHEUS, METRICS_NODE_EXPORTER, "node_infiniband_state_id", false);
	expect(m, METRICS_PROMETHEUS, METRICS_NODE_EXPORTER,
	       "node_infiniband_physical_state_id{device=\"mlx5_0\",port=\"1\"} 5\n", true);
	metrics_free(m);
}

static sd_bus_message *add_other_type(sd_bus_message *m)
{
	assert_true(sd_bus_message_append(m, "{sa{sv}}", "org.rdma.Port", 2, "Unavailable", "as", 1,
					  "Rate", "Rate", "t", UINT64_C(8)) >= 0);
	return m;
}

/* "Unavailable" of a type that nobody has thought of */
static void test_other_type(void **state)
{
	Metrics *m = machine("mlx5_0", add_other_type);

	(void)state;
	expect(m, METRICS_PROMETHEUS, METRICS_UNAVAILABLE,
	       "rdma_port_rate_bytes_per_second{device=\"mlx5_0\",port=\"1\"} 1\n", true);
	metrics_free(m);
}

/* Units */

/* The only attribute of the port, and its value. */
static const Attribute *only;
static const uint64_t big = UINT64_C(1795601478369917);
static const uint32_t small = 1234567;

static sd_bus_message *add_only(sd_bus_message *m)
{
	const char *type = attr_signature(only->type);
	int r = sd_bus_message_open_container(m, 'e', "sa{sv}");

	if (r >= 0)
		r = sd_bus_message_append(m, "s", attr_interface_name(only->interface));
	if (r >= 0)
		r = streq(type, "t") ? sd_bus_message_append(m, "a{sv}", 1, only->name, type, big)
		    : streq(type, "b")
			    ? sd_bus_message_append(m, "a{sv}", 1, only->name, type, 1)
			    : sd_bus_message_append(m, "a{sv}", 1, only->name, type, small);
	if (r >= 0)
		r = sd_bus_message_close_container(m);
	assert_true(r >= 0);
	return m;
}

/* What ROW is in the base unit of its metric: seconds and bytes. */
static const char *in_base_unit(const Attribute *row)
{
	static const char *const units[_UNIT_MAX][2] = {
		[UNIT_NONE] = {"1234567", "1795601478369917"},
		[UNIT_USEC] = {"1.234567", "1795601478.369917"},
		[UNIT_BITS_PER_S] = {"154320.875", "224450184796239.625"},
		[UNIT_MILLIBELS] = {"12345.67", NULL},
		[UNIT_MILLIDECADES] = {"1234.567", NULL},
		[UNIT_PER_EXABIT] = {NULL, "0.001795601478369917"},
	};
	bool is_usec = row->unit == UNIT_TIMESTAMP || row->unit == UNIT_MICROVOLTS;
	const char *const *texts = units[is_usec ? UNIT_USEC : row->unit];

	if (row->type == ATTR_BOOL)
		return "1";
	return (texts[0] || texts[1] ? texts
				     : units[UNIT_NONE])[streq(attr_signature(row->type), "t")];
}

/* The number of each row that is a metric. */
static void test_units(_unused_ void **state)
{
	unsigned int n[_UNIT_MAX] = {};
	char name[METRIC_NAME_MAX], line[256];

	for (PortAttr i = 0; i < _PORT_ATTR_MAX; i++) {
		Metrics *m;

		only = &port_attributes[i];
		if ((only->metric != METRIC_GAUGE && only->metric != METRIC_COUNTER) ||
		    !strchr("utib", attr_signature(only->type)[0]))
			continue;
		m = machine("mlx5_0", add_only);
		assert_true(metric_row_name(only, name));
		snprintf(line, sizeof(line), "\n%s{device=\"mlx5_0\",port=\"1\"} %s\n", name,
			 in_base_unit(only));
		expect(m, METRICS_PROMETHEUS, 0, line, true);
		expect(m, METRICS_OPENMETRICS, 0, line, true);
		metrics_free(m);
		n[only->unit]++;
	}
	assert_true(n[UNIT_NONE] > 0 && n[UNIT_BYTES] > 0 && n[UNIT_BITS_PER_S] > 0);
	assert_true(n[UNIT_USEC] > 0 && n[UNIT_TIMESTAMP] > 1);
	assert_true(n[UNIT_MICROVOLTS] > 0 && n[UNIT_MILLIBELS] > 1);
}

/* Lists */

#define LISTS 4, "PfcEnabled", "au", 2, 3, 4, "PriorityTrust", "as", 2, "dscp", "pcp"

static sd_bus_message *add_lists(sd_bus_message *m)
{
	assert_true(sd_bus_message_append(m, "{sa{sv}}", "org.rdma.Port.Ethernet", LISTS,
					  "EcnReactionPoint", "au", 0, "EcnNotificationPoint", "s",
					  "another type") >= 0);
	return m;
}

/* The reason comes after the value. */
static sd_bus_message *add_lists_without_value(sd_bus_message *m)
{
	assert_true(sd_bus_message_append(m, "{sa{sv}}", "org.rdma.Port.Ethernet", LISTS,
					  "EcnReactionPoint", "au", 0, "PfcEnabled", "au", 1,
					  5) >= 0);
	assert_true(sd_bus_message_append(m, "{sa{sv}}", "org.rdma.Port", 1, "Unavailable", "a{ss}",
					  2, "PriorityTrust", "not-reported", "EcnReactionPoint",
					  "not-reported") >= 0);
	return m;
}

/* And before it. */
static sd_bus_message *add_reason_first(sd_bus_message *m)
{
	assert_true(sd_bus_message_append(m, "{sa{sv}}", "org.rdma.Port", 1, "Unavailable", "a{ss}",
					  1, "PfcEnabled", "not-reported") >= 0);
	assert_true(sd_bus_message_append(m, "{sa{sv}}", "org.rdma.Port.Ethernet", 1, "PfcEnabled",
					  "au", 1, 5) >= 0);
	return m;
}

static void test_lists(_unused_ void **state)
{
	static const struct {
		sd_bus_message *(*add)(sd_bus_message *m);
		const char *labels;
	} cases[] = {
		{add_lists, ",pfc_enabled=\"3,4\",priority_trust=\"dscp,pcp\","
			    "ecn_notification_point=\"another type\",ecn_reaction_point=\"none\""},
		{add_lists_without_value, ",pfc_enabled=\"5\""},
		{add_reason_first, ""},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		Metrics *m = machine("mlx5_0", cases[i].add);
		char line[256];

		snprintf(line, sizeof(line), "rdma_port_info{device=\"mlx5_0\",port=\"1\"%s} 1\n",
			 cases[i].labels);
		expect(m, METRICS_PROMETHEUS, 0, line, true);
		metrics_free(m);
	}
}

/* Other objects, none, and messages that are none of these. */
static void test_strange_objects(void **state)
{
	Metrics *metrics = metrics_new();
	sd_bus_message *m = message_new();
	char *text;

	(void)state;
	assert_true(sd_bus_message_append(m, OBJECTS, 4, "/org/rdma", 1, "org.rdma.Device", 0,
					  "/org/rdma/device/7/port/1/more", 1, "org.rdma.Port", 1,
					  "DeviceName", "s", "no", "/org/rdma/device/8", 0,
					  "/org/rdma/device/9/port/1", 1, "org.rdma.Port", 1,
					  "DeviceName", "s", "") >= 0);
	read_message(m, metrics_read_objects, metrics, 0);
	text = render(metrics, METRICS_OPENMETRICS, METRICS_UNAVAILABLE);
	assert_string_equal(text, "# EOF\n");
	free(text);

	/* a second reply */
	m = message_new();
	assert_true(sd_bus_message_append(m, OBJECTS, 0) >= 0);
	read_message(m, metrics_read_objects, metrics, -EINVAL);
	metrics_free(metrics);

	metrics = metrics_new();
	m = message_new();
	assert_true(sd_bus_message_append(m, "u", 1) >= 0);
	read_message(m, metrics_read_objects, metrics, -ENXIO);
	metrics_free(metrics);
	assert_null(metrics_free(NULL));
}

/* Two devices with the same name: two samples with the same labels would cost all of them. */
static void test_same_names(void **state)
{
	Metrics *metrics = metrics_new();
	sd_bus_message *m = message_new();
	char *text;

	(void)state;
	assert_true(sd_bus_message_append(m, OBJECTS, 3, "/org/rdma/device/9", 1, "org.rdma.Device",
					  2, "Name", "s", "a?", "PortCount", "u", 9,
					  "/org/rdma/device/8", 1, "org.rdma.Device", 1, "Name",
					  "s", "b", "/org/rdma/device/7", 1, "org.rdma.Device", 2,
					  "Name", "s", "a?", "PortCount", "u", 7) >= 0);
	read_message(m, metrics_read_objects, metrics, 0);
	text = render(metrics, METRICS_PROMETHEUS, 0);
	assert_non_null(strstr(text, "rdma_device_info{device=\"b\"} 1\n"));
	assert_non_null(strstr(text, "rdma_device_info{device=\"a?\"} 1\n"));
	/* the one with the lower index */
	assert_non_null(strstr(text, "rdma_device_ports{device=\"a?\"} 7\n"));
	assert_null(strstr(strstr(text, "rdma_device_info{device=\"a?\"}") + 1,
			   "rdma_device_info{device=\"a?\"}"));
	free(text);
	metrics_free(metrics);
}

/* Counters: saturated, missing, without a row, with names that cannot be, of a port that is not
 * there, and of one whose counters could not be read. */
static void test_counters(void **state)
{
	static const char *const absent[] = {
		"rcv_bytes",
		"future_group",
		"device=\"mlx5_9\"",
		"rdma_port_hw_gone",
		"rdma_port_state{device=\"mlx5_0\",port=\"1\"} 1",
		"} 77\n",
		"} 78\n",
	};
	Metrics *metrics = machine("mlx5_0", NULL);
	sd_bus_message *m = message_new();

#define COUNTER(group, name, value, condition)                                                     \
	group, name, UINT64_C(value), "packets", condition, "", 0
	(void)state;
	assert_true(
		sd_bus_message_append(
			m, COUNTERS, 2, PORT, 10,
			COUNTER("hw_counters", "strange-name", 18446744073709551615, "valid"),
			COUNTER("counters", "symbol_error", 65535, "saturated"),
			COUNTER("counters", "port_rcv_bytes", 0, "missing"),
			COUNTER("counters", "port_xmit_bytes", 9007199254740993, "valid"),
			COUNTER("hw_counters", "strange.name", 77, "valid"), /* the same metric */
			COUNTER("hw_counters", "gone", 0, "missing"),
			COUNTER("counters", "state", 1, "valid"), /* a metric of an attribute */
			COUNTER("counters", "Symbol_error", 78, "valid"),
			COUNTER("future_group", "future_group", 4, "valid"),
			COUNTER("hw_counters", "out_of_buffer", 5, "later"), UINT64_C(1),
			UINT64_C(2), 0, "/org/rdma/device/9/port/1", 1,
			COUNTER("counters", "symbol_error", 3, "valid"), UINT64_C(1), UINT64_C(2),
			1, "Error", "s", "query-failed") >= 0);
#undef COUNTER
	read_message(message_counter_values(m), metrics_read_counters, metrics, 0);
	for (size_t i = 0; i < ARRAY_SIZE(absent); i++)
		expect(metrics, METRICS_PROMETHEUS, 0, absent[i], false);
	expect(metrics, METRICS_PROMETHEUS, 0,
	       "# TYPE rdma_port_hw_strange_name untyped\n"
	       "rdma_port_hw_strange_name{device=\"mlx5_0\",port=\"1\"} 18446744073709551615\n",
	       true);
	expect(metrics, METRICS_OPENMETRICS, 0, "# TYPE rdma_port_hw_strange_name unknown\n", true);
	expect(metrics, METRICS_PROMETHEUS, 0,
	       "rdma_port_xmit_bytes_total{device=\"mlx5_0\",port=\"1\"} 9007199254740993\n", true);
	expect(metrics, METRICS_PROMETHEUS, 0,
	       "rdma_port_symbol_error_total{device=\"mlx5_0\",port=\"1\"} 65535\n", true);
	expect(metrics, METRICS_PROMETHEUS, 0,
	       "rdma_port_saturated{device=\"mlx5_0\",port=\"1\",counter=\"symbol_error\"} "
	       "1\n",
	       true);
	expect(metrics, METRICS_PROMETHEUS, 0,
	       "rdma_port_hw_out_of_buffer_total{device=\"mlx5_0\",port=\"1\"} 5\n", true);
	expect(metrics, METRICS_PROMETHEUS, 0,
	       "rdma_port_counters_available{device=\"mlx5_0\",port=\"1\"} 1\n", true);
	expect(metrics, METRICS_OPENMETRICS, METRICS_NODE_EXPORTER,
	       "# UNIT node_infiniband_port_data_transmitted_bytes bytes\n"
	       "node_infiniband_port_data_transmitted_bytes_total{device=\"mlx5_0\",port=\"1\"} "
	       "9007199254740993\n",
	       true);
	metrics_free(metrics);
}

static void test_no_counters(void **state)
{
	Metrics *metrics = machine("mlx5_0", NULL);
	sd_bus_message *m = message_new();

	(void)state;
	/* nobody asked */
	expect(metrics, METRICS_PROMETHEUS, 0, "counters_available", false);
	assert_true(sd_bus_message_append(m, COUNTERS, 1, PORT, 0, UINT64_C(0), UINT64_C(0), 1,
					  "Error", "s", "firmware-timeout") >= 0);
	read_message(message_counter_values(m), metrics_read_counters, metrics, 0);
	expect(metrics, METRICS_PROMETHEUS, 0,
	       "rdma_port_counters_available{device=\"mlx5_0\",port=\"1\"} 0\n", true);
	expect(metrics, METRICS_PROMETHEUS, 0, "_total", false);
	metrics_free(metrics);
}

static bool is_device(_unused_ void *userdata, const char *path)
{
	return streq(path, DEVICE);
}

static void test_keep(void **state)
{
	Metrics *m = machine("mlx5_0", NULL);

	(void)state;
	metrics_keep(m, is_device, NULL);
	expect(m, METRICS_PROMETHEUS, 0, "rdma_device_info{device=\"mlx5_0\"} 1\n", true);
	expect(m, METRICS_PROMETHEUS, 0, "rdma_port", false);
	metrics_free(m);
}

/* A visitor can end the visit. */
static int refuse(void *userdata, _unused_ const MetricFamily *f, _unused_ const MetricSample *s)
{
	++*(unsigned int *)userdata;
	return -ECANCELED;
}

static void test_refused(void **state)
{
	static const MetricsVisitor visitor = {.sample = refuse};
	Metrics *m = machine("mlx5_0", add_strange);
	unsigned int n = 0;

	(void)state;
	assert_int_equal(metrics_visit(m, 0, &visitor, &n), -ECANCELED);
	assert_int_equal(n, 1);
	metrics_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_units),	       cmocka_unit_test(test_lists),
		cmocka_unit_test(test_numbers),	       cmocka_unit_test(test_families),
		cmocka_unit_test(test_names),	       cmocka_unit_test(test_rows),
		cmocka_unit_test(test_escapes),	       cmocka_unit_test(test_help),
		cmocka_unit_test(test_strange_values), cmocka_unit_test(test_strange_objects),
		cmocka_unit_test(test_same_names),     cmocka_unit_test(test_other_type),
		cmocka_unit_test(test_counters),       cmocka_unit_test(test_no_counters),
		cmocka_unit_test(test_keep),	       cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
