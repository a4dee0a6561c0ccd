/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Histories that are kept in a directory: they are there after rdmad was ended or killed, and
 * nothing about the directory keeps it from starting. */

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "fixture.h"

static const char scenario[] = "[device mlx5_0]\nindex = 3\nprotocol = infiniband\n"
			       "[device mlx5_1]\nindex = 4\nprotocol = infiniband\n";

#define PORT "/org/rdma/device/3/port/1"

static void start(Fixture *f, const char *text)
{
	char option[128];
	/* each transition would be a message */
	const char *const options[] = {option, "--log-level=warning", NULL};

	snprintf(option, sizeof(option), "--state=%s/state", f->directory);
	fixture_start_daemon(f, text, options);
	fixture_connect(f);
}

static int setup(void **state)
{
	Fixture *f = fixture_new();
	char path[96];

	snprintf(path, sizeof(path), "%s/state", f->directory);
	assert_int_equal(mkdir(path, 0700), 0);
	*state = f;
	return 0;
}

/* Reads the tail of a transition: its Rate, 0 if there is none. */
static uint64_t read_rate(sd_bus_message *m)
{
	uint64_t rate = 0;
	const char *key;

	assert_true(sd_bus_message_enter_container(m, 'a', "{sv}") >= 0);
	while (sd_bus_message_enter_container(m, 'e', "sv") > 0) {
		assert_true(sd_bus_message_read(m, "s", &key) > 0);
		assert_string_equal(key, "Rate");
		assert_true(sd_bus_message_read(m, "v", "t", &rate) > 0);
		sd_bus_message_exit_container(m);
	}
	assert_true(sd_bus_message_exit_container(m) >= 0);
	return rate;
}

/* The transitions of the port called NAME as "FROM>TO FROM>TO", with the rates if WITH_RATES, in
 * Gbit/s, as "FROM>TO:100 FROM>TO". */
static char *read_history(Fixture *f, const char *name, bool with_rates)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = fixture_call(
		f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "GetHistory", NULL, "sa{sv}", name, 0);
	const char *from, *to;
	char *text = NULL;
	size_t size, n = 0;
	uint64_t rate;
	FILE *file = open_memstream(&text, &size);

	assert_non_null(file);
	assert_true(sd_bus_message_enter_container(reply, 'a', "(ttsssa{sv})") >= 0);
	while (sd_bus_message_enter_container(reply, 'r', "ttsssa{sv}") > 0) {
		assert_true(sd_bus_message_read(reply, "ttsss", NULL, NULL, &from, &to, NULL) > 0);
		fprintf(file, "%s%s>%s", n++ ? " " : "", from, to);
		rate = read_rate(reply);
		if (with_rates && rate)
			fprintf(file, ":%llu", (unsigned long long)rate / 1000000000);
		sd_bus_message_exit_container(reply);
	}
	fclose(file);
	return text;
}

static char *history(Fixture *f, const char *name)
{
	return read_history(f, name, false);
}

static void assert_history(Fixture *f, const char *name, const char *expected)
{
	_cleanup_free_ char *is = history(f, name);

	assert_string_equal(is, expected);
}

static void change(Fixture *f, const char *command)
{
	fixture_forget(f);
	fixture_simulate(f, command);
	fixture_wait_signal(f, PORT, "StateChanged");
}

static void test_restart(void **state)
{
	_cleanup_free_ char *error = NULL;
	Fixture *f = *state;

	start(f, scenario);
	change(f, "set mlx5_0/1 state=down event=port-error");
	assert_int_equal(fixture_stop_daemon(f, SIGTERM), 0);
	/* the scenario has it active again, and the other port has not changed */
	start(f, scenario);
	assert_history(f, "mlx5_0/1", "unknown>active active>down down>active");
	assert_history(f, "mlx5_1/1", "unknown>active");
	fixture_assert_property(f, PORT, RDMAD_INTERFACE_PORT, "LinkDownCount", "1");
	fixture_forget(f);
	fixture_simulate(f, "remove mlx5_1");
	fixture_wait_signal(f, RDMAD_ROOT_PATH, "InterfacesRemoved");
	fixture_forget(f);
	fixture_simulate(f, "rename mlx5_0 mlx5_1");
	fixture_wait_signal(f, PORT, "PropertiesChanged");
	assert_int_equal(fixture_stop_daemon(f, SIGTERM), 0);
	/* a history belongs to the name: here that of both */
	start(f, "[device other]\nprotocol = infiniband\n");
	assert_history(f, "mlx5_1/1",
		       "unknown>active active>absent absent>active active>down "
		       "down>active");
	assert_null(fixture_call(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "GetHistory", &error,
				 "sa{sv}", "mlx5_0/1", 0));
	assert_string_equal(error, RDMAD_ERROR_NOT_FOUND);
}

/* After a boot nothing is said of the time between. */
static void test_reboot(void **state)
{
	Fixture *f = *state;

	setenv("RDMAD_BOOT_ID", "00000000000000000000000000000001", 1);
	start(f, scenario);
	change(f, "set mlx5_0/1 state=down event=port-error");
	assert_int_equal(fixture_stop_daemon(f, SIGTERM), 0);
	setenv("RDMAD_BOOT_ID", "00000000000000000000000000000002", 1);
	start(f, scenario);
	unsetenv("RDMAD_BOOT_ID");
	assert_history(f, "mlx5_0/1", "unknown>active active>down unknown>active");
	fixture_assert_property(f, PORT, RDMAD_INTERFACE_PORT, "LinkDownCount", "1");
}

static void assert_rates(Fixture *f, const char *expected)
{
	_cleanup_free_ char *is = read_history(f, "mlx5_0/1", true);

	assert_string_equal(is, expected);
}

/* A transition to active has the highest rate that the port had then, which a restart keeps. */
static void test_rates(void **state)
{
	Fixture *f = *state;

	start(f, scenario);
	assert_rates(f, "unknown>active:400");
	change(f, "set mlx5_0/1 state=down event=port-error");
	change(f, "set mlx5_0/1 state=active active_width=2 event=port-active");
	assert_rates(f, "unknown>active:400 active>down down>active:200");
	for (const char *width = "481"; *width; width++) {
		char command[80];

		snprintf(command, sizeof(command),
			 "set mlx5_0/1 active_width=%c event=speed-change", *width);
		fixture_forget(f);
		fixture_simulate(f, command);
		fixture_wait_signal(f, PORT, "PropertiesChanged");
	}
	assert_rates(f, "unknown>active:400 active>down down>active:800");
	assert_int_equal(fixture_stop_daemon(f, SIGTERM), 0);
	start(f, scenario);
	assert_rates(f, "unknown>active:400 active>down down>active:800");
}

/* Takes the link of PORT down and up again N times, without waiting for anything. */
static void flap(Fixture *f, unsigned int n)
{
	static const char *const commands[] = {"set mlx5_0/1 state=down event=port-error",
					       "set mlx5_0/1 state=active event=port-active"};

	for (unsigned int i = 0; i < 2 * n; i++) {
		_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;

		assert_true(sd_bus_message_new_method_call(f->bus, &m, RDMAD_BUS_NAME,
							   RDMAD_ROOT_PATH, "org.rdma.Simulator",
							   "Run") >= 0);
		assert_true(sd_bus_message_append(m, "sa{sv}", commands[i % 2], 0) >= 0);
		assert_true(sd_bus_message_set_expect_reply(m, false) >= 0);
		assert_true(sd_bus_send(f->bus, m, NULL) >= 0);
	}
	assert_true(sd_bus_flush(f->bus) >= 0);
}

static unsigned int link_downs(Fixture *f)
{
	_cleanup_free_ char *text =
		fixture_property(f, PORT, RDMAD_INTERFACE_PORT, "LinkDownCount");

	return (unsigned int)strtoul(text, NULL, 10);
}

static void wait_link_downs(Fixture *f, unsigned int n)
{
	while (link_downs(f) < n)
		fixture_barrier(f);
}

/* It is killed at random moments until there are 10,000 transitions. It always starts again, with
 * what the file had before and no more than there was; and after it was ended, with all of it. */
static void test_killed(void **state)
{
	unsigned int seed = (unsigned int)fixture_now_usec(), known = 0, lost = 0, lives = 0;
	Fixture *f = *state;

	printf("seed %u\n", seed);
	for (; known < 5000; lives++) {
		unsigned int n = 1 + (unsigned int)rand_r(&seed) % 400, now;
		bool is_killed = rand_r(&seed) % 4 > 0;

		start(f, scenario);
		flap(f, n);
		if (is_killed)
			wait_link_downs(f, known + (unsigned int)rand_r(&seed) % n);
		else
			wait_link_downs(f, known + n);
		assert_int_equal(fixture_stop_daemon(f, is_killed ? SIGKILL : SIGTERM),
				 is_killed ? -SIGKILL : 0);
		start(f, scenario);
		now = link_downs(f);
		assert_in_range(now, is_killed ? known : known + n, known + n);
		lost += known + n - now;
		known = now;
		assert_int_equal(fixture_stop_daemon(f, SIGTERM), 0);
	}
	printf("%u transitions in %u lives; %u more were not there yet, or not in the file\n",
	       2 * known, lives, 2 * lost);
}

static struct stat file_status(const Fixture *f)
{
	char path[96];
	struct stat st;

	snprintf(path, sizeof(path), "%s/state/history", f->directory);
	assert_int_equal(stat(path, &st), 0);
	return st;
}

static unsigned int count_text(const char *text, const char *what)
{
	unsigned int n = 0;

	for (; (text = strstr(text, what)); text += strlen(what))
		n++;
	return n;
}

#define FULL "Cannot write the histories of ports to "

/* Of the file when nothing is half written: that ends at the limit, and is then cut off. */
static struct stat whole_status(const Fixture *f, const struct rlimit *limit)
{
	struct stat st = file_status(f);

	while ((rlim_t)st.st_size == limit->rlim_cur)
		st = file_status(f);
	return st;
}

/* The disk becomes full: it goes on, says so once, and writes everything when there is room again.
 * A limit for the size of files is such a disk. */
static void test_full(void **state)
{
	Fixture *f = *state;
	struct rlimit limit = {.rlim_max = RLIM_INFINITY};
	_cleanup_free_ char *log = NULL, *later = NULL;
	unsigned int n = 50;
	struct stat full;

	start(f, scenario);
	flap(f, n);
	wait_link_downs(f, n);
	/* The limit holds for the log as well, which has to have room for the message of this file
	 * and for that of the record of changes. */
	while (file_status(f).st_size < 2048)
		usleep(10000);
	/* a record never ends there, so that what ends there is half written */
	limit.rlim_cur = (rlim_t)file_status(f).st_size + 1;
	assert_int_equal(prlimit(f->daemon_pid, RLIMIT_FSIZE, &limit, NULL), 0);
	/* what was put before the limit may still be written after it */
	for (log = fixture_daemon_log(f); !strstr(log, FULL); n++) {
		flap(f, 1);
		wait_link_downs(f, n + 1);
		free(log);
		log = fixture_daemon_log(f);
	}
	flap(f, 100);
	n += 100;
	wait_link_downs(f, n);
	/* until it has tried once more: it cuts off what it could not write in full */
	full = whole_status(f, &limit);
	while (whole_status(f, &limit).st_ctim.tv_sec == full.st_ctim.tv_sec)
		usleep(10000);
	assert_int_equal(whole_status(f, &limit).st_size, full.st_size);
	limit.rlim_cur = RLIM_INFINITY;
	assert_int_equal(prlimit(f->daemon_pid, RLIMIT_FSIZE, &limit, NULL), 0);
	while (file_status(f).st_size <= full.st_size)
		usleep(10000);
	later = fixture_daemon_log(f);
	assert_int_equal(count_text(later, FULL), 1);
	assert_int_equal(fixture_stop_daemon(f, SIGTERM), 0);
	start(f, scenario);
	assert_int_equal(link_downs(f), n);
}

static void test_obstacles(void **state)
{
	Fixture *f = *state;
	_cleanup_free_ char *log = NULL;
	char path[96];

	snprintf(path, sizeof(path), "%s/state/history", f->directory);
	assert_int_equal(mkdir(path, 0700), 0);
	start(f, scenario);
	change(f, "set mlx5_0/1 state=down event=port-error");
	assert_history(f, "mlx5_0/1", "unknown>active active>down");
	log = fixture_daemon_log(f);
	assert_non_null(strstr(log, "Cannot keep the histories of ports in "));
}

/* Without the option a simulated daemon keeps nothing, whatever systemd says. */
static void test_not_told(void **state)
{
	Fixture *f = *state;
	char path[96];

	snprintf(path, sizeof(path), "%s/state", f->directory);
	setenv("STATE_DIRECTORY", path, 1);
	fixture_start_daemon(f, scenario, NULL);
	unsetenv("STATE_DIRECTORY");
	assert_int_equal(fixture_stop_daemon(f, SIGTERM), 0);
	assert_int_equal(rmdir(path), 0);
}

/* systemd may give several directories: the first is that of rdmad. */
static void test_several(void **state)
{
	Fixture *f = *state;
	char path[96], directories[128];

	snprintf(path, sizeof(path), "%s/state", f->directory);
	snprintf(directories, sizeof(directories), "%s:/nowhere", path);
	setenv("STATE_DIRECTORY", directories, 1);
	fixture_start_daemon(f, NULL, NULL);
	unsetenv("STATE_DIRECTORY");
	assert_int_equal(fixture_stop_daemon(f, SIGTERM), 0);
	strcat(path, "/history");
	assert_int_equal(access(path, F_OK), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_restart, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_reboot, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_rates, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_killed, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_full, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_obstacles, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_not_told, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_several, setup, fixture_teardown),
	};

	return cmocka_run_group_tests_name("state", tests, NULL, NULL);
}
