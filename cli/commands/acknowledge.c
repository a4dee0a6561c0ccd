/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* rdmactl acknowledge: a finding about ports is known, and does not count until it ends. */

#include "bus.h"
#include "commands.h"
#include "names.h"
#include "selection.h"

static const char *arg_text = "";

/* clang-format off */
const Option acknowledge_options[] = {
	{"text", 0, "TEXT", "Say why, in at most 79 bytes", option_text, &arg_text, NULL, 0},
	{},
};
/* clang-format on */

static ExitStatus acknowledge(const Context *c, const Object *port, const char *check)
{
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	char name[96];
	int r = sd_bus_call_method(c->bus, RDMAD_BUS_NAME, port->path, RDMAD_INTERFACE_PORT,
				   "Acknowledge", &error, NULL, "sa{sv}", check, 1, "text", "s",
				   arg_text);

	return r < 0 ? bus_complain(object_name(port, name), &error, r) : STATUS_OK;
}

ExitStatus acknowledge_command(Context *c)
{
	_cleanup_selection_ Selection chosen = {};
	const char *check = c->arguments[0];
	ExitStatus status, worst;

	c->arguments++;
	c->n_arguments--;
	status = selection_read(c, 0, selection_names, &chosen);
	if (status != STATUS_OK)
		return status;
	worst = selection_complain(&chosen);
	for (size_t i = 0; i < chosen.n; i++) {
		status = acknowledge(c, chosen.ports[i], check);
		worst = MAX(worst, status);
	}
	return worst;
}
