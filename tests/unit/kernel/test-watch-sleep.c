/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Suspend and resume, with a logind of our own on a bus of our own. */

#include "test-watch.h"

#include <signal.h>
#include <sys/wait.h>

#include "watch-sleep.h"

typedef struct Fixture {
	pid_t daemon;
	sd_bus *bus, *logind;
	WatchSleep *watch;
	Recorder r;
} Fixture;

static void on_event(void *userdata, const Event *e)
{
	record_event(userdata, e);
}

static void connect_bus(const char *address, sd_bus **ret)
{
	assert_true(sd_bus_new(ret) >= 0);
	assert_true(sd_bus_set_address(*ret, address) >= 0);
	assert_true(sd_bus_set_bus_client(*ret, true) >= 0);
	assert_true(sd_bus_start(*ret) >= 0);
}

static int begin(void **state)
{
	Fixture *f = calloc(1, sizeof(*f));
	char address[256];
	FILE *file;
	int fds[2];

	assert_non_null(f);
	assert_int_equal(pipe(fds), 0);
	f->daemon = fork();
	assert_true(f->daemon >= 0);
	if (f->daemon == 0) {
		char print[32];

		close(fds[0]);
		snprintf(print, sizeof(print), "--print-address=%d", fds[1]);
		execlp("dbus-daemon", "dbus-daemon", "--session", "--nofork", print, NULL);
		_exit(127);
	}
	close(fds[1]);
	file = fdopen(fds[0], "r");
	assert_non_null(file);
	if (fgets(address, sizeof(address), file)) {
		address[strcspn(address, "\n")] = '\0';
		connect_bus(address, &f->bus);
		connect_bus(address, &f->logind);
	}
	fclose(file);
	*state = f;
	return 0;
}

static int end(void **state)
{
	Fixture *f = *state;

	watch_sleep_free(f->watch);
	sd_bus_flush_close_unref(f->bus);
	sd_bus_flush_close_unref(f->logind);
	kill(f->daemon, SIGTERM);
	assert_int_equal(waitpid(f->daemon, NULL, 0), f->daemon);
	free(f);
	return 0;
}

/* What was sent before has arrived when this returns: the bus keeps the order. */
static void settle(Fixture *f)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;

	assert_true(sd_bus_call_method(f->logind, "org.freedesktop.DBus", "/org/freedesktop/DBus",
				       "org.freedesktop.DBus", "GetId", NULL, NULL, "") >= 0);
	assert_true(sd_bus_call_method(f->bus, "org.freedesktop.DBus", "/org/freedesktop/DBus",
				       "org.freedesktop.DBus", "GetId", NULL, &reply, "") >= 0);
	while (sd_bus_process(f->bus, NULL) > 0)
		;
}

static void send_signal(Fixture *f, const char *types, ...)
{
	va_list args;
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;

	assert_true(sd_bus_message_new_signal(f->logind, &m, "/org/freedesktop/login1",
					      "org.freedesktop.login1.Manager",
					      "PrepareForSleep") >= 0);
	va_start(args, types);
	assert_true(sd_bus_message_appendv(m, types, args) >= 0);
	va_end(args);
	assert_true(sd_bus_send(f->logind, m, NULL) >= 0);
	settle(f);
}

static void test_sleep(void **state)
{
	Fixture *f = *state;

	if (!f->bus) {
		print_message("no dbus-daemon here\n");
		skip();
	}
	/* There is no logind at first, and that is no error. */
	assert_int_equal(watch_sleep_new(f->bus, on_event, &f->r, &f->watch), 0);
	settle(f);
	/* Nor does anybody else's word count. */
	send_signal(f, "b", false);
	assert_int_equal(f->r.n, 0);
	assert_true(sd_bus_request_name(f->logind, "org.freedesktop.login1", 0) >= 0);
	send_signal(f, "b", true);
	assert_int_equal(f->r.n, 0);
	send_signal(f, "b", false);
	assert_int_equal(f->r.n, 1);
	assert_true(recorded(&f->r, EVENT_ALL_DEVICES, EVENT_ALL_PORTS, REASON_RESUME));
	send_signal(f, "s", "false");
	assert_int_equal(f->r.n, 1);
	f->watch = watch_sleep_free(f->watch);
	send_signal(f, "b", false);
	assert_int_equal(f->r.n, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_sleep, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
