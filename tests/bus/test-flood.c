/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* More calls than may wait: the daemon refuses some, and answers others who call. */

#include <signal.h>

#include "calls.h"

#define SCENARIO   "[device mlx5_%d]\nprotocol = infiniband\ncount = 4\n"
#define PORT	   "/org/rdma/device/0/port/1"
#define PROPERTIES "org.freedesktop.DBus.Properties"
#define CALLS	   4000U

/* More calls than may wait. */
static int setup(void **state)
{
	Fixture *f = fixture_new();

	fixture_start_daemon(f, SCENARIO, NULL);
	/* the first long reply takes longer than the others */
	sd_bus_message_unref(
		fixture_call(f, PORT, PROPERTIES, "GetAll", NULL, "s", RDMAD_INTERFACE_PORT));
	*state = f;
	return 0;
}

static sd_bus_message *new_get_all(sd_bus *client)
{
	sd_bus_message *m = NULL;

	assert_true(sd_bus_message_new_method_call(client, &m, RDMAD_BUS_NAME, PORT, PROPERTIES,
						   "GetAll") >= 0);
	assert_true(sd_bus_message_append(m, "s", RDMAD_INTERFACE_PORT) >= 0);
	return m;
}

/* All of them are there when the daemon goes on. */
static void flood(Fixture *f, sd_bus *client, Replies *r)
{
	assert_int_equal(kill(f->daemon_pid, SIGSTOP), 0);
	for (unsigned int i = 0; i < CALLS; i++) {
		_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = new_get_all(client);

		assert_true(sd_bus_call_async(client, NULL, m, calls_on_reply, r, UINT64_MAX) >= 0);
	}
	assert_true(sd_bus_flush(client) >= 0);
	assert_int_equal(kill(f->daemon_pid, SIGCONT), 0);
}

/* Until the daemon has done with the flood this may be refused or dropped, too: it is the same
 * user.
 */
static void wait_served(Fixture *f)
{
	uint64_t end = fixture_now_usec() + 60 * USEC_PER_SEC;
	int r = -1;

	while (r < 0 && fixture_now_usec() < end) {
		_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = new_get_all(f->bus);

		r = sd_bus_call(f->bus, m, USEC_PER_SEC, NULL, NULL);
	}
	assert_true(r >= 0);
}

static void test_refused(void **state)
{
	Fixture *f = *state;
	_cleanup_(sd_bus_close_unrefp) sd_bus *client = fixture_client(f);
	Replies r = {};

	flood(f, client, &r);
	if (fixture_can_be_other_user())
		fixture_assert_other_user(f, PORT, RDMAD_INTERFACE_PORT, "GetHistory");
	while (r.good == 0 || r.limit == 0)
		if (sd_bus_process(client, NULL) == 0)
			assert_true(sd_bus_wait(client, 60 * USEC_PER_SEC) > 0);
	assert_int_equal(r.other, 0);
}

/* Who waits for each reply before the next call does not meet the limit, however long. */
static void test_sequential(void **state)
{
	Fixture *f = *state;

	for (unsigned int i = 0; i < CALLS; i++)
		sd_bus_message_unref(fixture_call(f, PORT, PROPERTIES, "GetAll", NULL, "s",
						  RDMAD_INTERFACE_PORT));
}

/* And a flood is forgotten when it is over. */
static void test_served_again(void **state)
{
	Fixture *f = *state;
	sd_bus *client = fixture_client(f);
	Replies r = {};

	flood(f, client, &r);
	sd_bus_close_unref(client);
	wait_served(f);
}

int main(void)
{
#define TEST(t) cmocka_unit_test_setup_teardown(t, setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_refused),
		TEST(test_sequential),
		TEST(test_served_again),
	};

	return cmocka_run_group_tests_name("flood", tests, NULL, NULL);
}
