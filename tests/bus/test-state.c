/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Histories that are kept in a directory: they are there after rdmad was ended or killed, and
 * nothing about the directory keeps it from starting. */

#include <signal.h>
#include <sys/stat.h>

#include "fixture.h"

static const char scenario[] = "[device mlx5_0]\nindex = 3\nprotocol = infiniband\n"
			       "[device mlx5_1]\nindex = 4\nprotocol = infiniband\n";

#define PORT "/org/rdma/device/3/port/1"

static void start(Fixture *f, const char *text)
{
	char option[128];
	const char *const options[] = {option, NULL};

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
	assert_null(fixture_call(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "GetHistory",
				 &error, "sa{sv}", "mlx5_0/1", 0));
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

/* However it is killed, it starts again with the first transitions that there were. */
static void test_killed(void **state)
{
	Fixture *f = *state;
	_cleanup_free_ char *known = NULL;
	unsigned int seed = 1;

	for (unsigned int life = 0; life < 8; life++) {
		_cleanup_free_ char *before = known, *is = NULL;

		start(f, scenario);
		is = history(f, "mlx5_0/1");
		if (before && strlen(before) < 600)
			assert_true(startswith(is, strndupa(before, strcspn(before, " "))));
		for (unsigned int i = (unsigned int)rand_r(&seed) % 6; i > 0; i--) {
			change(f, "set mlx5_0/1 state=down event=port-error");
			change(f, "set mlx5_0/1 state=active event=port-active");
		}
		known = history(f, "mlx5_0/1");
		fixture_stop_daemon(f, SIGKILL);
	}
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_restart, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_reboot, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_rates, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_killed, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_obstacles, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_not_told, setup, fixture_teardown),
	};

	return cmocka_run_group_tests_name("state", tests, NULL, NULL);
}
