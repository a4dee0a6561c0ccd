/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Manager.WaitFor(): when it answers, and with what. */

#include <signal.h>
#include <time.h>

#include "fixture.h"
#include "process.h"

#define GUARD_USEC (60 * USEC_PER_SEC)
#define FOR_EVER   UINT64_MAX

static const char scenario[] = "[device mlx5_0]\n"
			       "index = 3\n"
			       "protocol = infiniband\n"
			       "ports = 2\n"
			       "[port mlx5_0/*]\n"
			       "lid = 17\n"
			       "active_mtu = 2048\n"
			       "[device rocep1]\n"
			       "index = 5\n"
			       "protocol = roce\n"
			       "[port rocep1/1]\n"
			       "netdev = eth7 7\n"
			       "gid.3 = 192.0.2.7 v2 eth7\n"
			       "[device mlx5_9]\n"
			       "protocol = infiniband\n"
			       "present = no\n";

#define IB_PORT	  "/org/rdma/device/3/port/1"
#define IB_PORT_2 "/org/rdma/device/3/port/2"
#define ROCE_PORT "/org/rdma/device/5/port/1"

/* A wait that is not told of a change is not ended by the next look at everything either. */
static int setup(void **state)
{
	Fixture *f;
	int r = fixture_setup(state);

	if (r < 0)
		return r;
	f = *state;
	fixture_configure(f, "[Daemon]\nReconcileIntervalSec=0\n");
	fixture_start_daemon(f, scenario, NULL);
	return 0;
}

/* A call under way, and its answer. */
typedef struct Call {
	sd_bus *bus;
	sd_bus_slot *slot;
	sd_bus_message *reply;
} Call;

static int on_reply(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	Call *c = userdata;

	(void)error;
	c->reply = sd_bus_message_ref(m);
	return 0;
}

static void call_done(Call *c)
{
	sd_bus_slot_unref(c->slot);
	sd_bus_message_unref(c->reply);
}
#define _cleanup_call_ _cleanup_(call_done)

/* Calls WaitFor() on BUS; TYPES and what follows are the condition's, without its "a{sv}". */
static void wait_for_on(sd_bus *bus, Call *ret, uint64_t timeout, const char *types, va_list args)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;

	*ret = (Call){.bus = bus};
	assert_true(sd_bus_message_new_method_call(bus, &m, RDMAD_BUS_NAME, RDMAD_ROOT_PATH,
						   RDMAD_INTERFACE_MANAGER, "WaitFor") >= 0);
	assert_true(sd_bus_message_open_container(m, 'a', "{sv}") >= 0);
	for (const char *t = types; *t; t++) {
		const char *key = va_arg(args, const char *);

		assert_true(sd_bus_message_open_container(m, 'e', "sv") >= 0);
		assert_true(sd_bus_message_append(m, "s", key) >= 0);
		switch (*t) {
		case 's':
			sd_bus_message_append(m, "v", "s", va_arg(args, const char *));
			break;
		case 'P': /* one port */
			sd_bus_message_append(m, "v", "as", 1, va_arg(args, const char *));
			break;
		case 'A': /* a NULL-terminated array of them */
			sd_bus_message_open_container(m, 'v', "as");
			sd_bus_message_append_strv(m, va_arg(args, char **));
			sd_bus_message_close_container(m);
			break;
		case 'u':
			sd_bus_message_append(m, "v", "u", va_arg(args, uint32_t));
			break;
		case 't':
			sd_bus_message_append(m, "v", "t", va_arg(args, uint64_t));
			break;
		case 'b':
			sd_bus_message_append(m, "v", "b", va_arg(args, int));
			break;
		default:
			fail_msg("bad type %c", *t);
		}
		assert_true(sd_bus_message_close_container(m) >= 0);
	}
	assert_true(sd_bus_message_close_container(m) >= 0);
	assert_true(sd_bus_message_append(m, "t", timeout) >= 0);
	assert_true(sd_bus_call_async(bus, &ret->slot, m, on_reply, ret, UINT64_MAX) >= 0);
}

static void wait_for(Fixture *f, Call *ret, uint64_t timeout, const char *types, ...)
{
	va_list args;

	va_start(args, types);
	wait_for_on(f->bus, ret, timeout, types, args);
	va_end(args);
}

static void receive(Call *c)
{
	uint64_t deadline = fixture_now_usec() + GUARD_USEC;

	while (!c->reply) {
		int r = sd_bus_process(c->bus, NULL);

		assert_true(r >= 0);
		if (r > 0)
			continue;
		assert_true(fixture_now_usec() < deadline);
		assert_true(sd_bus_wait(c->bus, 100 * USEC_PER_MSEC) >= 0);
	}
}

/* The answer comes and is: NAME has what is wanted, at PATH. */
static void assert_held(Call *c, const char *name, const char *path)
{
	const char *key, *value = "none";
	bool found = false;

	receive(c);
	if (sd_bus_message_is_method_error(c->reply, NULL))
		fail_msg("%s: %s", name, sd_bus_message_get_error(c->reply)->message);
	assert_true(sd_bus_message_rewind(c->reply, true) >= 0);
	assert_true(sd_bus_message_enter_container(c->reply, 'a', "{so}") >= 0);
	while (sd_bus_message_read(c->reply, "{so}", &key, &value) > 0)
		found |= streq(key, name) && streq(value, path);
	if (!found)
		fail_msg("%s at %s is not in the answer, whose last is %s", name, path, value);
}

/* The answer comes and is the error called NAME, and TEXT is in its message. */
static void assert_error(Call *c, const char *name, const char *text)
{
	const sd_bus_error *error;

	receive(c);
	error = sd_bus_message_get_error(c->reply);
	if (!error)
		fail_msg("no error; expected \"%s\"", text);
	if (!streq(error->name, name) || !strstr(error->message, text))
		fail_msg("%s: %s; expected \"%s\"", error->name, error->message, text);
}

/* There is no answer, though the daemon has had everything that we sent before, and its event loop
 * has come round since. */
static void assert_waits(Fixture *f, const Call *c)
{
	fixture_barrier(f);
	fixture_barrier(f);
	assert_null(c->reply);
}

/* Changes a port and waits until that is published. */
static void change(Fixture *f, const char *command, const char *path)
{
	fixture_forget(f);
	fixture_simulate(f, command);
	fixture_wait_signal(f, path, "PropertiesChanged");
}

static void test_holds_already(void **state)
{
	Fixture *f = *state;
	_cleanup_call_ Call a = {}, b = {}, c = {};
	char *const ports[] = {(char[]){"mlx5_0/1"}, (char[]){"eth7"}, NULL};

	wait_for(f, &a, 0, "P", "ports", "mlx5_0/2");
	assert_held(&a, "mlx5_0/2", IB_PORT_2);
	wait_for(f, &b, 0, "A", "ports", ports);
	assert_held(&b, "mlx5_0/1", IB_PORT);
	assert_held(&b, "eth7", ROCE_PORT);
	/* of none that the configuration names */
	wait_for(f, &c, FOR_EVER, "b", "configured", 1);
	receive(&c);
	assert_false(sd_bus_message_is_method_error(c.reply, NULL));
}

static void test_state(void **state)
{
	Fixture *f = *state;
	_cleanup_call_ Call a = {}, down = {};

	change(f, "set mlx5_0/1 state=down event=port-error", IB_PORT);
	wait_for(f, &a, FOR_EVER, "P", "ports", "mlx5_0/1");
	wait_for(f, &down, 0, "Ps", "ports", "mlx5_0/1", "state", "down");
	assert_held(&down, "mlx5_0/1", IB_PORT);
	assert_waits(f, &a);
	change(f, "set mlx5_0/1 state=init event=lid-change", IB_PORT);
	assert_waits(f, &a);
	change(f, "set mlx5_0/1 state=active event=port-active", IB_PORT);
	assert_held(&a, "mlx5_0/1", IB_PORT);
}

static void test_lid(void **state)
{
	Fixture *f = *state;
	_cleanup_call_ Call a = {}, b = {}, ethernet = {};

	change(f, "set mlx5_0/1 lid=0 event=lid-change", IB_PORT);
	wait_for(f, &a, 0, "P", "ports", "mlx5_0/1");
	assert_held(&a, "mlx5_0/1", IB_PORT);
	wait_for(f, &b, FOR_EVER, "Pb", "ports", "mlx5_0/1", "lid", 1);
	assert_waits(f, &b);
	change(f, "set mlx5_0/1 lid=4 event=lid-change", IB_PORT);
	assert_held(&b, "mlx5_0/1", IB_PORT);
	wait_for(f, &ethernet, 0, "Pb", "ports", "eth7", "lid", 1);
	assert_error(&ethernet, RDMAD_ERROR_INVALID_ARGUMENT,
		     "eth7: only ports of InfiniBand have a LID");
}

/* What can never be is refused at once, with the reason. */
static void test_impossible(void **state)
{
	Fixture *f = *state;
	_cleanup_call_ Call both = {}, mtu = {}, any = {}, none = {}, later = {};
	char eth[] = "eth7", ib[] = "mlx5_0/1", *names[] = {eth, ib, NULL};

	wait_for(f, &both, FOR_EVER, "Pbs", "ports", "eth7", "lid", 1, "gid", "192.0.2.7");
	assert_error(&both, RDMAD_ERROR_INVALID_ARGUMENT,
		     "eth7: only ports of InfiniBand have a LID");
	wait_for(f, &mtu, FOR_EVER, "Pu", "ports", "mlx5_0/1", "mtu", 4097);
	assert_error(&mtu, RDMAD_ERROR_INVALID_ARGUMENT, "mlx5_0/1: the MTU is larger than MaxMtu");
	/* one of them can, or is not there yet */
	wait_for(f, &any, FOR_EVER, "Asb", "ports", names, "gid", "192.0.2.99", "any", 1);
	assert_waits(f, &any);
	wait_for(f, &later, FOR_EVER, "Pb", "ports", "mlx5_9/1", "lid", 1);
	assert_waits(f, &later);
	wait_for(f, &none, FOR_EVER, "Pbb", "ports", "eth7", "lid", 1, "any", 1);
	assert_error(&none, RDMAD_ERROR_INVALID_ARGUMENT,
		     "eth7: only ports of InfiniBand have a LID");
}

static void test_gid(void **state)
{
	Fixture *f = *state;
	_cleanup_call_ Call a = {}, b = {}, c = {};

	wait_for(f, &a, 0, "Ps", "ports", "eth7", "gid", "192.0.2.7");
	assert_held(&a, "eth7", ROCE_PORT);
	wait_for(f, &b, 0, "Ps", "ports", "eth7", "gid", "2001:db8::1");
	assert_error(
		&b, RDMAD_ERROR_WAIT_TIMEOUT,
		"eth7: no GID 2001:db8::1 (not in its GID table, and no address of its interfaces) "
		"for at least 0.");
	wait_for(f, &c, FOR_EVER, "Ps", "ports", "eth7", "gid", "2001:db8::1");
	assert_waits(f, &c);
	change(f, "set rocep1/1 gid.9=2001:db8::1 event=gid-change", ROCE_PORT);
	assert_held(&c, "eth7", ROCE_PORT);
}

/* The address of an IPoIB interface is in no GID; a look-up by it finds the port all the same. */
static void test_ipoib_address(void **state)
{
	Fixture *f = *state;
	_cleanup_call_ Call a = {}, b = {};

	wait_for(f, &a, FOR_EVER, "Pbs", "ports", "mlx5_0/1", "lid", 1, "gid", "203.0.113.7");
	assert_waits(f, &a);
	change(f, "set mlx5_0/1 netdev=\"ib0 7\" event=netdev", IB_PORT);
	assert_waits(f, &a);
	fixture_simulate(f, "set mlx5_0/1 addresses=203.0.113.7 event=address");
	assert_held(&a, "mlx5_0/1", IB_PORT);
	wait_for(f, &b, 0, "Ps", "ports", "203.0.113.7", "gid", "203.0.113.7");
	assert_held(&b, "203.0.113.7", IB_PORT);
}

static void test_mtu_and_rate(void **state)
{
	Fixture *f = *state;
	_cleanup_call_ Call a = {}, b = {}, c = {}, d = {};

	wait_for(f, &a, 0, "Pu", "ports", "mlx5_0/1", "mtu", 2048);
	assert_held(&a, "mlx5_0/1", IB_PORT);
	wait_for(f, &b, FOR_EVER, "Pu", "ports", "mlx5_0/1", "mtu", 2049);
	assert_waits(f, &b);
	change(f, "set mlx5_0/1 active_mtu=4096 event=lid-change", IB_PORT);
	assert_held(&b, "mlx5_0/1", IB_PORT);

	change(f, "set mlx5_0/1 active_speed=EDR active_width=2 event=speed-change", IB_PORT);
	wait_for(f, &c, 0, "Pt", "ports", "mlx5_0/1", "rate", UINT64_C(100000000000));
	assert_error(&c, RDMAD_ERROR_WAIT_TIMEOUT, "mlx5_0/1: rate 50 Gb/s, not 100 Gb/s for ");
	wait_for(f, &d, FOR_EVER, "Pt", "ports", "mlx5_0/1", "rate", UINT64_C(100000000000));
	assert_waits(f, &d);
	change(f, "set mlx5_0/1 active_width=4 event=speed-change", IB_PORT);
	assert_held(&d, "mlx5_0/1", IB_PORT);
}

/* The first port is in STATE, as EVENT says, and that is published. */
static void set_state(Fixture *f, const char *state, const char *event)
{
	_cleanup_call_ Call c = {};
	char command[80];

	snprintf(command, sizeof(command), "set mlx5_0/1 state=%s event=%s", state, event);
	fixture_simulate(f, command);
	wait_for(f, &c, FOR_EVER, "Ps", "ports", "mlx5_0/1", "state", state);
	assert_held(&c, "mlx5_0/1", IB_PORT);
}

/* One link down asks for no time, the next one does. */
static void test_fit(void **state)
{
	Fixture *f = *state;
	_cleanup_call_ Call fit = {}, unfit = {};

	set_state(f, "down", "port-error");
	wait_for(f, &fit, FOR_EVER, "Pb", "ports", "mlx5_0/1", "fit", 1);
	assert_waits(f, &fit);
	set_state(f, "active", "port-active");
	assert_held(&fit, "mlx5_0/1", IB_PORT);
	set_state(f, "down", "port-error");
	set_state(f, "active", "port-active");
	wait_for(f, &unfit, 0, "Pb", "ports", "mlx5_0/1", "fit", 1);
	assert_error(&unfit, RDMAD_ERROR_WAIT_TIMEOUT, "mlx5_0/1: health ");
	assert_error(&unfit, RDMAD_ERROR_WAIT_TIMEOUT, ", not fit for ");
}

static void test_several(void **state)
{
	Fixture *f = *state;
	_cleanup_call_ Call any = {}, all = {}, missing = {};
	char *const ports[] = {(char[]){"mlx5_0/1"}, (char[]){"mlx5_0/2"}, (char[]){"mlx5_0/1"},
			       NULL};
	const char *name, *path;

	change(f, "set mlx5_0/1 state=init event=port-error", IB_PORT);
	change(f, "set mlx5_0/2 state=down event=port-error", IB_PORT_2);
	wait_for(f, &any, FOR_EVER, "Ab", "ports", ports, "any", 1);
	wait_for(f, &all, FOR_EVER, "Ab", "ports", ports, "any", 0);
	wait_for(f, &missing, 1, "A", "ports", ports);
	assert_error(&missing, RDMAD_ERROR_WAIT_TIMEOUT, "mlx5_0/1: init, not active for ");
	assert_error(&missing, RDMAD_ERROR_WAIT_TIMEOUT, "\nmlx5_0/2: down, not active for ");
	assert_waits(f, &any);
	change(f, "set mlx5_0/2 state=active event=port-active", IB_PORT_2);
	assert_held(&any, "mlx5_0/2", IB_PORT_2);
	/* and no other is named */
	assert_true(sd_bus_message_rewind(any.reply, true) >= 0);
	assert_true(sd_bus_message_read(any.reply, "a{so}", 1, &name, &path) > 0);
	assert_waits(f, &all);
	change(f, "set mlx5_0/1 state=active event=port-active", IB_PORT);
	assert_held(&all, "mlx5_0/1", IB_PORT);
	assert_held(&all, "mlx5_0/2", IB_PORT_2);
}

/* A port need not exist, and may go and come back. */
static void test_presence(void **state)
{
	Fixture *f = *state;
	_cleanup_call_ Call a = {}, b = {}, missing = {};

	wait_for(f, &a, FOR_EVER, "P", "ports", "mlx5_9/1");
	wait_for(f, &missing, 0, "P", "ports", "mlx5_9");
	assert_error(&missing, RDMAD_ERROR_WAIT_TIMEOUT, "mlx5_9: no such port for at least 0.");
	assert_waits(f, &a);
	fixture_simulate(f, "add mlx5_9");
	assert_held(&a, "mlx5_9/1", "/org/rdma/device/6/port/1");

	wait_for(f, &b, FOR_EVER, "Ps", "ports", "mlx5_9", "state", "down");
	fixture_simulate(f, "remove mlx5_9");
	fixture_wait_signal(f, "/org/rdma", "InterfacesRemoved");
	assert_waits(f, &b);
	fixture_forget(f);
	fixture_simulate(f, "add mlx5_9");
	fixture_wait_signal(f, "/org/rdma", "InterfacesAdded");
	assert_waits(f, &b);
	fixture_simulate(f, "set mlx5_9/1 state=down event=port-error");
	assert_held(&b, "mlx5_9", "/org/rdma/device/7/port/1");
}

static void test_stale(void **state)
{
	Fixture *f = *state;
	_cleanup_call_ Call a = {}, b = {};

	fixture_simulate(f, "fail mlx5_0/1 EIO");
	change(f, "event mlx5_0/1 port-error", IB_PORT);
	wait_for(f, &a, 0, "P", "ports", "mlx5_0/1");
	assert_error(&a, RDMAD_ERROR_WAIT_TIMEOUT, "mlx5_0/1: stale (");
	wait_for(f, &b, FOR_EVER, "P", "ports", "mlx5_0/1");
	assert_waits(f, &b);
	fixture_simulate(f, "fail mlx5_0/1 none");
	fixture_simulate(f, "event mlx5_0/1 port-active");
	assert_held(&b, "mlx5_0/1", IB_PORT);
}

static void test_bad_input(void **state)
{
	Fixture *f = *state;
	char *many[66], names[65][16];
	static const struct {
		const char *types, *key, *text, *error, *says;
	} cases[] = {
		{"s", "port", "x", RDMAD_ERROR_INVALID_OPTION,
		 "Unknown option \"port\": WaitFor takes \"ports\", "},
		{"s", "ports", "x", RDMAD_ERROR_INVALID_OPTION,
		 "\"ports\" takes a value of type as"},
		{"s", "any", "x", RDMAD_ERROR_INVALID_OPTION, "\"any\" takes a value of type b"},
		{"s", "lid", "x", RDMAD_ERROR_INVALID_OPTION, "\"lid\" takes a value of type b"},
		{"s", "mtu", "x", RDMAD_ERROR_INVALID_OPTION, "\"mtu\" takes a value of type u"},
		{"s", "rate", "x", RDMAD_ERROR_INVALID_OPTION, "\"rate\" takes a value of type t"},
		{"s", "configured", "x", RDMAD_ERROR_INVALID_OPTION, "takes a value of type b"},
		{"P", "state", "x", RDMAD_ERROR_INVALID_OPTION,
		 "\"state\" takes a value of type s"},
		{"P", "gid", "x", RDMAD_ERROR_INVALID_OPTION, "\"gid\" takes a value of type s"},
		{"", "", "", RDMAD_ERROR_INVALID_ARGUMENT, "\"ports\": expected the names"},
		{"P", "ports", "", RDMAD_ERROR_INVALID_ARGUMENT, "\"\" is no name of a port"},
		{"P", "ports", "mlx5_0/01", RDMAD_ERROR_INVALID_ARGUMENT,
		 "\"mlx5_0/01\" is no name"},
		{"P", "ports", "mlx5_0/x", RDMAD_ERROR_INVALID_ARGUMENT, "\"mlx5_0/x\" is no name"},
		{"P", "ports", "mlx5_0/1025", RDMAD_ERROR_INVALID_ARGUMENT, "is no name of a port"},
		{"P", "ports",
		 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
		 RDMAD_ERROR_INVALID_ARGUMENT, "is no name of a port"},
		{"P", "ports", "mlx5_0", RDMAD_ERROR_AMBIGUOUS, "More than one port is meant"},
	};
	_cleanup_call_ Call gid = {}, st = {}, twice = {}, much = {};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_call_ Call c = {};

		wait_for(f, &c, FOR_EVER, cases[i].types, cases[i].key, cases[i].text);
		assert_error(&c, cases[i].error, cases[i].says);
	}
	wait_for(f, &gid, FOR_EVER, "Ps", "ports", "eth7", "gid", "192.0.2");
	assert_error(&gid, RDMAD_ERROR_INVALID_ARGUMENT, "\"gid\": \"192.0.2\" is no IP address");
	wait_for(f, &st, FOR_EVER, "Ps", "ports", "eth7", "state", "up");
	assert_error(&st, RDMAD_ERROR_INVALID_ARGUMENT, "\"state\": \"up\" is no state of a port");
	wait_for(f, &twice, FOR_EVER, "PP", "ports", "eth7", "ports", "eth7");
	assert_error(&twice, RDMAD_ERROR_INVALID_OPTION, "Option \"ports\" is there twice");
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(names[i], sizeof(names[i]), "mlx5_%zu/1", i);
		many[i] = names[i];
	}
	many[65] = NULL;
	wait_for(f, &much, FOR_EVER, "A", "ports", many);
	assert_error(&much, RDMAD_ERROR_INVALID_ARGUMENT, "more than 64 ports");
}

static sd_bus *connect_client(Fixture *f)
{
	sd_bus *bus;

	assert_true(sd_bus_new(&bus) >= 0);
	assert_true(sd_bus_set_address(bus, f->address) >= 0);
	assert_true(sd_bus_set_bus_client(bus, true) >= 0);
	assert_true(sd_bus_start(bus) >= 0);
	return bus;
}

static void wait_on(sd_bus *bus, Call *ret, const char *types, ...)
{
	va_list args;

	va_start(args, types);
	wait_for_on(bus, ret, FOR_EVER, types, args);
	va_end(args);
}

static int on_left(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	(void)m;
	(void)error;
	*(bool *)userdata = true;
	return 0;
}

/* The calls of one user that wait are limited, on all its connections together. Those of a
 * connection that leaves count no more. */
static void test_limit(void **state)
{
	Fixture *f = *state;
	static Call calls[256]; /* as many as one user may have */
	_cleanup_call_ Call refused = {}, taken = {};
	_cleanup_(sd_bus_unrefp) sd_bus *first = connect_client(f), *second = connect_client(f);
	_cleanup_(sd_bus_slot_unrefp) sd_bus_slot *slot = NULL;
	_cleanup_free_ char *match = NULL;
	unsigned long kib;
	uint64_t deadline;
	const char *name;
	bool left = false;

	fixture_barrier(f);
	kib = process_resident_kib(f->daemon_pid);
	for (size_t i = 0; i < 256; i++)
		wait_on(i < 40 ? first : second, &calls[i], "P", "ports", "mlx5_9");
	/* All that a connection sent before has been taken when the last is answered. */
	for (int i = 0; i < 2; i++)
		assert_true(sd_bus_call_method(i ? first : second, RDMAD_BUS_NAME, RDMAD_ROOT_PATH,
					       "org.freedesktop.DBus.Peer", "Ping", NULL, NULL,
					       NULL) >= 0);
	wait_for(f, &refused, FOR_EVER, "P", "ports", "mlx5_9");
	assert_error(&refused, RDMAD_ERROR_LIMITS_EXCEEDED, "Too many calls of this user");
	/* Nothing is kept for ports that a call has not named. AddressSanitizer keeps what is
	 * freed. */
	kib = process_resident_kib(f->daemon_pid) - kib;
	print_message("256 calls that wait for one port: %lu KiB\n", kib);
#ifndef RDMAD_SANITIZE
	assert_true(kib < 2048);
#endif

	assert_true(sd_bus_get_unique_name(first, &name) >= 0);
	assert_true(asprintf(&match,
			     "type='signal',sender='org.freedesktop.DBus',"
			     "member='NameOwnerChanged',arg0='%s'",
			     name) > 0);
	assert_true(sd_bus_add_match(f->bus, &slot, match, on_left, &left) >= 0);
	sd_bus_close(first);
	deadline = fixture_now_usec() + GUARD_USEC;
	while (!left) {
		assert_true(fixture_now_usec() < deadline);
		if (sd_bus_process(f->bus, NULL) == 0)
			sd_bus_wait(f->bus, 100 * USEC_PER_MSEC);
	}
	wait_for(f, &taken, FOR_EVER, "P", "ports", "mlx5_9");
	assert_waits(f, &taken);
	fixture_simulate(f, "add mlx5_9");
	assert_held(&taken, "mlx5_9", "/org/rdma/device/6/port/1");
	/* The connections that stayed have had their answers. */
	for (size_t i = 40; i < 256; i++)
		assert_held(&calls[i], "mlx5_9", "/org/rdma/device/6/port/1");
	for (size_t i = 0; i < 256; i++)
		call_done(&calls[i]);
}

/* rdmad ends: the bus tells the clients that wait, and they can ask the next rdmad. */
static void test_daemon_stops(void **state)
{
	Fixture *f = *state;
	_cleanup_call_ Call a = {};

	wait_for(f, &a, FOR_EVER, "P", "ports", "mlx5_9");
	assert_waits(f, &a);
	assert_int_equal(fixture_stop_daemon(f, SIGTERM), 0);
	assert_error(&a, SD_BUS_ERROR_NO_REPLY, "");
}

static void test_configured(void **state)
{
	Fixture *f = fixture_new();
	_cleanup_call_ Call a = {}, b = {};
	char path[96];
	FILE *file;

	(void)state;
	snprintf(path, sizeof(path), "%s/rdmad.conf", f->directory);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs("[Wait]\nPorts=eth7;mlx5_9/1\n", file);
	fclose(file);
	fixture_start_daemon(f, scenario, NULL);
	wait_for(f, &a, 0, "b", "configured", 1);
	assert_error(&a, RDMAD_ERROR_WAIT_TIMEOUT, "mlx5_9/1: no such port");
	wait_for(f, &b, FOR_EVER, "bP", "configured", 1, "ports", "mlx5_0/1");
	assert_waits(f, &b);
	fixture_simulate(f, "add mlx5_9");
	assert_held(&b, "mlx5_9/1", "/org/rdma/device/6/port/1");
	assert_held(&b, "eth7", ROCE_PORT);
	assert_held(&b, "mlx5_0/1", IB_PORT);
	assert_int_equal(fixture_stop_daemon(f, SIGTERM), 0);
	fixture_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_holds_already, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_state, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_lid, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_impossible, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_gid, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_ipoib_address, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_mtu_and_rate, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_fit, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_several, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_presence, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_stale, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_bad_input, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_limit, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_daemon_stops, setup, fixture_teardown),
		cmocka_unit_test(test_configured),
	};

	return cmocka_run_group_tests_name("wait-for", tests, NULL, NULL);
}
