/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Callers and circumstances that mean no good: wrong arguments to every method that introspection
 * shows, more calls than anybody waits for, clients that leave or do not listen, storms of changes,
 * a bus that restarts below them, no descriptors, no worker. The daemon says so, goes on, and
 * heals.
 */

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <time.h>

#include "fixture.h"

#define PORT "/org/rdma/device/0/port/1"
#define LOG  "/org/freedesktop/LogControl1"

#define SCENARIO "[device mlx5_0]\nprotocol = infiniband\n"

static uint64_t now_usec(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * USEC_PER_SEC + (uint64_t)t.tv_nsec / 1000;
}

static void ping(Fixture *f)
{
	sd_bus_message_unref(
		fixture_call(f, RDMAD_ROOT_PATH, "org.freedesktop.DBus.Peer", "Ping", NULL, ""));
}

static void refresh(Fixture *f)
{
	sd_bus_message_unref(fixture_call(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "Refresh",
					  NULL, "a{sv}", 0));
}

/* How many entries /proc/PID/WHAT has, or the number behind WHAT in /proc/PID/status. */
static unsigned int count_entries(pid_t pid, const char *what)
{
	char path[64];
	unsigned int n = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, what);
	dir = opendir(path);
	assert_non_null(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

static unsigned int count_children(pid_t pid)
{
	char path[64], text[4096];
	_cleanup_fclose_ FILE *file = NULL;
	unsigned int n = 0;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, pid);
	file = fopen(path, "r");
	assert_non_null(file);
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	for (char *p = text; *p; p++)
		n += *p == ' ';
	return n;
}

static unsigned long resident_kib(pid_t pid)
{
	char path[64], line[256];
	_cleanup_fclose_ FILE *file = NULL;
	unsigned long kib = 0;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	file = fopen(path, "r");
	assert_non_null(file);
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "VmRSS: %lu", &kib) == 1)
			break;
	return kib;
}

/* Waits until the daemon has written TEXT. */
static void wait_log(Fixture *f, const char *text)
{
	for (unsigned int i = 0; i < 6000; i++) {
		_cleanup_free_ char *log = fixture_daemon_log(f);

		if (strstr(log, text))
			return;
		usleep(10000);
	}
	fail_msg("the daemon never said \"%s\"", text);
}

/* Every method */

typedef struct Method {
	char interface[80], name[64], signature[64];
} Method;

/* The value of ATTRIBUTE in the tag at TAG, into RET. */
static bool attribute(const char *tag, const char *name, char *ret, size_t size)
{
	const char *end = strchr(tag, '>'), *p = strstr(tag, name);

	if (!p || p > end)
		return false;
	p += strlen(name);
	snprintf(ret, size, "%.*s", (int)strcspn(p, "\""), p);
	return true;
}

/* The methods of the object at PATH, from its introspection. */
static size_t find_methods(Fixture *f, const char *path, Method *ret, size_t max)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = fixture_call(
		f, path, "org.freedesktop.DBus.Introspectable", "Introspect", NULL, "");
	char interface[80] = "", direction[8], type[32];
	bool in_method = false;
	const char *xml;
	size_t n = 0;

	assert_true(sd_bus_message_read_basic(reply, 's', &xml) >= 0);
	for (const char *p = xml; (p = strchr(p, '<')); p++) {
		if (startswith(p, "<interface "))
			attribute(p, "name=\"", interface, sizeof(interface));
		if (startswith(p, "<method ")) {
			assert_true(n < max);
			ret[n] = (Method){};
			text_copy(ret[n].interface, sizeof(ret[n].interface), interface);
			attribute(p, "name=\"", ret[n].name, sizeof(ret[n].name));
			in_method = p[strcspn(p, ">") - 1] != '/';
			n++;
		}
		if (startswith(p, "</method"))
			in_method = false;
		if (in_method && startswith(p, "<arg ") &&
		    attribute(p, "type=\"", type, sizeof(type)) &&
		    attribute(p, "direction=\"", direction, sizeof(direction)) &&
		    streq(direction, "in"))
			strcat(ret[n - 1].signature, type);
	}
	return n;
}

static sd_bus_message *new_call(Fixture *f, const char *path, const Method *m)
{
	sd_bus_message *call = NULL;

	assert_true(sd_bus_message_new_method_call(f->bus, &call, RDMAD_BUS_NAME, path,
						   m->interface, m->name) >= 0);
	return call;
}

/* Neutral arguments for a signature, with one option that nobody knows. */
static void append_arguments(sd_bus_message *call, const char *signature, const char *text,
			     bool option)
{
	for (const char *p = signature; *p;) {
		if (*p == 's' || *p == 'b' || *p == 'u' || *p == 't') {
			if (*p == 's')
				assert_true(sd_bus_message_append(call, "s", text) >= 0);
			else if (*p == 'b')
				assert_true(sd_bus_message_append(call, "b", 0) >= 0);
			else if (*p == 't')
				assert_true(sd_bus_message_append(call, "t", UINT64_C(0)) >= 0);
			else
				assert_true(sd_bus_message_append(call, "u", 0) >= 0);
			p++;
		} else if (startswith(p, "a{ss}")) {
			assert_true(sd_bus_message_append(call, "a{ss}", 0) >= 0);
			p += strlen("a{ss}");
		} else if (startswith(p, "a{sv}")) {
			assert_true((option ? sd_bus_message_append(call, "a{sv}", 1, "nonsense",
								    "s", text)
					    : sd_bus_message_append(call, "a{sv}", 0)) >= 0);
			p += strlen("a{sv}");
		} else if (startswith(p, "as")) {
			assert_true(sd_bus_message_append(call, "as", 0) >= 0);
			p += strlen("as");
		} else {
			fail_msg("this test knows no argument \"%s\": teach it", p);
		}
	}
}

/* Sends CALL; its error must have a text, be one of ours or of D-Bus for bad arguments, and leave
 * the daemon on the bus. Returns the error's name, to be freed. */
static char *expect_refusal(Fixture *f, const Method *m, sd_bus_message *call)
{
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;

	if (sd_bus_call(f->bus, call, 0, &error, &reply) >= 0)
		fail_msg("%s.%s took it", m->interface, m->name);
	if (!error.name || !error.message || !*error.message ||
	    (!startswith(error.name, "org.rdma.Error.") &&
	     !streq(error.name, SD_BUS_ERROR_INVALID_ARGS)))
		fail_msg("%s.%s: %s: %s", m->interface, m->name, error.name, error.message);
	ping(f);
	return strdup(error.name);
}

/* 100 bytes from the start of this end within a character of two bytes. */
#define LONG_TEXT                                                                                  \
	"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" \
	"aaa"                                                                                      \
	"aaaaaaaa\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"

static void check_method(Fixture *f, const char *path, const Method *m)
{
	static const char *const wrong[] = {"", "u", "as", "ss", "v"};
	static const char *const texts[] = {"",		"nonsense",   "no/port/1",
					    "mlx5_0/0", "mlx5_0/255", "*/9",
					    "\x01\x02", LONG_TEXT,    "a" LONG_TEXT};
	_cleanup_free_ char *option_error = NULL;
	sd_bus_message *call;

	/* Other types than it takes */
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		_cleanup_free_ char *error = NULL;

		if (streq(m->signature, wrong[i]))
			continue;
		call = new_call(f, path, m);
		if (streq(wrong[i], "u"))
			sd_bus_message_append(call, "u", 1);
		else if (streq(wrong[i], "as"))
			sd_bus_message_append(call, "as", 1, "x");
		else if (streq(wrong[i], "ss"))
			sd_bus_message_append(call, "ss", "x", "y");
		else if (streq(wrong[i], "v"))
			sd_bus_message_append(call, "v", "s", "x");
		error = expect_refusal(f, m, call);
		sd_bus_message_unref(call);
		assert_string_equal(error, SD_BUS_ERROR_INVALID_ARGS);
	}
	/* An option that nobody knows */
	call = new_call(f, path, m);
	append_arguments(call, m->signature, "mlx5_0/1", true);
	option_error = expect_refusal(f, m, call);
	sd_bus_message_unref(call);
	if (startswith(m->interface, "org.rdma.") &&
	    !streq(m->interface, RDMAD_INTERFACE_SIMULATOR))
		assert_string_equal(option_error, RDMAD_ERROR_INVALID_OPTION);
	/* Names of nothing */
	for (size_t i = 0;
	     i < ARRAY_SIZE(texts) && strchr(m->signature, 's') < strchr(m->signature, 'a'); i++) {
		call = new_call(f, path, m);
		append_arguments(call, m->signature, texts[i], false);
		free(expect_refusal(f, m, call));
		sd_bus_message_unref(call);
	}
}

static void test_every_method(void **state)
{
	static const char *const paths[] = {RDMAD_ROOT_PATH, "/org/rdma/device/0", PORT, LOG};
	Fixture *f = *state;
	Method methods[64];
	size_t checked = 0;

	fixture_start_daemon(f, SCENARIO, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		size_t n = find_methods(f, paths[i], methods, ARRAY_SIZE(methods));

		assert_true(n > 0);
		for (size_t k = 0; k < n; k++) {
			/* sd-bus' own: Peer, Introspectable, Properties, ObjectManager */
			if (startswith(methods[k].interface, "org.freedesktop.DBus."))
				continue;
			check_method(f, paths[i], &methods[k]);
			checked++;
		}
	}
	/* Manager 7, Simulator 8, Port 1: one that is new is checked by itself */
	assert_true(checked >= 16);
	fixture_assert_property(f, PORT, RDMAD_INTERFACE_PORT, "State", "active");
}

/* Properties are read-only, and what is not there says so. */
static void test_properties(void **state)
{
	Fixture *f = *state;
	static const char *const paths[] = {"/org/rdma/device/0/port/2",
					    "/org/rdma/device/0/port/0",
					    "/org/rdma/device/0/port/256",
					    "/org/rdma/device/4294967296",
					    "/org/rdma/device",
					    "/org/rdma/device/0/port",
					    "/org/rdma/device/x"};
	char *error;

	fixture_start_daemon(f, SCENARIO, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		assert_null(fixture_call(f, paths[i], "org.freedesktop.DBus.Properties", "Get",
					 &error, "ss", RDMAD_INTERFACE_PORT, "State"));
		assert_non_null(startswith(error, "org.freedesktop.DBus.Error.Unknown"));
		free(error);
	}
	assert_null(fixture_call(f, PORT, "org.freedesktop.DBus.Properties", "Get", &error, "ss",
				 RDMAD_INTERFACE_PORT, "Nonsense"));
	assert_string_equal(error, SD_BUS_ERROR_UNKNOWN_PROPERTY);
	free(error);
	assert_null(fixture_call(f, PORT, "org.freedesktop.DBus.Properties", "Set", &error, "ssv",
				 RDMAD_INTERFACE_PORT, "State", "s", "down"));
	assert_string_equal(error, SD_BUS_ERROR_PROPERTY_READ_ONLY);
	free(error);
	assert_null(fixture_call(f, LOG, "org.freedesktop.DBus.Properties", "Set", &error, "ssv",
				 "org.freedesktop.LogControl1", "LogLevel", "u", 7));
	assert_string_equal(error, SD_BUS_ERROR_INVALID_ARGS);
	free(error);
}

/* Numbers */

static void test_254_ports(void **state)
{
	Fixture *f = *state;
	_cleanup_free_ char *error = NULL;

	fixture_start_daemon(f, "[device many]\nprotocol = roce\nports = 254\n", NULL);
	fixture_assert_property(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "PortCount", "254");
	fixture_assert_property(f, "/org/rdma/device/0", RDMAD_INTERFACE_DEVICE, "Ports", "254");
	fixture_assert_property(f, "/org/rdma/device/0/port/254", RDMAD_INTERFACE_PORT, "State",
				"active");
	fixture_simulate(f, "set many/254 state=down event=port-error");
	fixture_wait_signal(f, "/org/rdma/device/0/port/254", "StateChanged");
	assert_int_equal(fixture_count_signals(f, NULL, "StateChanged"), 1);
	sd_bus_message_unref(fixture_call(f, "/org/rdma/device/0/port/254", RDMAD_INTERFACE_PORT,
					  "Query", NULL, "a{sv}", 0));
	assert_null(fixture_call(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "GetPort", &error,
				 "sa{sv}", "many/255", 0));
	assert_non_null(startswith(error, "org.rdma.Error."));
	fixture_simulate(f, "remove many");
	refresh(f);
	fixture_barrier(f);
	assert_int_equal(fixture_count_signals(f, NULL, "InterfacesRemoved"), 255);
	fixture_assert_property(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "PortCount", "0");
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
	began = now_usec();
	reply = fixture_call(f, RDMAD_ROOT_PATH, "org.freedesktop.DBus.ObjectManager",
			     "GetManagedObjects", NULL, "");
	print_message("GetManagedObjects of 4096 ports: %ju ms, the daemon has %lu MiB\n",
		      (uintmax_t)(now_usec() - began) / 1000, resident_kib(f->daemon_pid) / 1024);
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
	assert_int_equal(interfaces, 1024 + 2 * 4096);
	began = now_usec();
	refresh(f);
	print_message("Refresh of 4096 ports: %ju ms\n", (uintmax_t)(now_usec() - began) / 1000);
}

/* Callers */

typedef struct Replies {
	unsigned int good, limit, other;
} Replies;

static int on_reply(sd_bus_message *m, void *userdata, _unused_ sd_bus_error *error)
{
	Replies *r = userdata;

	if (!sd_bus_message_is_method_error(m, NULL))
		r->good++;
	else if (sd_bus_message_is_method_error(m, RDMAD_ERROR_LIMITS_EXCEEDED))
		r->limit++;
	else
		r->other++;
	return 0;
}

static void call_often(sd_bus *bus, const char *path, const char *interface, const char *method,
		       unsigned int n, Replies *r)
{
	for (unsigned int i = 0; i < n; i++)
		assert_true(sd_bus_call_method_async(bus, NULL, RDMAD_BUS_NAME, path, interface,
						     method, on_reply, r, "a{sv}", 0) >= 0);
}

static void wait_replies(sd_bus *bus, const Replies *r, unsigned int n)
{
	uint64_t deadline = now_usec() + 60 * USEC_PER_SEC;

	while (r->good + r->limit + r->other < n) {
		int k = sd_bus_process(bus, NULL);

		assert_true(k >= 0);
		if (k == 0)
			sd_bus_wait(bus, 100 * USEC_PER_MSEC);
		assert_true(now_usec() < deadline);
	}
}

/* Thousands of calls of one client: it gets a limit, and the others get their answers. */
static void test_greedy_client(void **state)
{
	Fixture *f = *state;
	_cleanup_(sd_bus_close_unrefp) sd_bus *greedy = fixture_client(f);
	Replies queries = {}, refreshes = {};
	unsigned int descriptors;

	/* a device that does not answer keeps them all waiting */
	fixture_configure(f, "[Daemon]\nQueryTimeoutSec=300\n");
	fixture_start_daemon(f, SCENARIO "[device other]\nprotocol = roce\n", NULL);
	descriptors = count_entries(f->daemon_pid, "fd");
	fixture_simulate(f, "stall mlx5_0");
	call_often(greedy, PORT, RDMAD_INTERFACE_PORT, "Query", 3000, &queries);
	wait_replies(greedy, &queries, 3000 - 256);
	assert_int_equal(queries.limit, 3000 - 256);
	/* neither another device nor another caller is touched by it */
	sd_bus_message_unref(fixture_call(f, "/org/rdma/device/1/port/1", RDMAD_INTERFACE_PORT,
					  "Query", NULL, "a{sv}", 0));
	ping(f);
	/* those that wait are answered too */
	fixture_simulate(f, "unstall mlx5_0");
	wait_replies(greedy, &queries, 3000);
	assert_int_equal(queries.good + queries.other, 256);

	call_often(greedy, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "Refresh", 3000, &refreshes);
	refresh(f);
	wait_replies(greedy, &refreshes, 3000);
	assert_int_equal(refreshes.other, 0);
	assert_true(refreshes.good >= 256);
	assert_int_equal(count_entries(f->daemon_pid, "fd"), descriptors);
}

/* Clients that leave while their calls wait. */
static void test_clients_leave(void **state)
{
	Fixture *f = *state;
	unsigned int descriptors;
	unsigned long kib = 0;
	Replies r = {};

	fixture_start_daemon(f, SCENARIO, NULL);
	descriptors = count_entries(f->daemon_pid, "fd");
	for (unsigned int round = 0; round < 30; round++) {
		sd_bus *bus = fixture_client(f);

		fixture_simulate(f, "stall mlx5_0");
		call_often(bus, PORT, RDMAD_INTERFACE_PORT, "Query", 200, &r);
		call_often(bus, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "Refresh", 50, &r);
		assert_true(sd_bus_flush(bus) >= 0);
		sd_bus_close_unref(bus);
		ping(f);
		fixture_simulate(f, "unstall mlx5_0");
		/* nothing of them waits any more: the limit would hit this one */
		refresh(f);
		if (round == 9)
			kib = resident_kib(f->daemon_pid);
	}
	print_message("after 10 and 30 rounds: %lu and %lu KiB\n", kib,
		      resident_kib(f->daemon_pid));
	assert_int_equal(count_entries(f->daemon_pid, "fd"), descriptors);
}

/* Storms */

/* 100,000 changes of 64 ports as fast as they can be made, next to a client that has asked for all
 * signals and never reads one. */
static void test_storm(void **state)
{
	enum { PORTS = 64, CHANGES = 100000, WINDOW = 1000 };
	Fixture *f = *state;
	_cleanup_(sd_bus_close_unrefp) sd_bus *deaf = fixture_client(f),
					      *writer = fixture_client(f);
	unsigned int most = 0, total;
	uint64_t began, slowest = 0;
	Replies r = {};

	fixture_start_daemon(f, "[device mlx5_%d]\nprotocol = infiniband\ncount = 32\nports = 2\n",
			     NULL);
	assert_true(sd_bus_add_match(deaf, NULL, "type='signal'", NULL, NULL) >= 0);
	refresh(f);
	fixture_forget(f);
	began = now_usec();
	for (unsigned int i = 0; i < CHANGES; i++) {
		char line[128];

		/* the last change of each port leaves it down with its own LID */
		snprintf(line, sizeof(line), "set mlx5_%u/%u state=%s lid=%u event=lid-change",
			 i % PORTS / 2, i % 2 + 1,
			 i + PORTS < CHANGES && i / PORTS % 2 ? "active" : "armed", 1 + i % 40000);
		assert_true(sd_bus_call_method_async(writer, NULL, RDMAD_BUS_NAME, RDMAD_ROOT_PATH,
						     RDMAD_INTERFACE_SIMULATOR, "Run", on_reply, &r,
						     "sa{sv}", line, 0) >= 0);
		if (i % WINDOW == WINDOW - 1) {
			uint64_t asked = now_usec();

			ping(f);
			slowest = MAX(slowest, now_usec() - asked);
			wait_replies(writer, &r, i + 1 - WINDOW / 2);
		}
	}
	wait_replies(writer, &r, CHANGES);
	assert_int_equal(r.good, CHANGES);
	began = now_usec() - began;
	/* what the last change left is what everybody sees */
	refresh(f);
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
	/* Two interfaces a query; ten queries at once, then ten a second (work.c), those of
	 * Refresh included. */
	assert_true(most <= 2 * (12 + 10 * (began / USEC_PER_SEC + 3)));
}

/* Circumstances */

static void test_bus_restarts_under_load(void **state)
{
	Fixture *f = *state;
	unsigned int descriptors;

	fixture_start_daemon(f,
			     "[device mlx5_0]\nprotocol = infiniband\nports = 8\n[script]\n"
			     "every 1ms: set mlx5_0/* state=down event=port-error\n"
			     "every 1.3ms: set mlx5_0/* state=active event=port-active\n",
			     NULL);
	descriptors = count_entries(f->daemon_pid, "fd");
	for (unsigned int i = 0; i < 5; i++) {
		sd_bus *client = fixture_client(f);
		Replies r = {};

		/* calls that wait for an answer that cannot come any more */
		call_often(client, PORT, RDMAD_INTERFACE_PORT, "Query", 20, &r);
		call_often(client, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "Refresh", 20, &r);
		sd_bus_flush(client);
		fixture_stop_bus(f);
		sd_bus_close_unref(client);
		fixture_start_bus(f);
		fixture_connect(f);
		fixture_wait_name(f);
		fixture_wait_signal(f, NULL, "StateChanged");
		refresh(f);
	}
	assert_int_equal(count_entries(f->daemon_pid, "fd"), descriptors);
}

static void set_descriptors(pid_t pid, rlim_t n)
{
	struct rlimit limit;

	assert_int_equal(prlimit(pid, RLIMIT_NOFILE, NULL, &limit), 0);
	limit.rlim_cur = n;
	assert_int_equal(prlimit(pid, RLIMIT_NOFILE, &limit, NULL), 0);
}

/* No descriptor is left when the bus comes back: said, and healed when there are some again. */
static void test_descriptors_run_out(void **state)
{
	Fixture *f = *state;
	struct rlimit before;

	fixture_start_daemon(f, SCENARIO, NULL);
	assert_int_equal(prlimit(f->daemon_pid, RLIMIT_NOFILE, NULL, &before), 0);
	set_descriptors(f->daemon_pid, 3);
	/* what is open goes on */
	refresh(f);
	fixture_stop_bus(f);
	fixture_start_bus(f);
	wait_log(f, "Too many open files");
	set_descriptors(f->daemon_pid, before.rlim_cur);
	fixture_connect(f);
	fixture_wait_name(f);
	fixture_assert_property(f, PORT, RDMAD_INTERFACE_PORT, "State", "active");
}

/* Too few from the start: it ends, and says why. */
static void test_no_descriptors_at_start(void **state)
{
	Fixture *f = *state;
	struct rlimit before, few;

	fixture_configure(f, "# nothing\n");
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	for (rlim_t n = 5; n < 12; n++) {
		_cleanup_free_ char *log = NULL;
		char old[96];
		pid_t pid;
		int status;

		snprintf(old, sizeof(old), "%s/daemon.log", f->directory);
		unlink(old);
		few = before;
		few.rlim_cur = n;
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
		pid = fork();
		assert_true(pid >= 0);
		if (pid == 0) {
			char bus[160], config[128], path[96];
			int fd;

			snprintf(bus, sizeof(bus), "--bus=%s", f->address);
			snprintf(config, sizeof(config), "--config=%s/rdmad.conf", f->directory);
			snprintf(path, sizeof(path), "%s/daemon.log", f->directory);
			for (int i = 3; i < 64; i++)
				close(i);
			fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
			dup2(fd, STDERR_FILENO);
			close(fd);
			alarm(5); /* with enough of them it runs until then */
			execl(TEST_BUILD_DIR "/daemon/rdmad", "rdmad", bus, config, NULL);
			_exit(127);
		}
		setrlimit(RLIMIT_NOFILE, &before);
		for (;;) {
			if (waitpid(pid, &status, WNOHANG) == pid)
				break;
			log = fixture_daemon_log(f);
			if (strstr(log, "Serving")) {
				kill(pid, SIGTERM);
				assert_int_equal(fixture_wait_process(pid), 0);
				status = -1;
				break;
			}
			free(steal_pointer(&log));
			usleep(1000);
		}
		if (status == -1)
			continue;
		free(log);
		log = fixture_daemon_log(f);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), 1);
		if (!strstr(log, "Too many open files"))
			fail_msg("with %ju descriptors: \"%s\"", (uintmax_t)n, log);
	}
}

/* The machine's own devices, without the program that would ask them. */
static void test_no_worker(void **state)
{
	static const char *const options[] = {"--worker=/nonexistent", NULL};
	Fixture *f = *state;

	if (access("/sys/class/infiniband", F_OK) == 0) {
		print_message("skipped: this machine may have RDMA devices\n");
		skip();
	}
	fixture_start_daemon(f, NULL, options);
	fixture_assert_property(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "Simulated", "no");
	fixture_assert_property(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "DeviceCount", "0");
	refresh(f);
	assert_int_equal(count_children(f->daemon_pid), 0);
}

/* Bytes that are no text, in every place of a scenario where text can be. */
static void test_scenario_is_no_text(void **state)
{
	static const char *const bad[] = {
		"[device \xff]\nprotocol = infiniband\n",
		"[device x]\nprotocol = \xff\n",
		"[device x]\n\xff = 1\n",
		"\xff\xfe\n",
		"[device x]\nprotocol = roce\n[port x/1]\nstate = \xc3\n",
		"[device x]\nprotocol = roce\n[script]\nat 1s: \xff x\n",
	};
	Fixture *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		_cleanup_free_ char *log = NULL;

		assert_int_equal(fixture_wait_process(fixture_spawn_daemon(f, bad[i], NULL)), 1);
		log = fixture_daemon_log(f);
		assert_non_null(strstr(log, "scenario:"));
		assert_non_null(strstr(log, "expected"));
	}
	/* as the value of a text it is made text */
	fixture_start_daemon(f,
			     "[device x]\nprotocol = roce\nnode_desc = a\xff\x01z\n"
			     "[port x/1]\nnetdev = eth\xfe 7\n",
			     NULL);
	fixture_assert_property(f, "/org/rdma/device/0", RDMAD_INTERFACE_DEVICE, "NodeDescription",
				"a??z");
	fixture_assert_property(f, PORT, RDMAD_INTERFACE_ETHERNET, "Netdev", "eth?");
	sd_bus_message_unref(fixture_call(f, RDMAD_ROOT_PATH, "org.freedesktop.DBus.ObjectManager",
					  "GetManagedObjects", NULL, ""));
}

/* SIGTERM finds it at work: calls wait, queries are under way, a device is wedged, changes come. */
static void test_stop_at_work(void **state)
{
	Fixture *f = *state;

	for (unsigned int i = 0; i < 5; i++) {
		_cleanup_(sd_bus_close_unrefp) sd_bus *client = fixture_client(f);
		Replies r = {};

		fixture_start_daemon(
			f,
			"[device mlx5_%d]\nprotocol = infiniband\nports = 8\ncount = 8\n"
			"[script]\nat 0s: stall mlx5_1\n"
			"every 1ms: set */* state=down event=port-error\n"
			"every 1.7ms: set */* state=active event=port-active\n",
			NULL);
		fixture_simulate(f, "stall mlx5_0");
		call_often(client, PORT, RDMAD_INTERFACE_PORT, "Query", 100, &r);
		call_often(client, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "Refresh", 100, &r);
		assert_true(sd_bus_flush(client) >= 0);
		ping(f);
		assert_int_equal(count_children(f->daemon_pid), 0);
		assert_int_equal(fixture_stop_daemon(f, SIGTERM), 0);
		/* nobody waits for somebody who has gone */
		wait_replies(client, &r, 200);
	}
}

int main(void)
{
#define TEST(t) cmocka_unit_test_setup_teardown(t, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_every_method),
		TEST(test_properties),
		TEST(test_254_ports),
		TEST(test_4096_ports),
		TEST(test_greedy_client),
		TEST(test_clients_leave),
		TEST(test_storm),
		TEST(test_bus_restarts_under_load),
		TEST(test_descriptors_run_out),
		TEST(test_no_descriptors_at_start),
		TEST(test_no_worker),
		TEST(test_scenario_is_no_text),
		TEST(test_stop_at_work),
	};

	return cmocka_run_group_tests_name("hostile", tests, NULL, NULL);
}
