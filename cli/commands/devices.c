/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* rdmactl devices: all attributes of devices. */

#include <fnmatch.h>

#include "bus.h"
#include "commands.h"
#include "json.h"
#include "selection.h"
#include "show.h"
#include "suggestion.h"

static bool arg_limits;

/* clang-format off */
const Option devices_options[] = {
	{"limits", 0, NULL, "Print the limits of the devices too", option_set, &arg_limits, NULL, 0},
	{},
};
/* clang-format on */

/* The devices that the arguments choose. */
typedef struct Choice {
	Selection read; /* the ports that the arguments name and their devices, or all */
	bool *chosen;	/* of each object */
	bool missing;	/* an argument chooses nothing */
} Choice;

static void choice_done(Choice *d)
{
	selection_done(&d->read);
	free(d->chosen);
}

/* Chooses the devices whose name PATTERN matches. Returns whether there is one. */
static bool choose_matching(Choice *d, const char *pattern)
{
	bool any = false;

	for (size_t i = 0; i < d->read.objects.n; i++) {
		const Object *o = d->read.objects.items[i];

		if (o->is_port ||
		    fnmatch(pattern, value_text(&o->values[DEVICE_ATTR_name]), 0) != 0)
			continue;
		d->chosen[i] = true;
		any = true;
	}
	return any;
}

/* Chooses the device of the port at PATH. Returns whether it is there. */
static bool choose_of_port(Choice *d, const char *path)
{
	const Object *port = object_list_find(&d->read.objects, path);
	const char *device = port ? value_text(&port->values[PORT_ATTR_device_index]) : "";

	for (size_t i = 0; i < d->read.objects.n; i++) {
		if (!streq(d->read.objects.items[i]->path, device))
			continue;
		d->chosen[i] = true;
		return true;
	}
	return false;
}

static void complain_missing(const Choice *d, const char *argument)
{
	Suggestion suggestion = suggestion_for(argument);

	for (size_t i = 0; i < d->read.objects.n; i++)
		if (!d->read.objects.items[i]->is_port)
			suggestion_offer(
				&suggestion,
				value_text(&d->read.objects.items[i]->values[DEVICE_ATTR_name]));
	complain("%s: no device has such a name%s", argument, suggestion_text(&suggestion));
}

/* ARGUMENT is the name of a device, a pattern for it, or anything that names its ports. */
static ExitStatus choose(const Context *c, Choice *d, const char *argument)
{
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	_cleanup_(found_paths_done) FoundPaths found = {};
	bool any = choose_matching(d, argument);
	int r;

	if (!any && !object_is_pattern(argument)) {
		r = ports_find(c->bus, argument, NULL, &found, &error);
		if (r < 0)
			return bus_complain(argument, &error, r);
	}
	for (size_t i = 0; i < found.n; i++)
		any |= choose_of_port(d, found.items[i].path);
	if (!any)
		complain_missing(d, argument);
	d->missing |= !any;
	return STATUS_OK;
}

static ExitStatus choose_all(Context *c, Choice *d)
{
	ExitStatus status = selection_read(c, SELECTION_DEVICES, NULL, &d->read);

	if (status != STATUS_OK)
		return status;
	d->chosen = calloc(d->read.objects.n + 1, sizeof(*d->chosen));
	if (!d->chosen)
		return out_of_memory();
	if (c->n_arguments == 0)
		(void)choose_matching(d, "*");
	for (unsigned int i = 0; i < c->n_arguments && status == STATUS_OK; i++)
		status = choose(c, d, c->arguments[i]);
	return status;
}

ExitStatus devices_command(Context *c)
{
	_cleanup_(choice_done) Choice d = {};
	ExitStatus status = choose_all(c, &d);
	size_t n = 0;

	if (status != STATUS_OK)
		return status;
	if (c->json)
		json_begin(c->out, "Devices");
	for (size_t i = 0; i < d.read.objects.n && status == STATUS_OK; i++) {
		if (!d.chosen[i])
			continue;
		if (c->json) {
			json_next(c->out);
			json_object(c->out, d.read.objects.items[i]);
			continue;
		}
		if (n++ > 0)
			fputc('\n', c->out);
		status = show_object(c, d.read.objects.items[i], arg_limits);
	}
	if (c->json)
		json_end(c->out);
	else if (n == 0 && c->n_arguments == 0)
		fputs("No RDMA devices.\n", c->out);
	return status == STATUS_OK && d.missing ? STATUS_NO_PORT : status;
}
