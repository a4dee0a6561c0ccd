/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * rdmad-processes ends when nobody has asked for a while: each question begins that time again.
 * Here it runs in a child of the test, in which the first such time does not end, and those that
 * begin with a question end at once.
 */

#include <systemd/sd-event.h>
#include <unistd.h>

#include "fixture.h"

#define NAME "org.rdma.Processes"
#define PATH "/org/rdma/processes"

#define NEVER_USEC (24 * 3600 * USEC_PER_SEC)

/* main() of rdmad-processes */
int processes_main(int argc, char *argv[]);

static uint64_t idle_usec;

int __real_sd_event_add_time_relative(sd_event *e, sd_event_source **s, clockid_t clock,
				      uint64_t usec, uint64_t accuracy,
				      sd_event_time_handler_t callback, void *userdata);
int __wrap_sd_event_add_time_relative(sd_event *e, sd_event_source **s, clockid_t clock,
				      uint64_t usec, uint64_t accuracy,
				      sd_event_time_handler_t callback, void *userdata);
int __wrap_sd_event_add_time_relative(sd_event *e, sd_event_source **s, clockid_t clock,
				      uint64_t usec, uint64_t accuracy,
				      sd_event_time_handler_t callback, void *userdata)
{
	idle_usec = usec;
	return __real_sd_event_add_time_relative(e, s, clock, NEVER_USEC, accuracy, callback,
						 userdata);
}

int __real_sd_event_source_set_time_relative(sd_event_source *s, uint64_t usec);
int __wrap_sd_event_source_set_time_relative(sd_event_source *s, uint64_t usec);
int __wrap_sd_event_source_set_time_relative(sd_event_source *s, uint64_t usec)
{
	return __real_sd_event_source_set_time_relative(s, usec == idle_usec ? 0 : NEVER_USEC);
}

static void test_question(void **state)
{
	static const uint32_t threads[] = {1};
	Fixture *f = *state;
	pid_t helper = fork();
	bool is_answered = false;

	assert_true(helper >= 0);
	if (helper == 0) {
		setenv("DBUS_SYSTEM_BUS_ADDRESS", f->address, true);
		_exit(processes_main(1, (char *[]){"rdmad-processes", NULL}));
	}
	/* it may not have its name yet */
	for (unsigned int i = 0; i < 1000 && !is_answered; i++) {
		_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;

		assert_true(sd_bus_message_new_method_call(f->bus, &m, NAME, PATH, NAME,
							   "Describe") >= 0);
		assert_true(sd_bus_message_append_array(m, 'u', threads, sizeof(threads)) >= 0);
		is_answered = sd_bus_call(f->bus, m, 0, NULL, NULL) >= 0;
		if (!is_answered)
			usleep(10000);
	}
	assert_true(is_answered);
	assert_int_equal(fixture_wait_process(helper), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_question, fixture_setup, fixture_teardown),
	};

	return cmocka_run_group_tests_name("processes-idle", tests, NULL, NULL);
}
