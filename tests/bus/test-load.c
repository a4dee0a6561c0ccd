/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Many ports, many calls of one client, clients that leave or do not listen, many changes. */

#include "calls.h"
#include "process.h"

#define PORT "/org/rdma/device/0/port/1"

#define SCENARIO "[device mlx5_0]\nprotocol = infiniband\n"

/* Numbers */

/* How many ports GetManagedObjects() has. */
static size_t count_managed_ports(Fixture *f)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply =
		fixture_call(f, RDMAD_ROOT_PATH, "org.freedesktop.DBus.ObjectManager",
			     "GetManagedObjects", NULL, "");
	const char *path;
	size_t n = 0;

	assert_true(sd_bus_message_enter_container(reply, 'a', "{oa{sa{sv}}}") >= 0);
	while (sd_bus_message_enter_container(reply, 'e', "oa{sa{sv}}") > 0) {
		sd_bus_message_read_basic(reply, 'o', &path);
		n += strstr(path, "/port/") != NULL;
		sd_bus_message_skip(reply, "a{sa{sv}}");
		sd_bus_message_exit_container(reply);
	}
	return n;
}

/* A device with as many ports as are served: each port can do what any port can. */
static void test_1024_ports(void **state)
{
	Fixture *f = *state;
	_cleanup_free_ char *error = NULL;
	const char *last = "/org/rdma/device/0/port/1024", *one = "/org/rdma/device/0/port/1000";
	Replies waited = {};

	fixture_start_daemon(f,
			     "[device many]\nprotocol = roce\nports = 1024\n"
			     "[port many/1000]\nstate = down\ncounter.port_rcv_data = 7\n",
			     NULL);
	fixture_assert_property(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "PortCount", "1024");
	fixture_assert_property(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "Ports", "1024");
	fixture_assert_property(f, "/org/rdma/device/0", RDMAD_INTERFACE_DEVICE, "Ports", "1024");
	fixture_assert_property(f, "/org/rdma/device/0", RDMAD_INTERFACE_DEVICE, "PortCount",
				"1024");
	fixture_assert_property(f, "/org/rdma/device/0", RDMAD_INTERFACE_DEVICE, "OmittedPorts",
				"0");
	fixture_assert_property(f, last, RDMAD_INTERFACE_PORT, "State", "active");
	fixture_assert_property(f, last, RDMAD_INTERFACE_PORT, "PortNumber", "1024");
	assert_int_equal(count_managed_ports(f), 1024);

	/* WaitFor() of port 1000, which becomes active, and its signal */
	assert_true(sd_bus_call_method_async(f->bus, NULL, RDMAD_BUS_NAME, RDMAD_ROOT_PATH,
					     RDMAD_INTERFACE_MANAGER, "WaitFor", calls_on_reply,
					     &waited, "a{sv}t", 1, "ports", "as", 1, "many/1000",
					     60 * USEC_PER_SEC) >= 0);
	calls_ping(f);
	assert_int_equal(waited.good + waited.other, 0);
	fixture_simulate(f, "set many/1000 state=active event=port-active");
	fixture_wait_signal(f, one, "StateChanged");
	calls_wait(f->bus, &waited, 1);
	assert_int_equal(waited.good, 1);
	fixture_assert_property(f, one, RDMAD_INTERFACE_PORT, "State", "active");
	fixture_simulate(f, "set many/1024 state=down event=port-error");
	fixture_wait_signal(f, last, "StateChanged");
	assert_int_equal(fixture_count_signals(f, NULL, "StateChanged"), 2);

	sd_bus_message_unref(
		fixture_call(f, last, RDMAD_INTERFACE_PORT, "Query", NULL, "a{sv}", 0));
	sd_bus_message_unref(fixture_call(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER,
					  "GetCounters", NULL, "a{sv}", 1, "ports", "as", 1, one));
	sd_bus_message_unref(
		fixture_call(f, one, RDMAD_INTERFACE_PORT, "GetHistory", NULL, "a{sv}", 0));
	sd_bus_message_unref(fixture_call(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "GetPort",
					  NULL, "sa{sv}", "many/1024", 0));
	assert_null(fixture_call(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "GetPort", &error,
				 "sa{sv}", "many/1025", 0));
	assert_non_null(startswith(error, "org.rdma.Error."));
	fixture_simulate(f, "remove many");
	calls_refresh(f);
	fixture_barrier(f);
	assert_int_equal(fixture_count_signals(f, NULL, "InterfacesRemoved"), 1025);
	fixture_assert_property(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "PortCount", "0");
}

/* The only port of a switch has the number 0. */
static void test_switch(void **state)
{
	Fixture *f = *state;
	const char *port = "/org/rdma/device/0/port/0";

	fixture_start_daemon(f, "[device sw0]\nprotocol = infiniband\nnode_type = switch\n", NULL);
	fixture_assert_property(f, "/org/rdma/device/0", RDMAD_INTERFACE_DEVICE, "PortCount", "1");
	fixture_assert_property(f, port, RDMAD_INTERFACE_PORT, "PortNumber", "0");
	fixture_assert_property(f, port, RDMAD_INTERFACE_PORT, "State", "active");
	sd_bus_message_unref(fixture_call(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "GetPort",
					  NULL, "sa{sv}", "sw0/0", 0));
	sd_bus_message_unref(
		fixture_call(f, port, RDMAD_INTERFACE_PORT, "Query", NULL, "a{sv}", 0));
	sd_bus_message_unref(fixture_call(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER,
					  "GetCounters", NULL, "a{sv}", 1, "ports", "as", 1, port));
	assert_int_equal(count_managed_ports(f), 1);
	fixture_simulate(f, "set sw0/1 state=down event=port-error");
	fixture_wait_signal(f, port, "StateChanged");
}

/* Everything of 4096 ports in one answer. */
static void test_4096_ports(void **state)
{
	Fixture *f = *state;
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	const char *path, *interface;
	size_t devices = 0, ports = 0, interfaces = 0;
	uint64_t began;

	fixture_start_daemon(f,
			     "[device dev%d]\nprotocol = roce\ncount = 1024\nports = 4\n"
			     "[port dev%d/*]\nmax_msg_sz = 1073741824\n",
			     NULL);
	began = calls_now_usec();
	reply = fixture_call(f, RDMAD_ROOT_PATH, "org.freedesktop.DBus.ObjectManager",
			     "GetManagedObjects", NULL, "");
	print_message("GetManagedObjects of 4096 ports: %ju ms, the daemon has %lu MiB\n",
		      (uintmax_t)(calls_now_usec() - began) / 1000,
		      process_resident_kib(f->daemon_pid) / 1024);
	assert_true(sd_bus_message_enter_container(reply, 'a', "{oa{sa{sv}}}") >= 0);
	while (sd_bus_message_enter_container(reply, 'e', "oa{sa{sv}}") > 0) {
		sd_bus_message_read_basic(reply, 'o', &path);
		devices += startswith(path, RDMAD_DEVICE_PREFIX "/") && !strstr(path, "/port/");
		ports += strstr(path, "/port/") != NULL;
		sd_bus_message_enter_container(reply, 'a', "{sa{sv}}");
		while (sd_bus_message_enter_container(reply, 'e', "sa{sv}") > 0) {
			sd_bus_message_read_basic(reply, 's', &interface);
			interfaces += !!startswith(interface, "org.rdma.");
			sd_bus_message_skip(reply, "a{sv}");
			sd_bus_message_exit_container(reply);
		}
		sd_bus_message_exit_container(reply);
		sd_bus_message_exit_container(reply);
	}
	assert_int_equal(devices, 1024);
	assert_int_equal(ports, 4096);
	assert_int_equal(interfaces, 1024 + 4 * 4096); /* Port, Ethernet, Neighbor, Cable */
	began = calls_now_usec();
	calls_refresh(f);
	print_message("Refresh of 4096 ports: %ju ms\n",
		      (uintmax_t)(calls_now_usec() - began) / 1000);
}

/* Callers */

/* Thousands of calls of one client: those beyond a limit fail, and other clients get their answers.
 */
static void test_greedy_client(void **state)
{
	Fixture *f = *state;
	_cleanup_(sd_bus_close_unrefp) sd_bus *greedy = fixture_client(f);
	Replies queries = {}, refreshes = {};
	unsigned int descriptors;

	/* A device that does not answer keeps all of them waiting. */
	fixture_configure(f, "[Daemon]\nQueryTimeoutSec=300\n");
	fixture_start_daemon(f, SCENARIO "[device other]\nprotocol = roce\n", NULL);
	calls_refresh(f);
	descriptors = process_count_entries(f->daemon_pid, "fd");
	fixture_simulate(f, "stall mlx5_0");
	calls_send(greedy, PORT, RDMAD_INTERFACE_PORT, "Query", 3000, &queries);
	calls_wait(greedy, &queries, 3000 - 256);
	assert_int_equal(queries.limit, 3000 - 256);
	/* Neither another device nor another user is concerned. */
	if (fixture_can_be_other_user())
		fixture_assert_other_user(f, "/org/rdma/device/1/port/1", RDMAD_INTERFACE_PORT,
					  "Query");
	calls_ping(f);
	/* The calls that wait are answered when the device answers. */
	fixture_simulate(f, "unstall mlx5_0");
	calls_wait(greedy, &queries, 3000);
	assert_int_equal(queries.good + queries.other, 256);

	calls_send(greedy, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "Refresh", 3000, &refreshes);
	if (fixture_can_be_other_user())
		fixture_assert_other_user(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "Refresh");
	calls_wait(greedy, &refreshes, 3000);
	assert_int_equal(refreshes.other, 0);
	assert_true(refreshes.good >= 256);
	process_wait_descriptors(f->daemon_pid, descriptors);
}

/* Refreshes when there is room for one more call: the calls of a client that has left wait for a
 * moment longer, because rdmad reads that it has left after them. */
static void refresh_when_there_is_room(Fixture *f)
{
	uint64_t end = calls_now_usec() + 60 * USEC_PER_SEC;
	_cleanup_free_ char *error = NULL;

	do {
		free(steal_pointer(&error));
		sd_bus_message_unref(fixture_call(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER,
						  "Refresh", &error, "a{sv}", 0));
	} while (error && streq(error, RDMAD_ERROR_LIMITS_EXCEEDED) && calls_now_usec() < end);
	assert_null(error);
}

/* Clients that leave while their calls wait. */
static void test_clients_leave(void **state)
{
	Fixture *f = *state;
	unsigned int descriptors;
	unsigned long kib = 0;
	Replies r = {};

	fixture_start_daemon(f, SCENARIO, NULL);
	calls_refresh(f);
	descriptors = process_count_entries(f->daemon_pid, "fd");
	for (unsigned int round = 0; round < 30; round++) {
		sd_bus *bus = fixture_client(f);

		fixture_simulate(f, "stall mlx5_0");
		calls_send(bus, PORT, RDMAD_INTERFACE_PORT, "Query", 200, &r);
		calls_send(bus, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "Refresh", 50, &r);
		assert_true(sd_bus_flush(bus) >= 0);
		sd_bus_close_unref(bus);
		calls_ping(f);
		fixture_simulate(f, "unstall mlx5_0");
		/* Their calls wait no more: otherwise this one would be beyond the limit. */
		refresh_when_there_is_room(f);
		if (round == 9)
			kib = process_resident_kib(f->daemon_pid);
	}
	print_message("after 10 and 30 rounds: %lu and %lu KiB\n", kib,
		      process_resident_kib(f->daemon_pid));
	process_wait_descriptors(f->daemon_pid, descriptors);
}

/* Storms */

/* 20,000 changes of 64 ports as fast as they can be made, next to a client that has asked for all
 * signals and never reads one. */
static void test_storm(void **state)
{
	enum { PORTS = 64, CHANGES = 20000, WINDOW = 1000 };
	Fixture *f = *state;
	_cleanup_(sd_bus_close_unrefp) sd_bus *deaf = fixture_client(f),
					      *writer = fixture_client(f);
	unsigned int most = 0, total;
	uint64_t began, slowest = 0;
	Replies r = {};

	fixture_start_daemon(f, "[device mlx5_%d]\nprotocol = infiniband\ncount = 32\nports = 2\n",
			     NULL);
	assert_true(sd_bus_add_match(deaf, NULL, "type='signal'", NULL, NULL) >= 0);
	calls_refresh(f);
	fixture_forget(f);
	began = calls_now_usec();
	for (unsigned int i = 0; i < CHANGES; i++) {
		char line[128];

		/* the last change of each port leaves it armed, with its own LID */
		snprintf(line, sizeof(line), "set mlx5_%u/%u state=%s lid=%u event=lid-change",
			 i % PORTS / 2, i % 2 + 1,
			 i + PORTS < CHANGES && i / PORTS % 2 ? "active" : "armed", 1 + i % 40000);
		assert_true(sd_bus_call_method_async(writer, NULL, RDMAD_BUS_NAME, RDMAD_ROOT_PATH,
						     RDMAD_INTERFACE_SIMULATOR, "Run",
						     calls_on_reply, &r, "sa{sv}", line, 0) >= 0);
		if (i % WINDOW == WINDOW - 1) {
			uint64_t asked = calls_now_usec();

			calls_ping(f);
			slowest = MAX(slowest, calls_now_usec() - asked);
			calls_wait(writer, &r, i + 1 - WINDOW / 2);
		}
	}
	calls_wait(writer, &r, CHANGES);
	assert_int_equal(r.good, CHANGES);
	began = calls_now_usec() - began;
	/* The properties have the values of the last change. */
	calls_refresh(f);
	fixture_barrier(f);
	for (unsigned int i = CHANGES - PORTS; i < CHANGES; i++) {
		char path[RDMAD_PATH_MAX], lid[16];

		snprintf(path, sizeof(path), "/org/rdma/device/%u/port/%u", i % PORTS / 2,
			 i % 2 + 1);
		snprintf(lid, sizeof(lid), "%u", 1 + i % 40000);
		fixture_assert_property(f, path, RDMAD_INTERFACE_PORT, "State", "armed");
		fixture_assert_property(f, path, RDMAD_INTERFACE_INFINIBAND, "Lid", lid);
		most = MAX(most, (unsigned int)fixture_count_signals(f, path, "PropertiesChanged"));
	}
	total = (unsigned int)f->n_signals;
	print_message("%u changes in %ju ms: %u signals, at most %u PropertiesChanged a port; "
		      "slowest Ping %ju us\n",
		      CHANGES, (uintmax_t)began / 1000, total, most, (uintmax_t)slowest);
	/* Two interfaces a query; ten queries at once, then ten a second (schedule.c), those of
	 * Refresh included. */
	assert_true(most <= 2 * (12 + 10 * (began / USEC_PER_SEC + 3)));
}

/* The whole and the changes */

enum { CHANGED_DEVICES = 64 };

/* What GetManagedObjects() and the signals before its reply say of the port 1 of devices. */
typedef struct Lids {
	Fixture *f;
	uint32_t by_reply[CHANGED_DEVICES], by_signal[CHANGED_DEVICES];
	bool answered;
} Lids;

/* The device of PATH if it is the path of a port 1 that is changed. */
static bool is_changed_port(const char *path, unsigned int *ret_device)
{
	unsigned int port;

	return path && sscanf(path, RDMAD_DEVICE_PREFIX "/%u/port/%u", ret_device, &port) == 2 &&
	       port == 1 && *ret_device < CHANGED_DEVICES;
}

/* The LID in the properties at which M is, or nothing. */
static void read_lid(sd_bus_message *m, uint32_t *lid)
{
	const char *name;

	assert_true(sd_bus_message_enter_container(m, 'a', "{sv}") > 0);
	while (sd_bus_message_enter_container(m, 'e', "sv") > 0) {
		assert_true(sd_bus_message_read_basic(m, 's', &name) > 0);
		if (streq(name, "Lid"))
			assert_true(sd_bus_message_read(m, "v", "u", lid) > 0);
		else
			assert_true(sd_bus_message_skip(m, "v") > 0);
		assert_true(sd_bus_message_exit_container(m) > 0);
	}
	assert_true(sd_bus_message_exit_container(m) > 0);
}

static void read_objects(sd_bus_message *m, uint32_t lids[CHANGED_DEVICES])
{
	const char *path, *interface;
	unsigned int device;

	assert_true(sd_bus_message_enter_container(m, 'a', "{oa{sa{sv}}}") > 0);
	while (sd_bus_message_enter_container(m, 'e', "oa{sa{sv}}") > 0) {
		uint32_t lid = 0;

		assert_true(sd_bus_message_read_basic(m, 'o', &path) > 0);
		assert_true(sd_bus_message_enter_container(m, 'a', "{sa{sv}}") > 0);
		while (sd_bus_message_enter_container(m, 'e', "sa{sv}") > 0) {
			assert_true(sd_bus_message_read_basic(m, 's', &interface) > 0);
			read_lid(m, &lid);
			assert_true(sd_bus_message_exit_container(m) > 0);
		}
		assert_true(sd_bus_message_exit_container(m) > 0);
		assert_true(sd_bus_message_exit_container(m) > 0);
		if (is_changed_port(path, &device))
			lids[device] = lid;
	}
	assert_true(sd_bus_message_exit_container(m) > 0);
}

static int on_objects(sd_bus_message *m, void *userdata, _unused_ sd_bus_error *error)
{
	Lids *lids = userdata;
	unsigned int device;
	const char *interface;

	assert_false(sd_bus_message_is_method_error(m, NULL));
	read_objects(m, lids->by_reply);
	for (size_t i = 0; i < lids->f->n_signals; i++) {
		sd_bus_message *s = lids->f->signals[i];

		if (!is_changed_port(sd_bus_message_get_path(s), &device) ||
		    !sd_bus_message_is_signal(s, "org.freedesktop.DBus.Properties",
					      "PropertiesChanged"))
			continue;
		assert_true(sd_bus_message_read_basic(s, 's', &interface) > 0);
		read_lid(s, &lids->by_signal[device]);
	}
	lids->answered = true;
	return 0;
}

/* A change that was signalled before the reply to GetManagedObjects() is in it, and no other one
 * is, however long rdmad writes at the reply, and whatever changes meanwhile. */
static void test_objects_fit_signals(void **state)
{
	Fixture *f = *state;
	Lids lids = {.f = f};
	unsigned int i = 0, n = 0;

	fixture_start_daemon(f, "[device mlx5_%d]\nprotocol = infiniband\ncount = 512\nports = 4\n",
			     NULL);
	calls_refresh(f);
	fixture_forget(f);
	assert_true(sd_bus_call_method_async(f->bus, NULL, RDMAD_BUS_NAME, RDMAD_ROOT_PATH,
					     "org.freedesktop.DBus.ObjectManager",
					     "GetManagedObjects", on_objects, &lids, NULL) >= 0);
	assert_true(sd_bus_flush(f->bus) >= 0);
	while (!lids.answered) {
		char line[128];

		snprintf(line, sizeof(line), "set mlx5_%u/1 lid=%u event=lid-change",
			 i % CHANGED_DEVICES, 1000 + i);
		fixture_simulate(f, line);
		i++;
		while (sd_bus_process(f->bus, NULL) > 0)
			;
	}
	for (i = 0; i < CHANGED_DEVICES; i++)
		if (lids.by_signal[i] > 0) {
			assert_int_equal(lids.by_reply[i], lids.by_signal[i]);
			n++;
		}
	print_message("%u ports have changed before the reply\n", n);
	assert_true(n > 0);
}

int main(void)
{
#define TEST(t) cmocka_unit_test_setup_teardown(t, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_1024_ports),		TEST(test_switch),	  TEST(test_4096_ports),
		TEST(test_greedy_client),	TEST(test_clients_leave), TEST(test_storm),
		TEST(test_objects_fit_signals),
	};

	return cmocka_run_group_tests_name("load", tests, NULL, NULL);
}
