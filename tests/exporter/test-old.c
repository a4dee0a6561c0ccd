/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A rdmad that has no GetCounterValues(): the exporter calls GetAllCounters(). */

#include <signal.h>
#include <sys/wait.h>

#include "exporter.h"

#define PORT "/org/rdma/device/3/port/1"
#define LINE "rdma_port_symbol_error_total{device=\"mlx5_0\",port=\"1\"} "

/* Counts: the value of each reply is larger by one. */
static uint64_t n_replies;

static int on_call(sd_bus_message *m, _unused_ void *userdata, _unused_ sd_bus_error *error)
{
	if (sd_bus_message_is_method_call(m, NULL, "GetManagedObjects"))
		return sd_bus_reply_method_return(m, "a{oa{sa{sv}}}", 1, PORT, 1, "org.rdma.Port",
						  1, "DeviceName", "s", "mlx5_0");
	if (sd_bus_message_is_method_call(m, NULL, "GetAllCounters"))
		return sd_bus_reply_method_return(m, "a(oa(sstsssa{sv})tta{sv})", 1, PORT, 1,
						  "counters", "symbol_error", ++n_replies, "events",
						  "valid", "", 0, UINT64_C(1), UINT64_C(2), 0);
	if (sd_bus_message_is_method_call(m, RDMAD_INTERFACE_MANAGER, NULL))
		return sd_bus_reply_method_errorf(m, SD_BUS_ERROR_UNKNOWN_METHOD,
						  "Unknown method %s",
						  sd_bus_message_get_member(m));
	return 0;
}

/* Has the name of rdmad, and says so to READY. */
static _Noreturn void serve(const Fixture *f, int ready)
{
	sd_bus *bus = fixture_client(f);
	int r = sd_bus_add_filter(bus, NULL, on_call, NULL);

	if (r >= 0)
		r = sd_bus_request_name(bus, RDMAD_BUS_NAME, 0);
	if (r >= 0)
		r = write(ready, "", 1) == 1 ? 0 : -EIO;
	while (r >= 0) {
		r = sd_bus_process(bus, NULL);
		if (r == 0)
			r = sd_bus_wait(bus, UINT64_MAX);
	}
	_exit(1);
}

static pid_t start(const Fixture *f)
{
	int ready[2];
	pid_t pid;
	char byte;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		serve(f, ready[1]);
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return pid;
}

/* The first scrape has the counters, and after a second so has another one, with later values. */
static void test_old(void **state)
{
	Fixture *f = *state;
	pid_t pid = start(f);
	uint64_t begin = fixture_now_usec();
	bool later = false;
	Exporter exporter;

	exporter_start(&exporter, f, (const char *const[]){"--idle=0", NULL});
	while (!later && fixture_now_usec() - begin < 60 * USEC_PER_SEC) {
		_cleanup_free_ char *text = client_scrape(&exporter);

		assert_non_null(strstr(text, LINE));
		later = !has_line(text, LINE "1");
	}
	assert_true(later);
	exporter_stop(&exporter);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_old, fixture_setup, fixture_teardown),
	};

	return cmocka_run_group_tests_name("old", tests, NULL, NULL);
}
