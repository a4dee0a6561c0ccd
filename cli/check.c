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
	for (size_t i = 0; i < r->chosen.n; i++) {
		const Object *port = r->chosen.ports[i];
		const Object *device = selection_device(&r->chosen, port);

		if (device && add_device(r, device))
			look(r, SCOPE_DEVICE, device, NULL);
		look(r, SCOPE_PORT, device, port);
	}
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
		json_begin(c->out, "Checks");
	for (size_t i = 0; i < n_checks; i++) {
		if (!c->json) {
			fprintf(c->out, "%s%-12s%s  ", terminal_color(c, "bold"), checks[i].name,
				terminal_plain(c));
			terminal_print_wrapped(c, checks[i].condition, 14);
			continue;
		}
		json_next(c->out, i);
		fputs("{\"Check\": ", c->out);
		json_text(c->out, checks[i].name);
		json_key(c->out, "Condition", false);
		json_text(c->out, checks[i].condition);
		fputc('}', c->out);
	}
	if (c->json)
		json_end(c->out);
	return STATUS_OK;
}

static void run_done(CheckRun *r)
{
	selection_done(&r->chosen);
	free(r->devices);
}

ExitStatus check_command(Context *c)
{
	_cleanup_(run_done) CheckRun r = {.c = c, .expect = &arg_expect};
	ExitStatus status;

	if (arg_list)
		return list_checks(c);
	status = selection_read(c, false, &r.chosen);
	if (status != STATUS_OK)
		return status;
	r.devices = calloc(r.chosen.objects.n + 1, sizeof(*r.devices));
	if (!r.devices)
		return out_of_memory();
	r.local = is_local(c);
	if (c->json)
		json_begin(c->out, "Findings");
	look_at_everything(&r);
	if (c->json)
		json_end(c->out);
	return r.n_findings > 0 ? STATUS_FAILED : STATUS_OK;
}
