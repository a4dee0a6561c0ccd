/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Port.GetUsers() of the real daemon on a scenario: what root sees, what another user sees, and
 * what changes.
 */

#include "fixture.h"

#define PORT "/org/rdma/device/3/port/1"
#define IDLE "/org/rdma/device/3/port/2"

#define NOBODY "65534"

static const char scenario[] =
	"[device mlx5_0]\n"
	"index = 3\n"
	"protocol = infiniband\n"
	"ports = 2\n"
	"[port mlx5_0/1]\n"
	"user.4711 = 8 1000 train /system.slice/slurmstepd.scope/job_77/step_0/user/task_0\n"
	"user.4712 = 3 " NOBODY " worker /system.slice/nginx.service\n"
	"user.4713 = 1\n"
	"user.0 = 5\n"
	"kernel_user.ib_core = 2\n";

#define FORGER "/user.slice/user-64200.slice/user@64200.service/"

/* What a user can call his control groups and himself; each of them has one QP. */
static const char forged[] =
	"[device mlx5_0]\n"
	"index = 3\n"
	"protocol = infiniband\n"
	"[port mlx5_0/1]\n"
	"user.1 = 1 64200 x " FORGER "app.slice/job_4711\n"
	"user.2 = 1 64200 x " FORGER "app.slice/slurmd.service\n"
	"user.3 = 1 64200 x " FORGER
	"kubepods.slice/kubepods-pod7f2b1c34_0d5e_4a67_8b9c_0123456789ab.slice/a.scope\n"
	"user.4 = 1 64200 x " FORGER "system.slice/slurmstepd.scope/job_4711/step_0\n"
	"user.5 = 1 64200 x " FORGER "a.service(1);job_4711.service\n"
	"user.6 = 1 64200 job /user/alice/0/slurmd.service\n"
	"user.7 = 1 64200 job(4);x /user/alice/0/job_4711\n";

typedef struct Seen {
	unsigned int n;	     /* entries */
	uint32_t train_qps;  /* of the process 4711 */
	char job[16];	     /* of the same */
	uint32_t worker_qps; /* of the process 4712 */
	char unit[32];	     /* of the same */
	uint32_t kernel_qps, unknown_qps, bare_qps;
	uint32_t bare_uid;
	uint32_t qps, processes, hidden_qps, hidden_processes;
} Seen;

static int setup(void **state)
{
	return fixture_setup_daemon(state, scenario);
}

static int setup_forged(void **state)
{
	return fixture_setup_daemon(state, forged);
}

/* The text KEY in the tail that comes next in M. */
static int read_tail(sd_bus_message *m, const char *key, char *ret, size_t size)
{
	const char *name, *text;
	int r = sd_bus_message_enter_container(m, 'a', "{sv}");

	ret[0] = '\0';
	while (r >= 0 && (r = sd_bus_message_enter_container(m, 'e', "sv")) > 0) {
		r = sd_bus_message_read(m, "s", &name);
		if (r >= 0)
			r = sd_bus_message_read(m, "v", "s", &text);
		if (r >= 0 && streq(name, key))
			text_copy(ret, size, text);
		if (r >= 0)
			r = sd_bus_message_exit_container(m);
	}
	return r < 0 ? r : sd_bus_message_exit_container(m);
}

static int read_user(sd_bus_message *m, Seen *s)
{
	const char *kind, *name;
	uint32_t pid, uid, qps;
	char text[64];
	int r = sd_bus_message_read(m, "ssuuu", &kind, &name, &pid, &uid, &qps);

	if (r < 0)
		return r;
	r = read_tail(m, pid == 4711 ? "Job" : "Unit", text, sizeof(text));
	s->n++;
	if (streq(kind, "kernel") && streq(name, "ib_core")) {
		s->kernel_qps = qps;
	} else if (streq(kind, "unknown")) {
		s->unknown_qps = qps;
	} else if (pid == 4711 && streq(name, "train") && uid == 1000) {
		s->train_qps = qps;
		text_copy(s->job, sizeof(s->job), text);
	} else if (pid == 4712 && streq(name, "worker")) {
		s->worker_qps = qps;
		text_copy(s->unit, sizeof(s->unit), text);
	} else if (pid == 4713) {
		s->bare_qps = qps;
		s->bare_uid = uid;
	} else {
		return -EBADMSG;
	}
	return r;
}

static int read_counts(sd_bus_message *m, Seen *s)
{
	const char *name;
	int r = sd_bus_message_enter_container(m, 'a', "{sv}");

	while (r >= 0 && (r = sd_bus_message_enter_container(m, 'e', "sv")) > 0) {
		uint32_t *to = NULL;

		r = sd_bus_message_read(m, "s", &name);
		if (r >= 0)
			to = streq(name, "QpCount")		 ? &s->qps
			     : streq(name, "ProcessCount")	 ? &s->processes
			     : streq(name, "HiddenQpCount")	 ? &s->hidden_qps
			     : streq(name, "HiddenProcessCount") ? &s->hidden_processes
								 : NULL;
		if (r >= 0)
			r = to ? sd_bus_message_read(m, "v", "u", to) : sd_bus_message_skip(m, "v");
		if (r >= 0)
			r = sd_bus_message_exit_container(m);
	}
	return r;
}

static int get(sd_bus *bus, const char *path, Seen *ret)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	int r = sd_bus_call_method(bus, RDMAD_BUS_NAME, path, RDMAD_INTERFACE_PORT, "GetUsers",
				   NULL, &m, "a{sv}", 0);

	*ret = (Seen){};
	if (r >= 0)
		r = sd_bus_message_enter_container(m, 'a', "(ssuuua{sv})");
	while (r >= 0 && (r = sd_bus_message_enter_container(m, 'r', "ssuuua{sv}")) > 0) {
		r = read_user(m, ret);
		if (r >= 0)
			r = sd_bus_message_exit_container(m);
	}
	if (r >= 0)
		r = sd_bus_message_exit_container(m);
	return r < 0 ? r : read_counts(m, ret);
}

static void test_root(void **state)
{
	Fixture *f = *state;
	Seen s;

	if (!fixture_can_be_other_user())
		skip();
	assert_true(get(f->bus, PORT, &s) >= 0);
	assert_int_equal(s.n, 5);
	assert_int_equal(s.train_qps, 8);
	assert_string_equal(s.job, "77");
	assert_int_equal(s.worker_qps, 3);
	assert_string_equal(s.unit, "nginx.service");
	assert_int_equal(s.bare_qps, 1);
	assert_int_equal(s.bare_uid, UINT32_MAX);
	assert_int_equal(s.kernel_qps, 2);
	assert_int_equal(s.unknown_qps, 5);
	assert_int_equal(s.qps, 19);
	assert_int_equal(s.processes, 3);
	assert_int_equal(s.hidden_qps, 0);
	assert_int_equal(s.hidden_processes, 0);
	assert_true(get(f->bus, IDLE, &s) >= 0);
	assert_int_equal(s.n, 0);
	assert_int_equal(s.qps, 0);
}

/* Its own process, the kernel, and how many there are; not one of which nobody knows the user. */
static int look_as_nobody(sd_bus *bus)
{
	Seen s;
	int r = get(bus, PORT, &s);

	if (r < 0 || s.n != 3 || s.worker_qps != 3 || s.kernel_qps != 2 || s.unknown_qps != 5)
		return 10;
	if (s.train_qps || s.bare_qps || !streq(s.unit, "nginx.service"))
		return 11;
	return s.qps == 19 && s.processes == 3 && s.hidden_qps == 9 && s.hidden_processes == 2 ? 0
											       : 12;
}

static void test_other_user(void **state)
{
	Fixture *f = *state;

	if (!fixture_can_be_other_user())
		skip();
	fixture_as_nobody(f, look_as_nobody);
}

/* An answer is one second old at most. */
static void test_change(void **state)
{
	Fixture *f = *state;
	Seen s;

	assert_true(get(f->bus, IDLE, &s) >= 0);
	fixture_simulate(f, "set mlx5_0/2 kernel_user.ib_core=64");
	for (unsigned int i = 0; i < 1000 && s.qps != 64; i++) {
		usleep(10000);
		assert_true(get(f->bus, IDLE, &s) >= 0);
	}
	assert_int_equal(s.qps, 64);
	fixture_simulate(f, "set mlx5_0/2 kernel_user.ib_core=");
}

/* The last transition of the port has in its tail how many queue pairs there were, of how many
 * processes. */
static void assert_in_history(Fixture *f, const char *expected)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply =
		fixture_call(f, PORT, RDMAD_INTERFACE_PORT, "GetHistory", NULL, "a{sv}", 0);
	_cleanup_free_ char *text = NULL;
	size_t size = 0, n = 0;
	FILE *stream = open_memstream(&text, &size);

	assert_non_null(stream);
	assert_true(sd_bus_message_dump(reply, stream, SD_BUS_MESSAGE_DUMP_SUBTREE_ONLY) >= 0);
	assert_int_equal(fclose(stream), 0);
	/* what comes behind another, without white space */
	for (size_t i = 0; i < size; i++)
		if (!strchr(" \t\n", text[i]))
			text[n++] = text[i];
	text[n] = '\0';
	if (!strstr(text, expected))
		fail_msg("not in the history: %s\n%s", expected, text);
}

static void await_log(const Fixture *f, const char *expected)
{
	_cleanup_free_ char *log = fixture_daemon_log(f);

	for (unsigned int i = 0; i < 6000 && !strstr(log, expected); i++) {
		usleep(10000);
		free(log);
		log = fixture_daemon_log(f);
	}
	if (!strstr(log, expected))
		fail_msg("not in the log: %s\n%s", expected, log);
}

/* The journal and the history say who was on a port that goes down. */
static void test_link_down(void **state)
{
	static const char expected[] =
		"mlx5_0/1: went down under 17 QPs of 3 processes: job 77 (8), "
		"nginx.service (3), process 4713 (1)";
	Fixture *f = *state;

	fixture_simulate(f, "set mlx5_0/1 state=down event=port-error");
	await_log(f, expected);
	assert_in_history(f, "\"Qps\";VARIANT\"u\"{UINT3217;");
	assert_in_history(f, "\"Processes\";VARIANT\"u\"{UINT323;");
}

/* Nobody names his own job. */
static void test_forged(void **state)
{
	static const char expected[] =
		"mlx5_0/1: went down under 7 QPs of 7 processes: user@64200.service (2), "
		"user@64200.service/slurmd.service (1), user@64200.service/a.scope (1), "
		"user@64200.service/slurmstepd.scope (1), process 6 job (1), process 7 (1)\n";
	Fixture *f = *state;

	fixture_simulate(f, "set mlx5_0/1 state=down event=port-error");
	await_log(f, expected);
}

/* The device hangs: that is said, and nobody waits. */
static void test_hung(void **state)
{
	_cleanup_free_ char *error = NULL;
	Fixture *f = *state;

	fixture_simulate(f, "stall mlx5_0");
	assert_null(fixture_call(f, IDLE, RDMAD_INTERFACE_PORT, "Query", &error, "a{sv}", 0));
	free(steal_pointer(&error));
	assert_null(fixture_call(f, PORT, RDMAD_INTERFACE_PORT, "GetUsers", &error, "a{sv}", 0));
	assert_string_equal(error, RDMAD_ERROR_DEVICE_TIMEOUT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_root, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_other_user, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_change, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_link_down, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_forged, setup_forged, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_hung, setup, fixture_teardown),
	};

	return cmocka_run_group_tests_name("users", tests, NULL, NULL);
}
