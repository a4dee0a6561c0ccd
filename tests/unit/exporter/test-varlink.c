/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names of io.systemd.Metrics, and the time that a client has. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */
#include <sys/socket.h>

#include "varlink-link.h"
#include "varlink-render.h"

#define GUARD_USEC (120 * USEC_PER_SEC)

/* What would be some seconds is a millisecond. */
static unsigned int n_timers;

int __real_sd_event_add_time_relative(sd_event *e, sd_event_source **s, clockid_t clock,
				      uint64_t usec, uint64_t accuracy,
				      sd_event_time_handler_t callback, void *userdata);
int __wrap_sd_event_add_time_relative(sd_event *e, sd_event_source **s, clockid_t clock,
				      uint64_t usec, uint64_t accuracy,
				      sd_event_time_handler_t callback, void *userdata);
int __wrap_sd_event_add_time_relative(sd_event *e, sd_event_source **s, clockid_t clock,
				      _unused_ uint64_t usec, _unused_ uint64_t accuracy,
				      sd_event_time_handler_t callback, void *userdata)
{
	n_timers++;
	return __real_sd_event_add_time_relative(e, s, clock, USEC_PER_MSEC, 1, callback, userdata);
}

int __real_sd_event_source_set_time_relative(sd_event_source *s, uint64_t usec);
int __wrap_sd_event_source_set_time_relative(sd_event_source *s, uint64_t usec);
int __wrap_sd_event_source_set_time_relative(sd_event_source *s, _unused_ uint64_t usec)
{
	return __real_sd_event_source_set_time_relative(s, USEC_PER_MSEC);
}

/* A server without a source, and a client. */
typedef struct World {
	sd_event *event;
	Idle *idle;
	VarlinkLinks links;
	int fd; /* of the client */
} World;

static void begin(World *w)
{
	int fds[2];

	*w = (World){};
	assert_true(sd_event_new(&w->event) >= 0);
	assert_int_equal(idle_new(w->event, 0, &w->idle), 0);
	w->links.idle = w->idle;
	assert_int_equal(varlink_metrics_new(NULL, &w->links.metrics), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds),
			 0);
	w->fd = fds[1];
	n_timers = 0;
	assert_int_equal(varlink_link_new(w->event, fds[0], 1000, &w->links), 0);
	assert_int_equal(n_timers, 1);
}

static void end(World *w)
{
	close(w->fd);
	varlink_metrics_free(w->links.metrics);
	idle_free(w->idle);
	sd_event_unref(w->event);
}

/* Lets the server go on until the connection ends. */
static void run_to_the_end(World *w)
{
	while (w->links.first)
		assert_true(sd_event_run(w->event, GUARD_USEC) > 0);
}

static void test_a_client_that_sends_nothing_is_dropped(_unused_ void **state)
{
	World w;

	begin(&w);
	run_to_the_end(&w);
	end(&w);
}

static void test_a_client_that_sends_half_a_call_is_dropped(_unused_ void **state)
{
	World w;

	begin(&w);
	assert_int_equal(send(w.fd, "{\"method\":", 10, 0), 10);
	run_to_the_end(&w);
	end(&w);
}

static void test_a_client_that_reads_nothing_is_dropped(_unused_ void **state)
{
	static const char call[] = "{\"method\":\"org.varlink.service.GetInfo\"}";
	World w;

	begin(&w);
	while (w.links.first) {
		(void)send(w.fd, call, sizeof(call), MSG_NOSIGNAL);
		assert_true(sd_event_run(w.event, GUARD_USEC) > 0);
	}
	end(&w);
}

static void test_names(_unused_ void **state)
{
	static const char *const names[][2] = {
		{"rdma_port_state", "org.rdma.Port.State"},
		{"rdma_port_xmit_bytes_total", "org.rdma.Port.XmitBytesTotal"},
		{"rdma_device_info", "org.rdma.Device.Info"},
		{"rdma_port_vl15_dropped_total", "org.rdma.Port.Vl15DroppedTotal"},
		/* counters that a driver invents */
		{"rdma_port_9_lives", "org.rdma.Port.N9Lives"},
		{"rdma_port__a__b_", "org.rdma.Port.AB"},
	};
	char name[VARLINK_NAME_MAX], longest[METRIC_NAME_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		assert_string_equal(varlink_metric_name(names[i][0], name), names[i][1]);
	memset(longest, 'a', sizeof(longest));
	memcpy(longest, "rdma_port_", 10);
	longest[sizeof(longest) - 1] = '\0';
	varlink_metric_name(longest, name);
	assert_int_equal(strlen(name),
			 strlen(longest) + strlen("org.rdma.Port.") - strlen("rdma_port_"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_client_that_sends_nothing_is_dropped),
		cmocka_unit_test(test_a_client_that_sends_half_a_call_is_dropped),
		cmocka_unit_test(test_a_client_that_reads_nothing_is_dropped),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
