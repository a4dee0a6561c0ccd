/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Runs in a virtual machine, as root, with rdmad installed and rdma_sim loaded. It tests that
 * firmware which hangs makes only its own device stale, and that the device becomes fresh again by
 * itself; that no event is lost when a device is opened again; that devices and drivers can be
 * removed without waiting for rdmad; and that rdmad keeps no memory and no descriptors when many
 * devices and ports have come and gone.
 */

#include <inttypes.h>

#include "fabric.h"

/* The time-outs of rdmad: for firmware that hangs, and for tests in which a busy machine may be
 * slow. */
#define IMPATIENT "[Daemon]\nReconcileIntervalSec=0\nQueryTimeoutSec=3\n"
#define PATIENT	  "[Daemon]\nReconcileIntervalSec=0\nQueryTimeoutSec=60\n"
/* With this, rdmad takes a query for slow after 2 s: no healthy one takes so long. */
#define UNHURRIED "[Daemon]\nReconcileIntervalSec=0\nQueryTimeoutSec=8\n"
#define DEVICES	  8
#define MANY	  200
#define HUNG	  16

static Fixture *f;

static void add_devices(uint32_t index[DEVICES])
{
	char port[16];

	fabric_restart(f, IMPATIENT);
	sim("add sim%%d count=%u driver=mlx5 link=ib", DEVICES);
	for (unsigned int i = 0; i < DEVICES; i++) {
		snprintf(port, sizeof(port), "sim%u/1", i);
		index[i] = wait_port(f, port);
	}
	for (unsigned int i = 0; i < DEVICES; i++)
		wait_equal(f, index[i], 1);
}

/* Changes device N and waits until that is published. */
static double change_lid(const uint32_t *index, unsigned int n, unsigned int lid)
{
	double begin = fixture_now_ms();
	char text[16];

	snprintf(text, sizeof(text), "%u", lid);
	sim("set sim%u/1 lid=%u event=LID_CHANGE", n, lid);
	wait_property(f, path_of(index[n], 1).text, INFINIBAND, "Lid", text);
	return fixture_now_ms() - begin;
}

/* Checks that the devices that are not in MASK are fresh and that rdmad hears their events. The
 * devices in MASK hang. */
static void assert_others_fresh(const uint32_t *index, unsigned int mask, unsigned int lid)
{
	double slowest = 0;

	for (unsigned int i = 0; i < DEVICES; i++) {
		double t;

		if (mask >> i & 1)
			continue;
		fixture_forget(f);
		t = change_lid(index, i, lid + i);
		slowest = MAX(slowest, t);
		fixture_barrier(f);
		assert_int_equal(count_reconfigured(f, path_of(index[i], 1).text, NULL), 1);
		fixture_assert_property(f, path_of(index[i], 1).text, PORT, "Stale", "no");
		wait_equal(f, index[i], 1);
	}
	printf("  the others are heard: %.1f ms at most\n", slowest);
}

/* The device does not answer. */
static void assert_query_fails(const char *path)
{
	double begin = fixture_now_ms();
	char *error = NULL;

	assert_null(fixture_call(f, path, PORT, "Query", &error, "a{sv}", 0));
	assert_string_equal(error, RDMAD_ERROR_DEVICE_TIMEOUT);
	printf("  Query: %s after %.1f ms\n", error, fixture_now_ms() - begin);
	free(error);
}

/* The worker of CORE. One that has given a device away ends a little later, and is a child until
 * then. */
static pid_t only_worker(pid_t core)
{
	char path[64];
	int first, other, n;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", core, core);
	do {
		_cleanup_fclose_ FILE *file = fopen(path, "re");

		assert_non_null(file);
		n = fscanf(file, "%d %d", &first, &other);
		fixture_barrier(f);
	} while (n != 1);
	return first;
}

/* Stops the process PID, or has it go on. */
static void stop(pid_t pid, bool stopped)
{
	run("kill -%s %d", stopped ? "STOP" : "CONT", pid);
	if (stopped)
		run("until grep -q '^State:.*stopped' /proc/%d/status; do :; done", pid);
}

/* Firmware hangs in the middle of a change. HOW is 1 (the process can be killed) or 2 (state D). */
static void wedge(const uint32_t *index, unsigned int n, unsigned int how, unsigned int lid)
{
	Path path = path_of(index[n], 1);
	_cleanup_free_ char *why = NULL;
	double begin = fixture_now_ms();

	sim("set sim%u/1 hang=%u user_only=1 lid=%u event=LID_CHANGE", n, how, lid);
	wait_property(f, path.text, PORT, "Stale", "yes");
	why = fixture_property(f, path.text, PORT, "LastError");
	printf("  sim%u hangs: stale after %.0f ms: %s\n", n, fixture_now_ms() - begin, why);
	assert_non_null(strstr(why, "no answer"));
	assert_query_fails(path.text);
}

static void heal(const uint32_t *index, unsigned int n, unsigned int lid)
{
	Path path = path_of(index[n], 1);
	double begin = fixture_now_ms();
	char text[16];

	snprintf(text, sizeof(text), "%u", lid);
	sim("set sim%u/1 hang=0 user_only=0", n);
	wait_property(f, path.text, PORT, "Stale", "no");
	printf("  sim%u goes on: fresh after %.0f ms\n", n, fixture_now_ms() - begin);
	fixture_assert_property(f, path.text, PORT, "LastError", "");
	fixture_assert_property(f, path.text, INFINIBAND, "Lid", text);
	wait_equal(f, index[n], 1);
	/* rdmad hears its events again */
	change_lid(index, n, lid + 1);
	wait_equal(f, index[n], 1);
}

static void test_wedged_dead(_unused_ void **state)
{
	uint32_t index[DEVICES];

	add_devices(index);
	wedge(index, 3, 2, 1000);
	assert_others_fresh(index, 1 << 3, 1100);
	fixture_assert_property(f, path_of(index[3], 1).text, PORT, "Stale", "yes");
	fixture_assert_property(f, path_of(index[3], 1).text, INFINIBAND, "Lid", "1");
	heal(index, 3, 1000);
	assert_others_fresh(index, 1 << 3, 1200);
}

static void test_wedged_killable(_unused_ void **state)
{
	uint32_t index[DEVICES];

	add_devices(index);
	wedge(index, 0, 1, 1000);
	assert_others_fresh(index, 1 << 0, 1100);
	heal(index, 0, 1000);
}

static void test_wedged_two(_unused_ void **state)
{
	uint32_t index[DEVICES];

	add_devices(index);
	wedge(index, 2, 2, 1000);
	wedge(index, 5, 2, 2000);
	assert_others_fresh(index, 1 << 2 | 1 << 5, 1100);
	heal(index, 5, 2000);
	assert_others_fresh(index, 1 << 2, 1200);
	heal(index, 2, 1000);
	/* if the same device hangs again and again, it gets a worker of its own at last */
	for (unsigned int i = 0; i < 3; i++) {
		wedge(index, 2, 2, 3000 + 10 * i);
		heal(index, 2, 3000 + 10 * i);
	}
	assert_others_fresh(index, 0, 1300);
}

/* The query by the kernel hangs too: then only the event SM_CHANGE arrives, and sysfs hangs as
 * well. */
static void test_wedged_kernel(_unused_ void **state)
{
	uint32_t index[DEVICES];
	Path path;

	add_devices(index);
	path = path_of(index[1], 1);
	sim("set sim1/1 hang=2 sm_lid=77 event=SM_CHANGE,LID_CHANGE");
	wait_property(f, path.text, PORT, "Stale", "yes");
	assert_others_fresh(index, 1 << 1, 1100);
	sim("set sim1/1 hang=0");
	wait_property(f, path.text, PORT, "Stale", "no");
	fixture_assert_property(f, path.text, INFINIBAND, "SmLid", "77");
	wait_equal(f, index[1], 1);
}

/* A driver cannot be unloaded while a context is open. If the driver can take the context away from
 * rdmad, an open one does not matter. Otherwise rdmad has a context open only for the milliseconds
 * of a query, during which rmmod fails at once; then it is tried again. */
static double run_timed(const char *command, bool held)
{
	double begin = fixture_now_ms();

	if (!startswith(command, "rmmod"))
		sim("%s", command);
	else if (held)
		run("%s", command);
	else
		while (system(command) != 0)
			assert_true(fixture_now_ms() < begin + 10000);
	return fixture_now_ms() - begin;
}

static void test_wedged_removed(_unused_ void **state)
{
	uint32_t index[DEVICES];
	double took;

	add_devices(index);
	wedge(index, 4, 2, 1000);
	took = run_timed("del sim4", true);
	wait_gone(f, index[4]);
	printf("  del of the wedged device: %.0f ms\n", took);
	assert_others_fresh(index, 1 << 4, 1100);
	/* a device that the worker which hangs has open too */
	wedge(index, 6, 2, 1000);
	took = run_timed("del sim0", true);
	wait_gone(f, index[0]);
	printf("  del of another device: %.0f ms\n", took);
	assert_others_fresh(index, 1 << 4 | 1 << 6 | 1 << 0, 1200);
	heal(index, 6, 1000);
}

/* The worker that reads an event asks by itself, also while the core does not run; but only as long
 * as it has leave: ten times, and then ten times a second. */
static void test_asks_by_itself(_unused_ void **state)
{
	uint64_t before, each, asked, most;
	pid_t core, worker;
	uint32_t index;
	double begin;

	fabric_restart(f, PATIENT);
	sim("add sim0 driver=mlx5 link=ib");
	index = wait_port(f, "sim0/1");
	wait_equal(f, index, 1);
	while (sim_number("device", "sim0", "contexts") == 0)
		fixture_barrier(f);
	wait_quiet(f, "sim0/1");
	core = fabric_pid();
	worker = fabric_worker(core);
	before = sim_number("calls", "sim0/1", "query.user");
	stop(core, true);
	sim("set sim0/1 lid=700 event=LID_CHANGE");
	while (sim_number("calls", "sim0/1", "query.user") == before)
		usleep(1000);
	stop(core, false);
	wait_property(f, path_of(index, 1).text, INFINIBAND, "Lid", "700");
	wait_quiet(f, "sim0/1");

	each = sim_number("calls", "sim0/1", "query.user") - before;
	before += each;
	begin = fixture_now_ms();
	stop(core, true);
	for (unsigned int i = 0; i < 100; i++) {
		sim("set sim0/1 lid=%u event=LID_CHANGE", 701 + i);
		usleep(1000); /* the worker may read it before the next comes */
	}
	asked = sim_number("calls", "sim0/1", "query.user") - before;
	most = each * (10 + (uint64_t)((fixture_now_ms() - begin) / 100) + 1);
	stop(core, false);
	printf("  100 events while the core is stopped: %" PRIu64 " calls, %" PRIu64 " at most\n",
	       asked, most);
	assert_in_range(asked, 1, most);
	wait_property(f, path_of(index, 1).text, INFINIBAND, "Lid", "800");
	fixture_assert_property(f, path_of(index, 1).text, PORT, "Stale", "no");
	wait_equal(f, index, 1);
	assert_int_equal(fabric_worker(core), worker); /* it has broken no rule */
}

/* The worker hangs before it says that it asks: nobody can know. The next question finds it. */
static void test_hangs_before_it_asks(_unused_ void **state)
{
	uint32_t index[DEVICES];
	pid_t worker;
	Path path;

	add_devices(index);
	path = path_of(index[0], 1);
	wait_quiet(f, "sim0/1");
	worker = only_worker(fabric_pid());
	stop(worker, true);
	sim("set sim0/1 lid=800 event=LID_CHANGE");
	assert_query_fails(path.text);
	wait_property(f, path.text, PORT, "Stale", "yes");
	stop(worker, false);
	wait_property(f, path.text, PORT, "Stale", "no");
	wait_property(f, path.text, INFINIBAND, "Lid", "800");
	assert_others_fresh(index, 1 << 0, 1100);
}

/* It hangs after its own query was answered, and in its own query while the core does not run. */
static void test_hangs_around_its_query(_unused_ void **state)
{
	uint32_t index[DEVICES];
	pid_t core, worker;
	Path path;

	add_devices(index);
	path = path_of(index[2], 1);
	core = fabric_pid();
	change_lid(index, 2, 900);
	wait_quiet(f, "sim2/1");
	worker = only_worker(core);
	stop(worker, true);
	assert_query_fails(path.text);
	wait_property(f, path.text, PORT, "Stale", "yes");
	stop(worker, false);
	wait_property(f, path.text, PORT, "Stale", "no");

	wait_quiet(f, "sim2/1");
	stop(core, true);
	sim("set sim2/1 hang=2 user_only=1 lid=901 event=LID_CHANGE");
	while (sim_number("calls", "sim2/1", "waiting") == 0)
		usleep(1000);
	stop(core, false);
	wait_property(f, path.text, PORT, "Stale", "yes");
	assert_others_fresh(index, 1 << 2, 1100);
	heal(index, 2, 901);
}

/* A number that systemd shows of the service. */
static unsigned long long service_number(const char *property)
{
	unsigned long long number = 0;
	char command[96];
	FILE *p;

	snprintf(command, sizeof(command), "systemctl show --value -p %s rdmad", property);
	p = popen(command, "r");
	assert_non_null(p);
	assert_int_equal(fscanf(p, "%llu", &number), 1);
	pclose(p);
	return number;
}

/* The service starts while most devices hang: those that were added before the healthy ones. */
static void test_start_beside_hung(_unused_ void **state)
{
	uint32_t index[DEVICES], hung[HUNG];
	char port[16];
	double begin;

	fabric_restart(f, UNHURRIED);
	sim("add hung%%d count=%u driver=mlx5 link=ib", HUNG);
	sim("add sim%%d count=%u driver=mlx5 link=ib", DEVICES);
	for (unsigned int i = 0; i < HUNG; i++) {
		snprintf(port, sizeof(port), "hung%u/1", i);
		hung[i] = wait_port(f, port);
		sim("set %s hang=2 user_only=1", port);
	}
	run("systemctl stop rdmad");
	begin = fixture_now_ms();
	run("systemctl start rdmad");
	printf("  %d of %d devices hang: started after %.0f ms", HUNG, HUNG + DEVICES,
	       fixture_now_ms() - begin);
	fixture_connect(f);
	for (unsigned int i = 0; i < DEVICES; i++) {
		snprintf(port, sizeof(port), "sim%u/1", i);
		index[i] = wait_port(f, port);
		wait_property(f, path_of(index[i], 1).text, PORT, "Stale", "no");
	}
	printf(", the healthy ones are published after %.0f ms", fixture_now_ms() - begin);
	for (unsigned int i = 0; i < HUNG; i++) {
		snprintf(port, sizeof(port), "hung%u/1", i);
		assert_int_equal(wait_port(f, port), hung[i]);
		wait_property(f, path_of(hung[i], 1).text, PORT, "Stale", "yes");
	}
	printf(", all after %.0f ms\n  %u processes, %llu KiB\n", fixture_now_ms() - begin,
	       fabric_processes(), service_number("MemoryCurrent") / 1024);
	assert_others_fresh(index, 0, 1100);
	begin = fixture_now_ms();
	for (unsigned int i = 0; i < HUNG; i++)
		sim("set hung%u/1 hang=0 user_only=0 lid=%u", i, 2000 + i);
	for (unsigned int i = 0; i < HUNG; i++)
		wait_property(f, path_of(hung[i], 1).text, PORT, "Stale", "no");
	printf("  they go on: all are fresh after %.0f ms\n", fixture_now_ms() - begin);
	for (unsigned int i = 0; i < HUNG; i++)
		wait_equal(f, hung[i], 1);
	while (fabric_processes() > 2)
		fixture_barrier(f);
	sim("set hung0/1 lid=3000 event=LID_CHANGE");
	wait_property(f, path_of(hung[0], 1).text, INFINIBAND, "Lid", "3000");
}

/* A device or a driver is removed: with contexts that rdmad keeps open (mlx5 allows that), and
 * without.
 */
static void test_removal(_unused_ void **state)
{
	static const char *const drivers[] = {"mlx5", "siw", "siw nodisassoc=1"};
	static const char *const ways[] = {"del all", "rmmod rdma_sim"};
	double took, begin;

	for (size_t i = 0; i < ARRAY_SIZE(drivers) * ARRAY_SIZE(ways); i++) {
		const char *driver = drivers[i / ARRAY_SIZE(ways)];
		const char *way = ways[i % ARRAY_SIZE(ways)];
		uint32_t index[2];
		uint64_t held;

		fabric_restart(f, PATIENT);
		sim("add sim%%d count=2 driver=%s link=ib ports=2", driver);
		index[0] = wait_port(f, "sim0/1");
		index[1] = wait_port(f, "sim1/1");
		wait_equal(f, index[0], 1);
		wait_equal(f, index[1], 2);
		held = streq(driver, "mlx5");
		while (sim_number("device", "sim0", "contexts") != held)
			fixture_barrier(f);
		begin = fixture_now_ms();
		took = run_timed(way, held);
		wait_gone(f, index[0]);
		wait_gone(f, index[1]);
		printf("  driver=%s, %s: %s returned after %.0f ms, objects gone after %.0f ms\n",
		       driver, held ? "held open" : "not held", way, took,
		       fixture_now_ms() - begin);
		fixture_assert_property(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "DeviceCount",
					"0");
		run("modprobe rdma_sim");
	}
}

/* Counts the objects of devices and of ports in GetManagedObjects(). */
static void count_objects(unsigned int *ret_devices, unsigned int *ret_ports)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply =
		fixture_call(f, RDMAD_ROOT_PATH, "org.freedesktop.DBus.ObjectManager",
			     "GetManagedObjects", NULL, "");
	const char *path;

	*ret_devices = *ret_ports = 0;
	sd_bus_message_enter_container(reply, 'a', "{oa{sa{sv}}}");
	while (sd_bus_message_enter_container(reply, 'e', "oa{sa{sv}}") > 0) {
		sd_bus_message_read_basic(reply, 'o', &path);
		sd_bus_message_skip(reply, "a{sa{sv}}");
		sd_bus_message_exit_container(reply);
		if (strstr(path, "/port/"))
			++*ret_ports;
		else if (startswith(path, RDMAD_DEVICE_PREFIX))
			++*ret_devices;
	}
}

/* How many of the recorded signals MEMBER of ObjectManager are about ports. */
static unsigned int count_told(const char *member)
{
	unsigned int n = 0;
	const char *path;

	for (size_t i = 0; i < f->n_signals; i++) {
		if (!streq(sd_bus_message_get_member(f->signals[i]), member))
			continue;
		sd_bus_message_rewind(f->signals[i], true);
		n += sd_bus_message_read_basic(f->signals[i], 'o', &path) > 0 &&
		     strstr(path, "/port/");
	}
	return n;
}

/* Waits until signals have said that TOLD ports have come or gone since fixture_forget(), and until
 * there are so many objects. To count the objects takes too long to do it after each signal. */
static void wait_objects(const char *member, unsigned int told, unsigned int devices,
			 unsigned int ports)
{
	for (;;) {
		unsigned int d, p;

		while (count_told(member) < told)
			fixture_wait_more(f);
		count_objects(&d, &p);
		if (d == devices && p == ports)
			return;
		fixture_wait_more(f);
	}
}

static void assert_counts(unsigned int devices, unsigned int ports)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", devices);
	wait_property(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "DeviceCount", text);
	snprintf(text, sizeof(text), "%u", ports);
	wait_property(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "PortCount", text);
	wait_property(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "ActivePortCount", text);
}

/* After EIO the worker opens the device again. An event that another port has sent meanwhile is not
 * lost with the context that is closed. */
static void test_reopened(_unused_ void **state)
{
	uint32_t index;

	fabric_restart(f, PATIENT);
	sim("add sim0 driver=mlx5 link=ib ports=2");
	index = wait_port(f, "sim0/1");
	wait_equal(f, index, 1);
	wait_equal(f, index, 2);
	wait_quiet(f, "sim0/1");
	wait_quiet(f, "sim0/2");
	fixture_forget(f);
	/* The worker asks port 2 and gets no answer yet: it reads no events. */
	sim("set sim0/2 delay_ms=3600000 fail=5 fail_count=1 user_only=1 event=SM_CHANGE");
	while (sim_number("calls", "sim0/2", "waiting") == 0)
		fixture_barrier(f);
	sim("set sim0/1 sm_lid=77 event=SM_CHANGE");
	sim("set sim0/2 delay_ms=0");
	wait_property(f, path_of(index, 1).text, INFINIBAND, "SmLid", "77");
	wait_property(f, path_of(index, 2).text, PORT, "Stale", "no");
	assert_int_equal(sim_number("calls", "sim0/2", "fault"), 1);
	while (count_reconfigured(f, path_of(index, 1).text, "sm-change") == 0)
		fixture_wait_more(f);
	fixture_barrier(f);
	assert_int_equal(count_reconfigured(f, path_of(index, 1).text, "sm-change"), 1);
	fixture_assert_property(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "LostEventCount", "0");
	/* The new context hears events. */
	sim("set sim0/1 sm_lid=78 event=SM_CHANGE");
	wait_property(f, path_of(index, 1).text, INFINIBAND, "SmLid", "78");
}

static void test_wide(_unused_ void **state)
{
	uint32_t index;
	double begin;

	fabric_restart(f, PATIENT);
	fixture_forget(f);
	begin = fixture_now_ms();
	sim("add wide driver=mlx5 link=ib ports=254 pkeys=2 gids=2");
	wait_objects("InterfacesAdded", 254, 1, 254);
	printf("  254 ports published after %.0f ms\n", fixture_now_ms() - begin);
	assert_counts(1, 254);
	index = wait_port(f, "wide/254");
	for (unsigned int n = 1; n <= 254; n += 11)
		wait_equal(f, index, n);
	sim("set wide/254 lid=4444 event=LID_CHANGE");
	wait_property(f, path_of(index, 254).text, INFINIBAND, "Lid", "4444");
	fixture_barrier(f);
	fixture_forget(f);
	begin = fixture_now_ms();
	sim("set wide/all sm_lid=9 event=SM_CHANGE");
	for (unsigned int n = 1; n <= 254; n++)
		while (count_reconfigured(f, path_of(index, n).text, NULL) == 0)
			fixture_wait_more(f);
	printf("  all of them reconfigured: signalled after %.0f ms\n", fixture_now_ms() - begin);
	wait_equal(f, index, 1);
	wait_equal(f, index, 254);
}

static void test_many(_unused_ void **state)
{
	unsigned int core, worker_fds, round, devices, ports;
	pid_t daemon, worker;
	char name[16];
	double begin;

	fabric_restart(f, PATIENT);
	daemon = fabric_pid();
	/* add one device first, so that there is a worker */
	sim("add first driver=mlx5 link=ib");
	wait_equal(f, wait_port(f, "first/1"), 1);
	while (sim_number("device", "first", "contexts") == 0)
		fixture_barrier(f);
	worker = fabric_worker(daemon);
	assert_true(worker > 0);
	/* for the first long reply rdmad opens descriptors that it keeps */
	count_objects(&devices, &ports);
	core = count_descriptors(daemon);
	worker_fds = count_descriptors(worker);
	printf("  1 device: rdmad %lu KiB and %u descriptors, its worker %lu KiB and %u\n",
	       resident_kib(daemon), core, resident_kib(worker), worker_fds);
	for (round = 0; round < 2; round++) {
		fixture_forget(f);
		begin = fixture_now_ms();
		sim("add many%%d driver=mlx5 link=ib count=%u", MANY);
		wait_objects("InterfacesAdded", MANY, MANY + 1, MANY + 1);
		printf("  %u more: published after %.0f ms", MANY, fixture_now_ms() - begin);
		assert_counts(MANY + 1, MANY + 1);
		for (unsigned int i = 0; i < MANY; i += 20) {
			snprintf(name, sizeof(name), "many%u/1", i);
			wait_equal(f, wait_port(f, name), 1);
		}
		printf("; rdmad %lu KiB and %u descriptors, its worker %lu KiB and %u\n",
		       resident_kib(daemon), count_descriptors(daemon), resident_kib(worker),
		       count_descriptors(worker));
		fixture_forget(f);
		begin = fixture_now_ms();
		for (unsigned int i = 0; i < MANY; i++)
			sim("del many%u", i);
		wait_objects("InterfacesRemoved", MANY, 1, 1);
		printf("  and removed after %.0f ms", fixture_now_ms() - begin);
		assert_counts(1, 1);
		assert_int_equal(fabric_worker(daemon), worker);
		while (count_descriptors(worker) != worker_fds || count_descriptors(daemon) != core)
			fixture_barrier(f);
		printf("; rdmad %lu KiB and %u descriptors, its worker %lu KiB and %u\n",
		       resident_kib(daemon), core, resident_kib(worker), worker_fds);
	}
	sim("set first/1 lid=99 event=LID_CHANGE");
	wait_property(f, path_of(wait_port(f, "first/1"), 1).text, INFINIBAND, "Lid", "99");
}

static int setup(_unused_ void **state)
{
	f = fabric_new();
	run("modprobe rdma_sim");
	return 0;
}

/* The arguments may name one test, or -NAME one that is left out. */
int main(int argc, char *argv[])
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wedged_dead),
		cmocka_unit_test(test_wedged_killable),
		cmocka_unit_test(test_wedged_two),
		cmocka_unit_test(test_wedged_kernel),
		cmocka_unit_test(test_wedged_removed),
		cmocka_unit_test(test_asks_by_itself),
		cmocka_unit_test(test_hangs_before_it_asks),
		cmocka_unit_test(test_hangs_around_its_query),
		cmocka_unit_test(test_start_beside_hung),
		cmocka_unit_test(test_removal),
		cmocka_unit_test(test_reopened),
		cmocka_unit_test(test_wide),
		cmocka_unit_test(test_many),
	};

	if (argc > 1 && argv[1][0] == '-')
		cmocka_set_skip_filter(argv[1] + 1);
	else if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests_name("faults", tests, setup, NULL);
}
