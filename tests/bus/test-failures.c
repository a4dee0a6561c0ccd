/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the daemon needs fails: the bus restarts, there are no descriptors, there is no worker, the
 * scenario is no text. It says so, goes on, and recovers; and it can be stopped at any time.
 */

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include "calls.h"
#include "process.h"

#define PORT "/org/rdma/device/0/port/1"

#define SCENARIO "[device mlx5_0]\nprotocol = infiniband\n"

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

static void test_bus_restarts_under_load(void **state)
{
	Fixture *f = *state;
	unsigned int descriptors;

	fixture_start_daemon(f,
			     "[device mlx5_0]\nprotocol = infiniband\nports = 8\n[script]\n"
			     "every 1ms: set mlx5_0/* state=down event=port-error\n"
			     "every 1.3ms: set mlx5_0/* state=active event=port-active\n",
			     NULL);
	calls_refresh(f);
	descriptors = process_count_entries(f->daemon_pid, "fd");
	for (unsigned int i = 0; i < 5; i++) {
		sd_bus *client = fixture_client(f);
		Replies r = {};

		/* Calls that wait for an answer when the bus ends. */
		calls_send(client, PORT, RDMAD_INTERFACE_PORT, "Query", 20, &r);
		calls_send(client, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "Refresh", 20, &r);
		sd_bus_flush(client);
		fixture_stop_bus(f);
		sd_bus_close_unref(client);
		fixture_start_bus(f);
		fixture_connect(f);
		fixture_wait_name(f);
		fixture_wait_signal(f, NULL, "StateChanged");
		calls_refresh(f);
	}
	process_wait_descriptors(f->daemon_pid, descriptors);
}

/* No descriptor is left when the bus comes back: the daemon says so, and is there again when there
 * are some. */
static void test_descriptors_run_out(void **state)
{
	Fixture *f = *state;
	rlim_t before;

	fixture_start_daemon(f, SCENARIO, NULL);
	before = process_max_descriptors(f->daemon_pid);
	process_set_max_descriptors(f->daemon_pid, 3);
	/* What is open already goes on working. */
	calls_refresh(f);
	fixture_stop_bus(f);
	fixture_start_bus(f);
	wait_log(f, "Too many open files");
	process_set_max_descriptors(f->daemon_pid, before);
	fixture_connect(f);
	fixture_wait_name(f);
	fixture_assert_property(f, PORT, RDMAD_INTERFACE_PORT, "State", "active");
}

/* Starts the daemon with room for N descriptors, the three standard ones among them. Its log is
 * empty then. */
static pid_t spawn_with_descriptors(const Fixture *f, rlim_t n)
{
	char bus[160], config[128], path[96];
	int log;
	pid_t pid;

	snprintf(bus, sizeof(bus), "--bus=%s", f->address);
	snprintf(config, sizeof(config), "--config=%s/rdmad.conf", f->directory);
	snprintf(path, sizeof(path), "%s/daemon.log", f->directory);
	log = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(log >= 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		dup2(log, STDERR_FILENO);
		for (int i = 3; i < 64; i++)
			close(i);
		process_set_max_descriptors(getpid(), n);
		alarm(60); /* should the test end before it */
		execl(TEST_BUILD_DIR "/daemon/rdmad", "rdmad", bus, config, NULL);
		_exit(127);
	}
	close(log);
	return pid;
}

/* Waits until the daemon PID has ended or owns its name; then it is stopped and must end well.
 * Returns the status of one that has ended by itself, and else -1. */
static int wait_start(const Fixture *f, pid_t pid)
{
	int status;

	for (;;) {
		_cleanup_free_ char *log = NULL;

		if (waitpid(pid, &status, WNOHANG) == pid)
			return status;
		log = fixture_daemon_log(f);
		if (strstr(log, "Serving")) {
			kill(pid, SIGTERM);
			assert_int_equal(fixture_wait_process(pid), 0);
			return -1;
		}
		usleep(1000);
	}
}

/* Too few descriptors from the start: the daemon ends and says why. */
static void test_no_descriptors_at_start(void **state)
{
	Fixture *f = *state;

	fixture_configure(f, "# nothing\n");
	for (rlim_t n = 5; n < 12; n++) {
		_cleanup_free_ char *log = NULL;
		int status = wait_start(f, spawn_with_descriptors(f, n));

		if (status == -1)
			continue;
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
	calls_refresh(f);
	assert_int_equal(process_count_children(f->daemon_pid), 0);
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
	/* In a value that is a text, each such byte becomes a question mark. */
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

/* SIGTERM comes while calls wait, queries are under way, a device is wedged and changes come. */
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
		calls_send(client, PORT, RDMAD_INTERFACE_PORT, "Query", 100, &r);
		calls_send(client, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "Refresh", 100, &r);
		assert_true(sd_bus_flush(client) >= 0);
		calls_ping(f);
		assert_int_equal(process_count_children(f->daemon_pid), 0);
		assert_int_equal(fixture_stop_daemon(f, SIGTERM), 0);
		/* Each call gets a reply, if only an error from the bus. */
		calls_wait(client, &r, 200);
	}
}

int main(void)
{
#define TEST(t) cmocka_unit_test_setup_teardown(t, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_bus_restarts_under_load), TEST(test_descriptors_run_out),
		TEST(test_no_descriptors_at_start), TEST(test_no_worker),
		TEST(test_scenario_is_no_text),	    TEST(test_stop_at_work),
	};

	return cmocka_run_group_tests_name("failures", tests, NULL, NULL);
}
