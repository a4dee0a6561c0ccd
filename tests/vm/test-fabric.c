/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Runs in a virtual machine, as root, with rdmad installed and rdma_sim loaded. The subnet manager
 * reconfigures InfiniBand ports in every way that it can, with events and without. The tests check
 * that rdmad signals exactly what changed, and that the cache then equals what libibverbs says.
 * Where an event has to cause the query, rdmad runs without reconciliation, which could hide a lost
 * event.
 *
 * The file is long because all changes are in one table: so one sees whether one is missing.
 */

#include <infiniband/verbs.h>
#include <signal.h>
#include <sys/wait.h>

#include "fabric.h"

#define EVENTS_ALONE "[Daemon]\nReconcileIntervalSec=0\nQueryTimeoutSec=8\n"
/* The interval is longer than the pause that wait_quiet() waits for; otherwise it would wait for
 * ever. */
#define RECONCILES    "[Daemon]\nReconcileIntervalSec=4\nQueryTimeoutSec=8\n"
#define STORM	      10000
#define RANDOM_EVENTS 400

static Fixture *f;

/* The properties that become unavailable when the link goes down, and when the port is not
 * configured. */
#define LINK   "ActiveMtu LinkWidth LinkSpeed Rate DataRate "
#define SUBNET "Lid Lmc SmLid SmSl SubnetTimeoutUSec "
/* They are in signals that others cause. */
#define COUNTS "ConfigGeneration SmGeneration PkeyGeneration GidGeneration"
/* The properties that change with a transition; the second one only if the link goes down. */
#define TRANSITION "StateChangeTimestamp LinkDownCount "

/* One change of sim0/1, and everything that must follow from it. */
typedef struct Change {
	const char *what;
	const char *command;
	const char *changed;	  /* exactly these properties change, on any interface */
	const char *state;	  /* the state after the transition; NULL: there is no transition */
	const char *reconfigured; /* the reason of SubnetReconfigured; NULL: there is none */
} Change;

/* clang-format off */
static const Change changes[] = {
	{"PORT_ERR, to down", "set sim0/1 state=1 phys_state=2 event=PORT_ERR",
	 "State PhysicalState Unavailable " LINK SUBNET, "down", NULL},
	{"PORT_ERR again, to init", "set sim0/1 state=2 phys_state=5 event=PORT_ERR",
	 "State PhysicalState Unavailable " LINK, "init", NULL},
	{"PORT_ERR, to down again", "set sim0/1 state=1 phys_state=2 event=PORT_ERR",
	 "State PhysicalState Unavailable " LINK, "down", NULL},
	{"PORT_ACTIVE", "set sim0/1 state=4 phys_state=5 event=PORT_ACTIVE",
	 "State PhysicalState Unavailable " LINK SUBNET, "active", NULL},
	{"PORT_ERR, from active to init", "set sim0/1 state=2 event=PORT_ERR",
	 "State Unavailable " SUBNET, "init", NULL},
	{"LID_CHANGE, to armed with another LID", "set sim0/1 state=3 lid=40 event=LID_CHANGE",
	 "State Unavailable " SUBNET, "armed", "lid-change"},
	{"PORT_ACTIVE, from armed", "set sim0/1 state=4 event=PORT_ACTIVE",
	 "State", "active", NULL},
	{"PORT_ACTIVE, nothing changed", "event sim0/1 PORT_ACTIVE", "", NULL, NULL},
	{"PORT_ERR, up again when it is read", "event sim0/1 PORT_ERR",
	 TRANSITION, NULL, NULL},
	{"LID_CHANGE", "set sim0/1 lid=21 event=LID_CHANGE",
	 "Lid", NULL, "lid-change"},
	{"LID_CHANGE, LID and LMC", "set sim0/1 lid=48 lmc=3 event=LID_CHANGE",
	 "Lid Lmc", NULL, "lid-change"},
	{"LID_CHANGE, nothing changed", "event sim0/1 LID_CHANGE", "", NULL, NULL},
	{"SM_CHANGE", "set sim0/1 sm_lid=3 sm_sl=2 event=SM_CHANGE",
	 "SmLid SmSl", NULL, "sm-change"},
	{"SM_CHANGE, the same place again", "event sim0/1 SM_CHANGE",
	 "", NULL, "sm-change"},
	{"CLIENT_REREGISTER", "event sim0/1 CLIENT_REREGISTER",
	 "", NULL, "client-reregister"},
	{"CLIENT_REREGISTER, timeout and capabilities",
	 "set sim0/1 subnet_timeout=16 port_cap_flags=0x0a510048 event=CLIENT_REREGISTER",
	 "SubnetTimeoutUSec Capabilities CapabilityMask", NULL,
	 "client-reregister"},
	{"SM handover: LID, event SM_CHANGE", "set sim0/1 sm_lid=9 event=SM_CHANGE",
	 "SmLid", NULL, "sm-change"},
	{"PKEY_CHANGE", "set sim0/1 pkey.3=0x8003 event=PKEY_CHANGE",
	 "Pkeys", NULL, NULL},
	{"PKEY_CHANGE, a membership", "set sim0/1 pkey.3=0x0003 event=PKEY_CHANGE",
	 "Pkeys", NULL, NULL},
	{"PKEY_CHANGE, table rewritten",
	 "set sim0/1 pkey.0=0x7fff pkey.1=0x8001 pkey.2=0x8002 pkey.3=0 pkey.4=0xffff pkey.15=0x800f "
	 "event=PKEY_CHANGE", "Pkeys", NULL, NULL},
	{"PKEY_CHANGE, table emptied",
	 "set sim0/1 pkey.0=0 pkey.1=0 pkey.2=0 pkey.4=0 pkey.15=0 event=PKEY_CHANGE",
	 "Pkeys", NULL, NULL},
	{"PKEY_CHANGE, nothing changed", "event sim0/1 PKEY_CHANGE", "", NULL, NULL},
	{"LID, SM and P_Keys at once",
	 "set sim0/1 lid=50 sm_lid=5 pkey.0=0xffff event=LID_CHANGE,SM_CHANGE,PKEY_CHANGE",
	 "Lid SmLid Pkeys", NULL, ""},
	{"speed and width, with PORT_ACTIVE",
	 "set sim0/1 active_width=8 active_speed=32 event=PORT_ACTIVE",
	 "LinkWidth LinkSpeed Rate DataRate", NULL, NULL},
	{"MTU, with PORT_ACTIVE", "set sim0/1 active_mtu=4 event=PORT_ACTIVE",
	 "ActiveMtu", NULL, NULL},
	{"DEVICE_FATAL with a change", "set sim0/1 lid=90 event=DEVICE_FATAL",
	 "Lid", NULL, "device-fatal"},
	{"LID_CHANGE after DEVICE_FATAL", "set sim0/1 lid=91 event=LID_CHANGE",
	 "Lid", NULL, "lid-change"},
};
/* clang-format on */

static const char *state_of(const char *path)
{
	static char state[32];
	_cleanup_free_ char *text = fixture_property(f, path, PORT, "State");

	text_copy(state, sizeof(state), text);
	return state;
}

/* Sends an event to port 2 of the device and waits until rdmad has processed it. After that, the
 * events that were sent to port 1 before have been processed too, or will never be. */
static void let_pass(uint32_t index)
{
	Path of_port = path_of(index, 2);
	const char *path = of_port.text;
	unsigned int n = count_reconfigured(f, path, "sm-change");

	sim("event sim0/2 SM_CHANGE");
	while (count_reconfigured(f, path, "sm-change") == n)
		fixture_wait_more(f);
	fixture_barrier(f);
}

static bool has_come(const Change *c, const char *path)
{
	_cleanup_free_ char *changed = changed_properties(f, path);
	char state[32];

	if (c->state) {
		text_copy(state, sizeof(state), "");
		for (size_t i = 0; i < f->n_signals; i++)
			if (streq(sd_bus_message_get_path(f->signals[i]), path) &&
			    streq(sd_bus_message_get_member(f->signals[i]), "StateChanged"))
				text_copy(state, sizeof(state), "some");
		if (!*state)
			return false;
	}
	if (c->reconfigured && count_reconfigured(f, path, NULL) == 0)
		return false;
	return words_within(c->changed, changed);
}

static void change(const Change *c, uint32_t index)
{
	_cleanup_free_ char *changed = NULL;
	Path of_port = path_of(index, 1);
	const char *path = of_port.text;
	bool is_silent = !*c->changed && !c->reconfigured;
	uint64_t kernel, user;
	char state[32], allowed[512];
	unsigned int n;
	double begin, signalled;

	fixture_barrier(f);
	fixture_forget(f);
	text_copy(state, sizeof(state), state_of(path));
	kernel = sim_number("calls", "sim0/1", "query.kernel");
	user = sim_number("calls", "sim0/1", "query.user");
	begin = fixture_now_ms();
	sim("%s", c->command);
	while (!has_come(c, path))
		fixture_wait_more(f);
	signalled = fixture_now_ms();
	if (is_silent) { /* there will be no signal, but rdmad has asked the port */
		while (sim_number("calls", "sim0/1", "query.user") == user)
			fixture_barrier(f);
		let_pass(index);
	}
	kernel = sim_number("calls", "sim0/1", "query.kernel") - kernel;
	user = sim_number("calls", "sim0/1", "query.user") - user;
	wait_equal(f, index, 1);

	changed = changed_properties(f, path);
	snprintf(allowed, sizeof(allowed), "%s %s " COUNTS, c->changed, c->state ? TRANSITION : "");
	if (!words_within(changed, allowed))
		fail_msg("%s: changed %s, expected %s", c->what, changed, allowed);
	n = follow_states(f, path, state);
	if (n != (c->state ? 1 : 0) || (c->state && !streq(state, c->state)))
		fail_msg("%s: %u transitions, the last to %s", c->what, n, state);
	n = count_reconfigured(f, path,
			       c->reconfigured && *c->reconfigured ? c->reconfigured : NULL);
	if (c->reconfigured ? n == 0 : n != 0)
		fail_msg("%s: SubnetReconfigured %u times", c->what, n);
	if (!is_silent)
		printf("  %-44s %6.1f ms  queries: %llu of ib_core, %llu of rdmad\n", c->what,
		       signalled - begin, (unsigned long long)kernel, (unsigned long long)user);
	else
		printf("  %-44s no signal  queries: %llu of ib_core, %llu of rdmad\n", c->what,
		       (unsigned long long)kernel, (unsigned long long)user);
}

static uint32_t add_sim0(void)
{
	uint32_t index;

	sim("add sim0 driver=mlx5 link=ib ports=2 pkeys=16 gids=4");
	sim("set sim0/1 lid=20 sm_lid=1");
	index = wait_port(f, "sim0/1");
	wait_port(f, "sim0/2");
	wait_equal(f, index, 1);
	wait_equal(f, index, 2);
	while (sim_number("device", "sim0", "contexts") == 0)
		fixture_barrier(f);
	wait_quiet(f, "sim0/1");
	return index;
}

static void test_events(_unused_ void **state)
{
	uint32_t index;

	fabric_restart(f, EVENTS_ALONE);
	index = add_sim0();
	for (size_t i = 0; i < ARRAY_SIZE(changes); i++)
		change(&changes[i], index);
}

/* Does what a subnet manager does to a port when it sweeps, as quickly as possible. */
static void test_quick_transitions(_unused_ void **state)
{
	static const char *const steps[] = {"state=1 event=PORT_ERR", "state=2 event=PORT_ERR",
					    "state=3 lid=%u event=LID_CHANGE",
					    "state=4 event=PORT_ACTIVE"};
	static const char *const names[] = {"down", "init", "armed", "active"};
	uint32_t index;
	Path path;
	char now[32] = "active";
	unsigned int n = 0;

	fabric_restart(f, EVENTS_ALONE);
	index = add_sim0();
	path = path_of(index, 1);
	fixture_forget(f);
	/* with enough time between the changes, rdmad signals each of them */
	for (unsigned int round = 0; round < 10; round++)
		for (unsigned int i = 0; i < ARRAY_SIZE(steps); i++) {
			char command[64];

			snprintf(command, sizeof(command), steps[i], 100 + round);
			sim("set sim0/1 %s", command);
			fixture_forget(f);
			wait_property(f, path.text, PORT, "State", names[i]);
			fixture_barrier(f);
			assert_int_equal(follow_states(f, path.text, now), 1);
			assert_string_equal(now, names[i]);
		}
	/* without a pause, it signals those that it saw, and leaves no gap between them */
	fixture_forget(f);
	for (unsigned int round = 0; round < 25; round++)
		for (unsigned int i = 0; i < ARRAY_SIZE(steps); i++) {
			char command[64];

			snprintf(command, sizeof(command), steps[i], 200 + round);
			sim("set sim0/1 %s", command);
			fixture_barrier(f); /* so that rdmad runs in between: there is one CPU */
		}
	wait_property(f, path.text, INFINIBAND, "Lid", "224");
	wait_property(f, path.text, PORT, "State", "active");
	wait_equal(f, index, 1);
	fixture_barrier(f);
	n = follow_states(f, path.text, now);
	assert_string_equal(now, "active");
	printf("  100 transitions back to back: %u seen and told, in order\n", n);
}

/* The subnet prefix is in GID 0, and on InfiniBand no event about GIDs reaches user space. */
static void test_gids(_unused_ void **state)
{
	uint32_t index;
	uint64_t before;
	Path path;

	fabric_restart(f, EVENTS_ALONE);
	index = add_sim0();
	path = path_of(index, 1);

	before = sim_number("calls", "sim0/1", "query.user");
	fixture_forget(f);
	sim("set sim0/1 gid.1=fe80::1:2:3:4 event=GID_CHANGE");
	let_pass(index);
	assert_int_equal(sim_number("calls", "sim0/1", "query.user"), before);
	refresh(f);
	wait_equal(f, index, 1);
	fixture_assert_property(f, path.text, PORT, "Gids", "2");
	fixture_assert_property(f, path.text, PORT, "GidGeneration", "2");

	fixture_forget(f);
	sim("set sim0/1 subnet_prefix=0xfec0000000000001 gid.0=fec0:0:0:1::7 event=GID_CHANGE");
	let_pass(index);
	sim("event sim0/1 CLIENT_REREGISTER");
	while (count_reconfigured(f, path.text, "client-reregister") == 0)
		fixture_wait_more(f);
	fixture_assert_property(f, path.text, INFINIBAND, "SubnetPrefix", "fec0:0000:0000:0001");
	refresh(f);
	wait_equal(f, index, 1);
	fixture_assert_property(f, path.text, INFINIBAND, "PortGuid", "0000:0000:0000:0007");

	/* without any event, reconciliation finds the change */
	fabric_restart(f, RECONCILES);
	index = add_sim0();
	path = path_of(index, 1);
	sim("set sim0/1 gid.2=fe80::5 event=GID_CHANGE");
	wait_property(f, path.text, PORT, "Gids", "2");
	sim("set sim0/1 lid=77 lmc=2 sm_lid=8 pkey.5=0x8055");
	wait_property(f, path.text, INFINIBAND, "Lid", "77");
	wait_property(f, path.text, INFINIBAND, "Pkeys", "2");
	wait_equal(f, index, 1);
}

/* Netlink has only a part of what the subnet manager sets. A second look, which asks netlink but
 * not verbs, must not publish this part alone. The change comes while that look is due. */
static void test_parts(_unused_ void **state)
{
	char value[16];
	uint32_t index;
	Path path;

	fabric_restart(f, EVENTS_ALONE);
	index = add_sim0();
	path = path_of(index, 1);
	for (unsigned int i = 1; i <= 15; i++) {
		sim("set sim0/1 lid=%u event=LID_CHANGE", 100 + i);
		snprintf(value, sizeof(value), "%u", 100 + i);
		wait_property(f, path.text, INFINIBAND, "Lid", value);
		sim("set sim0/1 sm_lid=%u sm_sl=%u", 200 + i, i);
		let_pass(index);
		sim("event sim0/1 SM_CHANGE");
		snprintf(value, sizeof(value), "%u", 200 + i);
		wait_property(f, path.text, INFINIBAND, "SmLid", value);
		snprintf(value, sizeof(value), "%u", i);
		fixture_assert_property(f, path.text, INFINIBAND, "SmSl", value);
	}
}

/* On Ethernet ib_core makes the GIDs, and sends an event. */
static void test_ethernet(_unused_ void **state)
{
	uint32_t index;
	Path path;

	fabric_restart(f, EVENTS_ALONE);
	run("ip link add e0 type dummy && ip link set e0 up");
	sim("add sim0 driver=mlx5 link=eth netdev=e0 gids=16");
	index = wait_port(f, "sim0/1");
	wait_equal(f, index, 1);
	path = path_of(index, 1);
	fixture_assert_property(f, path.text, ETHERNET, "Netdev", "e0");
	for (unsigned int i = 0; i < 3; i++) {
		fixture_barrier(f);
		fixture_forget(f);
		run("ip address add 192.0.2.%u/24 dev e0", i + 1);
		fixture_wait_signal(f, path.text, "PropertiesChanged");
		wait_equal(f, index, 1);
	}
	fixture_forget(f);
	run("ip link set e0 down");
	wait_property(f, path.text, PORT, "State", "down");
	run("ip link set e0 up");
	wait_property(f, path.text, PORT, "State", "active");
	run("ip link set e0 mtu 9000");
	wait_property(f, path.text, PORT, "ActiveMtu", "4096");
	wait_equal(f, index, 1);
	run("ip link delete e0");
	wait_property(f, path.text, ETHERNET, "Netdev", "");
	wait_equal(f, index, 1);
}

/* ib_core queries the port before it passes an event on. If that query fails, nobody gets the
 * event. */
static void test_lost_event(_unused_ void **state)
{
	uint32_t index;
	uint64_t before;
	Path path;

	fabric_restart(f, EVENTS_ALONE);
	index = add_sim0();
	path = path_of(index, 1);
	before = sim_number("calls", "sim0/1", "query.user");
	sim("set sim0/1 lid=66 fail=5 fail_count=1 event=LID_CHANGE");
	while (sim_number("calls", "sim0/1", "fault") == 0)
		fixture_barrier(f);
	let_pass(index);
	assert_int_equal(sim_number("calls", "sim0/1", "query.user"), before);
	fixture_assert_property(f, path.text, INFINIBAND, "Lid", "20");
	refresh(f);
	fixture_assert_property(f, path.text, INFINIBAND, "Lid", "66");
	wait_equal(f, index, 1);

	fabric_restart(f, RECONCILES);
	index = add_sim0();
	path = path_of(index, 1);
	sim("set sim0/1 lid=66 fail=5 fail_count=1 event=LID_CHANGE");
	wait_property(f, path.text, INFINIBAND, "Lid", "66");
	wait_equal(f, index, 1);
	printf("  a lost event: found by a refresh, and by reconciliation\n");
}

static void test_failing_port(_unused_ void **state)
{
	char *error = NULL;
	uint32_t index;
	Path path;

	fabric_restart(f, EVENTS_ALONE);
	index = add_sim0();
	path = path_of(index, 1);
	sim("set sim0/1 lid=67 fail=5 user_only=1 event=LID_CHANGE");
	wait_property(f, path.text, PORT, "Stale", "yes");
	fixture_assert_property(f, path.text, PORT, "LastError", strerror(EIO));
	fixture_assert_property(f, path.text, INFINIBAND, "Lid", "20");
	fixture_assert_property(f, path.text, PORT, "State", "active");
	assert_null(fixture_call(f, path.text, PORT, "Query", &error, "a{sv}", 0));
	assert_string_equal(error, RDMAD_ERROR_QUERY_FAILED);
	free(error);
	/* the other port of the device is still fresh */
	sim("set sim0/2 lid=68 event=LID_CHANGE");
	wait_property(f, path_of(index, 2).text, INFINIBAND, "Lid", "68");
	wait_equal(f, index, 2);

	sim("set sim0/1 fail=0");
	wait_property(f, path.text, PORT, "Stale", "no");
	fixture_assert_property(f, path.text, PORT, "LastError", "");
	fixture_assert_property(f, path.text, INFINIBAND, "Lid", "67");
	wait_equal(f, index, 1);
}

/* rdmad must not rely on anything that an event carries: it only queries the port. */
static void test_odd_events(_unused_ void **state)
{
	static const char *const events[] = {"PORT_ACTIVE",	  "PORT_ERR",	 "LID_CHANGE",
					     "PKEY_CHANGE",	  "SM_CHANGE",	 "GID_CHANGE",
					     "CLIENT_REREGISTER", "DEVICE_FATAL"};
	char now[32] = "active";
	uint32_t index;
	pid_t worker;
	Path path;

	fabric_restart(f, EVENTS_ALONE);
	index = add_sim0();
	path = path_of(index, 1);
	fixture_forget(f);
	for (unsigned int port = 0; port < 600; port += 3)
		for (size_t i = 0; i < ARRAY_SIZE(events) - 1; i++)
			sim("event sim0/%u %s raw=1", port == 3 ? 4294967295U : port, events[i]);
	/* among them are events about queues, though rdmad has no queues */
	worker = fabric_worker(fabric_pid());
	for (unsigned int type = 0; type < 256; type++)
		if (type != 8)
			sim("event sim0/1 %u raw=1", type);
	let_pass(index);
	assert_int_equal(fabric_worker(fabric_pid()), worker);
	fixture_assert_property(f, path.text, PORT, "State", "active");
	assert_int_equal(follow_states(f, path.text, now), 0);

	srandom(7);
	for (unsigned int i = 0; i < RANDOM_EVENTS; i++)
		sim("set sim0/1 state=%ld lid=%ld sm_lid=%ld pkey.2=%ld event=%s,%s",
		    1 + random() % 4, 1 + random() % 100, 1 + random() % 3, random() % 65536,
		    events[(size_t)random() % ARRAY_SIZE(events)],
		    events[(size_t)random() % ARRAY_SIZE(events)]);
	sim("set sim0/1 state=4 lid=1000 event=LID_CHANGE");
	wait_property(f, path.text, INFINIBAND, "Lid", "1000");
	wait_equal(f, index, 1);
	wait_equal(f, index, 2);
	follow_states(f, path.text, now);
	assert_string_equal(now, "active");
}

static unsigned int count_changes(const char *path)
{
	unsigned int n = 0;

	for (size_t i = 0; i < f->n_signals; i++)
		n += streq(sd_bus_message_get_path(f->signals[i]), path) &&
		     streq(sd_bus_message_get_member(f->signals[i]), "PropertiesChanged") &&
		     fixture_changed(f->signals[i], INFINIBAND, "Lid");
	return n;
}

/* After the first ten queries rdmad asks the firmware at most 20 times a second, whatever happens,
 * and it does not send more signals than that. It answers calls all the time. */
static void test_storm(_unused_ void **state)
{
	uint32_t index;
	Path path;
	double begin, seconds, slowest = 0;
	uint64_t queries;
	unsigned int n, pings = 0;
	int status;
	pid_t child;

	fabric_restart(f, EVENTS_ALONE);
	index = add_sim0();
	path = path_of(index, 1);
	fixture_barrier(f);
	fixture_forget(f);
	queries = sim_number("calls", "sim0/1", "query.user");
	begin = fixture_now_ms();
	child = fork();
	if (child == 0) {
		for (unsigned int i = 1; i <= STORM; i++)
			sim("set sim0/1 lid=%u event=LID_CHANGE%s", i,
			    i % 4 == 0 ? ",SM_CHANGE" : "");
		_exit(0);
	}
	while (waitpid(child, &status, WNOHANG) == 0) {
		double t = fixture_now_ms();

		fixture_barrier(f);
		slowest = MAX(slowest, fixture_now_ms() - t);
		pings++;
	}
	assert_int_equal(status, 0);
	wait_property(f, path.text, INFINIBAND, "Lid", "10000");
	wait_equal(f, index, 1);
	seconds = (fixture_now_ms() - begin) / 1000;
	n = count_changes(path.text);
	queries = sim_number("calls", "sim0/1", "query.user") - queries;
	printf("  %u changes in %.1f s: %u signals of the LID, %llu driver queries; %u Pings, the "
	       "slowest "
	       "%.1f ms\n",
	       STORM, seconds, n, (unsigned long long)queries, pings, slowest);
	assert_true(n <= 10 + 20 * seconds + 1);
}

/* A device that moves to another network namespace has gone for rdmad; when it returns, it is new.
 */
static void test_namespace(_unused_ void **state)
{
	static const char *const drivers[] = {"mlx5", "siw"};
	static const char *const events[] = {"verbs", "polled"};

	fabric_restart(f, EVENTS_ALONE);
	run("rdma system set netns exclusive && ip netns add away && ip netns attach home 1");
	for (size_t i = 0; i < ARRAY_SIZE(drivers); i++) {
		char path[RDMAD_PATH_MAX];
		uint32_t index;
		double begin;

		sim("add sim0 driver=%s link=ib ports=2", drivers[i]);
		index = wait_port(f, "sim0/1");
		wait_equal(f, index, 1);
		snprintf(path, sizeof(path), RDMAD_DEVICE_PREFIX "/%u", index);
		wait_property(f, path, DEVICE, "Events", events[i]);
		begin = fixture_now_ms();
		run("rdma dev set sim0 netns away");
		wait_gone(f, index);
		printf("  driver=%s: away after %.0f ms", drivers[i], fixture_now_ms() - begin);
		fixture_assert_property(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "DeviceCount",
					"0");
		sim("set sim0/1 lid=300 event=LID_CHANGE");
		begin = fixture_now_ms();
		run("ip netns exec away rdma dev set sim0 netns home");
		index = wait_port(f, "sim0/1");
		wait_equal(f, index, 1);
		printf(", back and equal after %.0f ms\n", fixture_now_ms() - begin);
		fixture_assert_property(f, path_of(index, 1).text, INFINIBAND, "Lid", "300");
		if (streq(drivers[i], "mlx5")) {
			sim("set sim0/1 lid=301 event=LID_CHANGE");
			wait_property(f, path_of(index, 1).text, INFINIBAND, "Lid", "301");
		}
		sim("del all");
		wait_gone(f, index);
	}
	run("ip netns delete away && ip netns delete home && rdma system set netns shared");
}

static uint64_t get_number(const char *path, const char *interface, const char *name)
{
	_cleanup_free_ char *text = fixture_property(f, path, interface, name);

	return strtoull(text, NULL, 10);
}

static void assert_unavailable(const char *path, const char *name)
{
	_cleanup_free_ char *why = why_unavailable(f, path, PORT, name);

	if (!*why)
		fail_msg("%s of %s has a value", name, path);
}

/* An unknown value is never published as one of the known ones. */
static void test_strange_values(_unused_ void **state)
{
	_cleanup_free_ char *text = NULL;
	bool extended;
	uint32_t index;
	Path path;

	fabric_restart(f, EVENTS_ALONE);
	index = add_sim0();
	path = path_of(index, 1);

	sim("set sim0/1 active_width=16 active_speed=128 event=PORT_ACTIVE");
	wait_property(f, path.text, PORT, "LinkWidth", "2");
	fixture_assert_property(f, path.text, PORT, "LinkSpeed", "NDR");
	fixture_assert_property(f, path.text, PORT, "Rate", "200000000000");
	wait_equal(f, index, 1);

	/* before 6.7 the kernel has eight bits for the speed, and reports every higher speed as NDR
	 */
	sim("set sim0/1 active_width=2 active_speed=256 event=PORT_ACTIVE");
	wait_property(f, path.text, PORT, "LinkWidth", "4");
	text = fixture_property(f, path.text, PORT, "LinkSpeed");
	extended = streq(text, "XDR");
	assert_true(extended || streq(text, "NDR"));
	fixture_assert_property(f, path.text, PORT, "Rate",
				extended ? "800000000000" : "400000000000");
	wait_equal(f, index, 1);
	printf("  XDR: %s\n", text);

	sim("set sim0/1 active_width=1 active_speed=512 event=PORT_ACTIVE");
	wait_property(f, path.text, PORT, "LinkWidth", "1");
	fixture_assert_property(f, path.text, PORT, "LinkSpeed", extended ? "unknown(512)" : "NDR");
	if (extended)
		assert_unavailable(path.text, "Rate");
	wait_equal(f, index, 1);

	sim("set sim0/1 active_width=2 active_speed=64 active_mtu=6 event=PORT_ACTIVE");
	wait_property(f, path.text, PORT, "ActiveMtu", "0");
	assert_unavailable(path.text, "ActiveMtu");
	wait_equal(f, index, 1);

	sim("set sim0/1 active_mtu=5 active_width=32 event=PORT_ACTIVE");
	wait_property(f, path.text, PORT, "LinkWidth", "0");
	assert_unavailable(path.text, "LinkWidth");
	assert_unavailable(path.text, "Rate");
	wait_equal(f, index, 1);

	sim("set sim0/1 active_width=2 state=9 phys_state=8 event=PORT_ERR");
	wait_property(f, path.text, PORT, "State", "unknown(9)");
	fixture_assert_property(f, path.text, PORT, "PhysicalState", "unknown(8)");
	assert_unavailable(path.text, "Lid");
	wait_equal(f, index, 1);

	sim("set sim0/1 state=4 phys_state=5 lid=65535 sm_lid=65535 lmc=255 sm_sl=255 "
	    "event=LID_CHANGE");
	wait_property(f, path.text, INFINIBAND, "Lid", "65535");
	wait_equal(f, index, 1);

	/* bit 26 does not mean the same in verbs as in the capability mask of the port: the kernel
	 * sets it itself */
	sim("set sim0/1 port_cap_flags=0x04000000 event=CLIENT_REREGISTER");
	wait_property(f, path.text, INFINIBAND, "CapabilityMask", "67108864");
	fixture_assert_property(f, path.text, PORT, "Capabilities", "1");
	sim("set sim0/1 ip_gids=1 event=CLIENT_REREGISTER");
	wait_property(f, path.text, PORT, "Capabilities", "2");
	sim("set sim0/1 port_cap_flags=0 event=CLIENT_REREGISTER");
	wait_property(f, path.text, PORT, "Capabilities", "1");
	assert_int_equal(get_number(path.text, INFINIBAND, "CapabilityMask"), 0);
	wait_equal(f, index, 1);
}

/* A text from firmware or from an administrator may have bytes that are not UTF-8. */
static void test_strange_text(_unused_ void **state)
{
	char device[RDMAD_PATH_MAX];
	uint32_t index;

	fabric_restart(f, EVENTS_ALONE);
	index = add_sim0();
	snprintf(device, sizeof(device), RDMAD_DEVICE_PREFIX "/%u", index);
	run("printf 'a\\377\\376\\001z' > /sys/class/infiniband/sim0/node_desc");
	refresh(f);
	wait_property(f, device, DEVICE, "NodeDescription", "a???z");
	sd_bus_message_unref(fixture_call(f, RDMAD_ROOT_PATH, "org.freedesktop.DBus.ObjectManager",
					  "GetManagedObjects", NULL, ""));
	wait_equal(f, index, 1);
}

static int setup(_unused_ void **state)
{
	f = fabric_new();
	run("modprobe rdma_sim");
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_events),	       cmocka_unit_test(test_quick_transitions),
		cmocka_unit_test(test_gids),	       cmocka_unit_test(test_ethernet),
		cmocka_unit_test(test_lost_event),     cmocka_unit_test(test_failing_port),
		cmocka_unit_test(test_odd_events),     cmocka_unit_test(test_storm),
		cmocka_unit_test(test_strange_values), cmocka_unit_test(test_strange_text),
		cmocka_unit_test(test_namespace),      cmocka_unit_test(test_parts),
	};

	return cmocka_run_group_tests_name("fabric", tests, setup, NULL);
}
