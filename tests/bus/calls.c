/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "calls.h"

#include <time.h>

uint64_t calls_now_usec(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * USEC_PER_SEC + (uint64_t)t.tv_nsec / 1000;
}

void calls_ping(Fixture *f)
{
	sd_bus_message_unref(
		fixture_call(f, RDMAD_ROOT_PATH, "org.freedesktop.DBus.Peer", "Ping", NULL, ""));
}

void calls_refresh(Fixture *f)
{
	sd_bus_message_unref(fixture_call(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "Refresh",
					  NULL, "a{sv}", 0));
}

int calls_on_reply(sd_bus_message *m, void *userdata, _unused_ sd_bus_error *error)
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

void calls_send(sd_bus *bus, const char *path, const char *interface, const char *method,
		unsigned int n, Replies *r)
{
	for (unsigned int i = 0; i < n; i++)
		assert_true(sd_bus_call_method_async(bus, NULL, RDMAD_BUS_NAME, path, interface,
						     method, calls_on_reply, r, "a{sv}", 0) >= 0);
}

void calls_wait(sd_bus *bus, const Replies *r, unsigned int n)
{
	unsigned int before = 0, now;
	uint64_t deadline = 0;

	while ((now = r->good + r->limit + r->other) < n) {
		int k = sd_bus_process(bus, NULL);

		/* While replies come, a busy machine may take longer. */
		if (deadline == 0 || now > before)
			deadline = calls_now_usec() + 120 * USEC_PER_SEC;
		before = now;
		assert_true(k >= 0);
		if (k == 0)
			sd_bus_wait(bus, 100 * USEC_PER_MSEC);
		assert_true(calls_now_usec() < deadline);
	}
}
