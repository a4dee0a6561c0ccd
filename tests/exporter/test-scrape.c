/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a scrape shows while rdmad comes, goes and stops, and while ports change and devices hang;
 * and how often rdmad is asked for it. */

#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "exporter.h"

static const char scenario[] = "[device mlx5_0]\n"
			       "index = 3\n"
			       "protocol = infiniband\n"
			       "ports = 2\n"
			       /* After ten seconds of readings the ratio of these errors is
				* published, and tests count who asks for the objects. */
			       "[port mlx5_0/*]\n"
			       "counter.symbol_error =\n"
			       "[device rocep1]\n"
			       "index = 6\n"
			       "protocol = roce\n";

#define PORT_1 "/org/rdma/device/3/port/1"

#define UP	  "rdma_rdmad_up 1"
#define DOWN	  "rdma_rdmad_up 0"
#define ACTIVE	  "rdma_port_state{device=\"mlx5_0\",port=\"1\",state=\"active\"} 1"
#define NOT	  "rdma_port_state{device=\"mlx5_0\",port=\"1\",state=\"active\"} 0"
#define STALE	  "rdma_port_stale{device=\"mlx5_0\",port=\"1\"} 1"
#define FRESH	  "rdma_port_stale{device=\"mlx5_0\",port=\"1\"} 0"
#define COUNTED	  "rdma_port_xmit_bytes_total{device=\"mlx5_0\",port=\"1\"}"
#define COUNTED_2 "rdma_port_xmit_bytes_total{device=\"rocep1\",port=\"1\"}"

static Exporter exporter;

static int setup_absent(void **state)
{
	Fixture *f = fixture_new();

	*state = f;
	exporter_start(&exporter, f, (const char *const[]){"--idle=0", NULL});
	return 0;
}

static int setup(void **state)
{
	(void)setup_absent(state);
	fixture_start_daemon(*state, scenario, NULL);
	return 0;
}

static int teardown(void **state)
{
	exporter_stop(&exporter);
	return fixture_teardown(state);
}

static void scrape_line(const char *line)
{
	_cleanup_free_ char *text = client_scrape(&exporter);

	assert_line(text, line);
}

static void assert_down(void)
{
	_cleanup_free_ char *text = client_scrape(&exporter);

	assert_line(text, DOWN);
	assert_no_line(text, "rdma_port_");
	assert_no_line(text, "rdma_device_");
}

static void test_all(_unused_ void **state)
{
	_cleanup_free_ char *text = client_scrape(&exporter);
	const char *took = strstr(text, "\nrdma_scrape_duration_seconds ");

	assert_non_null(took);
	assert_true(strtod(strchr(took, ' '), NULL) > 0);
	assert_line(text, UP);
	assert_line(text, ACTIVE);
	assert_line(text, FRESH);
	assert_non_null(strstr(text, COUNTED));
	assert_non_null(strstr(text, COUNTED_2));
	assert_line(text, "rdma_exporter_build_info{version=\"" RDMAD_VERSION "\"} 1");
}

/* Another text format for those who do not ask for OpenMetrics. */
static void test_formats(_unused_ void **state)
{
	_cleanup_reply_ Reply a = {}, b = {};

	client_get(&exporter, "/metrics", "", &a);
	client_get(&exporter, "/metrics",
		   "Accept: application/openmetrics-text;version=1.0.0,"
		   "application/openmetrics-text;version=0.0.1;q=0.75,"
		   "text/plain;version=0.0.4;q=0.5,*/*;q=0.1\r\n",
		   &b);
	assert_non_null(strstr(a.head, "\r\nContent-Type: text/plain; version=0.0.4"));
	assert_null(strstr(a.body, "# EOF"));
	assert_non_null(strstr(b.head, "\r\nContent-Type: application/openmetrics-text; version="));
	assert_non_null(strstr(b.body, "# EOF\n"));
}

/* One connection after the other request, with and without a body. */
static void test_keep(_unused_ void **state)
{
	static const char *const requests[] = {
		"GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n",
		"HEAD /metrics HTTP/1.1\r\nHost: a\r\n\r\n",
		"GET /nothing HTTP/1.1\r\nHost: a\r\n\r\n",
		"GET /-/healthy HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
	};
	static const int statuses[] = {200, 200, 404, 200};
	int fds[] = {client_connect(&exporter, 1), client_connect_unix(&exporter)};

	for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
		for (size_t n = 0; n < ARRAY_SIZE(requests); n++) {
			_cleanup_reply_ Reply r = {};

			assert_true(client_send(fds[i], requests[n]));
			client_read(fds[i], startswith(requests[n], "HEAD"), &r);
			assert_int_equal(r.status, statuses[n]);
			assert_int_equal(r.size > 0, !startswith(requests[n], "HEAD"));
		}
		client_assert_closed(fds[i]);
		close(fds[i]);
	}
}

/* A request may come in pieces. */
static void test_pieces(_unused_ void **state)
{
	static const char request[] = "GET /metrics HTTP/1.0\r\nX: y\r\n\r\n";
	_cleanup_close_ int fd = client_connect(&exporter, 1);
	_cleanup_reply_ Reply r = {};

	for (size_t i = 0; i < sizeof(request) - 1; i++) {
		assert_true(client_send_bytes(fd, &request[i], 1));
		usleep(1000);
	}
	/* no more will come: the answer is sent all the same */
	shutdown(fd, SHUT_WR);
	client_read(fd, false, &r);
	assert_int_equal(r.status, 200);
	assert_line(r.body, UP);
}

/* What a program prints that is run with the URL in $URL and the Unix socket in $SOCKET. */
static char *run_client(const char *command)
{
	char url[64], *text = calloc(1, 1 << 20);
	size_t n;
	FILE *pipe;

	assert_non_null(text);
	snprintf(url, sizeof(url), "http://127.0.0.1:%u", exporter.port);
	setenv("URL", url, 1);
	setenv("SOCKET", exporter.path, 1);
	pipe = popen(command, "re");
	assert_non_null(pipe);
	n = fread(text, 1, (1 << 20) - 1, pipe);
	text[n] = '\0';
	assert_int_equal(pclose(pipe), 0);
	return text;
}

/* Clients that others have written. */
static void test_clients(_unused_ void **state)
{
	static const char *const commands[] = {
		"curl -sSf $URL/metrics",
		"curl -sSf --http1.0 $URL/metrics",
		"curl -sSf --unix-socket $SOCKET http://localhost/metrics",
		"curl -sSf --compressed $URL/metrics",
		"python3 -c 'import gzip, os, urllib.request\n"
		"q = urllib.request.Request(os.environ[\"URL\"] + \"/metrics\",\n"
		"    headers={\"Accept-Encoding\": \"deflate;q=1, gzip;q=0.5\"})\n"
		"r = urllib.request.urlopen(q)\n"
		"assert r.getheader(\"Content-Encoding\") == \"gzip\"\n"
		"print(gzip.decompress(r.read()).decode(), end=\"\")'",
		"curl -sSf $URL/-/healthy $URL/ $URL/metrics",
		"python3 -c 'import http.client, os\n"
		"c = http.client.HTTPConnection(os.environ[\"URL\"][7:])\n"
		"for i in range(3):\n"
		"    c.request(\"GET\", \"/metrics\")\n"
		"    r = c.getresponse()\n"
		"    text = r.read()\n"
		"    assert r.status == 200 and "
		"r.getheader(\"Content-Type\").startswith(\"text/\")\n"
		"c.request(\"HEAD\", \"/metrics\")\n"
		"assert c.getresponse().read() == b\"\"\n"
		"print(text.decode(), end=\"\")'",
	};

	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		_cleanup_free_ char *text = NULL;

		if (startswith(commands[i], "curl") && system("command -v curl >/dev/null") != 0)
			continue;
		text = run_client(commands[i]);
		assert_line(text, UP);
		assert_line(text, ACTIVE);
	}
}

/* Each change is in the next scrape, whether rdmad signals it or not. */
static void test_change(void **state)
{
	Fixture *f = *state;

	for (unsigned int i = 0; i < 5; i++) {
		scrape_line(ACTIVE);
		fixture_forget(f);
		fixture_simulate(f, "set mlx5_0/1 state=down event=port-error");
		fixture_wait_signal(f, PORT_1, "StateChanged");
		scrape_line(NOT);
		fixture_forget(f);
		fixture_simulate(f, "set mlx5_0/1 state=active event=port-active");
		fixture_wait_signal(f, PORT_1, "StateChanged");
	}
}

/* Copies the next line of *TEXT, but for those that say how long a scrape took, and when a device
 * was read, of which no signal tells (source.c). */
static bool next_line(const char **text, char line[1024])
{
	do {
		size_t n = strcspn(*text, "\n");

		if (n == 0)
			return false;
		snprintf(line, 1024, "%.*s", (int)n, *text);
		*text += n + 1;
	} while (strstr(line, "rdma_scrape_duration") == line ||
		 strstr(line, "rdma_device_last_query") == line);
	return true;
}

/* Whether the exporter that has followed all changes says what one says that is started now. SURE:
 * fails if not. */
static bool follows(const Fixture *f, bool sure)
{
	_cleanup_free_ char *is = NULL, *expected = NULL;
	char line[1024], expected_line[1024];
	const char *at, *expected_at;
	Exporter other;

	exporter_start(&other, f, NULL);
	expected_at = expected = client_scrape(&other);
	exporter_stop(&other);
	at = is = client_scrape(&exporter);
	while (next_line(&expected_at, expected_line)) {
		if (next_line(&at, line) && streq(line, expected_line))
			continue;
		if (sure)
			assert_string_equal(line, expected_line);
		return false;
	}
	assert_false(next_line(&at, line));
	return true;
}

/* A change may come in between: what rdmad judges of the last one, for example. */
static void assert_follows(const Fixture *f)
{
	for (unsigned int tries = 0; tries < 20; tries++)
		if (follows(f, false))
			return;
	assert_true(follows(f, true));
}

/* What the record in the memory has is taken from there, and rdmad is asked for the rest. */
static void test_follows(void **state)
{
	static const char *const settings[] = {
		"mlx5_0/1 lid=18",
		"mlx5_0/1 sm_lid=5 sm_sl=3",
		"mlx5_0/1 lmc=2 lid=40",
		"mlx5_0/2 subnet_timeout=20",
		"mlx5_0/1 active_mtu=2048",
		"mlx5_0/2 active_width=1",
		"mlx5_0/2 active_speed=EDR",
		"mlx5_0/1 state=down phys_state=polling",
		"mlx5_0/1 state=init phys_state=link-up",
		"mlx5_0/1 state=active",
		"mlx5_0/2 lid=",
		"mlx5_0/2 bad_pkey_cntr=7 lid=77",
		"rocep1/1 active_mtu=1024",
		"mlx5_0 fw_ver=9.9.9",
	};
	Fixture *f = *state;

	scrape_line(ACTIVE);
	assert_follows(f);
	for (size_t i = 0; i < ARRAY_SIZE(settings); i++) {
		char command[128];

		snprintf(command, sizeof(command), "set %s", settings[i]);
		fixture_simulate(f, command);
		sd_bus_message_unref(fixture_call(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER,
						  "Refresh", NULL, "a{sv}", 0));
		assert_follows(f);
	}
}

/* A device comes, is renamed, and goes. */
static void test_devices(void **state)
{
	Fixture *f = *state;

	scrape_line(UP);
	fixture_simulate(f, "add mlx5_9 protocol=infiniband");
	fixture_wait_signal(f, NULL, "InterfacesAdded");
	scrape_line("rdma_port_stale{device=\"mlx5_9\",port=\"1\"} 0");
	fixture_forget(f);
	fixture_simulate(f, "rename mlx5_9 ib9");
	fixture_wait_signal(f, NULL, "PropertiesChanged");
	fixture_barrier(f);
	scrape_line("rdma_port_stale{device=\"ib9\",port=\"1\"} 0");
	fixture_simulate(f, "remove ib9");
	fixture_wait_signal(f, NULL, "InterfacesRemoved");
	fixture_barrier(f);
	{
		_cleanup_free_ char *text = client_scrape(&exporter);

		assert_null(strstr(text, "ib9"));
	}
}

/* rdmad is not there, comes, is killed, comes again, ends properly. */
static void test_absent(void **state)
{
	Fixture *f = *state;

	assert_down();
	fixture_start_daemon(f, scenario, NULL);
	scrape_line(ACTIVE);
	assert_int_equal(fixture_stop_daemon(f, SIGKILL), -SIGKILL);
	assert_down();
	fixture_start_daemon(f, scenario, NULL);
	scrape_line(ACTIVE);
	scrape_line(ACTIVE);
	assert_int_equal(fixture_stop_daemon(f, SIGTERM), 0);
	assert_down();
	assert_down();
}

/* The bus goes, and comes again. */
static void test_no_bus(void **state)
{
	Fixture *f = *state;

	scrape_line(ACTIVE);
	fixture_stop_daemon(f, SIGTERM);
	fixture_stop_bus(f);
	assert_down();
	fixture_start_bus(f);
	fixture_connect(f);
	assert_down();
	fixture_start_daemon(f, scenario, NULL);
	scrape_line(ACTIVE);
}

/* rdmad does not answer: that is found out, and what it showed before is not shown any more. */
static void test_stopped(void **state)
{
	Fixture *f = *state;

	scrape_line(ACTIVE);
	assert_int_equal(kill(f->daemon_pid, SIGSTOP), 0);
	sleep(1); /* the counters are older than a second: rdmad has to be asked */
	assert_down();
	assert_int_equal(kill(f->daemon_pid, SIGCONT), 0);
	fixture_barrier(f);
	scrape_line(ACTIVE);
}

/* A device hangs. Before rdmad knows it, only its counters are missing. When rdmad knows it, that
 * is shown, and the other values are the last ones. */
static void test_hung(void **state)
{
	Fixture *f = *state;
	_cleanup_free_ char *before = NULL, *after = NULL;

	scrape_line(UP);
	fixture_simulate(f, "stall mlx5_0");
	sleep(1); /* as above */
	before = client_scrape(&exporter);
	assert_line(before, ACTIVE);
	assert_null(strstr(before, COUNTED));
	assert_non_null(strstr(before, COUNTED_2));
	while (fixture_changed(fixture_wait_signal(f, PORT_1, "PropertiesChanged"),
			       RDMAD_INTERFACE_PORT, "Stale") != 1) {
		fixture_forget(f);
	}
	after = client_scrape(&exporter);
	assert_line(after, STALE);
	assert_line(after, ACTIVE);
	assert_null(strstr(after, COUNTED));
	assert_non_null(strstr(after, COUNTED_2));
	fixture_forget(f);
	fixture_simulate(f, "unstall mlx5_0");
	fixture_wait_signal(f, PORT_1, "PropertiesChanged");
	fixture_barrier(f);
	scrape_line(FRESH);
}

/* Somebody listens at the address of the bus, and says nothing: the bus itself has stopped. */
static void test_silent_bus(void **state)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	Fixture silent = *(const Fixture *)*state;
	_cleanup_free_ char *text = NULL;
	Exporter other;

	assert_true(fd >= 0);
	snprintf(a.sun_path, sizeof(a.sun_path), "%s/silent", silent.directory);
	assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(listen(fd, 4), 0);
	snprintf(silent.address, sizeof(silent.address), "unix:path=%s", a.sun_path);
	exporter_start(&other, &silent, NULL);
	text = client_scrape(&other);
	assert_line(text, DOWN);
	exporter_stop(&other);
	close(fd);
	(void)unlink(a.sun_path);
}

/* Calls */

typedef struct Calls {
	sd_bus *bus;
	unsigned int objects, one, counters, all; /* ONE: for the values of one object */
} Calls;

/* Starts to listen to all calls of rdmad. */
static void calls_begin(Calls *c, const Fixture *f)
{
	assert_true(sd_bus_new(&c->bus) >= 0);
	assert_true(sd_bus_set_address(c->bus, f->address) >= 0);
	assert_true(sd_bus_set_bus_client(c->bus, true) >= 0);
	assert_true(sd_bus_set_monitor(c->bus, true) >= 0);
	assert_true(sd_bus_start(c->bus) >= 0);
	assert_true(sd_bus_call_method(c->bus, "org.freedesktop.DBus", "/org/freedesktop/DBus",
				       "org.freedesktop.DBus.Monitoring", "BecomeMonitor", NULL,
				       NULL, "asu", 1,
				       "type='method_call',path_namespace='/org/rdma'", 0) >= 0);
}

/* Counts until the call of Ping that comes now. */
static void calls_end(Calls *c, Fixture *f)
{
	bool found = false;

	sd_bus_message_unref(
		fixture_call(f, RDMAD_ROOT_PATH, "org.freedesktop.DBus.Peer", "Ping", NULL, ""));
	while (!found) {
		_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
		int r = sd_bus_process(c->bus, &m);

		assert_true(r >= 0);
		if (r == 0)
			assert_true(sd_bus_wait(c->bus, 60 * USEC_PER_SEC) > 0);
		if (!m)
			continue;
		found = sd_bus_message_is_method_call(m, NULL, "Ping");
		c->objects += sd_bus_message_is_method_call(m, NULL, "GetManagedObjects") > 0;
		c->one += sd_bus_message_is_method_call(m, NULL, "GetAll") > 0;
		c->counters += sd_bus_message_is_method_call(m, NULL, "GetCounters") > 0;
		c->all++;
	}
	sd_bus_close_unref(c->bus);
}

static uint64_t since_sec(uint64_t begin)
{
	return (fixture_now_usec() - begin) / USEC_PER_SEC;
}

/* While nothing changes, rdmad is only asked for counters, once a second. */
static void test_calls(void **state)
{
	Fixture *f = *state;
	uint64_t begin;
	Calls calls = {};

	scrape_line(ACTIVE);
	calls_begin(&calls, f);
	begin = fixture_now_usec();
	for (unsigned int i = 0; i < 200; i++)
		scrape_line(ACTIVE);
	calls_end(&calls, f);
	assert_int_equal(calls.objects, 0);
	assert_in_range(calls.counters, 0, 1 + since_sec(begin));
}

/* The ports change all the time, and somebody scrapes all the time: rdmad is asked for the port
 * that changes, and not more than it can send (source.c), which is one question in 20 ms for no
 * ports, and in more for some. */
static void test_changes_all_the_time(void **state)
{
	Fixture *f = *state;
	Calls calls = {};
	uint64_t begin;

	scrape_line(ACTIVE);
	calls_begin(&calls, f);
	begin = fixture_now_usec();
	for (unsigned int i = 0; i < 100; i++) {
		fixture_simulate(f, i % 2 ? "set mlx5_0/2 state=down event=port-error"
					  : "set mlx5_0/2 state=active event=port-active");
		scrape_line(ACTIVE);
	}
	calls_end(&calls, f);
	assert_in_range(calls.one, 2, 2 + (fixture_now_usec() - begin) / 20000);
	assert_int_equal(calls.objects, 0);
}

/* The record of the port in the memory has its LID, and what changes with that: rdmad is not asked
 * for the port. */
static void test_change_in_memory(void **state)
{
	Fixture *f = *state;
	Calls calls = {};

	scrape_line(ACTIVE);
	calls_begin(&calls, f);
	for (unsigned int i = 100; i < 103; i++) {
		char text[128];

		fixture_forget(f);
		snprintf(text, sizeof(text), "set mlx5_0/1 lid=%u event=lid-change", i);
		fixture_simulate(f, text);
		fixture_wait_signal(f, PORT_1, "SubnetReconfigured");
		snprintf(text, sizeof(text), "rdma_port_lid{device=\"mlx5_0\",port=\"1\"} %u", i);
		scrape_line(text);
	}
	calls_end(&calls, f);
	assert_int_equal(calls.one, 0);
	assert_int_equal(calls.objects, 0);
}

/* Scrapes until LINE is there, or is not: counters are read once a second. */
static void wait_line(const char *line, bool there)
{
	for (uint64_t begin = fixture_now_usec(); fixture_now_usec() - begin < 60 * USEC_PER_SEC;) {
		_cleanup_free_ char *text = client_scrape(&exporter);

		if ((strstr(text, line) != NULL) == there)
			return;
		usleep(50000);
	}
	fail_msg("%s is %sthere", line, there ? "not " : "");
}

#define ERRORS	 "rdma_port_rcv_errors_total{device=\"mlx5_0\",port=\"1\"} "
#define INVENTED "rdma_port_hw_invented{device=\"mlx5_0\",port=\"1\"} "

/* Counters grow and go without any change of the objects, which are not asked for again. */
static void test_counters(void **state)
{
	Fixture *f = *state;
	Calls calls = {};

	scrape_line(ACTIVE);
	scrape_line(ACTIVE);
	calls_begin(&calls, f);
	fixture_simulate(f, "set mlx5_0/1 counter.port_rcv_errors=5 hw_counter.invented=7");
	wait_line(ERRORS "5\n", true);
	scrape_line(INVENTED "7");
	fixture_simulate(f, "set mlx5_0/1 counter.port_rcv_errors= hw_counter.invented=8");
	wait_line(ERRORS, false);
	scrape_line(INVENTED "8");
	fixture_simulate(f, "set mlx5_0/1 counter.port_rcv_errors=6 hw_counter.invented=");
	wait_line(ERRORS "6\n", true);
	wait_line(INVENTED, false);
	calls_end(&calls, f);
	assert_int_equal(calls.objects, 0);
}

/* Those who ask at the same time share the answer. */
static void test_together(void **state)
{
	enum { N = 200 };
	static const char request[] = "GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n";
	Fixture *f = *state;
	Calls calls = {};
	uint64_t begin;
	int fds[N];

	for (unsigned int i = 0; i < N; i++)
		fds[i] = client_connect(&exporter, 1);
	calls_begin(&calls, f);
	begin = fixture_now_usec();
	for (unsigned int i = 0; i < N; i++)
		assert_true(client_send(fds[i], request));
	for (unsigned int i = 0; i < N; i++) {
		_cleanup_reply_ Reply r = {};

		client_read(fds[i], false, &r);
		assert_int_equal(r.status, 200);
		assert_line(r.body, ACTIVE);
		close(fds[i]);
	}
	calls_end(&calls, f);
	assert_in_range(calls.counters, 1, 1 + since_sec(begin));
	assert_int_equal(calls.objects, 1);
}

/* It ends by itself, but not while somebody is connected. */
static void test_idle(void **state)
{
	Exporter idle;
	int fd;

	exporter_start(&idle, *state, (const char *const[]){"--idle=1", NULL});
	free(client_scrape(&idle));
	fd = client_connect(&idle, 1);
	sleep(2);
	{
		_cleanup_reply_ Reply r = {};

		assert_true(client_send(fd, "GET / HTTP/1.0\r\n\r\n"));
		client_read(fd, false, &r);
		assert_int_equal(r.status, 200);
	}
	close(fd);
	assert_int_equal(fixture_wait_process(idle.pid), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_all, setup, teardown),
		cmocka_unit_test_setup_teardown(test_formats, setup, teardown),
		cmocka_unit_test_setup_teardown(test_keep, setup, teardown),
		cmocka_unit_test_setup_teardown(test_pieces, setup, teardown),
		cmocka_unit_test_setup_teardown(test_clients, setup, teardown),
		cmocka_unit_test_setup_teardown(test_change, setup, teardown),
		cmocka_unit_test_setup_teardown(test_follows, setup, teardown),
		cmocka_unit_test_setup_teardown(test_devices, setup, teardown),
		cmocka_unit_test_setup_teardown(test_absent, setup_absent, teardown),
		cmocka_unit_test_setup_teardown(test_no_bus, setup, teardown),
		cmocka_unit_test_setup_teardown(test_silent_bus, setup_absent, teardown),
		cmocka_unit_test_setup_teardown(test_stopped, setup, teardown),
		cmocka_unit_test_setup_teardown(test_hung, setup, teardown),
		cmocka_unit_test_setup_teardown(test_calls, setup, teardown),
		cmocka_unit_test_setup_teardown(test_changes_all_the_time, setup, teardown),
		cmocka_unit_test_setup_teardown(test_change_in_memory, setup, teardown),
		cmocka_unit_test_setup_teardown(test_counters, setup, teardown),
		cmocka_unit_test_setup_teardown(test_together, setup, teardown),
		cmocka_unit_test_setup_teardown(test_idle, setup, teardown),
	};

	return cmocka_run_group_tests_name("scrape", tests, NULL, NULL);
}
