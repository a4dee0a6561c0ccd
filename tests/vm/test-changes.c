/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Runs in a virtual machine, as root, with rdmad installed. It tests with devices of rdma_rxe that
 * every kind of change reaches a subscriber, and that the cache then equals what libibverbs says.
 * rdmad runs without reconciliation, which could hide that a change was missed.
 */

#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "compare.h"

static Fixture *f;

static void run(const char *command)
{
	int r = system(command);

	if (r != 0)
		fail_msg("%s: status %d", command, r);
}

/* Asks rdmad for the kernel index of RDMA device NAME. */
static uint32_t device_index(const char *name)
{
	sd_bus_message *reply = fixture_call(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER,
					     "GetDeviceByName", NULL, "sa{sv}", name, 0);
	const char *path;
	uint32_t index;

	sd_bus_message_read_basic(reply, 'o', &path);
	index = (uint32_t)strtoul(path + strlen(RDMAD_DEVICE_PREFIX "/"), NULL, 10);
	sd_bus_message_unref(reply);
	return index;
}

/* Waits until what is published of port 1 of the device equals what libibverbs says: the kernel may
 * finish a change some milliseconds after the event. */
static void wait_equal(uint32_t index)
{
	double begin = fixture_now_ms();

	for (;;) {
		_cleanup_free_ char *text = NULL;
		int r;

		fixture_barrier(f);
		r = compare_port(f, index, 1, &text);
		if (r == 0)
			return;
		if (fixture_now_ms() - begin > 30000)
			fail_msg("not equal: %s", r < 0 ? strerror(-r) : text);
	}
}

/*
 * Runs COMMAND and waits for a signal that PROPERTY of INTERFACE has changed, on port 1 of device
 * INDEX, or on the device itself if OBJECT is "device". Prints a line of the table.
 */
static void change(const char *what, const char *command, uint32_t index, const char *object,
		   const char *interface, const char *property)
{
	char path[RDMAD_PATH_MAX];
	double begin, signalled = 0;
	size_t i = 0;
	bool device = streq(object, "device");

	snprintf(path, sizeof(path),
		 device ? RDMAD_DEVICE_PREFIX "/%u" : RDMAD_DEVICE_PREFIX "/%u/port/1", index);
	fixture_barrier(f);
	fixture_forget(f);
	begin = fixture_now_ms();
	run(command);
	while (signalled == 0) {
		for (; i < f->n_signals && signalled == 0; i++)
			if (streq(sd_bus_message_get_path(f->signals[i]), path) &&
			    streq(sd_bus_message_get_member(f->signals[i]), "PropertiesChanged") &&
			    fixture_changed(f->signals[i], interface, property))
				signalled = fixture_now_ms();
		if (signalled == 0)
			fixture_wait_more(f);
	}
	if (!device)
		wait_equal(index);
	printf("  %-34s %-10s of %-22s %6.1f ms  equal\n", what, property,
	       interface + strlen("org.rdma."), signalled - begin);
}

static void wait_removed(const char *what, const char *command, uint32_t index)
{
	char path[RDMAD_PATH_MAX];
	double begin, done;
	size_t i = 0;
	bool removed = false;

	snprintf(path, sizeof(path), RDMAD_DEVICE_PREFIX "/%u", index);
	fixture_barrier(f);
	fixture_forget(f);
	begin = fixture_now_ms();
	run(command);
	done = fixture_now_ms();
	while (!removed) {
		for (; i < f->n_signals && !removed; i++) {
			const char *object;

			if (!streq(sd_bus_message_get_member(f->signals[i]), "InterfacesRemoved"))
				continue;
			sd_bus_message_rewind(f->signals[i], true);
			sd_bus_message_read_basic(f->signals[i], 'o', &object);
			removed = streq(object, path);
		}
		if (!removed)
			fixture_wait_more(f);
	}
	printf("  %-34s InterfacesRemoved of the device    %6.1f ms  (the command itself: %.1f "
	       "ms)\n",
	       what, fixture_now_ms() - begin, done - begin);
}

/* Adds an rxe device and waits until its port is published. Returns its index. */
static uint32_t add_rxe(const char *name, const char *netdev)
{
	char command[128];
	char *error = NULL;

	snprintf(command, sizeof(command), "rdma link add %s type rxe netdev %s", name, netdev);
	fixture_barrier(f);
	run(command);
	for (;;) {
		sd_bus_message *reply;

		snprintf(command, sizeof(command), "%s/1", name);
		reply = fixture_call(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "GetPort", &error,
				     "sa{sv}", command, 0);
		sd_bus_message_unref(reply);
		if (!error)
			break;
		free(error);
		fixture_wait_more(f);
	}
	wait_equal(device_index(name));
	return device_index(name);
}

#define PORT	 RDMAD_INTERFACE_PORT
#define ETHERNET RDMAD_INTERFACE_ETHERNET
#define DEVICE	 RDMAD_INTERFACE_DEVICE

static void test_changes(_unused_ void **state)
{
	char path[RDMAD_PATH_MAX];
	uint32_t dummy, veth;

	run("ip link add d0 type dummy && ip link set d0 up");
	run("ip link add v0 type veth peer name v1 && ip link set v0 up && ip link set v1 up");
	dummy = add_rxe("rxe0", "d0");
	veth = add_rxe("rxe1", "v0");

	change("link down", "ip link set d0 down", dummy, "port", PORT, "State");
	change("link up", "ip link set d0 up", dummy, "port", PORT, "State");
	change("carrier off", "ip link set v1 down", veth, "port", PORT, "State");
	change("carrier on", "ip link set v1 up", veth, "port", PORT, "State");
	change("MTU 9000", "ip link set d0 mtu 9000", dummy, "port", PORT, "ActiveMtu");
	change("MTU 1500", "ip link set d0 mtu 1500", dummy, "port", PORT, "ActiveMtu");
	change("IPv4 address added", "ip address add 192.0.2.1/24 dev d0", dummy, "port", PORT,
	       "Gids");
	change("IPv4 address removed", "ip address del 192.0.2.1/24 dev d0", dummy, "port", PORT,
	       "Gids");
	change("IPv6 address added", "ip address add 2001:db8::1/64 dev d0 nodad", dummy, "port",
	       PORT, "Gids");
	change("IPv6 address removed", "ip address del 2001:db8::1/64 dev d0", dummy, "port", PORT,
	       "Gids");
	change("address of a VLAN added",
	       "ip link add link d0 name d0.5 type vlan id 5 && ip link set d0.5 up && "
	       "ip address add 198.51.100.1/24 dev d0.5",
	       dummy, "port", PORT, "Gids");
	change("VLAN deleted", "ip link delete d0.5", dummy, "port", PORT, "Gids");
	change("MAC changed", "ip link set d0 address 02:00:00:00:00:77", dummy, "port", ETHERNET,
	       "HwAddress");
	change("netdev renamed",
	       "ip link set d0 down && ip link set d0 name e0 && ip link set e0 up", dummy, "port",
	       ETHERNET, "Netdev");
	change("device renamed", "rdma dev set rxe0 name roce0", dummy, "device", DEVICE, "Name");
	snprintf(path, sizeof(path), RDMAD_DEVICE_PREFIX "/%u/port/1", dummy);
	fixture_assert_property(f, path, PORT, "DeviceName", "roce0");
	wait_removed("netdev to another namespace", "ip netns add n1 && ip link set v0 netns n1",
		     veth);
	wait_removed("device deleted", "rdma link delete roce0", dummy);
}

/* A module that nobody uses is unloaded, and the device, the port and their objects go. After an
 * event rdmad looks at the device a few times, and while it has it open the module is in use. */
static void test_module_removed(_unused_ void **state)
{
	uint32_t index = add_rxe("rxe5", "e0");

	wait_removed("modprobe -r rdma_rxe",
		     "until modprobe -r rdma_rxe 2>/dev/null; do sleep 0.05; done", index);
	run("modprobe rdma_rxe");
}

/* The process id of a worker of rdmad. */
static pid_t worker_pid(void)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	pid_t found = 0;

	assert_non_null(proc);
	while ((entry = readdir(proc))) {
		char path[300], name[32] = "";
		FILE *file;

		snprintf(path, sizeof(path), "/proc/%s/comm", entry->d_name);
		file = fopen(path, "r");
		if (!file)
			continue;
		if (fgets(name, sizeof(name), file) && startswith(name, "rdmad-query"))
			found = (pid_t)strtol(entry->d_name, NULL, 10);
		fclose(file);
	}
	closedir(proc);
	return found;
}

static bool is_stale(uint32_t index)
{
	char path[RDMAD_PATH_MAX];
	_cleanup_free_ char *value = NULL;

	snprintf(path, sizeof(path), RDMAD_DEVICE_PREFIX "/%u/port/1", index);
	value = fixture_property(f, path, RDMAD_INTERFACE_PORT, "Stale");
	return streq(value, "yes");
}

static double ping_ms(void)
{
	double best = 1e9;

	for (unsigned int i = 0; i < 50; i++) {
		double begin = fixture_now_ms();

		sd_bus_message_unref(fixture_call(f, RDMAD_ROOT_PATH, "org.freedesktop.DBus.Peer",
						  "Ping", NULL, ""));
		best = MIN(best, fixture_now_ms() - begin);
	}
	return best;
}

/* If a worker stops answering, one device becomes stale, and it is fresh again when the worker goes
 * on.
 */
static void test_wedged(_unused_ void **state)
{
	uint32_t index[3];
	char command[64], path[RDMAD_PATH_MAX];
	double before = ping_ms();
	unsigned int stuck = 3;
	pid_t worker;

	for (unsigned int i = 0; i < 3; i++) {
		snprintf(command, sizeof(command),
			 "ip link add w%u type dummy && ip link set w%u up", i, i);
		run(command);
		snprintf(command, sizeof(command), "w%u", i);
		snprintf(path, sizeof(path), "rxe1%u", i);
		index[i] = add_rxe(path, command);
	}
	worker = worker_pid();
	assert_true(worker > 0);
	kill(worker, SIGSTOP);
	run("ip link set w0 mtu 4200");
	/* It is the device w0, or one that was being queried again after it was added. */
	while (stuck == 3) {
		fixture_wait_more(f);
		for (unsigned int i = 0; i < 3; i++)
			if (is_stale(index[i]))
				stuck = i;
	}
	printf("  Ping: %.2f ms before, %.2f ms while a device is wedged\n", before, ping_ms());
	for (unsigned int i = 0; i < 3; i++) {
		if (i == stuck)
			continue;
		snprintf(command, sizeof(command), "ip link set w%u mtu 576", i);
		change("MTU of another device", command, index[i], "port", PORT, "ActiveMtu");
	}
	assert_true(is_stale(index[stuck]));
	snprintf(command, sizeof(command), "ip link set w%u mtu 9000", stuck);
	run(command);
	snprintf(path, sizeof(path), RDMAD_DEVICE_PREFIX "/%u/port/1", index[stuck]);
	fixture_assert_property(f, path, PORT, "ActiveMtu", "1024");
	kill(worker, SIGCONT);
	while (is_stale(index[stuck]))
		fixture_wait_more(f);
	wait_equal(index[stuck]);
	fixture_assert_property(f, path, PORT, "ActiveMtu", "4096");
	printf("  worker goes on: the device healed by itself, and equals\n");
	for (unsigned int i = 0; i < 3; i++) {
		snprintf(command, sizeof(command), "rdma link delete rxe1%u", i);
		run(command);
	}
}

static int setup(_unused_ void **state)
{
	f = calloc(1, sizeof(Fixture));
	text_copy(f->directory, sizeof(f->directory), "/tmp");
	text_copy(f->address, sizeof(f->address), "unix:path=/run/dbus/system_bus_socket");
	run("modprobe rdma_rxe");
	run("printf '[Daemon]\\nReconcileIntervalSec=0\\nQueryTimeoutSec=8\\n' > /etc/rdmad.conf");
	fixture_connect(f);
	/* the first call makes the bus start the service */
	fixture_assert_property(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "Simulated", "no");
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_changes),
		cmocka_unit_test(test_module_removed),
		cmocka_unit_test(test_wedged),
	};

	return cmocka_run_group_tests_name("changes", tests, setup, NULL);
}
