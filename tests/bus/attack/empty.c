/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The service that rdmad is compared with: one object with one property, written in the obvious way
 * with sd-bus. What a victim sees of it during an attack is what the bus, sd-bus and the scheduler
 * cost.
 *
 *     attack-empty ADDRESS
 *
 * Run() changes the property, as it does in the simulator, and Sleep() answers after some time, as
 * WaitFor() does.
 */

#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>

#include "names.h"
#include "util.h"

#define PORT "/org/rdma/device/0/port/1"

static int method_run(sd_bus_message *m, void *userdata, _unused_ sd_bus_error *error)
{
	sd_bus *bus = sd_bus_message_get_bus(m);
	const char *line, *lid;
	uint32_t *value = userdata;
	int r = sd_bus_message_read_basic(m, 's', &line);

	if (r < 0)
		return r;
	lid = strstr(line, "lid=");
	if (lid) {
		*value = (uint32_t)strtoul(lid + 4, NULL, 10);
		r = sd_bus_emit_properties_changed(bus, PORT, RDMAD_INTERFACE_INFINIBAND, "Lid",
						   NULL);
	}
	return r < 0 ? r : sd_bus_reply_method_return(m, NULL);
}

static int on_time(sd_event_source *source, _unused_ uint64_t usec, void *userdata)
{
	sd_bus_message *m = userdata;

	(void)sd_bus_reply_method_return(m, NULL);
	sd_bus_message_unref(m);
	sd_event_source_unref(source);
	return 0;
}

static int method_sleep(sd_bus_message *m, _unused_ void *userdata, _unused_ sd_bus_error *error)
{
	sd_event *event = sd_bus_get_event(sd_bus_message_get_bus(m));
	sd_event_source *source = NULL;
	uint64_t usec;
	int r = sd_bus_message_read_basic(m, 't', &usec);

	if (r >= 0)
		r = sd_event_add_time_relative(event, &source, CLOCK_MONOTONIC, usec, 1, on_time,
					       sd_bus_message_ref(m));
	return r < 0 ? r : 1;
}

/* clang-format off */
static const sd_bus_vtable port[] = {
	SD_BUS_VTABLE_START(0),
	SD_BUS_PROPERTY("Lid", "u", NULL, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_VTABLE_END,
};

static const sd_bus_vtable simulator[] = {
	SD_BUS_VTABLE_START(0),
	SD_BUS_METHOD("Run", "sa{sv}", NULL, method_run, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_VTABLE_END,
};

static const sd_bus_vtable empty[] = {
	SD_BUS_VTABLE_START(0),
	SD_BUS_METHOD("Sleep", "t", NULL, method_sleep, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_VTABLE_END,
};
/* clang-format on */

int main(int argc, char *argv[])
{
	_cleanup_(sd_event_unrefp) sd_event *event = NULL;
	_cleanup_(sd_bus_flush_close_unrefp) sd_bus *bus = NULL;
	uint32_t lid = 1;

	if (argc != 2)
		return 2;
	if (sd_event_default(&event) < 0 || sd_bus_new(&bus) < 0 ||
	    sd_bus_set_address(bus, argv[1]) < 0 || sd_bus_set_bus_client(bus, true) < 0 ||
	    sd_bus_start(bus) < 0 ||
	    sd_bus_add_object_vtable(bus, NULL, PORT, RDMAD_INTERFACE_INFINIBAND, port, &lid) < 0 ||
	    sd_bus_add_object_vtable(bus, NULL, RDMAD_ROOT_PATH, RDMAD_INTERFACE_SIMULATOR,
				     simulator, &lid) < 0 ||
	    sd_bus_add_object_vtable(bus, NULL, RDMAD_ROOT_PATH, "org.rdma.Empty", empty, NULL) <
		    0 ||
	    sd_bus_attach_event(bus, event, 0) < 0 ||
	    sd_bus_request_name(bus, RDMAD_BUS_NAME, 0) < 0)
		return 1;
	return sd_event_loop(event) < 0;
}
