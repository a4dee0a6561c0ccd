/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* rdmad-processes on a bus: what it says of a process and of its threads, and what it refuses. */

#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fixture.h"

#define NAME "org.rdma.Processes"
#define PATH "/org/rdma/processes"

static pid_t helper;

static int setup(void **state)
{
	Fixture *f;
	int r = fixture_setup(state);

	if (r != 0)
		return r;
	f = *state;
	helper = fork();
	assert_true(helper >= 0);
	if (helper == 0) {
		setenv("DBUS_SYSTEM_BUS_ADDRESS", f->address, true);
		execl(TEST_BUILD_DIR "/daemon/rdmad-processes", "rdmad-processes", NULL);
		_exit(127);
	}
	return 0;
}

static int teardown(void **state)
{
	kill(helper, SIGTERM);
	assert_int_equal(fixture_wait_process(helper), -SIGTERM);
	return fixture_teardown(state);
}

/* The helper may not have its name yet. */
static sd_bus_message *ask(Fixture *f, const uint32_t *threads, size_t n, sd_bus_error *error)
{
	sd_bus_message *reply = NULL;

	for (unsigned int i = 0; i < 1000; i++) {
		_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
		int r = sd_bus_message_new_method_call(f->bus, &m, NAME, PATH, NAME, "Describe");

		assert_true(r >= 0);
		r = sd_bus_message_append_array(m, 'u', threads, n * sizeof(*threads));
		assert_true(r >= 0);
		sd_bus_error_free(error);
		r = sd_bus_call(f->bus, m, 0, error, &reply);
		if (!sd_bus_error_has_name(error, SD_BUS_ERROR_SERVICE_UNKNOWN) &&
		    !sd_bus_error_has_name(error, SD_BUS_ERROR_NAME_HAS_NO_OWNER))
			return r < 0 ? NULL : reply;
		usleep(10000);
	}
	fail_msg("no " NAME);
	return NULL;
}

static void *thread_main(void *userdata)
{
	int *pipe_fds = userdata;
	uint32_t tid = (uint32_t)syscall(SYS_gettid);
	char end;

	assert_int_equal(write(pipe_fds[1], &tid, sizeof(tid)), sizeof(tid));
	/* until the test has asked about this thread */
	assert_int_equal(read(pipe_fds[2], &end, 1), 0);
	return NULL;
}

static void test_describe(void **state)
{
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	/* the last one is more than there can be */
	uint32_t threads[3] = {(uint32_t)getpid(), 0, 5000000}, thread, pid, uid;
	int fds[4];
	const char *name, *cgroup;
	uint64_t started;
	pthread_t t;

	assert_int_equal(pipe(fds), 0);
	assert_int_equal(pipe(fds + 2), 0);
	assert_int_equal(pthread_create(&t, NULL, thread_main, fds), 0);
	assert_int_equal(read(fds[0], &threads[1], sizeof(threads[1])), sizeof(threads[1]));
	m = ask(*state, threads, 3, &error);
	assert_non_null(m);
	assert_true(sd_bus_message_enter_container(m, 'a', "(uuutss)") > 0);
	for (unsigned int i = 0; i < 2; i++) {
		assert_true(sd_bus_message_read(m, "(uuutss)", &thread, &pid, &uid, &started, &name,
						&cgroup) > 0);
		assert_int_equal(thread, threads[i]);
		assert_int_equal(pid, getpid());
		assert_int_equal(uid, getuid());
		assert_true(started > 0);
		assert_string_equal(name, "test-processes");
		assert_int_equal(cgroup[0], '/');
	}
	assert_true(sd_bus_message_at_end(m, false) > 0);
	close(fds[3]);
	assert_int_equal(pthread_join(t, NULL), 0);
}

static void test_too_many(void **state)
{
	static uint32_t threads[4097];
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *none = NULL;

	assert_null(ask(*state, threads, ARRAY_SIZE(threads), &error));
	assert_true(sd_bus_error_has_name(&error, SD_BUS_ERROR_LIMITS_EXCEEDED));
	none = ask(*state, threads, 0, &error);
	assert_non_null(none);
	/* the most that may be asked at once; no process has the number 0 */
	sd_bus_message_unref(none);
	none = ask(*state, threads, ARRAY_SIZE(threads) - 1, &error);
	assert_non_null(none);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_describe, setup, teardown),
		cmocka_unit_test_setup_teardown(test_too_many, setup, teardown),
	};

	return cmocka_run_group_tests_name("processes", tests, NULL, NULL);
}
