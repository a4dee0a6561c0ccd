/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Scenario files: the devices that they make, and the message about each kind of mistake. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */
#include <sys/stat.h>

#include "simulated-commands.h"

static char directory[] = "/tmp/test-scenario.XXXXXX";
static char path[64];

static int setup(void **state)
{
	(void)state;
	if (!mkdtemp(directory))
		return -1;
	snprintf(path, sizeof(path), "%s/s.conf", directory);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(directory);
}

static void write_file(const char *text, size_t n)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}

/* Loads a file, makes its devices and tries its script, as simulator_new() does. */
static int load(const char *file, SimulatedMachine *ret, char **ret_message)
{
	_cleanup_free_ char *what = NULL;
	Scenario *scenario;
	unsigned int line = 0;
	int r;

	r = scenario_load(file, &scenario, ret_message);
	if (r < 0)
		return r;
	simulated_machine_init(ret, scenario);
	r = simulated_machine_populate(ret, &line, &what);
	if (r == 0)
		r = simulated_commands_rehearse(ret, &line, &what);
	if (r < 0)
		assert_true(asprintf(ret_message, "%s:%u: %s", file, line, what) > 0);
	return r;
}

static void load_text(const char *text, SimulatedMachine *ret)
{
	_cleanup_free_ char *message = NULL;

	write_file(text, strlen(text));
	if (load(path, ret, &message) < 0)
		fail_msg("%s", message);
}

static void expect_error(const char *text, size_t n, const char *expected)
{
	_cleanup_(simulated_machine_done) SimulatedMachine s = {};
	_cleanup_free_ char *message = NULL;

	write_file(text, n);
	assert_true(load(path, &s, &message) < 0);
	assert_non_null(message);
	assert_non_null(startswith(message, path));
	assert_string_equal(message + strlen(path), expected);
}

#define IB     "[device a]\nprotocol = infiniband\n"
#define PORT_1 IB "[port a/1]\n"
#define SCRIPT IB "[script]\n"

/* The text of a file, and what follows its path in the message about it. */
typedef struct ErrorCase {
	const char *text, *message;
} ErrorCase;

/* Lines and headings that are not part of a scenario. */
static const ErrorCase syntax_errors[] = {
	{"x\n", ":1: x: expected a section such as [device NAME] before"},
	{IB "nonsense\n", ":3: nonsense: expected KEY = VALUE, [SECTION] or # comment"},
	{"# c\n\n[device a\n", ":3: [device a: expected ']' at the end"},
	{"[fabric a]\nprotocol = infiniband\n", ":1: [fabric a]: expected [device NAME], "
						"[port NAME/NUMBER], [port NAME/*] or [script]"},
	{"[port a]\n", ":1: [port a]: expected [device NAME], [port NAME/NUMBER], "
		       "[port NAME/*] or [script]"},
	{"[port a/0]\n", ":1: [port a/0]: expected [device NAME], [port NAME/NUMBER], "
			 "[port NAME/*] or [script]"},
	{"[port a/1025]\n", ":1: [port a/1025]: expected [device NAME], "
			    "[port NAME/NUMBER], [port NAME/*] or [script]"},
	{"[port a/0x1]\n", ":1: [port a/0x1]: expected [device NAME], "
			   "[port NAME/NUMBER], [port NAME/*] or [script]"},
	{"[port a/01]\n", ":1: [port a/01]: expected [device NAME], "
			  "[port NAME/NUMBER], [port NAME/*] or [script]"},
	{"[device a b]\n", ":1: a b: not a name for a device, expected up to 63 bytes of text "
			   "without '/', and %XX for white space and any of \"%=#*"},
	{IB "[device  a]\n", ":3: [device  a]: is in line 1 too, expected it once"},
	{IB "fw_ver = 1\nfw_ver = 2\n", ":4: fw_ver: is set in line 3 too, expected it once"},
};

/* Sections of devices. */
static const ErrorCase device_errors[] = {
	{"[device a]\nports = 2\n", ":1: a: expected protocol = infiniband, roce, iwarp or opa"},
	{"[device a]\nprotocol = ethernet\n",
	 ":2: protocol = ethernet: expected infiniband, roce, iwarp or opa"},
	{IB "ports = 1025\n", ":3: ports = 1025: expected a number from 0 to 1024"},
	{IB "ports = -1\n", ":3: ports = -1: expected a number from 0 to 1024"},
	{IB "present = 1\n", ":3: present = 1: expected yes or no"},
	{IB "index = -1\n", ":3: index = -1: expected a number from 0 to 2147483647"},
	{IB "index = 4\n[device b]\nprotocol = roce\nindex = 4\n",
	 ":4: b: index 4 is taken, expected another"},
	{IB "count = 2\n", ":1: [device a]: count = 2, expected %d in the name"},
	{"[device a%d]\ncount = 4097\n", ":2: count = 4097: expected a number from 1 to "
					 "4096"},
	{"[device a%d]\nprotocol = roce\ncount = 4096\nports = 17\n",
	 ":1: [device a%d]: too many, expected at most 4096 devices and 65536 ports"},
	{"[device a%d]\nprotocol = roce\ncount = 2\n[device a1]\nprotocol = roce\n",
	 ":4: a1: is made in line 1 too, expected another name"},
	{IB "color = red\n", ":3: color: no attribute of a device, expected a field of it "
			     "such as fw_ver or node_desc"},
	{IB "name = b\n", ":3: name: cannot be set, expected the command rename"},
	{IB "port_count = 2\n", ":3: port_count: cannot be set, expected ports = N where "
				"the device is made"},
	{IB "chardevs = x\n", ":3: chardevs: cannot be set, expected a scalar attribute"},
	{IB "health_reporters = x\n",
	 ":3: health_reporters: cannot be set, expected a scalar attribute"},
	{IB "reporter.fw = ill\n",
	 ":3: reporter.fw = ill: expected healthy or error, then how many errors and how many "
	 "recoveries there were; or nothing"},
	{IB "reporter.fw = error 1 2 3\n",
	 ":3: reporter.fw = error 1 2 3: expected healthy or error, then how many errors and how "
	 "many recoveries there were; or nothing"},
	{IB "reporter. = error\n",
	 ":3: reporter. = error: expected healthy or error, then how many errors and how many "
	 "recoveries there were; or nothing"},
	{IB "stale = yes\n", ":3: stale: rdmad itself keeps it, expected an attribute "
			     "that the hardware has"},
	{IB "node_guid = 12345678901234567\n",
	 ":3: node_guid = 12345678901234567: expected a GUID such as 0002:c903:00ab:cdef"},
};

/* Sections of ports. */
static const ErrorCase port_errors[] = {
	{"[port b/1]\n", ":1: [port b/...]: expected a section [device b] too"},
	{IB "[port a/2]\n", ":3: [port a/2]: expected a port from 1 to 1"},
	{PORT_1 "stat = up\n",
	 ":4: stat: no attribute of a port, expected a field of it "
	 "such as state, or gid.INDEX, pkey.INDEX, vf.NUMBER, "
	 "bond_member.IFINDEX, counter.NAME, hw_counter.NAME, user.PID or kernel_user.NAME"},
	{PORT_1 "user.1 = x\n", ":4: user.1 = x: expected QPS, or QPS UID NAME CGROUP"},
	{PORT_1 "user.1 = 1 2 name\n",
	 ":4: user.1 = 1 2 name: expected QPS, or QPS UID NAME CGROUP"},
	{PORT_1 "user.x = 1\n",
	 ":4: user.x: expected user.PID, or kernel_user.NAME of up to 15 bytes"},
	{PORT_1 "kernel_user.ib_core = 2 3\n", ":4: kernel_user.ib_core = 2 3: expected a number"},
	{PORT_1 "counter. = 1\n", ":4: counter.: expected a counter of up to 47 bytes"},
	{PORT_1 "hw_counter.x = +-1\n",
	 ":4: hw_counter.x = +-1: expected a number, +NUMBER, or nothing"},
	{PORT_1 "state = up\n", ":4: state = up: expected nop, down, init, armed, active, "
				"active-defer, or raw:N"},
	{PORT_1 "link_speed = NDR\n",
	 ":4: link_speed: derived from other attributes, expected one of those"},
	{PORT_1 "generation = 1\n", ":4: generation: rdmad itself keeps it, expected an "
				    "attribute that the hardware has"},
	{PORT_1 "gids = x\n", ":4: gids: a table, expected entries of it: gid.INDEX, "
			      "pkey.INDEX or netdev"},
	{PORT_1 "active_mtu = 1500\n", ":4: active_mtu = 1500: expected 256, 512, 1024, "
				       "2048, 4096, or raw:N"},
	{PORT_1 "active_width = 3\n", ":4: active_width = 3: expected 1, 2, 4, 8, 12, or raw:N"},
	{PORT_1 "active_speed = LDR\n", ":4: active_speed = LDR: expected SDR, DDR, QDR, "
					"FDR10, FDR, EDR, HDR, NDR, XDR, or raw:N"},
	{PORT_1 "max_vl_num = 3\n", ":4: max_vl_num = 3: expected 1, 2, 4, 8, 15, or raw:N"},
	{PORT_1 "subnet_timeout = 32\n",
	 ":4: subnet_timeout = 32: expected an exponent from 0 to 31"},
	{PORT_1 "flags = maybe\n", ":4: flags = maybe: expected yes or no"},
	{PORT_1 "lid = 4294967296\n", ":4: lid = 4294967296: expected a number up to 4294967295"},
	{PORT_1 "port_speed = fast\n",
	 ":4: port_speed = fast: expected a number up to 18446744073709551615"},
	{PORT_1 "port_cap_flags2 = nonsense\n",
	 ":4: port_cap_flags2 = nonsense: expected names of capabilities with commas "
	 "between, or raw:N"},
	{PORT_1 "gid.8 = ::1\n",
	 ":4: gid.8: the table has 8 entries, expected an index below that"},
	{PORT_1 "gid.x = ::1\n",
	 ":4: gid.x: the table has 8 entries, expected an index below that"},
	{PORT_1 "gid.1 = ::g\n",
	 ":4: gid.1 = ::g: expected a GID or IP address, then its type (ib, v1 or v2), "
	 "then a network interface (and its index, if it is not the port's), then vlan=NUMBER or "
	 "namespace=other; or nothing"},
	{PORT_1 "gid.1 = ::1 v2 eth9\n",
	 ":4: gid.1 = ::1 v2 eth9: expected a GID or IP address, then its type (ib, v1 or "
	 "v2), then a network interface (and its index, if it is not the port's), then "
	 "vlan=NUMBER or namespace=other; or nothing"},
	{PORT_1 "gid.1 = ::1 v2 vlan=4095\n",
	 ":4: gid.1 = ::1 v2 vlan=4095: expected a GID or IP address, then its type (ib, v1 or "
	 "v2), then a network interface (and its index, if it is not the port's), then "
	 "vlan=NUMBER or namespace=other; or nothing"},
	{PORT_1 "pkey.128 = 0xffff\n",
	 ":4: pkey.128: the table has 128 entries, expected an index below that"},
	{PORT_1 "pkey.1 = 0x10000\n",
	 ":4: pkey.1 = 0x10000: expected a P_Key such as 0xffff, or nothing"},
	{PORT_1 "netdev = eth0\n", ":4: netdev = eth0: expected a name of up to 15 bytes "
				   "and the index of the interface, or nothing"},
	{PORT_1 "netdev = abcdefghijklmnop 1\n",
	 ":4: netdev = abcdefghijklmnop 1: expected a name of up to 15 bytes and the "
	 "index of the interface, or nothing"},
	{PORT_1 "protocol = x\n", ":4: protocol = x: expected infiniband, roce, iwarp or opa"},
	/* the error is in the section of one device of many */
	{"[device a%d]\ncount = 2\nprotocol = roce\n[port a%d/*]\nlid = 1%d%p\n"
	 "[port a1/1]\nmax_msg_sz = -1\n",
	 ":7: max_msg_sz = -1: expected a number up to 4294967295"},
	/* the sections of a device that does not exist at the start are checked too */
	{IB "present = no\n[port a/1]\nlid = x\n",
	 ":5: lid = x: expected a number up to 4294967295"},
};

/* Devices of a record. */
#define RECORD	    "[device r]\nrecorded = yes\n"
#define RECORD_PORT RECORD "[port r/1]\n"
static const ErrorCase record_errors[] = {
	{"[device r]\nrecorded = maybe\n", ":2: recorded = maybe: expected yes or no"},
	{RECORD "name = x\n", ":3: name: no attribute of a record"},
	{RECORD "chardevs.0 = class=verbs\n",
	 ":3: chardevs.0: the table has 0 entries, expected a number below that"},
	{RECORD_PORT "lid = x\n", ":4: lid = x: expected a value of the attribute"},
	{RECORD_PORT "netdev = a%2\n", ":4: netdev = a%2: expected a value of the attribute"},
	{RECORD_PORT "rate = 1\n",
	 ":4: rate: a record has no such value, expected an attribute that "
	 "the hardware has"},
	{RECORD_PORT "stale = yes\n",
	 ":4: stale: a record has no such value, expected an attribute that the hardware has"},
	{RECORD_PORT "protocols = x\n", ":4: protocols: no attribute of a record"},
	{RECORD_PORT "gids = x\n", ":4: gids: no attribute of a record"},
	{RECORD_PORT "lid.0 = x\n", ":4: lid.0: no attribute of a record"},
	{RECORD_PORT "counters.n = 1\n", ":4: counters.n: no attribute of a record"},
	{RECORD_PORT "gids.n = 4097\n",
	 ":4: gids.n = 4097: expected a number of entries up to 4096, or nothing"},
	{RECORD_PORT "gids.n = 2\ngids.2 = index=2\n",
	 ":5: gids.2: the table has 2 entries, expected a number below that"},
	{RECORD_PORT "gids.n = 1\ngids.0 = place=2\n",
	 ":5: gids.0 = place=2: expected COLUMN=VALUE with spaces between"},
	{RECORD_PORT "answer.parts = 1024\n", ":4: answer.parts = 1024: expected a smaller number"},
	{RECORD_PORT "answer.open_error = 5\n",
	 ":4: answer.open_error = 5: expected a smaller number"},
	{RECORD_PORT "answer.unmeasured = lid,x\n",
	 ":4: answer.unmeasured = lid,x: expected attributes with ',' between"},
	{RECORD_PORT "answer.x = 1\n", ":4: answer.x: no attribute of a record"},
	{RECORD_PORT "answer.no_neighbor = x\n", ":4: answer.no_neighbor = x: expected a code"},
	{RECORD "[script]\nat 1s: answer r/*\n",
	 ":4: r/*: expected a device of a record, or one port of it"},
	{SCRIPT "at 1s: answer a/1\n", ":4: a/1: expected a device of a record, or one port of it"},
	{RECORD "[script]\nat 1s: answer r/1 error=OOPS\n",
	 ":4: OOPS: not the name of an error, expected one such as EIO or EREMOTEIO, or none"},
	{RECORD "[script]\nat 1s: answer r/1 reasons=link,moon\n",
	 ":4: moon: not the reason of an event, expected one such as port-active, port-error, "
	 "lid-change or link"},
	{RECORD "[script]\nat 1s: answer r/1 time=soon\n",
	 ":4: time = soon: expected a number from 0 to 100000000000000000"},
	{RECORD "[script]\nat 1s: noted r/1 lid=1\n", ":4: lid: expected reasons=REASON"},
	{RECORD "[script]\nat 1s: asked r/1\n", ":4: r/1: expected a device"},
	{RECORD "[script]\nat 1s: asked moon\n",
	 ":4: moon: no such device, expected the name of one that is there now"},
	{SCRIPT "at 1s: asked a\n", ":4: a: expected a device of a record, or one port of it"},
	{RECORD "[script]\nat 1s: add s recorded=yes index=x\n",
	 ":4: index = x: expected a number from 0 to 2147483647"},
};

/* Lines of the script, up to their commands. */
static const ErrorCase step_errors[] = {
	{SCRIPT "remove a\n", ":4: remove a: expected at TIME: COMMAND or every TIME: "
			      "COMMAND"},
	{SCRIPT "in 2s: remove a\n", ":4: in: expected at TIME or every TIME before ':'"},
	{SCRIPT "at: remove a\n", ":4: at: expected at TIME or every TIME before ':'"},
	{SCRIPT "at 1s at 2s: remove a\n", ":4: at: expected at TIME or every TIME before ':'"},
	{SCRIPT ": remove a\n", ":4: expected at TIME or every TIME before ':'"},
	{SCRIPT "at 2: remove a\n", ":4: 2: expected a time up to 87600h such as 2s, 100ms "
				    "or 1.5min"},
	{SCRIPT "at 87601h: remove a\n", ":4: 87601h: expected a time up to 87600h such as 2s, "
					 "100ms or 1.5min"},
	{SCRIPT "at 0x2s: remove a\n", ":4: 0x2s: expected a time up to 87600h such as 2s, "
				       "100ms or 1.5min"},
	{SCRIPT "at nans: remove a\n", ":4: nans: expected a time up to 87600h such as 2s, "
				       "100ms or 1.5min"},
	{SCRIPT "every 10us: stall a\n", ":4: every: too often, expected 1ms or more"},
	{SCRIPT "speed = 0\n", ":4: speed = 0: expected a number from 1 to 1000"},
	{SCRIPT "speed = 1001\n", ":4: speed = 1001: expected a number from 1 to 1000"},
	{SCRIPT "speed =\n", ":4: speed = : expected a number from 1 to 1000"},
	{SCRIPT "speed = 2\nspeed = 2\n", ":5: speed: is set before too, expected it once"},
	{SCRIPT "speedy = 2\n", ":4: speedy = 2: expected at TIME: COMMAND or every TIME: "
				"COMMAND"},
	{SCRIPT "every 19ms: stall a\nspeed = 20\n",
	 ":4: every: too often with speed = 20, expected 20ms or more"},
};

/* Commands of the script. */
static const ErrorCase command_errors[] = {
	{SCRIPT "at 1s:\n", ":4: nothing: not a command, expected set, event, add, remove, "
			    "rename, stall, unstall, fail, answer, asked, noted or finding"},
	{SCRIPT "at 1s: explode a\n",
	 ":4: explode: not a command, expected set, event, add, "
	 "remove, rename, stall, unstall, fail, answer, asked, noted or finding"},
	{SCRIPT "at 1s: remove\n",
	 ":4: remove with 0 arguments, expected remove DEVICE [time=USEC]"},
	{SCRIPT "at 1s: rename a \"b\n", ":4: a quotation mark is not closed, expected "
					 "another '\"' in the line"},
	{SCRIPT "at 1s: remove b\n", ":4: b: no such device, expected the name of one "
				     "that is there now"},
	{SCRIPT "at 1s: rename a a/b\n", ":4: a/b: not a name for a device, expected up to 63 "
					 "bytes of text without '/', and %XX for "
					 "white space and any of \"%=#*"},
	{SCRIPT "at 1s: rename a a\n", ":4: a: there is such a device, expected another name"},
	{SCRIPT "at 1s: set a/2 state=down\n",
	 ":4: a/2: no such port, expected a number from 1 to 1, or *"},
	{SCRIPT "at 1s: set a/0x1 state=down\n",
	 ":4: a/0x1: no such port, expected a number from 1 to 1, or *"},
	{SCRIPT "at 1s: set a/01 state=down\n",
	 ":4: a/01: no such port, expected a number from 1 to 1, or *"},
	{SCRIPT "at 1s: set a/ state=down\n",
	 ":4: a/: no such port, expected a number from 1 to 1, or *"},
	{SCRIPT "at 1s: set */1 state=down\n", ":4: */1: expected */* for all ports"},
	{SCRIPT "at 1s: set * state=down\n",
	 ":4: *: expected a device, a port, or */* for all ports"},
	{SCRIPT "at 1s: set a/1 state\n", ":4: state: expected ATTRIBUTE=VALUE or event=REASON"},
	{SCRIPT "at 1s: set a/1 protocol=roce\n",
	 ":4: protocol: derived from other attributes, expected one of those"},
	{SCRIPT "at 1s: set a/1 event=boom\n",
	 ":4: boom: not the reason of an event, expected one such as port-active, "
	 "port-error, "
	 "lid-change or link"},
	{SCRIPT "at 1s: set a/1 gid_tbl_len=0\n",
	 ":4: gid_tbl_len = 0: entry 0 is in use, expected more than that"},
	{SCRIPT "at 1s: event a/1 boom\n", ":4: boom: not the reason of an event, expected "
					   "one such as port-active, port-error, "
					   "lid-change or link"},
	{SCRIPT "at 1s: add b\n", ":4: b: expected protocol = infiniband, roce, iwarp or opa"},
	{SCRIPT "at 1s: add b from=c\n", ":4: from=c: expected a device of the scenario file"},
	{SCRIPT "at 1s: add b from=a ports=x\n", ":4: ports = x: expected a number from 0 to 1024"},
	{SCRIPT "at 1s: fail a EIO\n", ":4: a: expected a port, NAME/NUMBER or NAME/*"},
	{SCRIPT "at 1s: fail a/1 EWHAT\n", ":4: EWHAT: not the name of an error, expected one "
					   "such as EIO or EREMOTEIO, or none"},
	{SCRIPT "at 1s: fail a/1 EIO many\n",
	 ":4: count = many: expected a number from 0 to 4294967295"},
	/* steps are tried in the order of time, not of the file */
	{SCRIPT "at 3s: set a/1 lid=1\nat 2s: remove a\n",
	 ":4: a: no such device, expected the name of one that is there now"},
};

static void expect_errors(const ErrorCase *cases, size_t n)
{
	for (size_t i = 0; i < n; i++)
		expect_error(cases[i].text, strlen(cases[i].text), cases[i].message);
}

static void test_syntax_errors(void **state)
{
	(void)state;
	expect_errors(syntax_errors, ARRAY_SIZE(syntax_errors));
}

static void test_device_errors(void **state)
{
	(void)state;
	expect_errors(device_errors, ARRAY_SIZE(device_errors));
}

static void test_port_errors(void **state)
{
	(void)state;
	expect_errors(port_errors, ARRAY_SIZE(port_errors));
}

static void test_step_errors(void **state)
{
	(void)state;
	expect_errors(step_errors, ARRAY_SIZE(step_errors));
}

static void test_command_errors(void **state)
{
	(void)state;
	expect_errors(command_errors, ARRAY_SIZE(command_errors));
	expect_errors(record_errors, ARRAY_SIZE(record_errors));
}

/* The speed is for all steps, wherever it stands; times that become equal stay in order. */
static void test_speed(void **state)
{
	_cleanup_(simulated_machine_done) SimulatedMachine s = {};
	static const struct {
		unsigned int line;
		uint64_t at_usec, every_usec;
	} expected[] = {{6, 0, 0}, {4, 0, 0}, {7, 200000, 1000}, {8, 100000000, 100000000}};
	const ScenarioStep *steps;
	size_t n;

	(void)state;
	load_text(SCRIPT "at 7us: set a/1 lid=2\n"
			 "speed=10\n"
			 "at 3us: set a/1 lid=1\n"
			 "at 2s every 10ms: set a/1 lid=3\n"
			 "every 1000s: set a/1 lid=4\n",
		  &s);
	steps = scenario_steps(s.scenario, &n);
	assert_int_equal(n, ARRAY_SIZE(expected));
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(steps[i].line, expected[i].line);
		assert_int_equal(steps[i].at_usec, expected[i].at_usec);
		assert_int_equal(steps[i].every_usec, expected[i].every_usec);
	}
}

/* A record has the times of a machine that runs for years, and its last line may have no end. */
static void test_late(void **state)
{
	_cleanup_(simulated_machine_done) SimulatedMachine s = {};
	const ScenarioStep *steps;
	size_t n;

	(void)state;
	load_text(SCRIPT "at 3456000.5s: set a/1 lid=1\nat 315360000s: set a/1 lid=2", &s);
	steps = scenario_steps(s.scenario, &n);
	assert_true(n == 2 && steps[0].at_usec == 3456000500000);
	assert_int_equal(steps[1].at_usec, 315360000000000);
}

static void test_bounds(void **state)
{
	static char big[SCENARIO_FILE_MAX + 1];
	_cleanup_(simulated_machine_done) SimulatedMachine s = {};
	_cleanup_free_ char *text = NULL, *message = NULL;
	size_t n = 0, size = 0;
	FILE *f;

	(void)state;
	expect_error("[script]\0\n", 10, ":1: has a byte 0, expected text");
	memset(big, '#', sizeof(big));
	expect_error(big, SCENARIO_LINE_MAX + 1, ":1: too long, expected at most 4096 bytes");
	expect_error(big, sizeof(big), ": too large, expected at most 33554432 bytes");

	if (!getenv("RDMAD_TEST_VALGRIND")) { /* half a million of the same step */
		f = open_memstream(&text, &size);
		assert_non_null(f);
		fputs(SCRIPT, f);
		for (n = 0; n <= SCENARIO_STEPS_MAX; n++)
			fputs("at 1s: stall a\n", f);
		fclose(f);
		expect_error(text, size, ":524292: too many steps, expected at most 524288");
		free(steal_pointer(&text));
	}
	f = open_memstream(&text, &size);
	assert_non_null(f);
	fputs(PORT_1, f);
	for (n = 0; n <= 256; n++)
		fprintf(f, "counter.c%zu = 1\n", n);
	fclose(f);
	expect_error(text, size,
		     ":260: counter.c256: too many, expected at most 256 counters of a port");

	memset(big, 'x', sizeof(big));
	memcpy(big, SCRIPT "at 1s: ", strlen(SCRIPT "at 1s: "));
	for (n = strlen(SCRIPT "at 1s: "); n < 700; n += 2)
		big[n] = ' ';
	expect_error(big, 700, ":4: too many words, expected at most 256");
	assert_int_equal(load("/nonexistent/file", &s, &message), -ENOENT);
	assert_string_equal(message, "/nonexistent/file: No such file or directory");
}

static PortSnapshot *port(const SimulatedMachine *s, uint32_t index, uint32_t number)
{
	SimulatedDevice *d = simulated_machine_device(s, index);

	assert_non_null(d);
	assert_in_range(number, 1, d->now.values.port_count);
	return &d->ports[number - 1].now;
}

static const GidEntry *gid(const PortSnapshot *p, uint32_t i)
{
	const Table *t = p->tables[PORT_TABLE_GIDS];

	assert_non_null(t);
	assert_in_range(i, 0, t->n - 1);
	return (const GidEntry *)(const void *)t->entries + i;
}

static void test_defaults(void **state)
{
	_cleanup_(simulated_machine_done) SimulatedMachine s = {};
	PortSnapshot *p;
	char address[46];

	(void)state;
	load_text("[device i]\nprotocol = infiniband\nports=2\n[device r]\nprotocol = roce\n"
		  "[device w]\nprotocol = iwarp\n[device o]\nprotocol = opa\n",
		  &s);
	for (uint32_t i = 0; i < 4; i++) {
		static const AttrProtocol protocols[] = {PROTOCOL_INFINIBAND, PROTOCOL_ROCE,
							 PROTOCOL_IWARP, PROTOCOL_OPA};
		const DeviceSnapshot *d = &simulated_machine_device(&s, i)->now;

		p = port(&s, i, 1);
		port_derive(p, d);
		assert_int_equal(p->values.protocol, protocols[i]);
		assert_int_equal(p->values.state, 4);
		assert_int_equal(p->values.phys_state, 5);
		assert_true(mask_has(&p->valid, PORT_ATTR_rate));
		assert_true(mask_has(&p->valid, PORT_ATTR_active_mtu));
		assert_int_equal(mask_has(&p->valid, PORT_ATTR_lid), i == 0 || i == 3);
		assert_int_equal(mask_has(&p->valid, PORT_ATTR_netdev), i == 1 || i == 2);
	}
	assert_int_not_equal(port(&s, 0, 1)->values.lid, port(&s, 0, 2)->values.lid);
	assert_true(port(&s, 0, 1)->values.port_guid ==
		    simulated_machine_device(&s, 0)->now.values.node_guid + 1);
	p = port(&s, 1, 1);
	assert_int_equal(p->tables[PORT_TABLE_GIDS]->n, 4);
	assert_int_equal(gid(p, 3)->type, GID_TYPE_ROCE_V2);
	gid_format_address(gid(p, 3)->gid, GID_TYPE_ROCE_V2, address);
	assert_string_equal(address, "10.0.0.3");
	assert_int_equal(p->tables[PORT_TABLE_NETDEVS]->n, 1);
	assert_int_equal(p->values.netdev_speed, UINT64_C(100000000000));
	assert_int_equal(port(&s, 2, 1)->tables[PORT_TABLE_GIDS]->n, 1);
}

static void test_settings(void **state)
{
	_cleanup_(simulated_machine_done) SimulatedMachine s = {};
	const SimulatedDevice *d;
	PortSnapshot *p;

	(void)state;
	load_text("# comment\n"
		  "[device m%d]\ncount = 3\nports = 2\nprotocol = infiniband\nindex = 7\n"
		  "node_desc = host  HCA-%d 100%\n"
		  "[port m%d/2]\nlid = 2%d%p\nactive_mtu = 2048\n"
		  "[port m1/*]\nlid = 5\nsm_sl =\n"
		  "[port m%d/*]\nlid = 9\nactive_mtu = 1024\nactive_speed = XDR\n"
		  "[device v]\nprotocol = infiniband\nports = 2\n"
		  "[port v/2]\ngid.3 = 192.0.2.1 v1 vlan5 77 vlan=5\ngid.4 = ::2 "
		  "namespace=other\ngid.300 =\ngid.0 = fe80::1\n"
		  "protocol = roce\nnetdev = eth%p 9\ngid_tbl_len = 512\npkey.0 = 0x8000\n"
		  "active_speed = XDR\nactive_speed_ex = raw:0\n",
		  &s);
	d = simulated_machine_device(&s, 8);
	assert_string_equal(TEXT_OF(&d->now.values, name), "m1");
	assert_string_equal(TEXT_OF(&d->now.values, node_desc), "host  HCA-1 100%");
	/* the more special section counts, wherever it is in the file */
	assert_int_equal(port(&s, 7, 1)->values.lid, 9);
	assert_int_equal(port(&s, 7, 2)->values.lid, 202);
	assert_int_equal(port(&s, 9, 2)->values.lid, 222);
	assert_int_equal(port(&s, 8, 2)->values.lid, 5);
	assert_int_equal(port(&s, 8, 2)->values.active_mtu, 4);
	assert_int_equal(port(&s, 8, 1)->values.active_mtu, 3);
	/* an empty value: the driver does not report it */
	assert_false(mask_has(&port(&s, 8, 1)->supplied, PORT_ATTR_sm_sl));
	assert_true(mask_has(&port(&s, 7, 1)->supplied, PORT_ATTR_sm_sl));
	/* active_speed has only eight bits */
	assert_int_equal(port(&s, 7, 1)->values.active_speed, 128);
	assert_int_equal(port(&s, 7, 1)->values.active_speed_ex, 256);

	p = port(&s, 10, 2);
	assert_string_equal(TEXT_OF(&p->values, netdev), "eth2");
	assert_int_equal(p->values.ifindex, 9);
	assert_int_equal(p->values.active_speed_ex, 0);
	assert_int_equal(p->tables[PORT_TABLE_GIDS]->n, 3);
	assert_int_equal(gid(p, 0)->type, GID_TYPE_ROCE_V2);
	assert_string_equal(gid(p, 0)->netdev, "eth2");
	assert_int_equal(gid(p, 1)->index, 3);
	assert_int_equal(gid(p, 1)->type, GID_TYPE_ROCE_V1);
	assert_int_equal(gid(p, 1)->ifindex, 77);
	assert_int_equal(gid(p, 1)->vlan_id, 5);
	assert_int_equal(gid(p, 2)->namespace, GID_NAMESPACE_OTHER);
	assert_int_equal(gid(p, 2)->ifindex, 0);
	assert_string_equal(gid(p, 2)->netdev, "");
	assert_null(p->tables[PORT_TABLE_PKEYS]);
}

static void test_examples(void **state)
{
	static const struct {
		const char *file;
		guint devices;
	} cases[] = {{"fabric", 6}, {"every-speed", 13}, {"flaps", 2}};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(simulated_machine_done) SimulatedMachine s = {};
		_cleanup_free_ char *message = NULL;
		char file[256];

		snprintf(file, sizeof(file), TEST_SOURCE_DIR "/docs/scenarios/%s.conf",
			 cases[i].file);
		if (load(file, &s, &message) < 0)
			fail_msg("%s", message);
		assert_int_equal(g_hash_table_size(s.by_index), cases[i].devices);
	}
}

/* A script of N steps COMMAND, and then one that fails, for 512 ports. */
static char *long_script(unsigned int n, const char *command)
{
	GString *text = g_string_new("[device a%d]\nprotocol = roce\ncount = 512\n[script]\n");

	for (unsigned int i = 0; i < n; i++)
		g_string_append_printf(text, "at 1s: %s\n", command);
	g_string_append(text, "at 2s: remove b\n");
	return g_string_free(text, false);
}

/* What can be set on all ports or on none is tried on one: the last of many steps is tried, too. */
static void test_long_script(void **state)
{
	g_autofree char *text = long_script(4096, "set */* lid=7 state=down event=lid-change");

	(void)state;
	expect_error(text, strlen(text),
		     ":4101: b: no such device, expected the name of one that "
		     "is there now");
}

/* What has to be tried on every port is not tried without end. Not under valgrind: it takes a
 * million changes, which are of the kinds that other tests make. */
static void test_too_long_script(void **state)
{
	g_autofree char *text = long_script(2048, "set */* \"gid.3=192.0.2.7 v2\"");
	_cleanup_(simulated_machine_done) SimulatedMachine s = {};

	(void)state;
	if (!getenv("RDMAD_TEST_VALGRIND"))
		load_text(text, &s);
}

/* What decides about later steps is set on each port. */
static void test_script_that_decides(void **state)
{
#define DECIDES(key) "[device a]\nprotocol = roce\nports = 2\n[script]\nat 1s: set a/* " key "=4\n"
	static const ErrorCase cases[] = {
		{DECIDES("gid_tbl_len") "at 2s: set a/2 gid.4=192.0.2.7\n",
		 ":6: gid.4: the table has 4 entries, expected an index below that"},
		{DECIDES("pkey_tbl_len") "at 2s: set a/2 pkey.4=0xffff\n",
		 ":6: pkey.4: the table has 4 entries, expected an index below that"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		expect_error(cases[i].text, strlen(cases[i].text), cases[i].message);
}

/* A recorded device takes values that a simulated one does not take, wherever it stands. */
static void test_script_of_both_kinds(void **state)
{
#define RECORDED "[device r]\nrecorded = yes\n"
#define STEP	 "[script]\nat 1s: set */* generation=5\n"
	_cleanup_(simulated_machine_done) SimulatedMachine s = {};
	const char *const texts[] = {RECORDED "[device a]\nprotocol = roce\n" STEP,
				     "[device a]\nprotocol = roce\n" RECORDED STEP};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		expect_error(texts[i], strlen(texts[i]),
			     ":6: generation: rdmad itself keeps it, expected an attribute that "
			     "the hardware has");
	load_text(RECORDED STEP, &s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_long_script),
		cmocka_unit_test(test_too_long_script),
		cmocka_unit_test(test_script_of_both_kinds),
		cmocka_unit_test(test_script_that_decides),
		cmocka_unit_test(test_syntax_errors),
		cmocka_unit_test(test_device_errors),
		cmocka_unit_test(test_port_errors),
		cmocka_unit_test(test_step_errors),
		cmocka_unit_test(test_late),
		cmocka_unit_test(test_command_errors),
		cmocka_unit_test(test_speed),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_settings),
		cmocka_unit_test(test_examples),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
