/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* rdmactl devices: all attributes of all devices. */

#include <fnmatch.h>

#include "bus.h"
#include "commands.h"
#include "json.h"
#include "show.h"

static bool arg_limits;

/* clang-format off */
const Option devices_options[] = {
	{"limits", 0, NULL, "Print the limits of the devices too", option_set, &arg_limits, NULL, 0},
	{},
};
/* clang-format on */

static bool matches(const Object *device, const char *pattern)
{
	return !device->is_port &&
	       fnmatch(pattern, value_text(&device->values[DEVICE_ATTR_name]), 0) == 0;
}

/* Whether an argument is the name of the device, or a pattern for it. Without arguments all are
 * named. */
static bool is_named(const Context *c, const Object *device)
{
	for (unsigned int i = 0; i < c->n_arguments; i++)
		if (matches(device, c->arguments[i]))
			return true;
	return c->n_arguments == 0;
}

static ExitStatus complain_missing(const Context *c, const ObjectList *objects)
{
	ExitStatus status = STATUS_OK;

	for (unsigned int i = 0; i < c->n_arguments; i++) {
		size_t k = 0;

		while (k < objects->n && !matches(objects->items[k], c->arguments[i]))
			k++;
		if (k < objects->n)
			continue;
		complain("%s: no device has such a name", c->arguments[i]);
		status = STATUS_NO_PORT;
	}
	return status;
}

ExitStatus devices_command(Context *c)
{
	_cleanup_objects_ ObjectList objects = {};
	ExitStatus status = bus_read_objects(c->bus, &objects);
	size_t n = 0;

	if (status != STATUS_OK)
		return status;
	if (c->json)
		json_begin(c->out, "Devices");
	for (size_t i = 0; i < objects.n && status == STATUS_OK; i++) {
		const Object *o = objects.items[i];

		if (o->is_port || !is_named(c, o))
			continue;
		if (c->json) {
			json_next(c->out, n++);
			json_object(c->out, o);
			continue;
		}
		if (n++ > 0)
			fputc('\n', c->out);
		status = show_object(c, o, arg_limits);
	}
	if (c->json)
		json_end(c->out);
	else if (n == 0 && c->n_arguments == 0)
		fputs("No RDMA devices.\n", c->out);
	return status == STATUS_OK ? complain_missing(c, &objects) : status;
}
