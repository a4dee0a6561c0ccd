/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* rdmactl check: what is wrong with the ports, for health checks of a node. */

#include "bus.h"
#include "checks.h"
#include "commands.h"
#include "json.h"
#include "names.h"
#include "terminal.h"

static bool check_exists(const char *name)
{
	for (size_t i = 0; i < n_checks; i++)
		if (streq(checks[i].name, name))
			return true;
	return false;
}

static Expectations arg_expect = {.is_check = check_exists};
static bool arg_list;

static ExitStatus parse_expect(const Option *o, const char *argument)
{
	return expect_add(o->value, argument);
}

/* clang-format off */
const Option check_options[] = {
	{"expect", 0, "FILE|KEY=VALUE", "Expect this of the ports; may be repeated", parse_expect, &arg_expect, NULL, 0},
	{"list",   0, NULL,             "Print what is checked, and check nothing",  option_set,   &arg_list,   NULL, RUN_OFFLINE},
	{},
};
/* clang-format on */

/* What is looked at */

static void look(CheckRun *r, CheckScope scope, const Object *device, const Object *port)
{
	r->device = device;
	r->port = port;
	for (size_t i = 0; i < n_checks; i++) {
		if (checks[i].scope != scope)
			continue;
		r->check = &checks[i];
		checks[i].look(r);
	}
}

static const Object *device_of(const CheckRun *r, const Object *port)
{
	return object_list_find(&r->objects, value_text(&port->values[PORT_ATTR_device_index]));
}

/* Adds a device to those that were looked at; false if it is one of them. */
static bool add_device(CheckRun *r, const Object *device)
{
	for (size_t i = r->n_devices; i-- > 0;)
		if (r->devices[i] == device)
			return false;
	r->devices[r->n_devices++] = device;
	return true;
}

/* Looks at each device before the first of its ports. */
static void look_at_everything(CheckRun *r)
{
	look(r, SCOPE_MACHINE, NULL, NULL);
	for (size_t i = 0; i < r->n_ports; i++) {
		const Object *device = device_of(r, r->ports[i]);

		if (device && add_device(r, device))
			look(r, SCOPE_DEVICE, device, NULL);
		look(r, SCOPE_PORT, device, r->ports[i]);
	}
}

/* Adds a port that was named. A port may be named twice, also by its name and its network
 * interface. */
static void add_port(CheckRun *r, const Object *port)
{
	for (size_t i = 0; i < r->n_ports; i++)
		if (r->ports[i] == port)
			return;
	r->ports[r->n_ports++] = port;
}

/* Adds a port that was named and is not there. MESSAGE says why; the same line is added once. */
static ExitStatus add_missing(CheckRun *r, const char *port, const char *message)
{
	_cleanup_free_ char *text = NULL;

	if (asprintf(&text, "%s: %s", port, message) < 0)
		return out_of_memory();
	for (size_t i = 0; i < r->n_missing; i++)
		if (streq(r->missing[i], text))
			return STATUS_OK;
	r->missing[r->n_missing++] = steal_pointer(&text);
	return STATUS_OK;
}

static ExitStatus choose_port(CheckRun *r, const char *port)
{
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	_cleanup_free_ char *path = NULL;
	const Object *o = NULL;
	int e = bus_get_port(r->c->bus, port, &path, &error);

	if (e < 0 && !bus_is_no_port(&error))
		return bus_complain(port, &error, e);
	if (e >= 0)
		o = object_list_find(&r->objects, path);
	if (!o)
		return add_missing(r, port,
				   error.message ? error.message : "the port has just gone away");
	add_port(r, o);
	return STATUS_OK;
}

/* Chooses the ports that were named, or, if none was named, all that are ports of their own. */
static ExitStatus choose_ports(CheckRun *r)
{
	ExitStatus status = STATUS_OK;

	r->ports = calloc(r->objects.n + r->c->n_arguments + 1, sizeof(*r->ports));
	r->devices = calloc(r->objects.n + 1, sizeof(*r->devices));
	r->missing = calloc(r->c->n_arguments + 1, sizeof(*r->missing));
	if (!r->ports || !r->devices || !r->missing)
		return out_of_memory();
	for (size_t i = 0; i < r->objects.n && r->c->n_arguments == 0; i++)
		if (r->objects.items[i]->is_port &&
		    !object_list_is_plane(&r->objects, r->objects.items[i]))
			r->ports[r->n_ports++] = r->objects.items[i];
	for (unsigned int i = 0; status == STATUS_OK && i < r->c->n_arguments; i++)
		status = choose_port(r, r->c->arguments[i]);
	return status;
}

/* Whether the device nodes that rdmad publishes are nodes of this machine: not if rdmad runs on
 * another machine or in a container, and not if the devices are simulated. */
static bool is_local(const Context *c)
{
	int simulated = false;

	if (c->host || c->machine)
		return false;
	return sd_bus_get_property_trivial(c->bus, RDMAD_BUS_NAME, RDMAD_ROOT_PATH,
					   RDMAD_INTERFACE_MANAGER, "Simulated", NULL, 'b',
					   &simulated) >= 0 &&
	       !simulated;
}

static ExitStatus list_checks(Context *c)
{
	if (c->json)
		fputc('[', c->out);
	for (size_t i = 0; i < n_checks; i++) {
		if (!c->json) {
			fprintf(c->out, "%s%-12s%s  ", terminal_color(c, "bold"), checks[i].name,
				terminal_plain(c));
			terminal_print_wrapped(c, checks[i].condition, 14);
			continue;
		}
		fprintf(c->out, "%s\n  {\"check\": ", i > 0 ? "," : "");
		json_text(c->out, checks[i].name);
		fputs(", \"condition\": ", c->out);
		json_text(c->out, checks[i].condition);
		fputc('}', c->out);
	}
	if (c->json)
		fputs("\n]\n", c->out);
	return STATUS_OK;
}

static void run_done(CheckRun *r)
{
	object_list_done(&r->objects);
	free(r->ports);
	free(r->devices);
	for (size_t i = 0; i < r->n_missing; i++)
		free(r->missing[i]);
	free(r->missing);
}

ExitStatus check_command(Context *c)
{
	_cleanup_(run_done) CheckRun r = {.c = c, .expect = &arg_expect};
	ExitStatus status;

	if (arg_list)
		return list_checks(c);
	status = bus_read_objects(c->bus, &r.objects);
	if (status != STATUS_OK)
		return status;
	status = choose_ports(&r);
	if (status != STATUS_OK)
		return status;
	r.local = is_local(c);
	if (c->json)
		fputc('[', c->out);
	look_at_everything(&r);
	if (c->json)
		fputs(r.n_findings > 0 ? "\n]\n" : "]\n", c->out);
	return r.n_findings > 0 ? STATUS_FAILED : STATUS_OK;
}
