/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How many messages each kind of change makes: one for each interface that has news, one for each
 * announcement, and none for what is not news. */

#include "fixture.h"
#include "port-name.h"

static const char scenario[] = "[device mlx5_0]\n"
			       "index = 0\n"
			       "protocol = infiniband\n"
			       "[device rocep1]\n"
			       "index = 1\n"
			       "protocol = roce\n";

#define IB   "/org/rdma/device/0/port/1"
#define ROCE "/org/rdma/device/1/port/1"

/* clang-format off */
static const struct {
	const char *path, *command;
	size_t n_port, n_infiniband;	       /* PropertiesChanged of the two interfaces */
	size_t n_states, n_reconfigured;       /* StateChanged, SubnetReconfigured */
} kinds[] = {
	{IB, "set mlx5_0/1 lid=42 event=lid-change",                    0, 1, 0, 1},
	{IB, "set mlx5_0/1 sm_lid=9 event=sm-change",                   0, 1, 0, 1},
	{IB, "set mlx5_0/1 lid=43 sm_lid=8 event=sm-change event=lid-change event=client-reregister", 0, 1, 0, 1},
	{IB, "event mlx5_0/1 client-reregister",                        0, 0, 0, 1},
	{IB, "set mlx5_0/1 pkey.4=0x8005 event=pkey-change",            0, 1, 0, 0},
	{IB, "set mlx5_0/1 gid.2=fe80::9 event=gid-change",             1, 0, 0, 0},
	{IB, "set mlx5_0/1 active_mtu=2048",                            1, 0, 0, 0},
	{IB, "event mlx5_0/1 lid-change",                               0, 0, 0, 0},
	{IB, "event mlx5_0/1 pkey-change gid-change",                   0, 0, 0, 0},
	{IB, "set mlx5_0/1 state=down phys_state=polling event=port-error", 1, 1, 1, 0},
	{IB, "set mlx5_0/1 state=active phys_state=link-up event=port-active", 1, 1, 1, 0},
	{ROCE, "set rocep1/1 gid.5=192.0.2.9 event=gid-change",         1, 0, 0, 0},
	{ROCE, "set rocep1/1 state=down phys_state=disabled event=port-error", 1, 0, 1, 0},
	{ROCE, "event rocep1/1 gid-change",                             0, 0, 0, 0},
};
/* clang-format on */

/* PropertiesChanged of INTERFACE that have come from PATH. */
static size_t count_changes(const Fixture *f, const char *path, const char *interface)
{
	const char *name;
	size_t n = 0;

	for (size_t i = 0; i < f->n_signals; i++) {
		sd_bus_message *m = f->signals[i];

		if (!sd_bus_message_get_path(m) || !streq(sd_bus_message_get_path(m), path) ||
		    !streq(sd_bus_message_get_member(m), "PropertiesChanged"))
			continue;
		assert_true(sd_bus_message_rewind(m, true) >= 0);
		assert_true(sd_bus_message_read_basic(m, 's', &name) > 0);
		n += streq(name, interface);
	}
	return n;
}

/* All signals from PATH. */
static size_t count_all(const Fixture *f, const char *path)
{
	size_t n = 0;

	for (size_t i = 0; i < f->n_signals; i++) {
		const char *from = sd_bus_message_get_path(f->signals[i]);

		n += from && streq(from, path);
	}
	return n;
}

/* The port is asked again after the event: then all that it has caused was said. */
static void settle(Fixture *f, const char *path)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply =
		fixture_call(f, path, RDMAD_INTERFACE_PORT, "Query", NULL, "a{sv}", 1,
			     "max-age-usec", "t", (uint64_t)0);

	assert_non_null(reply);
	fixture_barrier(f);
}

static void test_messages_of_a_change(void **state)
{
	Fixture *f = *state;

	fixture_start_daemon(f, scenario, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		const char *path = kinds[i].path;
		size_t n_port, n_infiniband, n_states, n_reconfigured, n;

		settle(f, path);
		fixture_forget(f);
		fixture_simulate(f, kinds[i].command);
		settle(f, path);
		n_port = count_changes(f, path, RDMAD_INTERFACE_PORT);
		n_infiniband = count_changes(f, path, RDMAD_INTERFACE_INFINIBAND);
		n_states = fixture_count_signals(f, path, "StateChanged");
		n_reconfigured = fixture_count_signals(f, path, "SubnetReconfigured");
		n = count_all(f, path);
		if (n_port != kinds[i].n_port || n_infiniband != kinds[i].n_infiniband ||
		    n_states != kinds[i].n_states || n_reconfigured != kinds[i].n_reconfigured ||
		    n != n_port + n_infiniband + n_states + n_reconfigured)
			fail_msg("%s: %zu of org.rdma.Port, %zu of InfiniBand, %zu StateChanged, "
				 "%zu SubnetReconfigured, %zu in all",
				 kinds[i].command, n_port, n_infiniband, n_states, n_reconfigured,
				 n);
	}
	assert_int_equal(fixture_stop_daemon(f, SIGTERM), 0);
}

/* The generations are in the signals of their interface, and right for who reads them. */
static void test_generations_travel(void **state)
{
	Fixture *f = *state;
	sd_bus_message *m;

	fixture_start_daemon(f, scenario, NULL);
	fixture_simulate(f, "set mlx5_0/1 lid=42 event=lid-change");
	m = fixture_wait_signal(f, IB, "PropertiesChanged");
	assert_int_equal(fixture_changed(m, RDMAD_INTERFACE_INFINIBAND, "Lid"), 1);
	assert_int_equal(fixture_changed(m, RDMAD_INTERFACE_INFINIBAND, "SmGeneration"), 1);
	fixture_assert_property(f, IB, RDMAD_INTERFACE_PORT, "ConfigGeneration", "2");
	fixture_simulate(f, "event mlx5_0/1 client-reregister");
	fixture_wait_signal(f, IB, "SubnetReconfigured");
	fixture_forget(f);
	settle(f, IB);
	fixture_assert_property(f, IB, RDMAD_INTERFACE_INFINIBAND, "SmGeneration", "2");
	fixture_simulate(f, "set mlx5_0/1 active_mtu=2048");
	settle(f, IB);
	m = fixture_wait_signal(f, IB, "PropertiesChanged");
	assert_int_equal(fixture_changed(m, RDMAD_INTERFACE_PORT, "ActiveMtu"), 1);
	assert_int_equal(fixture_changed(m, RDMAD_INTERFACE_PORT, "ConfigGeneration"), 1);
	assert_int_equal(fixture_stop_daemon(f, SIGTERM), 0);
}

/* A device comes or goes with its ports: that is a signal MEMBER of each, and none of OTHER. */
static void expect_device(Fixture *f, const char *command, size_t n_ports, const char *member,
			  const char *other)
{
	size_t n_devices = 0;

	fixture_forget(f);
	fixture_simulate(f, command);
	while (fixture_count_signals(f, RDMAD_ROOT_PATH, member) < 1 + n_ports)
		fixture_wait_more(f);
	fixture_barrier(f);
	assert_int_equal(fixture_count_signals(f, RDMAD_ROOT_PATH, member), 1 + n_ports);
	assert_int_equal(fixture_count_signals(f, RDMAD_ROOT_PATH, other), 0);
	for (size_t i = 0; i < f->n_signals; i++) {
		uint32_t device, port;
		const char *path;

		if (!sd_bus_message_is_signal(f->signals[i], NULL, member))
			continue;
		assert_true(sd_bus_message_read_basic(f->signals[i], 'o', &path) > 0);
		assert_int_equal(object_path_parse(path, &device, &port), 0);
		n_devices += port == PORT_NUMBER_NONE;
	}
	assert_int_equal(n_devices, 1);
}

static void test_devices_come_and_go(void **state)
{
	Fixture *f = *state;

	fixture_start_daemon(f, scenario, NULL);
	expect_device(f, "add r1 protocol=roce ports=3", 3, "InterfacesAdded", "InterfacesRemoved");
	expect_device(f, "remove rocep1", 1, "InterfacesRemoved", "InterfacesAdded");
	expect_device(f, "remove r1", 3, "InterfacesRemoved", "InterfacesAdded");
	assert_int_equal(fixture_stop_daemon(f, SIGTERM), 0);
}

int main(void)
{
#define TEST(t) cmocka_unit_test_setup_teardown(t, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_messages_of_a_change),
		TEST(test_generations_travel),
		TEST(test_devices_come_and_go),
	};

	return cmocka_run_group_tests_name("signals", tests, NULL, NULL);
}
