/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What is found on machines that are made here, without rdmad: whether somebody uses a port, what
 * is expected of it, what belongs together, and what cannot be asked. */

#include "clock.h"
#include "machine.h"

#include <sys/mman.h>
#include <unistd.h>

static void test_state(_unused_ void **state)
{
	_cleanup_machine_ Machine m = {};
	Object *port = add(&m);
	char *names[] = {"d*", "d0"};

	assert_int_equal(found(&m, "not-active"), 0);
	set_text(port, PORT_ATTR_state, "active-defer");
	assert_int_equal(found(&m, "not-active"), 0);
	set_text(port, PORT_ATTR_state, "down");
	set_text(port, PORT_ATTR_phys_state, "polling");
	assert_int_equal(found(&m, "not-active"), 1);
	assert_says(&m, 0, "the port is down, physically polling, not active");
	assert_int_equal(m.run.findings[0].check->severity, SEVERITY_CRITICAL);
	/* nobody knows */
	value_done(&port->values[PORT_ATTR_state]);
	assert_int_equal(found(&m, "not-active"), 0);
	/* a function waits for who uses it, unless it was named; a pattern names none */
	set_text(port, PORT_ATTR_state, "down");
	set_text(device_of(&m, port), DEVICE_ATTR_function, "pf");
	assert_int_equal(found(&m, "not-active"), 1);
	set_text(device_of(&m, port), DEVICE_ATTR_function, "sf");
	assert_int_equal(found(&m, "not-active"), 0);
	set_text(device_of(&m, port), DEVICE_ATTR_function, "vf");
	assert_int_equal(found(&m, "not-active"), 0);
	m.run.names = names;
	m.run.n_names = 1;
	assert_int_equal(found(&m, "not-active"), 0);
	m.run.n_names = 2;
	assert_int_equal(found(&m, "not-active"), 1);
	m.run.n_names = 0;
	set_text(device_of(&m, port), DEVICE_ATTR_function, "pf");
	assert_int_equal(found(&m, "not-active"), 1);
	assert_int_equal(expect_add(&m.expect, "State=down"), 0);
	assert_int_equal(found(&m, "not-active"), 0);
}

static size_t without_gid(const char *protocol, const char *is, bool given, const char *expect)
{
	_cleanup_machine_ Machine m = {};
	Object *port = add(&m);

	set_text(port, PORT_ATTR_protocol, protocol);
	set_text(port, PORT_ATTR_state, is);
	port->values[PORT_ATTR_gids].type = VALUE_ARRAY;
	if (given)
		append(&port->values[PORT_ATTR_gids])->type = VALUE_STRUCT;
	if (expect)
		assert_int_equal(expect_add(&m.expect, expect), 0);
	return found(&m, "no-gid");
}

static void test_gids(_unused_ void **state)
{
	assert_int_equal(without_gid("roce", "active", false, NULL), 1);
	assert_int_equal(without_gid("roce", "active", true, NULL), 0);
	assert_int_equal(without_gid("roce", "down", false, NULL), 0);
	assert_int_equal(without_gid("infiniband", "active", false, NULL), 0);
	assert_int_equal(without_gid("roce", "active", false, "Gids=192.0.2.1"), 0);
}

/* What the check "expectation" says of a port of 200 Gb/s; "": nothing. */
static void assert_expected(const char *expect, const char *says)
{
	_cleanup_machine_ Machine m = {};

	set_number(add(&m), PORT_ATTR_rate, 200000000000);
	for (; *expect; expect += strlen(expect) + 1)
		assert_int_equal(expect_add(&m.expect, expect), 0);
	assert_int_equal(found(&m, "expectation"), *says ? 1 : 0);
	if (*says)
		assert_says(&m, 0, says);
}

static void test_expectations(_unused_ void **state)
{
	/* a rate is at least so much */
	assert_expected("Rate=100G\0", "");
	assert_expected("Rate=200G\0", "");
	assert_expected("Rate=201G\0", "Rate is 200 Gb/s, expected at least 201 Gb/s");
	assert_expected("Rate<200G\0", "Rate is 200 Gb/s, expected less than 200 Gb/s");
	assert_expected("Rate<=200G\0", "");
	/* the last one counts */
	assert_expected("Rate=400G\0Rate=200G\0", "");
	assert_expected("Rate=200G\0Rate=400G\0", "at least 400 Gb/s");
	/* what has no value is not as expected */
	assert_expected("ActiveMtu=4096\0", "ActiveMtu is none, expected at least 4096 bytes");
	/* of the device */
	assert_expected("Driver=mlx5*\0", "");
	assert_expected("Driver=irdma\0", "Driver is mlx5_core, expected irdma");
	assert_expected("Rate=400G\0Ignore=expectation\0", "");
}

/* Reads TEXT as a file. */
static int read_file(Expectations *e, const char *text)
{
	int fd = memfd_create("expect", MFD_CLOEXEC), r;
	char path[64];

	assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	r = expect_add(e, path);
	close(fd);
	return r;
}

static void test_headings(_unused_ void **state)
{
	_cleanup_machine_ Machine m = {};

	for (size_t i = 0; i < 2; i++)
		set_number(add(&m), PORT_ATTR_rate, 200000000000);
	assert_int_equal(read_file(&m.expect, "[d1]\nRate = 400G\n[d2*]\n"), 0);
	assert_int_equal(found(&m, "expectation"), 1);
	assert_ptr_equal(m.run.findings[0].port, m.run.ports[1]);
	assert_int_equal(found(&m, "missing"), 1);
	assert_says(&m, 0, "there is no port d2*, which /proc/self/fd/");
}

/* Ports of this function, driver, protocol and rate, of which those below HEADING are expected to
 * have 400 Gb/s: how many do not. */
static size_t below_heading(const char *heading)
{
	static const struct {
		const char *function, *driver, *protocol;
		uint64_t rate;
	} ports[] = {
		{"pf", "mlx5_core", "infiniband", 200},
		{"vf", "mlx5_core", "infiniband", 200},
		{"vf", "irdma", "roce", 100},
		{"sf", "mlx5_core", "roce", 100},
	};
	_cleanup_machine_ Machine m = {};
	char text[128];

	for (size_t i = 0; i < ARRAY_SIZE(ports); i++) {
		Object *port = add(&m), *device = device_of(&m, port);

		set_text(device, DEVICE_ATTR_function, ports[i].function);
		set_text(device, DEVICE_ATTR_driver, ports[i].driver);
		set_text(port, PORT_ATTR_protocol, ports[i].protocol);
		set_number(port, PORT_ATTR_rate, ports[i].rate * 1000000000);
	}
	snprintf(text, sizeof(text), "[%s]\nRate = 400G\n", heading);
	assert_int_equal(read_file(&m.expect, text), 0);
	assert_int_equal(found(&m, "missing"), 0);
	return found(&m, "expectation");
}

static void test_heading_attributes(_unused_ void **state)
{
	assert_int_equal(below_heading("Function = vf"), 2);
	assert_int_equal(below_heading("Function=[vs]f"), 3);
	assert_int_equal(below_heading("Driver = mlx5*, Function=vf"), 1);
	assert_int_equal(below_heading("d[12], Function = vf"), 2);
	assert_int_equal(below_heading("Protocol = roce,d3"), 1);
	/* here a rate is equal to the value, and not at least that */
	assert_int_equal(below_heading("Rate = 100G"), 2);
	assert_int_equal(below_heading("Rate >= 100G"), 4);
	assert_int_equal(below_heading("Rate < 200G, Function = vf"), 1);
	/* that there is such a port is not expected */
	assert_int_equal(below_heading("Function = none"), 0);
}

/* What is ignored for each port of a device is ignored for the device. */
static void test_ignore_of_device(_unused_ void **state)
{
	_cleanup_machine_ Machine m = {};

	for (size_t i = 0; i < 2; i++)
		set_text(add(&m), PORT_ATTR_protocol, i == 0 ? "roce" : "infiniband");
	assert_int_equal(found(&m, "no-uverbs"), 2);
	assert_int_equal(read_file(&m.expect, "[Protocol = roce]\nIgnore = no-uverbs\n"), 0);
	assert_int_equal(found(&m, "no-uverbs"), 1);
	assert_ptr_equal(m.run.findings[0].device, device_of(&m, m.run.ports[1]));
	assert_int_equal(read_file(&m.expect, "[d1/1]\nIgnore = no-uverbs\n"), 0);
	assert_int_equal(found(&m, "no-uverbs"), 0);
}

/* Whether firmware IS is as the expectation says. */
static bool is_firmware(const char *is, const char *expectation)
{
	_cleanup_machine_ Machine m = {};

	set_text(device_of(&m, add(&m)), DEVICE_ATTR_fw_ver, is);
	assert_int_equal(expect_add(&m.expect, expectation), 0);
	return found(&m, "expectation") == 0;
}

static void test_versions(_unused_ void **state)
{
	assert_false(is_firmware("28.9.1000", "FirmwareVersion>=28.36"));
	assert_true(is_firmware("28.43.1014", "FirmwareVersion>=28.36"));
	assert_true(is_firmware("28.36", "FirmwareVersion>=28.36"));
	assert_false(is_firmware("28.36", "FirmwareVersion>28.36"));
	assert_true(is_firmware("28.36.1", "FirmwareVersion>28.36"));
	assert_true(is_firmware("28.9.1000", "FirmwareVersion<28.36"));
	assert_true(is_firmware("28.36", "FirmwareVersion<=28.36"));
	assert_true(is_firmware("28.43.1014", "FirmwareVersion=28.4*"));
}

static void assert_refused(const char *argument, const char *says)
{
	Expectations e = {.is_check = check_exists};
	int r = strchr(argument, '\n') ? read_file(&e, argument) : expect_add(&e, argument);

	assert_int_equal(r, -EINVAL);
	if (!strstr(e.error, says))
		fail_msg("\"%s\" is not in \"%s\"", says, e.error);
	assert_int_equal(e.n, 0);
	expectations_done(&e);
}

/* What is wrong is said, and nothing of it is kept. */
static void test_refused(_unused_ void **state)
{
	Expectations e = {.is_check = check_exists};

	assert_refused("Rat=400G", "--expect Rat=400G: unknown key \"Rat\"");
	assert_refused("Rat=400G", "did you mean Rate?");
	assert_refused("Rate=400", "expected a rate with its unit");
	assert_refused("Ignore=flop", "unknown check \"flop\"");
	assert_refused("\nRate\n", ":2: \"Rate\": expected KEY = VALUE");
	assert_refused("/nowhere/at/all", "expected a file, or KEY=VALUE");
	assert_refused("Rate=400G\n[d1, d2, Function=vf]\n", ":2: \"d2\": a heading has one name");
	assert_refused("[Function=vf,]\n", "a heading has one name");
	assert_refused("[symbol_error=0]\n", "expected an attribute such as Function in a heading");
	assert_refused("[Function>vf]\n", "Function is no number: expected Function = VALUE");
	/* the next argument can be right */
	assert_int_equal(expect_add(&e, "Rate=400"), -EINVAL);
	assert_int_equal(expect_add(&e, "Rate=400G"), 0);
	assert_int_equal(e.n, 1);
	expectations_done(&e);
}

/* One cause is one finding. */
static void test_folding(_unused_ void **state)
{
	_cleanup_machine_ Machine m = {};
	Object *port = add(&m), *other = add(&m);
	const Finding *cause = NULL;

	assert_int_equal(expect_add(&m.expect, "Ignore=no-uverbs"), 0);
	set_text(port, PORT_ATTR_state, "down");
	assert_int_equal(expect_add(&m.expect, "Rate=400G"), 0);
	assert_int_equal(expect_add(&m.expect, "LinkWidth=4"), 0);
	/* what a link that is down cannot have; the other port has neither for itself */
	assert_int_equal(found_in_all(&m), 2);
	assert_int_equal(m.run.n_findings, 5);
	for (size_t i = 0; i < m.run.n_findings; i++) {
		const Finding *f = &m.run.findings[i];

		if (streq(f->check->name, "not-active"))
			cause = f;
		if (f->port == port)
			assert_ptr_equal(f->cause, f == cause ? NULL : cause);
	}
	/* a value that it has all the same is another matter */
	set_number(other, PORT_ATTR_rate, 400000000000);
	set_number(other, PORT_ATTR_active_width, 4);
	assert_int_equal(found_in_all(&m), 1);
	set_number(port, PORT_ATTR_rate, 200000000000);
	assert_int_equal(found_in_all(&m), 2);
	/* of a port that is stale all is old */
	port->values[PORT_ATTR_stale] = (Value){.type = VALUE_BOOL, .boolean = true};
	assert_int_equal(found_in_all(&m), 1);
	assert_string_equal(m.run.findings[0].check->name, "stale");
}

/* Where a device does not answer, all that is known of it and its ports is old. */
static void test_stale_device(_unused_ void **state)
{
	static const Value yes = {.type = VALUE_BOOL, .boolean = true};
	_cleanup_machine_ Machine m = {};
	Object *port = add(&m), *other = add(&m), *device = device_of(&m, port);
	const Finding *stale = NULL;

	assert_int_equal(expect_add(&m.expect, "Ignore=no-uverbs"), 0);
	assert_int_equal(expect_add(&m.expect, "Rate=400G"), 0);
	set_text(port, PORT_ATTR_state, "down");
	set_number(other, PORT_ATTR_rate, 400000000000);
	set_text(other, PORT_ATTR_state, "down");
	device->values[DEVICE_ATTR_stale] = port->values[PORT_ATTR_stale] = yes;
	set_number(device, DEVICE_ATTR_aer_fatal, 1);
	assert_int_equal(found_in_all(&m), 2);
	for (size_t i = 0; i < m.run.n_findings; i++)
		if (streq(m.run.findings[i].check->name, "device-stale"))
			stale = &m.run.findings[i];
	assert_non_null(stale);
	/* errors of PCIe, the link that is down, and the rate that it cannot have */
	for (size_t i = 0; i < m.run.n_findings; i++) {
		const Finding *f = &m.run.findings[i];

		assert_ptr_equal(f->cause, f->device == device && f != stale ? stale : NULL);
	}
	/* of the port alone, that of the device is another matter */
	value_done(&device->values[DEVICE_ATTR_stale]);
	assert_int_equal(found_in_all(&m), 3);
}

/* A finding is as bad as the worst that it is the cause of, and is told if its condition is. */
static void test_severity(_unused_ void **state)
{
	_cleanup_machine_ Machine m = {};
	CheckRun *r = &m.run;
	const Finding *f;

	for (size_t i = 0; i < 4; i++)
		set_number(add(&m), PORT_ATTR_rate, i < 3 ? 4 : 2);
	assert_int_equal(expect_add(&m.expect, "Ignore=no-uverbs"), 0);
	assert_int_equal(found_in_all(&m), 1);
	f = &r->findings[0];
	assert_string_equal(f->check->name, "odd-one-out");
	assert_int_equal(finding_severity(r, f), SEVERITY_WARNING);
	r->only = 1U << CONDITION_LINK;
	assert_int_equal(finding_severity(r, f), SEVERITY_WARNING);
	r->only = CONDITIONS_ALL & ~(1U << CONDITION_LINK);
	assert_int_equal(finding_severity(r, f), SEVERITY_OK);
	set_text(r->ports[3], PORT_ATTR_state, "down");
	value_done(&r->ports[3]->values[PORT_ATTR_rate]);
	assert_int_equal(found_in_all(&m), 1);
	assert_int_equal(r->n_findings, 2);
	f = r->findings[0].cause;
	assert_string_equal(f->check->name, "not-active");
	assert_int_equal(finding_severity(r, f), SEVERITY_CRITICAL);
	assert_int_equal(finding_severity(r, &r->findings[0]), SEVERITY_OK);
}

/* A warning that is the cause of something critical is critical. */
static void test_worst(_unused_ void **state)
{
	_cleanup_machine_ Machine m = {};
	const Object *port = add(&m);
	Value *history, *downs;

	m.histories.type = VALUE_ARRAY;
	history = append(&m.histories);
	history->type = VALUE_DICT;
	append_text(history, "Port");
	append_text(history, port->path);
	append_text(history, "LinkDowns");
	downs = append(history);
	downs->type = VALUE_ARRAY;
	append_number(downs, realtime_now_usec() - USEC_PER_SEC);
	assert_true(flap_limit_parse("1/1h", &m.run.flap));
	assert_int_equal(expect_add(&m.expect, "Ignore=no-uverbs"), 0);
	assert_int_equal(found_in_all(&m), 1);
	assert_int_equal(finding_severity(&m.run, &m.run.findings[0]), SEVERITY_WARNING);
	assert_int_equal(expect_add(&m.expect, "Rate=400G"), 0);
	assert_int_equal(found_in_all(&m), 1);
	assert_string_equal(m.run.findings[0].check->name, "flap");
	assert_ptr_equal(m.run.findings[1].cause, &m.run.findings[0]);
	assert_int_equal(finding_severity(&m.run, &m.run.findings[0]), SEVERITY_CRITICAL);
}

static const Sample *read_counters(void *userdata, _unused_ const Object *port,
				   const char **ret_why)
{
	static const char *const texts[_COUNTER_MEMBER_MAX] = {"port",	  "symbol_error", "",
							       "packets", "valid",	  ""};
	static Sample sample;

	*ret_why = "it does not answer";
	if (!((Machine *)userdata)->evidence.n)
		return NULL;
	sample_done(&sample);
	assert_int_equal(sample_append(&sample, texts, 10), 0);
	return &sample;
}

static uint32_t find_mask(_unused_ void *userdata, const char *netdev, _unused_ uint32_t address)
{
	return streq(netdev, "none") ? 0 : 0xffffff00;
}

static int refuse_node(_unused_ void *userdata, const char *node)
{
	assert_string_equal(node, "/dev/infiniband/uverbs0");
	return -EACCES;
}

static void add_gid(Object *port, const char *netdev, const char *address)
{
	Value *entry;

	set_text(port, PORT_ATTR_protocol, "roce");
	port->values[PORT_ATTR_gids].type = VALUE_ARRAY;
	entry = append(&port->values[PORT_ATTR_gids]);
	entry->type = VALUE_STRUCT;
	append_number(entry, 0);
	append_text(entry, address);
	append_text(entry, "RoCE v2");
	append_text(entry, netdev);
	append_text(entry, address);
}

/* What nobody can answer is no finding. */
static void test_asking(_unused_ void **state)
{
	_cleanup_machine_ Machine m = {};
	Object *port = add(&m), *device = device_of(&m, port);
	Value *nodes = &device->values[DEVICE_ATTR_chardevs], *node;

	assert_int_equal(expect_add(&m.expect, "symbol_error<10"), 0);
	nodes->type = VALUE_ARRAY;
	node = append(nodes);
	node->type = VALUE_STRUCT;
	append_text(node, "verbs");
	append_text(node, "/dev/infiniband/uverbs0");
	add_gid(port, "eth0", "192.0.2.1");
	add_gid(add(&m), "eth1", "192.0.2.2");
	assert_int_equal(found(&m, "counter") + found(&m, "access") + found(&m, "same-subnet"), 0);
	m.run.ask = (CheckAsk){
		.counters = read_counters, .access = refuse_node, .subnet_mask = find_mask};
	assert_int_equal(found(&m, "access"), 1);
	assert_says(&m, 0, "/dev/infiniband/uverbs0 cannot be used: Permission denied");
	assert_int_equal(found(&m, "same-subnet"), 1);
	assert_says(&m, 0, "192.0.2.0/24");
	assert_says(&m, 0, "eth0 (d0/1), eth1 (d1/1)");
	assert_int_equal(found(&m, "counter"), 2);
	assert_says(&m, 0, "the counters cannot be read: it does not answer");
	m.evidence.type = VALUE_ARRAY;
	append(&m.evidence);
	assert_int_equal(found(&m, "counter"), 2);
	assert_says(&m, 0, "symbol_error is 10, expected less than 10");
	assert_int_equal(expect_add(&m.expect, "symbol_error<11"), 0);
	assert_int_equal(found(&m, "counter"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_state),
		cmocka_unit_test(test_gids),
		cmocka_unit_test(test_expectations),
		cmocka_unit_test(test_headings),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_folding),
		cmocka_unit_test(test_severity),
		cmocka_unit_test(test_stale_device),
		cmocka_unit_test(test_asking),
		cmocka_unit_test(test_worst),
		cmocka_unit_test(test_heading_attributes),
		cmocka_unit_test(test_ignore_of_device),
		cmocka_unit_test(test_versions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
