/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* rdmactl devices: all attributes of all devices. */

#include "bus.h"
#include "commands.h"
#include "json.h"
#include "show.h"

ExitStatus devices_command(Context *c)
{
	_cleanup_objects_ ObjectList objects = {};
	ExitStatus status = bus_read_objects(c->bus, &objects);
	bool any = false;

	if (status != STATUS_OK)
		return status;
	if (c->json) {
		json_objects(c->out, &objects, false);
		return STATUS_OK;
	}
	for (size_t i = 0; i < objects.n && status == STATUS_OK; i++) {
		if (objects.items[i]->is_port)
			continue;
		if (any)
			fputc('\n', c->out);
		any = true;
		status = show_object(c, objects.items[i]);
	}
	if (!any)
		fputs("No RDMA devices.\n", c->out);
	return status;
}
