/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What is expected of a machine: values of each kind, how many ports, counters, and the files in
 * which that stands. */

#include "machine.h"

#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

/* Whether a port, or its device, is as EXPECTATION says. */
static bool holds(Object *o, const char *expectation)
{
	Expectations e = {.is_check = check_exists};
	bool is;

	if (expect_add(&e, expectation) < 0)
		fail_msg("%s", e.error);
	assert_int_equal(e.n, 1);
	is = expectation_holds(&e.items[0], o);
	expectations_done(&e);
	assert_int_equal(e.n + e.n_texts, 0);
	assert_null(e.items);
	return is;
}

static void set_names(Object *o, size_t row, const char *names)
{
	value_done(&o->values[row]);
	o->values[row].type = VALUE_ARRAY;
	for (; *names; names += strlen(names) + 1)
		append_text(&o->values[row], names);
}

static void test_values(_unused_ void **state)
{
	_cleanup_machine_ Machine m = {};
	Object *port = add(&m), *device = device_of(&m, port);

	/* yes or no */
	port->values[PORT_ATTR_netdev_up] = (Value){.type = VALUE_BOOL, .boolean = true};
	assert_true(holds(port, "AdministrativelyUp=yes"));
	assert_false(holds(port, "AdministrativelyUp=no"));
	port->values[PORT_ATTR_netdev_up].boolean = false;
	assert_true(holds(port, "AdministrativelyUp=no"));
	assert_false(holds(port, "AdministrativelyUp=yes"));
	/* a GUID, however it is written */
	set_text(port, PORT_ATTR_port_guid, "0002:c903:0000:0001");
	assert_true(holds(port, "PortGuid=0002:c903:0000:0001"));
	assert_true(holds(port, "PortGuid=0002:C903:0000:0001"));
	assert_false(holds(port, "PortGuid=0002:c903:0000:0002"));
	set_text(port, PORT_ATTR_port_guid, "nonsense");
	assert_false(holds(port, "PortGuid=0000:0000:0000:0000"));
	/* a speed is at least that */
	set_text(port, PORT_ATTR_link_speed, "HDR");
	assert_true(holds(port, "LinkSpeed=EDR"));
	assert_true(holds(port, "LinkSpeed=HDR"));
	assert_false(holds(port, "LinkSpeed=NDR"));
	set_text(port, PORT_ATTR_link_speed, "unheard-of");
	assert_false(holds(port, "LinkSpeed=SDR"));
	/* of a list each must be there */
	set_names(port, PORT_ATTR_capabilities, "sm\0extended-speeds\0client-reregistration\0");
	assert_true(holds(port, "Capabilities=sm"));
	assert_true(holds(port, "Capabilities=extended-speeds"));
	assert_true(holds(port, "Capabilities=SM,client-reregistration"));
	assert_true(holds(port, "Capabilities=client-reregistration,sm"));
	assert_false(holds(port, "Capabilities=sm,boot-management"));
	assert_false(holds(port, "Capabilities=boot-management"));
	assert_false(holds(port, "Capabilities=boot-management,sm"));
	/* text is a pattern; upper and lower case are the same */
	assert_true(holds(device, "Driver=MLX5*"));
	assert_false(holds(device, "Driver=mlx5"));
	/* an enumeration */
	assert_true(holds(port, "State=active"));
	assert_true(holds(port, "State=ACTIVE"));
	assert_false(holds(port, "State=down"));
	/* numbers */
	set_number(port, PORT_ATTR_lid, 17);
	assert_true(holds(port, "Lid=17"));
	assert_false(holds(port, "Lid=16"));
	assert_false(holds(port, "Lid=18"));
	assert_true(holds(port, "Lid<18"));
	assert_false(holds(port, "Lid<17"));
	assert_true(holds(port, "Lid<=17"));
	assert_false(holds(port, "Lid<=16"));
	assert_true(holds(port, "Lid>16"));
	assert_false(holds(port, "Lid>17"));
	assert_true(holds(port, "Lid >= 17"));
	assert_false(holds(port, "Lid>=18"));
	/* what has no value is not as expected, whatever that is */
	value_done(&port->values[PORT_ATTR_lid]);
	assert_false(holds(port, "Lid=0"));
	assert_false(holds(port, "Lid<18"));
}

static void test_accepted(_unused_ void **state)
{
	const Attribute *rows = port_attributes;

	assert_true(expect_accepts(&rows[PORT_ATTR_rate], "400G"));
	assert_false(expect_accepts(&rows[PORT_ATTR_rate], "400"));
	assert_true(expect_accepts(&rows[PORT_ATTR_lid], "7"));
	assert_false(expect_accepts(&rows[PORT_ATTR_lid], ""));
	assert_false(expect_accepts(&rows[PORT_ATTR_lid], "x"));
	assert_true(expect_accepts(&rows[PORT_ATTR_netdev_up], "no"));
	assert_true(expect_accepts(&rows[PORT_ATTR_netdev_up], "yes"));
	assert_false(expect_accepts(&rows[PORT_ATTR_netdev_up], "maybe"));
	assert_true(expect_accepts(&rows[PORT_ATTR_port_guid], "0002:c903:0000:0001"));
	assert_false(expect_accepts(&rows[PORT_ATTR_port_guid], "0002:xyz"));
	assert_true(expect_accepts(&rows[PORT_ATTR_state], "active"));
	assert_true(expect_accepts(&rows[PORT_ATTR_state], "nop"));
	assert_false(expect_accepts(&rows[PORT_ATTR_state], "activ"));
	assert_true(expect_accepts(&rows[PORT_ATTR_capabilities], "sm"));
	assert_false(expect_accepts(&rows[PORT_ATTR_capabilities], "sm,nothing"));
	assert_true(expect_accepts(&rows[PORT_ATTR_netdev], "e"));
	assert_true(expect_accepts(&rows[PORT_ATTR_netdev], "eth 0"));
	assert_false(expect_accepts(&rows[PORT_ATTR_netdev], " eth0"));
	assert_false(expect_accepts(&rows[PORT_ATTR_netdev], "\teth0"));
	assert_false(expect_accepts(&rows[PORT_ATTR_netdev], "eth0 "));
	assert_false(expect_accepts(&rows[PORT_ATTR_netdev], "eth0\t"));
}

static void assert_refused(const char *argument, const char *says)
{
	Expectations e = {.is_check = check_exists};

	assert_int_equal(expect_add(&e, argument), -EINVAL);
	if (!strstr(e.error, says))
		fail_msg("\"%s\" is not in \"%s\"", says, e.error);
	assert_int_equal(e.n, 0);
	expectations_done(&e);
}

static void test_refused(_unused_ void **state)
{
	assert_refused("State=activ", "State = \"activ\": expected nop, down, init, armed, active");
	assert_refused("State=", "State = \"\": expected");
	assert_refused("Netdev=", "Netdev = \"\": expected a value");
	assert_refused("PortGuid=0002:x", "expected a GUID such as 0002:c903:00ab:cdef");
	assert_refused("AdministrativelyUp=1", "expected yes or no");
	assert_refused("Capabilities=x", "expected names of capabilities with ',' between");
	assert_refused("Capabilities=", "expected names of capabilities");
	assert_refused("Lid=x", "Lid = \"x\": expected a number");
	assert_refused("Lid<=x", "Lid <= \"x\": expected a number");
	assert_refused("State<active", "State is no number: expected State = VALUE");
	assert_refused("Netdev>=eth0", "Netdev is no number");
	assert_refused("Ports<4", "Ports is no number: expected Ports = VALUE");
	assert_refused("Ignore<flap", "Ignore");
	assert_refused("Ports=x", "Ports = \"x\": expected a number of ports");
	assert_refused("Ports=4294967296", "expected a number of ports");
	assert_refused("Ignore=", "Ignore: expected names of checks");
	assert_refused("Ignore=flap,flop", "Ignore: unknown check \"flop\"");
	assert_refused("Unavailable=x", "--expect Unavailable=x: Unavailable cannot be expected");
	assert_refused("Device=x", "Device cannot be expected");
	assert_refused("hw_counter.=1", "unknown key \"hw_counter.\"");
	assert_refused("hw_counter=1", "unknown key \"hw_counter\"");
	assert_refused("symbol_eror=1", "did you mean symbol_error?");
	assert_refused("symbol_error=x", "expected a number, or a number in a time such as 10/1h");
	assert_refused("symbol_error=10/1x", "expected a number, or a number in a time");
	assert_refused("symbol_error=10000000000000000000000000/1h", "expected a number");
	assert_refused("/nowhere/a=b", "No such file or directory; expected a file, or KEY=VALUE");
	assert_refused("/", "--expect /: Is a directory");
}

static void test_counters(_unused_ void **state)
{
	static const char *const names[] = {"port_rcv_bytes", "symbol_error", "hw_counter.any"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		Expectations e = {.is_check = check_exists};
		char text[64];

		snprintf(text, sizeof(text), "%s<=7/2h", names[i]);
		assert_int_equal(expect_add(&e, text), 0);
		assert_int_equal(e.items[0].kind, EXPECT_COUNTER);
		assert_string_equal(e.items[0].counter, i < 2 ? names[i] : "any");
		assert_int_equal(e.items[0].number, 7);
		assert_int_equal(e.items[0].order, ORDER_LESS_EQUAL);
		assert_true(e.items[0].per_usec == 2 * HOUR);
		assert_true(expectations_have_rates(&e));
		assert_true(expectation_holds_for(&e.items[0], 7));
		assert_false(expectation_holds_for(&e.items[0], 8));
		expectations_done(&e);
	}
}

/* Each row of the counters that rdmad knows is one */
static void test_first_counter(_unused_ void **state)
{
	Expectations e = {.is_check = check_exists};

	assert_int_equal(expect_add(&e, "symbol_error=1"), 0);
	assert_int_equal(e.items[0].order, ORDER_EQUAL);
	assert_true(expectation_holds_for(&e.items[0], 1));
	assert_false(expectation_holds_for(&e.items[0], 2));
	assert_false(expectation_holds_for(&e.items[0], 0));
	expectations_done(&e);
}

/* What has been said of the ports that there should be. */
static void test_given(_unused_ void **state)
{
	Expectations e = {.is_check = check_exists};
	CheckRun r = {.expect = &e, .only = CONDITIONS_ALL};
	_cleanup_machine_ Machine m = {};

	m.expect.is_check = check_exists;
	assert_int_equal(found(&m, "no-port"), 1);
	assert_says(&m, 0, "there is no RDMA port");
	assert_null(m.run.findings[0].row);
	assert_int_equal(expect_add(&m.expect, "Ignore=flap"), 0);
	assert_int_equal(found(&m, "no-port"), 1);
	assert_int_equal(expect_add(&m.expect, "Lid=1"), 0);
	assert_int_equal(found(&m, "no-port"), 0);
	assert_int_equal(expect_add(&e, "/dev/null"), 0);
	assert_true(e.given);
	assert_int_equal(r.n_findings, 0);
	expectations_done(&e);
}

/* How many of N ports, d0, d1, ... are as the lines of a file say: what is found of the machine. */
static void assert_machine(size_t n, const char *text, size_t missing, size_t count,
			   const char *says)
{
	_cleanup_machine_ Machine m = {};
	char path[] = "/tmp/rdmad-expect-XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
	for (size_t i = 0; i < n; i++)
		set_text(device_of(&m, add(&m)), DEVICE_ATTR_function, i % 2 ? "vf" : "pf");
	m.expect.is_check = check_exists;
	assert_int_equal(expect_add(&m.expect, path), 0);
	unlink(path);
	assert_int_equal(found(&m, "missing"), missing);
	if (missing > 0)
		assert_says(&m, 0, says);
	assert_int_equal(found(&m, "count"), count);
	if (count > 0)
		assert_says(&m, 0, says);
}

static void test_count(_unused_ void **state)
{
	assert_machine(3, "Ports = 3\n", 0, 0, "");
	assert_machine(3, "Ports = 2\n", 0, 1, "3 ports, expected 2");
	assert_machine(3, "Ports = 4\n", 0, 1, "3 ports, expected 4");
	assert_machine(1, "Ports = 0\n", 0, 1, "1 port, expected 0");
	assert_machine(0, "Ports = 1\n", 0, 1, "0 ports, expected 1");
	assert_machine(3, "[d*]\nPorts = 3\n[d0]\nPorts=1\n", 0, 0, "");
	assert_machine(3, "[d*]\nPorts = 4\n", 0, 1, "3 ports d*, expected 4");
	assert_machine(3, "[Function = vf]\nPorts = 1\n", 0, 0, "");
	assert_machine(3, "[Function = vf]\nPorts = 2\n", 0, 1, "1 port Function = vf, expected 2");
	assert_machine(3, "[Function = pf]\nPorts = 1\n", 0, 1, "2 ports Function = pf");
	/* none of such ports may be meant, and is not missing then */
	assert_machine(3, "[e*]\nPorts = 0\n", 0, 0, "");
	assert_machine(3, "[e*]\nRate = 1G\n", 1, 0,
		       "there is no port e*, which /tmp/rdmad-expect-");
	assert_machine(3, "[e*]\nRate = 1G\n[d*]\nPorts = 3\n", 1, 0, "there is no port e*");
	/* who is missing by name is not told again as a number, and more than that are */
	assert_machine(3, "Ports = 4\n[d3]\n", 1, 0, "there is no port d3");
	assert_machine(3, "Ports = 4\n[d3]\nIgnore = flap\n[d4]\n", 2, 0, "there is no port d3");
	assert_machine(3, "Ignore = missing\nPorts = 4\n[d3]\n", 0, 1, "3 ports, expected 4");
	assert_machine(3, "Ports = 3\n[d0]\n[d1]\n[d2]\n", 0, 0, "");
}

static void test_named_missing(_unused_ void **state)
{
	char *missing[] = {"d7: no such port", "d8: no such port"};
	char *names[] = {"d0", "d7", "d8"};
	_cleanup_machine_ Machine m = {};

	add(&m);
	m.run.names = names;
	m.run.n_names = 3;
	m.run.missing = missing;
	m.run.n_missing = 2;
	assert_int_equal(found(&m, "missing"), 2);
	assert_says(&m, 0, "d7: no such port");
	assert_says(&m, 1, "d8: no such port");
	/* of names that were given all else is out of sight */
	assert_int_equal(found(&m, "no-port"), 0);
}

static void write_file(const char *directory, const char *name, const char *text, mode_t mode)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(chmod(path, mode), 0);
}

static int remove_one(const char *path, _unused_ const struct stat *st, _unused_ int type,
		      _unused_ struct FTW *where)
{
	return remove(path);
}

static void test_files(_unused_ void **state)
{
	char directory[] = "/tmp/rdmad-expect-XXXXXX", path[64], parts[64];
	Expectations e = {.is_check = check_exists};

	assert_non_null(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/expect.conf", directory);
	snprintf(parts, sizeof(parts), "%s/expect.conf.d", directory);
	/* no file is fine */
	assert_int_equal(expect_add_machine(&e, path), 0);
	assert_false(e.given);
	assert_null(e.error);
	write_file(directory, "expect.conf", "Lid = 1\n", 0600);
	assert_int_equal(mkdir(parts, 0700), 0);
	write_file(parts, "20-b.conf", "Lid = 3\n", 0600);
	write_file(parts, "10-a.conf", "Lid = 2\n", 0600);
	write_file(parts, "30-c.txt", "Lid = 4\n", 0600);
	assert_int_equal(expect_add_machine(&e, path), 0);
	assert_true(e.given);
	assert_int_equal(e.n, 3);
	for (uint64_t i = 0; i < 3; i++)
		assert_int_equal(e.items[i].number, i + 1);
	assert_null(e.error);
	expectations_done(&e);
	/* of one with an error nothing counts, and the first of these is told */
	write_file(parts, "15-x.conf", "Lid = 9\nNonsense\n", 0600);
	write_file(parts, "16-y.conf", "Other\n", 0600);
	e.is_check = check_exists;
	assert_int_equal(expect_add_machine(&e, path), 0);
	assert_int_equal(e.n, 3);
	assert_non_null(strstr(e.error, "15-x.conf:2: \"Nonsense\""));
	expectations_done(&e);
	/* one that cannot be read is no file without expectations */
	write_file(directory, "plain", "", 0600);
	snprintf(path, sizeof(path), "%s/plain/expect.conf", directory);
	e.is_check = check_exists;
	assert_int_equal(expect_add_machine(&e, path), 0);
	assert_non_null(e.error);
	assert_non_null(strstr(e.error, "plain/expect.conf: Not a directory"));
	assert_int_equal(e.n, 0);
	expectations_done(&e);
	assert_int_equal(nftw(directory, remove_one, 4, FTW_DEPTH | FTW_PHYS), 0);
}

static void test_long_line(_unused_ void **state)
{
	char path[] = "/tmp/rdmad-expect-XXXXXX";
	Expectations e = {.is_check = check_exists};
	char line[EXPECT_LINE_MAX + 1] = "Netdev = ";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	memset(line + strlen(line), 'x', EXPECT_LINE_MAX - 1 - strlen(line));
	/* with its end it has a byte too many */
	assert_true(dprintf(fd, "Lid = 1\n%s\nLid = 2\n", line) > 0);
	assert_int_equal(expect_add(&e, path), -EINVAL);
	assert_non_null(strstr(e.error, ":2: the line is too long"));
	assert_int_equal(e.n, 0);
	line[EXPECT_LINE_MAX - 2] = '\0';
	assert_int_equal(ftruncate(fd, 0) + (int)lseek(fd, 0, SEEK_SET), 0);
	assert_true(dprintf(fd, "Lid = 1\n%s\n  # a comment\n; one more\n\nLid = 2", line) > 0);
	assert_int_equal(expect_add(&e, path), 0);
	assert_int_equal(e.n, 3);
	expectations_done(&e);
	unlink(path);
	close(fd);
}

static void assert_format(const char *expectation, const char *text)
{
	Expectations e = {.is_check = check_exists};
	_cleanup_free_ char *is = NULL;

	assert_int_equal(expect_add(&e, expectation), 0);
	is = expectation_format(&e.items[0]);
	assert_string_equal(is, text);
	expectations_done(&e);
}

static void test_format(_unused_ void **state)
{
	assert_format("Rate=400G", "at least 400 Gb/s");
	assert_format("Rate<400G", "less than 400 Gb/s");
	assert_format("Lid=7", "7");
	assert_format("Lid<=7", "at most 7");
	assert_format("Lid>7", "more than 7");
	assert_format("LinkSpeed=HDR", "at least HDR");
	assert_format("State=active", "active");
	assert_format("FirmwareVersion>=28.36", "at least 28.36");
	assert_format("symbol_error<10/1h", "less than 10/1h");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),	      cmocka_unit_test(test_accepted),
		cmocka_unit_test(test_refused),	      cmocka_unit_test(test_counters),
		cmocka_unit_test(test_first_counter), cmocka_unit_test(test_given),
		cmocka_unit_test(test_count),	      cmocka_unit_test(test_named_missing),
		cmocka_unit_test(test_files),	      cmocka_unit_test(test_long_line),
		cmocka_unit_test(test_format),
	};

	return cmocka_run_group_tests_name("expect", tests, NULL, NULL);
}
