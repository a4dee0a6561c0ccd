/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Calls that wait: one user has 256 places for all of them together, on however many connections,
 * and takes none of another user's. */

#include "fixture.h"

#define STALLED "/org/rdma/device/0/port/1"
#define OTHER	"/org/rdma/device/1/port/1"
#define PLACES	256U

static const char scenario[] = "[device mlx5_0]\nprotocol = infiniband\n"
			       "[device other]\nprotocol = roce\n";

typedef struct Replies {
	unsigned int good, limit, other;
} Replies;

static int on_reply(sd_bus_message *m, void *userdata, _unused_ sd_bus_error *error)
{
	Replies *r = userdata;

	if (!sd_bus_message_is_method_error(m, NULL))
		r->good++;
	else if (sd_bus_message_is_method_error(m, RDMAD_ERROR_LIMITS_EXCEEDED))
		r->limit++;
	else
		r->other++;
	return 0;
}

/* The kinds of calls that wait while a device is stalled. */
typedef enum Kind { QUERY, GET_COUNTERS, REFRESH, WAIT_FOR, N_KINDS } Kind;

static void call(sd_bus *bus, Kind kind, unsigned int n, Replies *r)
{
	static const char *const methods[] = {"Query", "GetCounters", "Refresh", "WaitFor"};

	for (unsigned int i = 0; i < n; i++) {
		_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
		bool of_port = kind == QUERY;

		assert_true(sd_bus_message_new_method_call(
				    bus, &m, RDMAD_BUS_NAME, of_port ? STALLED : RDMAD_ROOT_PATH,
				    of_port ? RDMAD_INTERFACE_PORT : RDMAD_INTERFACE_MANAGER,
				    methods[kind]) >= 0);
		assert_true((kind == WAIT_FOR ? sd_bus_message_append(m, "a{sv}t", 1, "ports", "as",
								      1, "nobody", UINT64_MAX)
					      : sd_bus_message_append(m, "a{sv}", 0)) >= 0);
		assert_true(sd_bus_call_async(bus, NULL, m, on_reply, r, UINT64_MAX) >= 0);
	}
}

/* Waits until rdmad has all that was sent on BUS, and the bus has said whose it is: answers come in
 * the order of the questions, and a call that is refused is answered after it. */
static void settle(sd_bus *bus)
{
	for (int i = 0; i < 2; i++)
		assert_true(sd_bus_call_method(bus, RDMAD_BUS_NAME, RDMAD_ROOT_PATH,
					       "org.freedesktop.DBus.Peer", "Ping", NULL, NULL,
					       NULL) >= 0);
	while (sd_bus_process(bus, NULL) > 0)
		;
}

/* settle() until *N is as much as WANTED. */
static void settle_until(sd_bus *clients[], unsigned int n_clients, const unsigned int *n,
			 unsigned int wanted)
{
	for (unsigned int turns = 0; *n < wanted; turns++) {
		assert_true(turns < 10000);
		for (unsigned int i = 0; i < n_clients; i++)
			settle(clients[i]);
	}
}

static void wait_replies(sd_bus *bus, const Replies *r, unsigned int n)
{
	for (unsigned int i = 0; r->good + r->limit + r->other < n; i++) {
		assert_true(i < 60000);
		if (sd_bus_process(bus, NULL) == 0)
			assert_true(sd_bus_wait(bus, 100 * USEC_PER_MSEC) >= 0);
	}
}

static int setup(void **state)
{
	Fixture *f = fixture_new();

	fixture_configure(f, "[Daemon]\nQueryTimeoutSec=300\n");
	fixture_start_daemon(f, scenario, NULL);
	fixture_simulate(f, "stall mlx5_0");
	*state = f;
	return 0;
}

/* 12 connections with 120 calls each, all of which wait. */
static void test_many_connections(void **state)
{
	enum { CONNECTIONS = 12, CALLS = 120 };
	Fixture *f = *state;
	sd_bus *clients[CONNECTIONS];
	Replies r = {};

	for (unsigned int i = 0; i < CONNECTIONS; i++) {
		clients[i] = fixture_client(f);
		call(clients[i], QUERY, CALLS, &r);
	}
	settle_until(clients, CONNECTIONS, &r.limit, CONNECTIONS * CALLS - PLACES);
	assert_int_equal(r.good + r.other, 0);
	if (fixture_can_be_other_user())
		fixture_assert_other_user(f, OTHER, RDMAD_INTERFACE_PORT, "Query");
	fixture_simulate(f, "unstall mlx5_0");
	settle_until(clients, CONNECTIONS, &r.good, PLACES);
	assert_int_equal(r.limit, CONNECTIONS * CALLS - PLACES);
	for (unsigned int i = 0; i < CONNECTIONS; i++)
		sd_bus_close_unref(clients[i]);
}

/* All kinds of calls have the same places. When they are answered the places are free again. */
static void test_all_kinds(void **state)
{
	Fixture *f = *state;
	sd_bus *clients[N_KINDS];
	Replies r = {}, more = {};

	for (Kind k = 0; k < N_KINDS; k++) {
		clients[k] = fixture_client(f);
		call(clients[k], k, PLACES / N_KINDS, &r);
	}
	for (Kind k = 0; k < N_KINDS; k++)
		settle(clients[k]);
	for (Kind k = 0; k < N_KINDS; k++) {
		call(f->bus, k, 1, &more);
		wait_replies(f->bus, &more, k + 1);
		assert_int_equal(more.limit, k + 1);
	}
	assert_int_equal(r.good + r.limit + r.other, 0);
	if (fixture_can_be_other_user()) {
		fixture_assert_other_user(f, OTHER, RDMAD_INTERFACE_PORT, "Query");
		fixture_assert_other_user(f, OTHER, RDMAD_INTERFACE_PORT, "GetUsers");
	}
	fixture_simulate(f, "unstall mlx5_0");
	/* all but those that wait for a port that does not come */
	settle_until(clients, N_KINDS, &r.good, PLACES / N_KINDS * WAIT_FOR);
	sd_bus_close_unref(clients[WAIT_FOR]);
	for (Kind k = 0; k < WAIT_FOR; k++) {
		call(clients[k], k, PLACES / N_KINDS, &r);
		wait_replies(clients[k], &r, PLACES / N_KINDS * (WAIT_FOR + k + 1));
		sd_bus_close_unref(clients[k]);
	}
	assert_int_equal(r.limit + r.other, 0);
}

int main(void)
{
#define TEST(t) cmocka_unit_test_setup_teardown(t, setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_many_connections),
		TEST(test_all_kinds),
	};

	return cmocka_run_group_tests_name("pending-calls", tests, NULL, NULL);
}
