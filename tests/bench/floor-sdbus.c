/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A floor: the smallest service that can be written with sd-bus and sd-event.
 *
 *     floor-sdbus ADDRESS NAME
 *
 * It answers Ping. Its method Run() has the same arguments as that of the simulator, and emits one
 * PropertiesChanged with two properties: this is the least time from a change to its signal.
 */

#include <signal.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>

#include "util.h"

#define PATH	  "/floor"
#define INTERFACE "org.rdma.Floor"

typedef struct Values {
	uint32_t lid;
	uint64_t generation;
} Values;

static int method_run(sd_bus_message *m, void *userdata, _unused_ sd_bus_error *error)
{
	Values *v = userdata;
	int r;

	v->lid++;
	v->generation++;
	r = sd_bus_emit_properties_changed(sd_bus_message_get_bus(m), PATH, INTERFACE, "Lid",
					   "Generation", NULL);
	return r < 0 ? r : sd_bus_reply_method_return(m, NULL);
}

/* clang-format off */
static const sd_bus_vtable vtable[] = {
	SD_BUS_VTABLE_START(0),
	SD_BUS_METHOD("Run", "sa{sv}", NULL, method_run, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_PROPERTY("Lid", "u", NULL, offsetof(Values, lid), SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("Generation", "t", NULL, offsetof(Values, generation), SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_VTABLE_END,
};
/* clang-format on */

int main(int argc, char *argv[])
{
	_cleanup_(sd_event_unrefp) sd_event *event = NULL;
	_cleanup_(sd_bus_flush_close_unrefp) sd_bus *bus = NULL;
	Values values = {};

	if (argc != 3)
		return 2;
	if (sd_event_default(&event) < 0 || sd_bus_new(&bus) < 0 ||
	    sd_bus_set_address(bus, argv[1]) < 0 || sd_bus_set_bus_client(bus, true) < 0 ||
	    sd_bus_start(bus) < 0 ||
	    sd_bus_add_object_vtable(bus, NULL, PATH, INTERFACE, vtable, &values) < 0 ||
	    sd_bus_attach_event(bus, event, 0) < 0 || sd_bus_request_name(bus, argv[2], 0) < 0)
		return 1;
	if (sd_event_add_signal(event, NULL, SIGTERM | SD_EVENT_SIGNAL_PROCMASK, NULL, NULL) < 0)
		return 1;
	return sd_event_loop(event) < 0;
}
