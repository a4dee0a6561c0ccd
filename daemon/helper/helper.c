/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "helper.h"

#include <sys/prctl.h>
#include <unistd.h>

#include "util.h"

static int on_idle(sd_event_source *source, _unused_ uint64_t usec, _unused_ void *userdata)
{
	return sd_event_exit(sd_event_source_get_event(source), 0);
}

static int on_disconnected(_unused_ sd_bus_message *m, void *userdata, _unused_ sd_bus_error *error)
{
	return sd_event_exit(userdata, 0);
}

static int on_call(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	Helper *h = userdata;
	const HelperMethod *method = h->methods;
	int r = sd_bus_message_new_method_return(m, &reply);

	while (!streq(method->name, sd_bus_message_get_member(m)))
		method++;
	sd_event_source_set_time_relative(h->idle, h->idle_usec);
	if (r >= 0)
		r = sd_bus_message_open_container(reply, 'a', method->returns + 1);
	if (r < 0)
		return r;
	alarm(h->answer_sec);
	r = method->answer(h, m, reply, error);
	alarm(0);
	if (r >= 0)
		r = sd_bus_message_close_container(reply);
	return r < 0 ? r : sd_bus_send(NULL, reply, NULL);
}

static int start(sd_event *event, sd_bus *bus, Helper *h)
{
	int r = sd_event_add_time_relative(event, &h->idle, CLOCK_MONOTONIC, h->idle_usec, 0,
					   on_idle, NULL);
	size_t n = 0;

	h->vtable[n++] = (sd_bus_vtable)SD_BUS_VTABLE_START(0);
	for (const HelperMethod *m = h->methods; n <= HELPER_METHODS_MAX && m->name; m++)
		h->vtable[n++] = (sd_bus_vtable)SD_BUS_METHOD(m->name, m->takes, m->returns,
							      on_call, SD_BUS_VTABLE_UNPRIVILEGED);
	h->vtable[n] = (sd_bus_vtable)SD_BUS_VTABLE_END;
	if (r >= 0)
		r = sd_bus_add_object_vtable(bus, NULL, h->path, h->name, h->vtable, h);
	if (r >= 0)
		r = sd_bus_match_signal_async(bus, NULL, "org.freedesktop.DBus.Local", NULL,
					      "org.freedesktop.DBus.Local", "Disconnected",
					      on_disconnected, NULL, event);
	if (r >= 0)
		r = sd_bus_attach_event(bus, event, SD_EVENT_PRIORITY_NORMAL);
	return r < 0 ? r : sd_bus_request_name(bus, h->name, 0);
}

static int run(Helper *h)
{
	_cleanup_(sd_bus_flush_close_unrefp) sd_bus *bus = NULL;
	_cleanup_(sd_event_unrefp) sd_event *event = NULL;
	int r;

	if (prctl(PR_SET_DUMPABLE, 0) < 0)
		return -errno;
	r = sd_event_new(&event);
	if (r >= 0)
		r = sd_bus_open_system(&bus);
	if (r >= 0)
		r = start(event, bus, h);
	if (r >= 0)
		r = sd_event_loop(event);
	h->idle = sd_event_source_unref(h->idle);
	return r;
}

int helper_refuse_argument(const char *argument)
{
	fprintf(stderr, "Unexpected argument: %s\n", argument);
	return EXIT_FAILURE;
}

int helper_main(Helper *h, const char *program, int error)
{
	int r = error < 0 ? error : run(h);

	if (r < 0)
		fprintf(stderr, "%s: %s\n", program, strerror(-r));
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
