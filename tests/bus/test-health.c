/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Health and Findings of ports, of devices and of the manager. */

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

#include "fixture.h"
#include "names.h"

#define PORT   "/org/rdma/device/3/port/1"
#define OTHER  "/org/rdma/device/4/port/1"
#define DEVICE "/org/rdma/device/3"

static const char scenario[] = "[device mlx5_0]\n"
			       "index = 3\n"
			       "protocol = infiniband\n"
			       "[device mlx5_1]\n"
			       "index = 4\n"
			       "protocol = infiniband\n";

static int setup(void **state)
{
	int r = fixture_setup_daemon(state, scenario);
	Fixture *f = *state;

	f->with_health = true;
	return r;
}

static const char *interface_of(const char *path)
{
	return strstr(path, "/port/")	      ? RDMAD_INTERFACE_PORT
	       : streq(path, RDMAD_ROOT_PATH) ? RDMAD_INTERFACE_MANAGER
					      : RDMAD_INTERFACE_DEVICE;
}

/* Returns when the Health of PATH is EXPECTED: each change of it is signalled. */
static void wait_health(Fixture *f, const char *path, const char *expected)
{
	for (;;) {
		_cleanup_free_ char *is = fixture_property(f, path, interface_of(path), "Health");

		if (streq(is, expected))
			return;
		fixture_wait_signal(f, path, "PropertiesChanged");
		fixture_forget(f);
	}
}

/* Reads the tail of a finding; of its texts and times those that are not there stay as they are. */
static void read_tail(sd_bus_message *m, uint64_t *since, const char **certainty, const char **text,
		      bool *has_cause)
{
	const char *key;

	assert_true(sd_bus_message_enter_container(m, 'a', "{sv}") > 0);
	while (sd_bus_message_enter_container(m, 'e', "sv") > 0) {
		assert_true(sd_bus_message_read(m, "s", &key) > 0);
		if (streq(key, "Since"))
			assert_true(sd_bus_message_read(m, "v", "t", since) > 0);
		else if (streq(key, "Certainty"))
			assert_true(sd_bus_message_read(m, "v", "s", certainty) > 0);
		else if (streq(key, "AcknowledgedText"))
			assert_true(sd_bus_message_read(m, "v", "s", text) > 0);
		else
			assert_true(sd_bus_message_skip(m, "v") > 0);
		*has_cause |= streq(key, "Cause");
		assert_true(sd_bus_message_exit_container(m) >= 0);
	}
	assert_true(sd_bus_message_exit_container(m) >= 0);
}

/* When the last finding that findings() has written began. */
static uint64_t began_usec;

/* Writes "CHECK SEVERITY, ..." of PATH to TEXT, with "?" behind what is not certain, and what was
 * said when it was acknowledged; one with a cause is in brackets. */
static const char *findings(Fixture *f, const char *path, char text[256])
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m =
		fixture_call(f, path, "org.freedesktop.DBus.Properties", "Get", NULL, "ss",
			     interface_of(path), "Findings");
	const char *check, *severity;
	size_t n = 0;

	text[0] = '\0';
	assert_true(sd_bus_message_enter_container(m, 'v', "a(sssa{sv})") > 0);
	assert_true(sd_bus_message_enter_container(m, 'a', "(sssa{sv})") > 0);
	while (sd_bus_message_enter_container(m, 'r', "sssa{sv}") > 0) {
		const char *certainty = "", *acknowledged = "";
		bool has_cause;

		assert_true(sd_bus_message_read(m, "ss", &check, &severity) > 0);
		assert_true(sd_bus_message_skip(m, "s") > 0);
		has_cause = false;
		read_tail(m, &began_usec, &certainty, &acknowledged, &has_cause);
		n += (size_t)snprintf(text + n, 256 - n,
				      has_cause ? "%s(%s %s%s%s%s)" : "%s%s %s%s%s%s",
				      n ? ", " : "", check, severity,
				      streq(certainty, "unknown") ? "?" : certainty,
				      *acknowledged ? ": " : "", acknowledged);
		assert_true(sd_bus_message_exit_container(m) >= 0);
	}
	return text;
}

/* Returns when that is EXPECTED: each change of it is signalled. */
static void wait_findings(Fixture *f, const char *path, const char *expected)
{
	char text[256];

	while (!streq(findings(f, path, text), expected)) {
		fixture_wait_signal(f, path, "PropertiesChanged");
		fixture_forget(f);
	}
}

/* The place of the first signal of PATH that has PROPERTY. */
static size_t place_of(const Fixture *f, const char *path, const char *property)
{
	size_t i = 0;

	while (i < f->n_signals &&
	       !(streq(sd_bus_message_get_path(f->signals[i]), path) &&
		 sd_bus_message_is_signal(f->signals[i], NULL, "PropertiesChanged") > 0 &&
		 fixture_changed(f->signals[i], interface_of(path), property)))
		i++;
	return i;
}

/* What is wrong is said after the news itself, and when it is over, that too. */
static void test_link_down(void **state)
{
	Fixture *f = *state;
	char text[256];

	/* who finds the name finds them judged */
	fixture_assert_property(f, PORT, RDMAD_INTERFACE_PORT, "Health", "ok");
	fixture_assert_property(f, DEVICE, RDMAD_INTERFACE_DEVICE, "Health", "ok");
	fixture_assert_property(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "Health", "ok");
	fixture_forget(f);
	fixture_simulate(f, "set mlx5_0/1 state=down phys_state=polling event=port-error");
	while (place_of(f, PORT, "Health") == f->n_signals)
		fixture_wait_more(f);
	assert_true(place_of(f, PORT, "State") < place_of(f, PORT, "Health"));
	wait_health(f, RDMAD_ROOT_PATH, "critical");
	assert_string_equal(findings(f, PORT, text), "not-active critical");
	fixture_assert_property(f, OTHER, RDMAD_INTERFACE_PORT, "Health", "ok");
	fixture_assert_property(f, DEVICE, RDMAD_INTERFACE_DEVICE, "Health", "ok");
	fixture_simulate(f, "set mlx5_0/1 state=active phys_state=link-up event=port-active");
	wait_health(f, PORT, "ok");
	wait_health(f, RDMAD_ROOT_PATH, "ok");
	assert_string_equal(findings(f, PORT, text), "");
}

/* Returns the FitSince of the port when it is 0 or not, as IS_FIT says: each change is signalled.
 */
static uint64_t wait_fit(Fixture *f, bool is_fit)
{
	for (;;) {
		_cleanup_free_ char *is =
			fixture_property(f, PORT, RDMAD_INTERFACE_PORT, "FitSince");
		uint64_t since = strtoull(is, NULL, 10);

		if ((since > 0) == is_fit)
			return since;
		fixture_wait_signal(f, PORT, "PropertiesChanged");
		fixture_forget(f);
	}
}

/* A port is fit again when its GIDs are back, or after the time in which it settles. */
static void test_fit(void **state)
{
	Fixture *f = *state;
	_cleanup_free_ char *active = NULL;

	(void)wait_fit(f, true);
	fixture_simulate(f, "set mlx5_0/1 state=down phys_state=polling event=port-error");
	(void)wait_fit(f, false);
	fixture_simulate(f, "set mlx5_0/1 gid.1= event=gid-change");
	fixture_simulate(f, "set mlx5_0/1 state=active phys_state=link-up event=port-active");
	wait_health(f, PORT, "ok");
	active = fixture_property(f, PORT, RDMAD_INTERFACE_PORT, "StateChangeTimestamp");
	/* the GID does not come back */
	assert_true(wait_fit(f, true) >= strtoull(active, NULL, 10) + 300 * USEC_PER_MSEC);
}

static int setup_settle(void **state)
{
	Fixture *f = fixture_new();

	fixture_configure(f, "[Daemon]\nSettleSec=0.3\n");
	f->with_health = true;
	fixture_start_daemon(f,
			     "[device mlx5_0]\n"
			     "index = 3\n"
			     "protocol = infiniband\n"
			     "[port mlx5_0/1]\n"
			     "gid.0 = fe80::1\n"
			     "gid.1 = fe80::2\n",
			     NULL);
	*state = f;
	return 0;
}

/* What is not known is never well. */
static void test_stale(void **state)
{
	Fixture *f = *state;
	char text[256];

	fixture_simulate(f, "fail mlx5_0/1 EIO");
	fixture_simulate(f, "event mlx5_0/1 link");
	wait_health(f, PORT, "unknown");
	assert_string_equal(findings(f, PORT, text), "stale critical");
	wait_health(f, RDMAD_ROOT_PATH, "unknown");
	fixture_simulate(f, "fail mlx5_0/1 none");
	fixture_simulate(f, "event mlx5_0/1 link");
	wait_health(f, PORT, "ok");
	/* what was wrong before may be over */
	fixture_simulate(f, "set mlx5_0/1 state=down phys_state=polling event=port-error");
	wait_health(f, PORT, "critical");
	fixture_simulate(f, "fail mlx5_0/1 EIO");
	fixture_simulate(f, "event mlx5_0/1 link");
	wait_health(f, PORT, "unknown");
	assert_string_equal(findings(f, PORT, text), "(not-active critical?), stale critical");
}

/* A row that no change tells of, because it counts, is judged too; and a device has findings. */
static void test_counter_of_device(void **state)
{
	Fixture *f = *state;
	char text[256];

	fixture_simulate(f, "set mlx5_0 aer_nonfatal=0");
	fixture_simulate(f, "set mlx5_0 aer_nonfatal=2 event=device");
	wait_health(f, DEVICE, "warning");
	assert_string_equal(findings(f, DEVICE, text), "pcie-errors warning");
	wait_health(f, RDMAD_ROOT_PATH, "warning");
	fixture_assert_property(f, PORT, RDMAD_INTERFACE_PORT, "Health", "ok");
}

static int setup_counters(void **state)
{
	Fixture *f = fixture_new();

	fixture_configure(f, "[Daemon]\nCounterIntervalSec=1\n");
	f->with_health = true;
	fixture_start_daemon(f, scenario, NULL);
	*state = f;
	return 0;
}

/* While packets are lost, rdmad says so, though nobody reads the counters. */
static void test_loss(void **state)
{
	Fixture *f = *state;
	char text[256];

	fixture_assert_property(f, PORT, RDMAD_INTERFACE_PORT, "Health", "ok");
	fixture_simulate(f, "set mlx5_0/1 hw_counter.out_of_sequence=+1000000");
	wait_health(f, PORT, "warning");
	assert_string_equal(findings(f, PORT, text), "loss warning");
	fixture_assert_property(f, OTHER, RDMAD_INTERFACE_PORT, "Health", "ok");
}

/* Devices that come and go are judged, and what was found of them goes with them. */
static void test_come_and_go(void **state)
{
	Fixture *f = *state;
	char text[256];

	fixture_simulate(f, "add bad protocol=infiniband");
	fixture_wait_signal(f, RDMAD_ROOT_PATH, "InterfacesAdded");
	fixture_simulate(f, "set bad/1 state=down phys_state=polling event=port-error");
	wait_health(f, RDMAD_ROOT_PATH, "critical");
	fixture_simulate(f, "remove bad");
	wait_health(f, RDMAD_ROOT_PATH, "ok");
	fixture_simulate(f, "remove mlx5_0");
	fixture_simulate(f, "remove mlx5_1");
	wait_health(f, RDMAD_ROOT_PATH, "critical");
	assert_string_equal(findings(f, RDMAD_ROOT_PATH, text), "no-port critical");
}

/* Writes the file NAME of the directory in which the configuration is. */
static void write_file(const Fixture *f, const char *name, const char *text)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", f->directory, name);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void make_directory(const Fixture *f, const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", f->directory, name);
	assert_int_equal(mkdir(path, 0700), 0);
}

static int setup_expectations(void **state)
{
	Fixture *f = fixture_new();

	make_directory(f, "rdmad");
	make_directory(f, "rdmad/expect.conf.d");
	write_file(f, "rdmad/expect.conf", "[mlx5_0]\nSmLid = 3\n[mlx5_1]\nSmLid = 4\n");
	write_file(f, "rdmad/expect.conf.d/20-later.conf", "[mlx5_1]\nSmLid = 1\n");
	write_file(f, "rdmad/expect.conf.d/30-wrong.conf", "[mlx5_1]\nSmLid = 9\nNonsense\n");
	write_file(f, "rdmad/expect.conf.d/40-not.txt", "SmLid = 8\n");
	f->with_health = true;
	fixture_start_daemon(f, scenario, NULL);
	*state = f;
	return 0;
}

/* Files say what is expected; a later one goes before. One with an error is told of, and counts for
 * nothing, and rdmad goes on. */
static void test_expectations(void **state)
{
	Fixture *f = *state;
	char text[256];

	fixture_assert_property(f, PORT, RDMAD_INTERFACE_PORT, "Health", "critical");
	assert_string_equal(findings(f, PORT, text), "expectation critical");
	assert_string_equal(findings(f, OTHER, text), "");
	assert_string_equal(findings(f, RDMAD_ROOT_PATH, text), "expect-file warning");
	fixture_simulate(f, "set mlx5_0/1 sm_lid=3 event=sm-change");
	wait_health(f, PORT, "ok");
	wait_health(f, RDMAD_ROOT_PATH, "warning");
}

static void acknowledge(Fixture *f, const char *check, const char *text, const char *expected)
{
	_cleanup_free_ char *error = NULL;

	sd_bus_message_unref(fixture_call(f, PORT, RDMAD_INTERFACE_PORT, "Acknowledge", &error,
					  "sa{sv}", check, 1, "text", "s", text));
	assert_string_equal(error ? error : "", expected);
}

/* The findings that the history of NAME has: "CHECK ended, ...", with what was said when they were
 * acknowledged; "": there is no such history. Of the last *RET_SINCE is when it began. */
static const char *past_of(Fixture *f, const char *name, char text[256], uint64_t *ret_since)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m =
		fixture_call(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "ListHistories", NULL,
			     "a{sv}", 2, "transitions", "b", 1, "port", "s", name);
	const char *check, *severity, *key, *acknowledged;
	bool has_cause = false;
	uint64_t until;
	size_t n = 0;

	text[0] = '\0';
	assert_true(sd_bus_message_enter_container(m, 'a', "(sa{sv})") > 0);
	if (sd_bus_message_at_end(m, false) > 0)
		return text;
	assert_true(sd_bus_message_enter_container(m, 'r', "sa{sv}") > 0);
	assert_true(sd_bus_message_skip(m, "s") > 0);
	assert_true(sd_bus_message_enter_container(m, 'a', "{sv}") > 0);
	while (sd_bus_message_enter_container(m, 'e', "sv") > 0 &&
	       sd_bus_message_read(m, "s", &key) > 0 && !streq(key, "Findings")) {
		assert_true(sd_bus_message_skip(m, "v") > 0);
		assert_true(sd_bus_message_exit_container(m) >= 0);
	}
	assert_true(sd_bus_message_enter_container(m, 'v', "a(sstta{sv})") > 0);
	assert_true(sd_bus_message_enter_container(m, 'a', "(sstta{sv})") > 0);
	while (sd_bus_message_enter_container(m, 'r', "sstta{sv}") > 0) {
		acknowledged = "";
		assert_true(sd_bus_message_read(m, "sstt", &check, &severity, ret_since, &until) >
			    0);
		read_tail(m, &until, &severity, &acknowledged, &has_cause);
		n += (size_t)snprintf(text + n, 256 - n, "%s%s%s%s%s", n ? ", " : "", check,
				      until ? " ended" : "", *acknowledged ? ": " : "",
				      acknowledged);
		assert_true(sd_bus_message_exit_container(m) >= 0);
	}
	return text;
}

static const char *past(Fixture *f, char text[256], uint64_t *ret_since)
{
	return past_of(f, "mlx5_0/1", text, ret_since);
}

static int acknowledge_as_nobody(sd_bus *bus)
{
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	int r = sd_bus_call_method(bus, RDMAD_BUS_NAME, PORT, RDMAD_INTERFACE_PORT, "Acknowledge",
				   &error, NULL, "sa{sv}", "not-active", 0);

	return r < 0 && sd_bus_error_has_name(&error, SD_BUS_ERROR_ACCESS_DENIED) ? 0 : 1;
}

/* What is acknowledged does not count until it ends and begins again. */
static void test_acknowledge(void **state)
{
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	Fixture *f = *state;
	char text[256];
	uint64_t since;

	acknowledge(f, "not-active", "", RDMAD_ERROR_NOT_FOUND);
	fixture_simulate(f, "set mlx5_0/1 state=down phys_state=polling event=port-error");
	wait_health(f, PORT, "critical");
	acknowledge(f, "flap", "", RDMAD_ERROR_NOT_FOUND);
	memset(text, 'a', 80);
	text[80] = '\0';
	acknowledge(f, "not-active", text, RDMAD_ERROR_INVALID_ARGUMENT);
	sd_bus_call_method(f->bus, RDMAD_BUS_NAME, PORT, RDMAD_INTERFACE_PORT, "Acknowledge",
			   &error, NULL, "sa{sv}", "not-active", 1, "text", "s", text);
	assert_string_equal(error.message, "The text has more than 79 bytes");
	if (fixture_can_be_other_user())
		fixture_as_nobody(f, acknowledge_as_nobody);
	fixture_assert_property(f, PORT, RDMAD_INTERFACE_PORT, "Health", "critical");
	/* the longest text, and that another one takes its place */
	text[79] = '\0';
	acknowledge(f, "not-active", text, "");
	assert_int_equal(strlen(findings(f, PORT, text)), strlen("not-active critical: ") + 79);
	acknowledge(f, "not-active", "no cable", "");
	fixture_assert_property(f, PORT, RDMAD_INTERFACE_PORT, "Health", "ok");
	fixture_assert_property(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "Health", "ok");
	assert_string_equal(findings(f, PORT, text), "not-active critical: no cable");
	assert_string_equal(past(f, text, &since), "not-active: no cable");
	fixture_simulate(f, "set mlx5_0/1 state=active phys_state=link-up event=port-active");
	wait_findings(f, PORT, "");
	fixture_simulate(f, "set mlx5_0/1 state=down phys_state=polling event=port-error");
	wait_health(f, PORT, "critical");
	assert_string_equal(past(f, text, &since), "not-active ended: no cable, not-active, flap");
}

static void start_with_state(Fixture *f, const char *text)
{
	char option[128];
	const char *const options[] = {option, NULL};

	snprintf(option, sizeof(option), "--state=%s", f->directory);
	fixture_start_daemon(f, text, options);
	fixture_connect(f);
}

/* What is found of a device without ports, and of a machine without ports, is in no history of a
 * port: it has one of its own, which is kept. */
static void test_without_ports(void **state)
{
	static const char broken[] = "[device mlx5_0]\nindex = 3\nports = 0\n"
				     "protocol = infiniband\naer_fatal = 1\n";
	Fixture *f = *state;
	uint64_t since, before;
	char text[256];

	f->with_health = true;
	start_with_state(f, broken);
	wait_health(f, DEVICE, "warning");
	assert_string_equal(past_of(f, "mlx5_0", text, &before), "pcie-errors");
	assert_string_equal(past_of(f, "*", text, &since), "no-port");
	assert_int_equal(fixture_stop_daemon(f, SIGTERM), 0);
	start_with_state(f, broken);
	wait_health(f, DEVICE, "warning");
	assert_string_equal(past_of(f, "mlx5_0", text, &since), "pcie-errors");
	assert_int_equal(since, before);
	fixture_simulate(f, "add mlx5_1 protocol=infiniband");
	wait_findings(f, RDMAD_ROOT_PATH, "");
	assert_string_equal(past_of(f, "*", text, &since), "no-port ended");
	fixture_simulate(f, "remove mlx5_0");
	fixture_wait_signal(f, RDMAD_ROOT_PATH, "InterfacesRemoved");
	assert_string_equal(past_of(f, "mlx5_0", text, &since), "pcie-errors ended");
	assert_string_equal(past_of(f, "mlx5_1", text, &since), "");
}

/* A finding that holds when rdmad is started again is the same one, and still acknowledged. */
static void test_restart(void **state)
{
	static const char down[] = "[device mlx5_0]\nindex = 3\nprotocol = infiniband\n"
				   "[port mlx5_0/1]\nstate = down\nphys_state = polling\n"
				   "[device mlx5_1]\nindex = 4\nprotocol = infiniband\n";
	Fixture *f = *state;
	uint64_t since, before;
	char text[256];

	f->with_health = true;
	start_with_state(f, down);
	fixture_assert_property(f, PORT, RDMAD_INTERFACE_PORT, "Health", "critical");
	acknowledge(f, "not-active", "no cable", "");
	(void)findings(f, PORT, text);
	before = began_usec;
	assert_int_equal(fixture_stop_daemon(f, SIGTERM), 0);
	start_with_state(f, down);
	fixture_assert_property(f, PORT, RDMAD_INTERFACE_PORT, "Health", "ok");
	assert_string_equal(findings(f, PORT, text), "not-active critical: no cable");
	assert_int_equal(began_usec, before);
	assert_string_equal(past(f, text, &since), "not-active: no cable");
	assert_int_equal(since, before);
	fixture_simulate(f, "set mlx5_0/1 state=active phys_state=link-up event=port-active");
	wait_findings(f, PORT, "");
	assert_int_equal(fixture_stop_daemon(f, SIGTERM), 0);
	/* what has ended has ended */
	start_with_state(f, down);
	fixture_assert_property(f, PORT, RDMAD_INTERFACE_PORT, "Health", "critical");
	assert_string_equal(past(f, text, &since), "not-active ended: no cable, not-active");
	assert_true(since > before);
}

static void reload(const Fixture *f)
{
	assert_int_equal(kill(f->daemon_pid, SIGHUP), 0);
}

/* What is found of the machine is in the histories of its ports, and is the same when rdmad is
 * started again. */
static void test_restart_of_machine(void **state)
{
	Fixture *f = *state;
	uint64_t since, before;
	char text[256];

	f->with_health = true;
	make_directory(f, "rdmad");
	write_file(f, "rdmad/expect.conf", "Ports = 3\n");
	start_with_state(f, scenario);
	wait_findings(f, RDMAD_ROOT_PATH, "count critical");
	before = began_usec;
	assert_string_equal(past(f, text, &since), "count");
	assert_int_equal(since, before);
	assert_int_equal(fixture_stop_daemon(f, SIGTERM), 0);
	start_with_state(f, scenario);
	wait_findings(f, RDMAD_ROOT_PATH, "count critical");
	assert_int_equal(began_usec, before);
	write_file(f, "rdmad/expect.conf", "Ports = 2\n");
	reload(f);
	wait_findings(f, RDMAD_ROOT_PATH, "");
	assert_string_equal(past(f, text, &since), "count ended");
	assert_int_equal(since, before);
}

/* SIGHUP: the files are read anew, and it is as after a start. */
static void test_reload(void **state)
{
	Fixture *f = *state;
	char text[256];

	write_file(f, "rdmad/expect.conf.d/30-wrong.conf", "[mlx5_1]\nSmLid = 9\n");
	write_file(f, "rdmad/expect.conf", "[mlx5_0]\nSmLid = 1\n");
	reload(f);
	wait_health(f, PORT, "ok");
	wait_health(f, OTHER, "critical");
	assert_string_equal(findings(f, OTHER, text), "expectation critical");
	wait_findings(f, RDMAD_ROOT_PATH, "");
	/* an error ends nothing, and what the file expected before does not count any more */
	write_file(f, "rdmad/expect.conf.d/30-wrong.conf", "[mlx5_1]\nSmLid = 9\nNonsense\n");
	reload(f);
	wait_health(f, OTHER, "ok");
	wait_findings(f, RDMAD_ROOT_PATH, "expect-file warning");
}

/* A file that is not there for long, as on a disk that hangs: rdmad answers, and goes on to judge
 * by what was read before. Who asks meanwhile gets a reading of his own. */
static void test_reload_hangs(void **state)
{
	Fixture *f = *state;
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/rdmad/expect.conf.d/50-fifo.conf", f->directory);
	assert_int_equal(mkfifo(path, 0600), 0);
	reload(f);
	/* the thread has opened it when this returns */
	fd = open(path, O_WRONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	write_file(f, "rdmad/expect.conf.d/60-last.conf", "[mlx5_0]\nSmLid = 2\n");
	reload(f);
	fixture_assert_property(f, PORT, RDMAD_INTERFACE_PORT, "Health", "critical");
	fixture_simulate(f, "set mlx5_0/1 sm_lid=3 event=sm-change");
	wait_health(f, PORT, "ok");
	assert_int_equal(unlink(path), 0);
	close(fd);
	wait_health(f, PORT, "critical");
	fixture_simulate(f, "set mlx5_0/1 sm_lid=2 event=sm-change");
	wait_health(f, PORT, "ok");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_link_down, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_fit, setup_settle, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_stale, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_counter_of_device, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_loss, setup_counters, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_come_and_go, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_expectations, setup_expectations,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(test_acknowledge, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_without_ports, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(test_restart, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_restart_of_machine, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(test_reload, setup_expectations, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_reload_hangs, setup_expectations,
						fixture_teardown),
	};

	return cmocka_run_group_tests_name("health", tests, NULL, NULL);
}
