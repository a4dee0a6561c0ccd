/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test-seen [--delays] [TEST]
 *
 * Runs in a virtual machine, as root, with rdmad installed and rdma_sim loaded. It makes one change
 * of each kind, tests that rdmad signals it, and prints a line for each: what event the kernel
 * sends, how rdmad saw the change, and how long it took from the change to the signal. The times
 * are printed and not tested.
 *
 * How rdmad saw a change is in the journal, if it logs everything. That takes time, so with
 * --delays all changes are made twice: the first time the journal is read, the second time the
 * delay is measured.
 */

#include <signal.h>
#include <sys/utsname.h>

#include "event.h"
#include "fabric.h"
#include "kernel.h"

#define EVENTS_ALONE "[Daemon]\nReconcileIntervalSec=0\nQueryTimeoutSec=8\n"
#define RECONCILES   "[Daemon]\nReconcileIntervalSec=1\nQueryTimeoutSec=8\n"
#define TRACE	     "/tmp/test-seen-cursor"
#define QUIET_MS     1500
#define GUARD_MS     60000
#define SEEN_MAX     160

static Fixture *f;
static bool arg_delays;

/* Changes that are not made by rdma_sim. INDEX is that of the device of the row. */
static int netdev_mtu(_unused_ uint32_t index)
{
	return kernel_set_mtu("e0", 9000);
}

static int netdev_down(_unused_ uint32_t index)
{
	return kernel_set_up("e0", false);
}

static int netdev_up(_unused_ uint32_t index)
{
	return kernel_set_up("e0", true);
}

static int netdev_mac(_unused_ uint32_t index)
{
	return kernel_set_mac("e0", 77);
}

static int add_address(_unused_ uint32_t index)
{
	return kernel_set_address("e0", false, 7, 7, true);
}

/* Kernel 6.1 renames only an interface that is down. */
static int netdev_rename(_unused_ uint32_t index)
{
	int r = kernel_set_up("e0", false);

	if (r == 0)
		r = kernel_rename_link("e0", "e9");
	return r == 0 ? kernel_set_up("e9", true) : r;
}

static int rename_device(uint32_t index)
{
	return kernel_rename_device(index, "new1");
}

static int move_away(uint32_t index)
{
	return kernel_move_device(index, true);
}

static int move_back(uint32_t index)
{
	return kernel_move_device(index, false);
}

/* One kind of change. */
typedef struct Change {
	const char *what;
	const char *event;   /* what the kernel sends */
	const char *device;  /* its name before the change; of a new one NULL */
	const char *command; /* for rdma_sim; or: */
	int (*act)(uint32_t index);
	const char *changed; /* a property of port 1 that changes; with "!" in front a signal of the
				port; with "+" and "-" the object that is added or removed:
				"device" */
	const char *by;	     /* the ways to see it: the first must be one of them */
} Change;

/* clang-format off */
static const Change changes[] = {
	{"LID", "LID_CHANGE", "ib0", "set ib0/1 lid=30 event=LID_CHANGE", NULL, "Lid", "verbs"},
	{"subnet manager", "SM_CHANGE", "ib0", "set ib0/1 sm_lid=9 event=SM_CHANGE", NULL, "SmLid", "verbs"},
	{"reregister", "CLIENT_REREGISTER", "ib0", "event ib0/1 CLIENT_REREGISTER", NULL, "!SubnetReconfigured", "verbs"},
	{"P_Key", "PKEY_CHANGE", "ib0", "set ib0/1 pkey.3=0x8003 event=PKEY_CHANGE", NULL, "Pkeys", "verbs"},
	{"state, down", "PORT_ERR", "ib0", "set ib0/1 state=1 phys_state=2 event=PORT_ERR", NULL, "State", "verbs"},
	{"state, up", "PORT_ACTIVE", "ib0", "set ib0/1 state=4 phys_state=5 event=PORT_ACTIVE", NULL, "State", "verbs"},
	{"speed", "DEVICE_SPEED_CHANGE (sent by 7.0 and newer)", "ib0",
	 "set ib0/1 active_speed=32\nevent ib0/1 20 raw=1", NULL, "LinkSpeed", "verbs"},
	{"SM, event for a port that is not there", "SM_CHANGE of port 77", "ib0",
	 "set ib0/1 sm_lid=10\nevent ib0/77 SM_CHANGE raw=1", NULL, "SmLid", "verbs"},
	{"device error", "DEVICE_FATAL", "ib0", "set ib0/1 lid=31 event=DEVICE_FATAL", NULL, "Lid", "verbs"},
	{"IP address, so GID", "GID_CHANGE, RTM_NEWADDR", "eth0", NULL, add_address, "Gids", "verbs rtnetlink"},
	{"MTU of the interface", "RTM_NEWLINK", "eth0", NULL, netdev_mtu, "ActiveMtu", "rtnetlink"},
	{"interface down", "RTM_NEWLINK, PORT_ERR", "eth0", NULL, netdev_down, "State", "verbs rtnetlink"},
	{"interface up", "RTM_NEWLINK, PORT_ACTIVE", "eth0", NULL, netdev_up, "State", "verbs rtnetlink"},
	{"MAC address of the interface", "RTM_NEWLINK", "eth0", NULL, netdev_mac, "HwAddress", "verbs rtnetlink"},
	{"name of the interface", "RTM_NEWLINK", "eth0", NULL, netdev_rename, "Netdev", "verbs rtnetlink netlink"},
	{"device added", "uevent, REGISTER (6.12)", NULL, "add new0 driver=mlx5 link=ib", NULL, "+device", "netlink udev"},
	{"name of the device", "uevent, RENAME (6.13)", "new0", NULL, rename_device, "DeviceName", "netlink udev"},
	{"device to another namespace", "uevent", "new1", NULL, move_away, "-device", "netlink udev verbs"},
	{"device back from there", "uevent", "new1", NULL, move_back, "+device", "netlink udev"},
	{"device removed", "uevent, UNREGISTER (6.12)", "new1", "del new1", NULL, "-device", "netlink udev verbs"},
};

/* With ReconcileIntervalSec=1. */
static const Change unheard[] = {
	{"LID, without an event", "none", "ib0", "set ib0/1 lid=40", NULL, "Lid", "reconcile"},
	{"GID of InfiniBand", "GID_CHANGE, which no process gets", "ib0",
	 "set ib0/1 gid.2=fe80::5 event=GID_CHANGE", NULL, "Gids", "reconcile"},
	{"P_Key, without an event", "none", "ib0", "set ib0/1 pkey.5=0x8005", NULL, "Pkeys", "reconcile"},
	{"LID of a device whose events are polled", "LID_CHANGE, which nobody waits for", "poll0",
	 "set poll0/1 lid=41 event=LID_CHANGE", NULL, "Lid", "reconcile"},
	{"P_Key of a device whose events are polled", "PKEY_CHANGE, which nobody waits for", "poll0",
	 "set poll0/1 pkey.5=0x8005 event=PKEY_CHANGE", NULL, "Pkeys", "reconcile"},
};
/* clang-format on */

/* What was found about the rows of both tables. */
typedef struct Finding {
	char seen[SEEN_MAX];
	double delay_ms;
} Finding;

static Finding findings[ARRAY_SIZE(changes)], unheard_findings[ARRAY_SIZE(unheard)];

/* How an event reaches rdmad. Those of a uevent are for all devices: it has no kernel index. */
static const char *way_of(EventReason reason, uint32_t device)
{
	if (reason >= REASON_PORT_ACTIVE)
		return "verbs";
	if (reason == REASON_LINK || reason == REASON_ADDRESS)
		return "rtnetlink";
	if (reason == REASON_NETDEV || (reason == REASON_DEVICE && device != EVENT_ALL_DEVICES))
		return "netlink";
	if (reason == REASON_DEVICE || reason == REASON_CHARDEV)
		return "udev";
	return reason == REASON_RECONCILE ? "reconcile" : "other";
}

/* Adds the event of a line of the journal to SEEN, unless it is there. */
static void note_line(const char *line, char *seen)
{
	char name[32], text[64];
	EventReason reason;
	uint32_t device;
	size_t n = strlen(seen);

	if (sscanf(line, "event: device %u port %*u %31s", &device, name) != 2)
		return;
	reason = event_reason_from_name(name);
	if (streq(way_of(reason, device), name))
		text_copy(text, sizeof(text), name);
	else
		snprintf(text, sizeof(text), "%s %s", way_of(reason, device), name);
	if (!strstr(seen, text))
		snprintf(seen + n, SEEN_MAX - n, "%s%s", n ? ", " : "", text);
}

/* The events that rdmad has logged since the last call. */
static void read_journal(char *seen)
{
	FILE *p = popen("journalctl --sync && "
			"journalctl -q -u rdmad -o cat --cursor-file=" TRACE,
			"r");
	_cleanup_free_ char *line = NULL;
	size_t size = 0;

	assert_non_null(p);
	*seen = '\0';
	while (getline(&line, &size, p) > 0)
		note_line(line, seen);
	assert_int_equal(pclose(p), 0);
}

/* All queries of rdmad until now. */
static uint64_t count_queries(void)
{
	_cleanup_fclose_ FILE *file = fopen("/dev/rdma_sim", "r");
	_cleanup_free_ char *line = NULL;
	size_t size = 0;
	uint64_t n = 0;

	assert_non_null(file);
	while (getline(&line, &size, file) > 0) {
		const char *word = strstr(line, "query.user=");

		n += word ? strtoull(word + strlen("query.user="), NULL, 10) : 0;
	}
	return n;
}

/* Waits until rdmad asks no device any more: what follows from a change is over. */
static void wait_all_quiet(void)
{
	uint64_t n = 0, now;
	double begin, first;

	run("udevadm settle");
	first = begin = fixture_now_ms();
	while (fixture_now_ms() - begin < QUIET_MS) {
		now = count_queries();
		if (now != n)
			begin = fixture_now_ms();
		if (begin - first > GUARD_MS)
			fail_msg("devices are asked again and again");
		n = now;
		fixture_barrier(f);
		sd_bus_wait(f->bus, 100 * USEC_PER_MSEC);
	}
}

/* Whether a signal MEMBER of ObjectManager about PATH is recorded, or if PATH is NULL about the
 * first port of any device. */
static bool is_announced(const char *member, const char *path)
{
	for (size_t i = 0; i < f->n_signals; i++) {
		sd_bus_message *m = f->signals[i];
		const char *object;

		if (!streq(sd_bus_message_get_member(m), member))
			continue;
		sd_bus_message_rewind(m, true);
		assert_true(sd_bus_message_read_basic(m, 'o', &object) > 0);
		if (path ? streq(object, path) : strstr(object, "/port/1") != NULL)
			return true;
	}
	return false;
}

static bool has_come(const Change *c, uint32_t index)
{
	_cleanup_free_ char *changed = NULL;
	char device[RDMAD_PATH_MAX];

	if (*c->changed == '+')
		return is_announced("InterfacesAdded", NULL);
	snprintf(device, sizeof(device), RDMAD_DEVICE_PREFIX "/%u", index);
	if (*c->changed == '-')
		return is_announced("InterfacesRemoved", device);
	if (*c->changed == '!')
		return fixture_count_signals(f, path_of(index, 1).text, c->changed + 1) > 0;
	changed = changed_properties(f, path_of(index, 1).text);
	return words_within(c->changed, changed);
}

/* Waits until N periodic looks more are over. */
static void wait_looks(unsigned int n)
{
	_cleanup_free_ char *last =
		fixture_property(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "LastSyncTimestamp");

	while (n > 0) {
		char *now;

		sd_bus_wait(f->bus, 100 * USEC_PER_MSEC);
		fixture_barrier(f);
		now = fixture_property(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER,
				       "LastSyncTimestamp");
		n -= !streq(now, last);
		free(last);
		last = now;
	}
}

/* Makes a change and waits for its signal. Returns how long that took. */
static double make_change(const Change *c)
{
	int number = c->device ? kernel_device_index(c->device) : 0, r = 0;
	static uint32_t index; /* of a device that is away it is that of the row before */
	double begin, end;

	if (c->device && number >= 0)
		index = (uint32_t)number;
	fixture_barrier(f);
	fixture_forget(f);
	begin = fixture_now_ms();
	r = c->act ? c->act(index) : kernel_sim("%s", c->command);
	if (r < 0)
		fail_msg("%s: %s", c->what, strerror(-r));
	while (!has_come(c, index))
		fixture_wait_more(f);
	end = fixture_now_ms();
	if (c->device && *c->changed != '-' && *c->changed != '+')
		wait_equal(f, index, 1);
	return end - begin;
}

static void add_devices(const char *configuration)
{
	fabric_restart(f, configuration);
	(void)kernel_delete_link("e0");
	(void)kernel_delete_link("e9");
	assert_int_equal(kernel_add_dummy("e0", 1), 0);
	assert_int_equal(kernel_set_up("e0", true), 0);
	sim("add ib0 driver=mlx5 link=ib ports=2\nset ib0/all lid=20 sm_lid=1");
	sim("add poll0 driver=siw link=ib");
	sim("add eth0 driver=mlx5 link=eth netdev=e0 gids=16");
	wait_port(f, "ib0/1");
	wait_port(f, "poll0/1");
	wait_port(f, "eth0/1");
	while (sim_number("device", "ib0", "contexts") == 0 ||
	       sim_number("device", "eth0", "contexts") == 0)
		fixture_barrier(f);
}

/* Makes the changes of a table. If the journal is to be READ, finds how they are seen, otherwise
 * how long it takes. */
static void make_changes(const Change *table, size_t n, Finding *found, bool read)
{
	bool reconciles = table == unheard;

	add_devices(reconciles ? RECONCILES : EVENTS_ALONE);
	if (read)
		run("busctl set-property org.rdma /org/freedesktop/LogControl1 "
		    "org.freedesktop.LogControl1 LogLevel s debug");
	for (size_t i = 0; i < n; i++) {
		char first[32];
		double delay;

		if (!reconciles)
			wait_all_quiet();
		if (read)
			read_journal(found[i].seen);
		/* a look that has begun before may find the change */
		if (read && reconciles)
			wait_looks(2);
		delay = make_change(&table[i]);
		found[i].delay_ms = delay;
		if (!read)
			continue;
		read_journal(found[i].seen);
		if (sscanf(found[i].seen, "%31[a-z]", first) != 1 ||
		    !words_within(first, table[i].by))
			fail_msg("%s: seen by \"%s\", expected %s", table[i].what, found[i].seen,
				 table[i].by);
	}
}

static void print_table(const Change *table, size_t n, const Finding *found)
{
	struct utsname u;
	int length;

	assert_int_equal(uname(&u), 0);
	length = (int)strcspn(strchr(u.release, '.') + 1, ".-+");
	length += (int)(strchr(u.release, '.') + 1 - u.release);
	for (size_t i = 0; i < n; i++)
		printf("kernel %.*s | %s | %s | %s | %.1f ms\n", length, u.release, table[i].what,
		       table[i].event, found[i].seen, found[i].delay_ms);
}

static void test_seen(_unused_ void **state)
{
	for (int read = 1; read >= !arg_delays; read--) {
		make_changes(changes, ARRAY_SIZE(changes), findings, read);
		make_changes(unheard, ARRAY_SIZE(unheard), unheard_findings, read);
	}
	print_table(changes, ARRAY_SIZE(changes), findings);
	print_table(unheard, ARRAY_SIZE(unheard), unheard_findings);
}

#define PKEY_TABLE 16U

/* Each entry of a P_Key table is a firmware command. Where the kernel says when it changes, one
 * periodic look in ten reads it. poll0 cannot say so, and is read by each look: it counts them. */
static void test_pkey_reads(_unused_ void **state)
{
	static const char *const ports[] = {"poll0/1", "ib0/1"};
	uint64_t n[ARRAY_SIZE(ports)], looks;

	add_devices(RECONCILES);
	run("udevadm settle");
	wait_looks(3);
	for (size_t i = 0; i < ARRAY_SIZE(ports); i++)
		n[i] = sim_number("calls", ports[i], "pkey");
	wait_looks(13);
	for (size_t i = 0; i < ARRAY_SIZE(ports); i++)
		n[i] = sim_number("calls", ports[i], "pkey") - n[i];
	looks = n[0] / PKEY_TABLE;
	printf("  %u entries of a P_Key table: %llu read of %s, %llu of %s\n", PKEY_TABLE,
	       (unsigned long long)n[0], ports[0], (unsigned long long)n[1], ports[1]);
	/* counted in the middle of a look */
	assert_true(looks >= 12);
	/* between the two numbers there may be one more look */
	assert_in_range(n[1], PKEY_TABLE * ((looks - 1) / 10), PKEY_TABLE * ((looks + 1) / 10 + 1));
}

static uint64_t lost_events(void)
{
	_cleanup_free_ char *text =
		fixture_property(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "LostEventCount");

	return strtoull(text, NULL, 10);
}

/* The worker dies while it reads the only device, and what it would have heard is lost. The next
 * worker says so, although the query that has it open the device does not read P_Keys. */
static void test_worker_dies(_unused_ void **state)
{
	uint32_t index;
	uint64_t before;

	add_devices(EVENTS_ALONE);
	sim("del eth0\ndel poll0");
	index = wait_port(f, "ib0/1");
	wait_all_quiet();
	before = lost_events();
	sim("set ib0/1 delay_ms=60000 user_only=1 event=LID_CHANGE");
	while (sim_number("calls", "ib0/1", "waiting") == 0)
		fixture_barrier(f);
	sim("set ib0/1 pkey.5=0x8005");
	assert_int_equal(kill(fabric_worker(fabric_pid()), SIGKILL), 0);
	sim("set ib0/1 delay_ms=0");
	wait_property(f, path_of(index, 1).text, INFINIBAND, "Pkeys", "2");
	wait_equal(f, index, 1);
	wait_all_quiet();
	assert_in_range(lost_events(), before + 1, UINT64_MAX);
}

static int setup(_unused_ void **state)
{
	int r;

	run("modprobe rdma_sim && modprobe dummy");
	r = kernel_open();
	if (r < 0)
		fail_msg("cannot set up: %s", strerror(-r));
	f = fabric_new();
	return 0;
}

int main(int argc, char *argv[])
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_seen),
		cmocka_unit_test(test_pkey_reads),
		cmocka_unit_test(test_worker_dies),
	};

	arg_delays = argc > 1 && streq(argv[1], "--delays");
	if (argc > 1 + arg_delays)
		cmocka_set_test_filter(argv[1 + arg_delays]);
	setvbuf(stdout, NULL, _IOLBF, 0);
	return cmocka_run_group_tests_name("seen", tests, setup, NULL);
}
