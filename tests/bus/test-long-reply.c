/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The long replies, which the daemon writes itself: they have the same properties with the same
 * values as what sd-bus writes of the same objects. */

#include "attribute.h"
#include "fixture.h"
#include "process.h"

#define PROPERTIES "org.freedesktop.DBus.Properties"

static const char scenario[] = "[device mlx5_0]\nindex = 3\nprotocol = infiniband\nports = 2\n"
			       "[port mlx5_0/*]\npkey.4 = 0x8005\n"
			       "[port mlx5_0/1]\nstate = down\n"
			       "[device rocep1]\nindex = 5\nprotocol = roce\n"
			       "[port rocep1/1]\nnetdev = eth7 7\ngid.3 = 192.0.2.7 v2 eth7\n"
			       "pfc_enabled = 3,4\ndscp_to_priority = 0-7:0,26:3\n"
			       "priority_trust = dscp,pcp\n"
			       "[device mlx5_1]\nindex = 6\nprotocol = roce\n"
			       "[port mlx5_1/1]\nvport = 1\n"
			       "[device hbl_0]\nindex = 7\nprotocol = roce\n"
			       "[port hbl_0/1]\nin_use = yes\n"
			       "[device iwarp0]\nindex = 8\nprotocol = iwarp\n";

static int setup_some(void **state)
{
	return fixture_setup_daemon(state, scenario);
}

/* Writes what is left in the container where M is. */
static void dump(FILE *file, sd_bus_message *m)
{
	const char *contents, *text;
	uint32_t u32;
	uint64_t u64;
	char type;
	int b;

	while (sd_bus_message_peek_type(m, &type, &contents) > 0)
		switch (type) {
		case 's':
		case 'o':
			assert_true(sd_bus_message_read_basic(m, type, &text) > 0);
			fprintf(file, "%c \"%s\" ", type, text);
			break;
		case 'i':
		case 'u':
			assert_true(sd_bus_message_read_basic(m, type, &u32) > 0);
			fprintf(file, "%c %u ", type, u32);
			break;
		case 't':
			assert_true(sd_bus_message_read_basic(m, type, &u64) > 0);
			fprintf(file, "t %llu ", (unsigned long long)u64);
			break;
		case 'b':
			assert_true(sd_bus_message_read_basic(m, type, &b) > 0);
			fprintf(file, "b %d ", b);
			break;
		default:
			assert_true(sd_bus_message_enter_container(m, type, contents) > 0);
			fprintf(file, "%c%s{ ", type, contents);
			dump(file, m);
			fputs("} ", file);
			assert_true(sd_bus_message_exit_container(m) > 0);
		}
}

/* What is left in the container where M is, as text to be freed. */
static char *dump_text(sd_bus_message *m)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	assert_non_null(file);
	dump(file, m);
	assert_int_equal(fclose(file), 0);
	return text;
}

/* GetAll() as text: INTERFACE "" is all of them. */
static char *get_all(Fixture *f, const char *path, const char *interface)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m =
		fixture_call(f, path, PROPERTIES, "GetAll", NULL, "s", interface);
	char *text;

	assert_string_equal(sd_bus_message_get_signature(m, true), "a{sv}");
	assert_true(sd_bus_message_enter_container(m, 'a', "{sv}") > 0);
	text = dump_text(m);
	assert_true(sd_bus_message_exit_container(m) > 0);
	assert_true(sd_bus_message_at_end(m, true) > 0);
	return text;
}

/* The next object, which must be PATH: each interface is as in GetAll(), and all together are as in
 * GetAll() of all interfaces. */
static void check_object(Fixture *f, sd_bus_message *m, const char *path)
{
	_cleanup_free_ char *all = get_all(f, path, "");
	const char *text;
	size_t n = 0;

	assert_true(sd_bus_message_read_basic(m, 'o', &text) > 0);
	assert_string_equal(text, path);
	assert_true(sd_bus_message_enter_container(m, 'a', "{sa{sv}}") > 0);
	while (sd_bus_message_enter_container(m, 'e', "sa{sv}") > 0) {
		_cleanup_free_ char *is = NULL, *other = NULL;

		assert_true(sd_bus_message_read_basic(m, 's', &text) > 0);
		other = get_all(f, path, text);
		assert_true(sd_bus_message_enter_container(m, 'a', "{sv}") > 0);
		is = dump_text(m);
		assert_string_equal(is, other);
		if (!strstr(all, is))
			fail_msg("%s of %s:\n%s\nis not in\n%s", text, path, is, all);
		n += strlen(is);
		assert_true(sd_bus_message_exit_container(m) > 0);
		assert_true(sd_bus_message_exit_container(m) > 0);
	}
	assert_true(sd_bus_message_exit_container(m) > 0);
	assert_int_equal(n, strlen(all));
	assert_true(n > 500);
}

/* The objects of the scenario, in the order of GetManagedObjects(). */
static const char *const all_paths[] = {
	"/org/rdma/device/3",	     "/org/rdma/device/3/port/1", "/org/rdma/device/3/port/2",
	"/org/rdma/device/5",	     "/org/rdma/device/5/port/1", "/org/rdma/device/6",
	"/org/rdma/device/6/port/1", "/org/rdma/device/7",	  "/org/rdma/device/7/port/1",
	"/org/rdma/device/8",	     "/org/rdma/device/8/port/1",
};

/* Returns when nothing changes any more: rdmad has read also what it reads later than the rest, and
 * has judged all of them. */
static void wait_quiet(Fixture *f)
{
	sd_bus_message_unref(fixture_call(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "Refresh",
					  NULL, "a{sv}", 0));
	for (size_t i = 0; i < ARRAY_SIZE(all_paths);) {
		_cleanup_free_ char *health =
			fixture_property(f, all_paths[i],
					 strstr(all_paths[i], "/port/") ? RDMAD_INTERFACE_PORT
									: RDMAD_INTERFACE_DEVICE,
					 "Health");

		i += !streq(health, "unknown");
	}
}

static void test_same_as_single(void **state)
{
	Fixture *f = *state;
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	size_t n = 0;

	wait_quiet(f);
	m = fixture_call(f, RDMAD_ROOT_PATH, "org.freedesktop.DBus.ObjectManager",
			 "GetManagedObjects", NULL, "");
	assert_true(sd_bus_message_enter_container(m, 'a', "{oa{sa{sv}}}") > 0);
	for (; sd_bus_message_enter_container(m, 'e', "oa{sa{sv}}") > 0; n++) {
		assert_true(n < ARRAY_SIZE(all_paths));
		check_object(f, m, all_paths[n]);
		assert_true(sd_bus_message_exit_container(m) > 0);
	}
	assert_int_equal(n, ARRAY_SIZE(all_paths));
	assert_true(sd_bus_message_exit_container(m) > 0);
	assert_true(sd_bus_message_at_end(m, true) > 0);
}

/* sd-bus answers for objects and interfaces that do not exist or are not those of rdmad. */
static void test_left_to_others(void **state)
{
	static const struct {
		const char *path, *interface, *error;
	} bad[] = {
		{"/org/rdma/device/3", RDMAD_INTERFACE_PORT, SD_BUS_ERROR_UNKNOWN_INTERFACE},
		{"/org/rdma/device/5/port/1", RDMAD_INTERFACE_INFINIBAND,
		 SD_BUS_ERROR_UNKNOWN_INTERFACE},
		{"/org/rdma/device/3/port/3", RDMAD_INTERFACE_PORT, SD_BUS_ERROR_UNKNOWN_OBJECT},
		{"/org/rdma/device/4", RDMAD_INTERFACE_DEVICE, SD_BUS_ERROR_UNKNOWN_OBJECT},
		{"/org/rdma/devices", RDMAD_INTERFACE_DEVICE, SD_BUS_ERROR_UNKNOWN_OBJECT},
	};
	Fixture *f = *state;
	_cleanup_free_ char *none = NULL, *manager = NULL;
	char *error;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_null(fixture_call(f, bad[i].path, PROPERTIES, "GetAll", &error, "s",
					 bad[i].interface));
		assert_string_equal(error, bad[i].error);
		free(error);
	}
	assert_null(fixture_call(f, "/org/rdma/device/3", PROPERTIES, "GetAll", &error, "u", 3));
	assert_string_equal(error, SD_BUS_ERROR_INVALID_ARGS);
	free(error);
	none = get_all(f, "/org/rdma/device/3", "org.freedesktop.DBus.Peer");
	assert_string_equal(none, "");
	manager = get_all(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER);
	assert_non_null(strstr(manager, "PortCount"));
	assert_null(strstr(manager, "/org/rdma/device/"));
}

/* The property NAME of the manager has the N paths PATHS, in this order. */
static void check_list(Fixture *f, const char *name, const char *const *paths, size_t n)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = fixture_call(
		f, RDMAD_ROOT_PATH, PROPERTIES, "Get", NULL, "ss", RDMAD_INTERFACE_MANAGER, name);
	const char *path;

	assert_true(sd_bus_message_enter_container(reply, 'v', "ao") > 0);
	assert_true(sd_bus_message_enter_container(reply, 'a', "o") > 0);
	for (size_t i = 0; i < n; i++) {
		assert_true(sd_bus_message_read_basic(reply, 'o', &path) > 0);
		assert_string_equal(path, paths[i]);
	}
	assert_int_equal(sd_bus_message_read_basic(reply, 'o', &path), 0);
}

static void test_lists_of_manager(void **state)
{
	static const char *const devices[] = {"/org/rdma/device/3", "/org/rdma/device/5",
					      "/org/rdma/device/6", "/org/rdma/device/7",
					      "/org/rdma/device/8"};
	static const char *const ports[] = {
		"/org/rdma/device/3/port/1", "/org/rdma/device/3/port/2",
		"/org/rdma/device/5/port/1", "/org/rdma/device/6/port/1",
		"/org/rdma/device/7/port/1", "/org/rdma/device/8/port/1"};
	Fixture *f = *state;
	char *error;

	check_list(f, "Devices", devices, ARRAY_SIZE(devices));
	check_list(f, "Ports", ports, ARRAY_SIZE(ports));
	assert_null(fixture_call(f, RDMAD_ROOT_PATH, PROPERTIES, "Get", &error, "ss",
				 RDMAD_INTERFACE_MANAGER, "Port"));
	assert_string_equal(error, SD_BUS_ERROR_UNKNOWN_PROPERTY);
	free(error);
	assert_null(fixture_call(f, RDMAD_ROOT_PATH, PROPERTIES, "Get", &error, "ss",
				 "org.freedesktop.DBus.Peer", "Ports"));
	assert_string_equal(error, SD_BUS_ERROR_UNKNOWN_PROPERTY);
	free(error);
}

/* The same for a port whose tables are so long that its GetAll() is a long reply. */
static void test_left_to_others_long(void **state)
{
	static const char *const interfaces[] = {"", "org.freedesktop.DBus.Peer"};
	Fixture *f = *state;
	char *error, *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	assert_non_null(file);
	fputs("[device rocep1]\nprotocol = roce\n[port rocep1/1]\ngid_tbl_len = 700\nnetdev = eth7 "
	      "7\n",
	      file);
	for (unsigned int i = 0; i < 700; i++)
		fprintf(file, "gid.%u = 192.0.%u.%u v2 eth7\n", i, i / 250, i % 250 + 1);
	assert_int_equal(fclose(file), 0);
	fixture_start_daemon(f, text, NULL);
	free(text);
	for (size_t i = 0; i < ARRAY_SIZE(interfaces); i++) {
		_cleanup_free_ char *all = get_all(f, "/org/rdma/device/0/port/1", interfaces[i]);

		assert_int_equal(strstr(all, "192.0.2.199") != NULL, i == 0);
	}
	assert_null(fixture_call(f, "/org/rdma/device/0/port/1", PROPERTIES, "GetAll", &error, "s",
				 "org.example.Other"));
	assert_string_equal(error, SD_BUS_ERROR_UNKNOWN_INTERFACE);
	free(error);
}

/* A caller that wants no reply gets none. */
static void test_no_reply_wanted(void **state)
{
	Fixture *f = *state;
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;

	assert_true(sd_bus_message_new_method_call(f->bus, &m, RDMAD_BUS_NAME, RDMAD_ROOT_PATH,
						   "org.freedesktop.DBus.ObjectManager",
						   "GetManagedObjects") >= 0);
	assert_true(sd_bus_message_set_expect_reply(m, false) >= 0);
	assert_true(sd_bus_send(f->bus, m, NULL) >= 0);
	fixture_barrier(f);
	fixture_assert_property(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "PortCount", "6");
}

/* Callers who want too much */

typedef struct Replies {
	unsigned int good, limit, other, next;
	bool in_order;
} Replies;

typedef struct Asked {
	Replies *replies;
	unsigned int number;
} Asked;

static int on_reply(sd_bus_message *m, void *userdata, _unused_ sd_bus_error *error)
{
	Asked *a = userdata;
	Replies *r = a->replies;

	if (!sd_bus_message_is_method_error(m, NULL))
		r->good++;
	else if (sd_bus_message_is_method_error(m, RDMAD_ERROR_LIMITS_EXCEEDED))
		r->limit++;
	else
		r->other++;
	r->in_order = r->in_order && a->number == r->next++;
	return 0;
}

/* GetManagedObjects() from a client that does not wait for one reply before it wants the next. */
static void ask_often(sd_bus *bus, unsigned int n, Replies *r)
{
	*r = (Replies){.in_order = true};
	for (unsigned int i = 0; i < n; i++) {
		Asked *a = malloc(sizeof(*a));
		sd_bus_slot *slot = NULL;

		assert_non_null(a);
		*a = (Asked){r, i};
		assert_true(sd_bus_call_method_async(bus, &slot, RDMAD_BUS_NAME, RDMAD_ROOT_PATH,
						     "org.freedesktop.DBus.ObjectManager",
						     "GetManagedObjects", on_reply, a, NULL) >= 0);
		assert_true(sd_bus_slot_set_destroy_callback(slot, free) >= 0);
		assert_true(sd_bus_slot_set_floating(slot, true) >= 0);
		sd_bus_slot_unref(slot);
	}
	assert_true(sd_bus_flush(bus) >= 0);
}

static void wait_replies(sd_bus *bus, const Replies *r, unsigned int n)
{
	while (r->good + r->limit + r->other < n) {
		int k = sd_bus_process(bus, NULL);

		assert_true(k >= 0);
		if (k == 0)
			assert_true(sd_bus_wait(bus, 60 * USEC_PER_SEC) > 0);
	}
}

/* All that the daemon has sent to BUS before has been taken in. */
static void barrier(sd_bus *bus)
{
	assert_true(sd_bus_call_method(bus, RDMAD_BUS_NAME, RDMAD_ROOT_PATH,
				       "org.freedesktop.DBus.Peer", "Ping", NULL, NULL, NULL) >= 0);
	while (sd_bus_process(bus, NULL) > 0)
		;
}

#define PORTS_256 "[device dev%d]\nprotocol = roce\ncount = 64\nports = 4\n"

/* A client that asks for everything again and again gets it in order, but late. Others do not wait
 * for it. */
static void test_greedy(void **state)
{
	enum { TIMES = 16 };
	Fixture *f = *state;
	_cleanup_(sd_bus_close_unrefp) sd_bus *greedy = fixture_client(f);
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	_cleanup_free_ char *all = NULL;
	Replies r;

	/* 8 MiB at once, and a dozen seconds for the rest */
	fixture_configure(f, "[Daemon]\nLongReplyMiBPerSec=1\n");
	fixture_start_daemon(f, PORTS_256, NULL);
	ask_often(greedy, TIMES, &r);
	wait_replies(greedy, &r, 1);

	all = get_all(f, "/org/rdma/device/0/port/1", RDMAD_INTERFACE_PORT);
	fixture_simulate(f, "set dev63/4 state=down event=port-error");
	fixture_wait_signal(f, "/org/rdma/device/63/port/4", "StateChanged");
	/* Another connection does not wait until all these calls are answered, though it belongs to
	 * the same user. */
	m = fixture_call(f, RDMAD_ROOT_PATH, "org.freedesktop.DBus.ObjectManager",
			 "GetManagedObjects", NULL, "");
	barrier(greedy);
	assert_true(r.good < TIMES);
	wait_replies(greedy, &r, TIMES);
	assert_int_equal(r.good, TIMES);
	assert_true(r.in_order);
}

static int on_introspection(sd_bus_message *m, void *userdata, _unused_ sd_bus_error *error)
{
	assert_false(sd_bus_message_is_method_error(m, NULL));
	*(bool *)userdata = true;
	return 0;
}

/* The list of all objects that Introspect() gives waits like another long reply; what is said of
 * one object does not. */
static void test_introspection_waits(void **state)
{
	Fixture *f = *state;
	_cleanup_(sd_bus_close_unrefp) sd_bus *greedy = fixture_client(f), *other = NULL;
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *all = NULL, *one = NULL;
	bool is_there = false;
	Replies r;

	/* all objects use up what is saved, and most of a minute more */
	fixture_configure(f, "[Daemon]\nLongReplyMiBPerSec=0.1\n");
	fixture_start_daemon(f, "[device dev%d]\nprotocol = infiniband\ncount = 500\nports = 8\n",
			     NULL);
	other = fixture_client(f);
	all = fixture_call(f, RDMAD_DEVICE_PREFIX, "org.freedesktop.DBus.Introspectable",
			   "Introspect", NULL, "");
	ask_often(greedy, 1, &r);
	wait_replies(greedy, &r, 1);
	assert_true(sd_bus_call_method_async(other, NULL, RDMAD_BUS_NAME, RDMAD_DEVICE_PREFIX,
					     "org.freedesktop.DBus.Introspectable", "Introspect",
					     on_introspection, &is_there, NULL) >= 0);
	one = fixture_call(f, RDMAD_DEVICE_PREFIX "/0/port/1",
			   "org.freedesktop.DBus.Introspectable", "Introspect", NULL, "");
	barrier(other);
	assert_false(is_there);
}

static int on_long_reply(sd_bus_message *m, void *userdata, _unused_ sd_bus_error *error)
{
	assert_false(sd_bus_message_is_method_error(m, NULL));
	++*(unsigned int *)userdata;
	return 0;
}

/* A call without options; each reply counts in N. */
static void ask(sd_bus *bus, unsigned int *n, const char *path, const char *interface,
		const char *member, const char *types, ...)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	va_list args;

	assert_true(sd_bus_message_new_method_call(bus, &m, RDMAD_BUS_NAME, path, interface,
						   member) >= 0);
	va_start(args, types);
	assert_true(sd_bus_message_appendv(m, types, args) >= 0);
	va_end(args);
	assert_true(sd_bus_call_async(bus, NULL, m, on_long_reply, n, UINT64_MAX) >= 0);
}

/* A port whose table of GIDs, and whose users, are more than a short reply may have, and a device
 * with so many ports; and a port with little of all that. */
static char *write_long_scenario(void)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	assert_non_null(file);
	fputs("[device large]\nprotocol = roce\nports = 2\n"
	      "[device wide]\nprotocol = roce\nports = 1000\nnode_guid = 0x1111222233334444\n"
	      "[device dev%d]\nprotocol = infiniband\ncount = 500\nports = 8\n"
	      "[port large/1]\ngid_tbl_len = 250\nnetdev = eth7 7\n",
	      file);
	for (unsigned int i = 0; i < 250; i++)
		fprintf(file, "gid.%u = 192.0.2.%u v2 eth7\n", i, i + 1);
	for (unsigned int i = 0; i < 250; i++)
		fprintf(file, "user.%u = 1 %u program-%u /system.slice/service-%u.service\n",
			1000 + i, geteuid(), i, i);
	assert_int_equal(fclose(file), 0);
	return text;
}

/* Each reply that is long waits for its turn, whatever the method; and short ones of the same
 * methods do not. */
static void test_all_that_is_long_waits(void **state)
{
	static const char large[] = "/org/rdma/device/0/port/1",
			  small[] = "/org/rdma/device/0/port/2";
	Fixture *f = *state;
	_cleanup_(sd_bus_close_unrefp) sd_bus *greedy = fixture_client(f), *other = NULL;
	_cleanup_free_ char *text = write_long_scenario();
	unsigned int n_long = 0, n_short = 0;
	Replies r;

	/* all objects use up what is saved, and most of a minute more */
	fixture_configure(f, "[Daemon]\nLongReplyMiBPerSec=0.1\n");
	fixture_start_daemon(f, text, NULL);
	other = fixture_client(f);
	ask_often(greedy, 1, &r);
	wait_replies(greedy, &r, 1);
	ask(other, &n_long, large, PROPERTIES, "GetAll", "s", "");
	ask(other, &n_long, large, PROPERTIES, "GetAll", "s", RDMAD_INTERFACE_PORT);
	ask(other, &n_long, large, PROPERTIES, "Get", "ss", RDMAD_INTERFACE_PORT, "Gids");
	ask(other, &n_long, large, RDMAD_INTERFACE_PORT, "GetUsers", "a{sv}", 0);
	ask(other, &n_long, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "FindPorts", "sa{sv}", "wide",
	    0);
	ask(other, &n_long, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "ListPorts", "a{sv}", 0);
	ask(other, &n_long, RDMAD_ROOT_PATH, PROPERTIES, "Get", "ss", RDMAD_INTERFACE_MANAGER,
	    "Ports");
	ask(other, &n_short, small, PROPERTIES, "GetAll", "s", "");
	ask(other, &n_short, small, PROPERTIES, "Get", "ss", RDMAD_INTERFACE_PORT, "Gids");
	ask(other, &n_short, small, RDMAD_INTERFACE_PORT, "GetUsers", "a{sv}", 0);
	ask(other, &n_short, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "FindPorts", "sa{sv}",
	    "large", 0);
	while (n_short < 4)
		if (sd_bus_process(other, NULL) == 0)
			assert_true(sd_bus_wait(other, 60 * USEC_PER_SEC) > 0);
	/* GetUsers() of the large port was answered by now if it does not wait: both wait for the
	 * same look at the device */
	barrier(other);
	assert_int_equal(n_long, 0);
}

/* The calls of a client that leaves are forgotten, so that there is room for others. */
static void test_leaving(void **state)
{
	Fixture *f = *state;
	sd_bus *first = fixture_client(f), *second = fixture_client(f);
	_cleanup_(sd_bus_close_unrefp) sd_bus *third = fixture_client(f);
	Replies r[3];

	fixture_configure(f, "[Daemon]\nLongReplyMiBPerSec=0.1\n");
	fixture_start_daemon(f, PORTS_256, NULL);
	ask_often(first, 500, &r[0]);
	barrier(first);
	ask_often(second, 100, &r[1]);
	barrier(second);
	barrier(first);
	/* Too many calls of one user wait. Which of the two connections loses calls depends on when
	 * the daemon knows the user. */
	assert_true(r[0].limit + r[1].limit > 0);
	assert_int_equal(r[0].other + r[1].other, 0);
	sd_bus_close_unref(first);
	sd_bus_close_unref(second);
	ask_often(third, 500, &r[2]);
	barrier(third);
	assert_int_equal(r[2].limit + r[2].other, 0);
}

/* Calls without a reply are no work: they take no place among those that wait. */
static void test_no_reply_takes_no_place(void **state)
{
	Fixture *f = *state;
	_cleanup_(sd_bus_close_unrefp) sd_bus *client = fixture_client(f);
	Replies r;

	fixture_start_daemon(f, PORTS_256, NULL);
	for (unsigned int i = 0; i < 600; i++) {
		_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;

		assert_true(sd_bus_message_new_method_call(client, &m, RDMAD_BUS_NAME,
							   RDMAD_ROOT_PATH,
							   "org.freedesktop.DBus.ObjectManager",
							   "GetManagedObjects") >= 0);
		assert_true(sd_bus_message_set_expect_reply(m, false) >= 0);
		assert_true(sd_bus_send(client, m, NULL) >= 0);
	}
	ask_often(client, 1, &r);
	wait_replies(client, &r, 1);
	assert_int_equal(r.good, 1);
}

/* The quick way fails */

#define QUICK_WAY_FAILS "Cannot make a long reply of bytes"

static unsigned int count_in_log(const Fixture *f, const char *text)
{
	_cleanup_free_ char *log = fixture_daemon_log(f);
	unsigned int n = 0;

	for (const char *p = log; (p = strstr(p, text)); p++)
		n++;
	return n;
}

/* Each kind of long reply as text, with its signature. */
static char *ask_for_all(Fixture *f)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *objects = NULL, *list = NULL, *one = NULL;
	_cleanup_free_ char *properties = NULL, *objects_text = NULL, *list_text = NULL,
			    *one_text = NULL;
	char *text;

	properties = get_all(f, "/org/rdma/device/5/port/1", RDMAD_INTERFACE_PORT);
	objects = fixture_call(f, RDMAD_ROOT_PATH, "org.freedesktop.DBus.ObjectManager",
			       "GetManagedObjects", NULL, "");
	list = fixture_call(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "ListPorts", NULL, "a{sv}",
			    0);
	one = fixture_call(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "ListPorts", NULL, "a{sv}",
			   1, "device", "s", "rocep1");
	objects_text = dump_text(objects);
	list_text = dump_text(list);
	one_text = dump_text(one);
	assert_true(asprintf(&text, "%s\n%s %s\n%s %s\n%s\n", properties,
			     sd_bus_message_get_signature(objects, true), objects_text,
			     sd_bus_message_get_signature(list, true), list_text, one_text) > 0);
	return text;
}

/* Without descriptors there is nothing of which the daemon could make a message of bytes: sd-bus
 * makes the same replies then, and the log says so once. */
static void test_no_descriptors(void **state)
{
	Fixture *f = *state;
	_cleanup_free_ char *slow = NULL, *again = NULL, *quick = NULL;
	rlim_t before;
	char *error;

	/* No port is queried, so that no time stamp changes in between. */
	fixture_configure(f, "[Daemon]\nReconcileIntervalSec=0\n");
	fixture_start_daemon(f, scenario, NULL);
	wait_quiet(f);
	before = process_max_descriptors(f->daemon_pid);
	process_set_max_descriptors(f->daemon_pid, 3);
	slow = ask_for_all(f);
	again = ask_for_all(f);
	assert_null(fixture_call(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "ListPorts", &error,
				 "a{sv}", 1, "device", "s", "no such device"));
	assert_string_equal(error, RDMAD_ERROR_NOT_FOUND);
	free(error);
	assert_int_equal(count_in_log(f, QUICK_WAY_FAILS), 1);
	process_set_max_descriptors(f->daemon_pid, before);
	quick = ask_for_all(f);
	assert_string_equal(slow, quick);
	assert_string_equal(again, quick);
}

/* The same for calls that have waited for their turn. */
static void test_no_descriptors_in_the_queue(void **state)
{
	enum { TIMES = 3 };
	Fixture *f = *state;
	_cleanup_(sd_bus_close_unrefp) sd_bus *greedy = fixture_client(f);
	rlim_t before;
	Replies r;

	fixture_start_daemon(f, PORTS_256, NULL);
	before = process_max_descriptors(f->daemon_pid);
	process_set_max_descriptors(f->daemon_pid, 3);
	ask_often(greedy, TIMES, &r);
	wait_replies(greedy, &r, TIMES);
	assert_int_equal(r.good, TIMES);
	assert_true(r.in_order);
	assert_int_equal(count_in_log(f, QUICK_WAY_FAILS), 1);
	/* LeakSanitizer needs some when the daemon ends. */
	process_set_max_descriptors(f->daemon_pid, before);
}

int main(void)
{
#define SOME(t) cmocka_unit_test_setup_teardown(t, setup_some, fixture_teardown)
#define TEST(t) cmocka_unit_test_setup_teardown(t, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		SOME(test_same_as_single),
		SOME(test_left_to_others),
		SOME(test_lists_of_manager),
		TEST(test_left_to_others_long),
		SOME(test_no_reply_wanted),
		TEST(test_no_descriptors),
		TEST(test_no_reply_takes_no_place),
		TEST(test_greedy),
		TEST(test_introspection_waits),
		TEST(test_all_that_is_long_waits),
		TEST(test_leaving),
		TEST(test_no_descriptors_in_the_queue),
	};

	return cmocka_run_group_tests_name("long-reply", tests, NULL, NULL);
}
