/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Calls that cost the daemon more than they may: it refuses or drops them, and goes on. */

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>

#include "calls.h"
#include "process.h"

#define SCENARIO "[device mlx5_0]\nprotocol = infiniband\n"

/* Texts in arrays */

/* WaitFor() for N times the same port, which does not exist, without a limit of time: the error's
 * name and text, both to be freed by sd_bus_error_free(). */
static void wait_for_many(Fixture *f, unsigned int n, sd_bus_error *ret)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;

	assert_true(sd_bus_message_new_method_call(f->bus, &m, RDMAD_BUS_NAME, RDMAD_ROOT_PATH,
						   RDMAD_INTERFACE_MANAGER, "WaitFor") >= 0);
	assert_true(sd_bus_message_open_container(m, 'a', "{sv}") >= 0);
	assert_true(sd_bus_message_open_container(m, 'e', "sv") >= 0);
	assert_true(sd_bus_message_append(m, "s", "ports") >= 0);
	assert_true(sd_bus_message_open_container(m, 'v', "as") >= 0);
	assert_true(sd_bus_message_open_container(m, 'a', "s") >= 0);
	for (unsigned int i = 0; i < n; i++)
		assert_true(sd_bus_message_append_basic(m, 's', "mlx5_9/1") >= 0);
	for (unsigned int i = 0; i < 4; i++)
		assert_true(sd_bus_message_close_container(m) >= 0);
	assert_true(sd_bus_message_append(m, "t", UINT64_C(1)) >= 0);
	assert_true(sd_bus_call(f->bus, m, 0, ret, NULL) < 0);
}

/* The same name again and again is one port to wait for, but each of them has to be read. */
static void test_many_names(void **state)
{
	static const struct {
		unsigned int n;
		const char *error;
	} cases[] = {
		{64, RDMAD_ERROR_WAIT_TIMEOUT},
		{65, RDMAD_ERROR_INVALID_ARGUMENT},
		{100000, RDMAD_ERROR_INVALID_ARGUMENT},
	};
	Fixture *f = *state;

	fixture_start_daemon(f, SCENARIO, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
		uint64_t start = calls_now_usec();

		wait_for_many(f, cases[i].n, &error);
		assert_string_equal(error.name, cases[i].error);
		print_message("%u names: %s after %.1f ms\n", cases[i].n, error.message,
			      (double)(calls_now_usec() - start) / 1000);
		if (cases[i].n == 65)
			assert_non_null(strstr(error.message, "more than 64 ports"));
		calls_ping(f);
	}
}

/* Descriptors */

#define PORT	   "/org/rdma/device/0/port/1"
#define PROPERTIES "org.freedesktop.DBus.Properties"
#define LOG_PATH   "/org/freedesktop/LogControl1"
#define LOG	   "org.freedesktop.LogControl1"

/* No method takes a descriptor, wherever it is among the arguments. */
static void test_descriptors(void **state)
{
	static const struct {
		const char *path, *interface, *member, *types;
	} calls[] = {
		{RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "WaitFor", "a{sv}h"},
		{RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "Refresh", "a{sv}"},
		{RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "NoSuchMethod", "h"},
		{RDMAD_ROOT_PATH, "org.freedesktop.DBus.ObjectManager", "GetManagedObjects", "h"},
		{RDMAD_ROOT_PATH, "org.freedesktop.DBus.Peer", "Ping", "h"},
		{PORT, RDMAD_INTERFACE_PORT, "Query", "a{sv}"},
		{PORT, PROPERTIES, "Get", "h"},
		{"/no/such/object", "org.example.Other", "Method", "vh"},
	};
	_cleanup_close_ int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	Fixture *f = *state;
	unsigned int before;

	assert_true(fd >= 0);
	fixture_start_daemon(f, SCENARIO, NULL);
	calls_refresh(f);
	before = process_count_entries(f->daemon_pid, "fd");
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		char *error;

		if (streq(calls[i].types, "a{sv}"))
			fixture_call(f, calls[i].path, calls[i].interface, calls[i].member, &error,
				     "a{sv}", 1, "x", "h", fd);
		else if (streq(calls[i].types, "a{sv}h"))
			fixture_call(f, calls[i].path, calls[i].interface, calls[i].member, &error,
				     "a{sv}h", 0, fd);
		else if (streq(calls[i].types, "vh"))
			fixture_call(f, calls[i].path, calls[i].interface, calls[i].member, &error,
				     "v", "v", "h", fd);
		else
			fixture_call(f, calls[i].path, calls[i].interface, calls[i].member, &error,
				     "h", fd);
		if (!error || !streq(error, RDMAD_ERROR_INVALID_ARGUMENT))
			fail_msg("%s(%s): %s", calls[i].member, calls[i].types, error);
		free(error);
	}
	/* The last call is freed after its answer has been sent, and before the next is read. */
	calls_ping(f);
	process_wait_descriptors(f->daemon_pid, before);
}

/* Calls that want no reply */

static sd_bus_message *new_silent_call(Fixture *f, const char *path, const char *interface,
				       const char *member)
{
	sd_bus_message *m = NULL;

	assert_true(sd_bus_message_new_method_call(f->bus, &m, RDMAD_BUS_NAME, path, interface,
						   member) >= 0);
	assert_true(sd_bus_message_set_expect_reply(m, false) >= 0);
	return m;
}

/* They take no place among the calls that wait. */
static void test_no_reply(void **state)
{
	Fixture *f = *state;
	char *error;

	fixture_start_daemon(f, SCENARIO, NULL);
	for (unsigned int i = 0; i < 300; i++) {
		_cleanup_(sd_bus_message_unrefp) sd_bus_message *m =
			new_silent_call(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "WaitFor");

		assert_true(sd_bus_message_append(m, "a{sv}t", 1, "ports", "as", 1, "mlx5_9",
						  UINT64_MAX) >= 0);
		assert_true(sd_bus_send(f->bus, m, NULL) >= 0);
	}
	/* The daemon has heard from the bus whose these calls are when it answers this one. */
	assert_null(fixture_call(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "WaitFor", &error,
				 "a{sv}t", 1, "ports", "as", 1, "mlx5_9", UINT64_C(100000)));
	assert_string_equal(error, RDMAD_ERROR_WAIT_TIMEOUT);
	free(error);
}

/* What does something is done. */
static void test_no_reply_but_done(void **state)
{
	Fixture *f = *state;
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *run = NULL, *set = NULL;

	fixture_start_daemon(f, SCENARIO, NULL);
	set = new_silent_call(f, LOG_PATH, PROPERTIES, "Set");
	assert_true(sd_bus_message_append(set, "ssv", LOG, "LogLevel", "s", "debug") >= 0);
	assert_true(sd_bus_send(f->bus, set, NULL) >= 0);
	run = new_silent_call(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_SIMULATOR, "Run");
	assert_true(sd_bus_message_append(run, "sa{sv}", "set mlx5_0/1 state=down event=port-error",
					  0) >= 0);
	assert_true(sd_bus_send(f->bus, run, NULL) >= 0);
	fixture_wait_signal(f, PORT, "StateChanged");
	calls_refresh(f);
	fixture_assert_property(f, LOG_PATH, LOG, "LogLevel", "debug");
}

/* Another user asks for another level, by a call that wants a reply and one that does not. */
static int set_log_level(sd_bus *bus)
{
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	int r = sd_bus_call_method(bus, RDMAD_BUS_NAME, LOG_PATH, PROPERTIES, "Set", &error, NULL,
				   "ssv", LOG, "LogLevel", "s", "debug");

	if (r >= 0 || !sd_bus_error_has_name(&error, SD_BUS_ERROR_ACCESS_DENIED) ||
	    !streq(error.message, "Only root may change the log"))
		return 10;
	r = sd_bus_call_method_async(bus, NULL, RDMAD_BUS_NAME, LOG_PATH, PROPERTIES, "Set", NULL,
				     NULL, "ssv", LOG, "LogLevel", "s", "debug");
	if (r < 0)
		return 11;
	/* it is answered after the call before */
	r = sd_bus_call_method(bus, RDMAD_BUS_NAME, LOG_PATH, PROPERTIES, "Get", NULL, NULL, "ss",
			       LOG, "LogLevel");
	return r < 0 ? 12 : 0;
}

static void test_log_of_other_user(void **state)
{
	Fixture *f = *state;

	if (!fixture_can_be_other_user())
		skip();
	fixture_start_daemon(f, SCENARIO, NULL);
	fixture_as_nobody(f, set_log_level);
	fixture_assert_property(f, LOG_PATH, LOG, "LogLevel", "info");
	sd_bus_message_unref(fixture_call(f, LOG_PATH, PROPERTIES, "Set", NULL, "ssv", LOG,
					  "LogLevel", "s", "notice"));
	fixture_as_nobody(f, set_log_level);
	fixture_assert_property(f, LOG_PATH, LOG, "LogLevel", "notice");
}

/* Sizes */

static void test_sizes(void **state)
{
	static const struct {
		const char *path, *interface, *member, *types;
		size_t size;
		const char *says;
	} calls[] = {
		{RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "GetPort", "sa{sv}", 4096, "4096 bytes"},
		{RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "GetPort", "sa{sv}", 8 << 20,
		 "4096 bytes"},
		{RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "ListPorts", "a{sv}", 8192,
		 "8192 bytes"},
		{RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "ListPorts", "a{sv}", 8000, "No device"},
		{RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "ListDevices", "a{sv}", 4096,
		 "4096 bytes"},
		{RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "WaitFor", "a{sv}t", 16384,
		 "16384 bytes"},
		{RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "WaitFor", "a{sv}t", 16000,
		 "is no IP address"},
		{RDMAD_ROOT_PATH, RDMAD_INTERFACE_SIMULATOR, "Run", "sa{sv}", 16384, ""},
		{RDMAD_ROOT_PATH, RDMAD_INTERFACE_SIMULATOR, "Run", "sa{sv}", 65536, "65536 bytes"},
		{PORT, PROPERTIES, "GetAll", "s", 4096, "4096 bytes"},
		{LOG_PATH, PROPERTIES, "GetAll", "s", 4096, "4096 bytes"},
		{"/", "org.example.Other", "Method", "s", 4096, "4096 bytes"},
	};
	Fixture *f = *state;

	fixture_start_daemon(f, SCENARIO, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
		_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
		_cleanup_free_ char *text = malloc(calls[i].size + 1);

		assert_non_null(text);
		memset(text, 'a', calls[i].size);
		text[calls[i].size] = '\0';
		assert_true(sd_bus_message_new_method_call(f->bus, &m, RDMAD_BUS_NAME,
							   calls[i].path, calls[i].interface,
							   calls[i].member) >= 0);
		if (streq(calls[i].types, "s"))
			assert_true(sd_bus_message_append(m, "s", text) >= 0);
		else if (streq(calls[i].types, "sa{sv}"))
			assert_true(sd_bus_message_append(m, "sa{sv}", text, 0) >= 0);
		else if (streq(calls[i].types, "a{sv}"))
			assert_true(sd_bus_message_append(m, "a{sv}", 1, "device", "s", text) >= 0);
		else
			assert_true(sd_bus_message_append(m, "a{sv}t", 2, "ports", "as", 1,
							  "mlx5_9", "gid", "s", text,
							  UINT64_C(0)) >= 0);
		assert_true(sd_bus_call(f->bus, m, 0, &error, NULL) < 0);
		if (!strstr(error.message, calls[i].says))
			fail_msg("%s(%zu bytes): %.200s", calls[i].member, calls[i].size,
				 error.message);
	}
	calls_ping(f);
}

/* A path of any length is a valid one. */
static void test_long_path(void **state)
{
	static const char *const members[] = {"Get", "GetAll", "Set"};
	Fixture *f = *state;
	char path[30000] = "/";

	memset(path + 1, 'a', sizeof(path) - 2);
	fixture_start_daemon(f, SCENARIO, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(members); i++) {
		_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;

		assert_true(sd_bus_call_method(f->bus, RDMAD_BUS_NAME, path, PROPERTIES, members[i],
					       &error, NULL, "ss", RDMAD_INTERFACE_PORT,
					       "State") < 0);
		assert_string_equal(error.name, SD_BUS_ERROR_UNKNOWN_OBJECT);
		assert_true(strlen(error.message) < 200);
	}
}

/* Errors repeat no more than 100 bytes of what the caller has sent, cut between two characters, and
 * no control characters. */
static void test_error_texts(void **state)
{
	static const struct {
		const char *member, *types;
	} calls[] = {
		{"GetPort", "sa{sv}"},		{"GetDeviceByName", "sa{sv}"},
		{"GetPortByNetdev", "sa{sv}"},	{"GetPortByGuid", "sa{sv}"},
		{"GetPortByAddress", "sa{sv}"}, {"GetPortByAddress", "type"},
		{"ListPorts", "device"},	{"Refresh", ""},
		{"WaitFor", "state"},		{"WaitFor", "gid"},
		{"WaitFor", "ports"},		{"Set", "LogLevel"},
	};
	Fixture *f = *state;
	char text[2000] = "\x1b[2J\xc2\x9b";

	/* A byte and characters of two bytes: no cut after an even number of bytes is between two.
	 */
	for (size_t i = 7; i < sizeof(text) - 1; i++)
		text[i] = i % 2 ? '\xc3' : '\xa9';
	text[6] = 'a';
	text[sizeof(text) - 1] = '\0';
	fixture_start_daemon(f, SCENARIO, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
		const char *types = calls[i].types;
		_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
		bool set = streq(calls[i].member, "Set");
		const char *p;

		assert_true(sd_bus_message_new_method_call(
				    f->bus, &m, RDMAD_BUS_NAME, set ? LOG_PATH : RDMAD_ROOT_PATH,
				    set ? PROPERTIES : RDMAD_INTERFACE_MANAGER,
				    calls[i].member) >= 0);
		if (set)
			assert_true(sd_bus_message_append(m, "ssv", LOG, types, "s", text) >= 0);
		else if (streq(types, "sa{sv}"))
			assert_true(sd_bus_message_append(m, "sa{sv}", text, 0) >= 0);
		else if (streq(types, "type"))
			assert_true(sd_bus_message_append(m, "sa{sv}", "192.0.2.1", 1, "type", "s",
							  text) >= 0);
		else if (streq(types, ""))
			assert_true(sd_bus_message_append(m, "a{sv}", 1, text, "s", "x") >= 0);
		else if (streq(types, "device"))
			assert_true(sd_bus_message_append(m, "a{sv}", 1, "device", "s", text) >= 0);
		else if (streq(types, "ports"))
			assert_true(sd_bus_message_append(m, "a{sv}t", 1, "ports", "as", 1, text,
							  UINT64_C(0)) >= 0);
		else
			assert_true(sd_bus_message_append(m, "a{sv}t", 2, "ports", "as", 1,
							  "mlx5_9", types, "s", text,
							  UINT64_C(0)) >= 0);
		assert_true(sd_bus_call(f->bus, m, 0, &error, NULL) < 0);
		p = strstr(error.message, "?[2J??a");
		if (!p || strspn(p + 7, "\xc3\xa9") != 92 || !startswith(p + 99, "..."))
			fail_msg("%s(%s): %s", calls[i].member, types, error.message);
	}
}

/* The daemon and this program see a machine without an ID, as many containers are. */
static bool take_machine_id(const Fixture *f)
{
	char empty[96];
	int fd;

	snprintf(empty, sizeof(empty), "%s/empty", f->directory);
	fd = open(empty, O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	close(fd);
	return unshare(CLONE_NEWNS) == 0 &&
	       mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	       (mount(empty, "/etc/machine-id", NULL, MS_BIND, NULL) == 0 || errno == ENOENT);
}

/* Anybody may ask for the ID: the daemon stays on the bus. */
static void test_no_machine_id(void **state)
{
	Fixture *f = *state;
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	_cleanup_free_ char *log = NULL;

	if (!take_machine_id(f)) {
		print_message("nothing can be mounted here: %s\n", strerror(errno));
		skip();
	}
	fixture_start_daemon(f, SCENARIO, NULL);
	assert_true(sd_bus_call_method(f->bus, RDMAD_BUS_NAME, RDMAD_ROOT_PATH,
				       "org.freedesktop.DBus.Peer", "GetMachineId", &error, NULL,
				       "") < 0);
	umount2("/etc/machine-id", MNT_DETACH);
	assert_string_equal(error.name, SD_BUS_ERROR_FILE_NOT_FOUND);
	calls_ping(f);
	log = fixture_daemon_log(f);
	assert_null(strstr(log, "has failed"));
}

int main(void)
{
#define TEST(t) cmocka_unit_test_setup_teardown(t, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_many_names),	  TEST(test_descriptors),
		TEST(test_no_reply),	  TEST(test_no_reply_but_done),
		TEST(test_sizes),	  TEST(test_long_path),
		TEST(test_error_texts),	  TEST(test_log_of_other_user),
		TEST(test_no_machine_id),
	};

	return cmocka_run_group_tests_name("door", tests, NULL, NULL);
}
