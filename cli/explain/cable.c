/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* rdmactl cable: the modules in the cages of ports, and where else those of named ports were. */

#include "commands.h"
#include "format.h"
#include "histories.h"
#include "list-with.h"
#include "selection.h"

/* Says where the module of PORT was before, or is besides. */
static void print_cages(const Context *c, const Histories *h, const Object *port)
{
	const char *serial = object_text(port, PORT_ATTR_cable_serial);
	FormerFinding f;

	for (size_t i = 0; i < h->all.n; i++) {
		const Value *entry = &h->all.items[i];
		bool is_own = streq(history_entry_text(entry, "Port"), port->path);

		for (size_t k = 0; *serial && history_read_cable(entry, k, &f); k++) {
			_cleanup_free_ char *since = format_time(f.since_usec);
			_cleanup_free_ char *until =
				f.until_usec ? format_time(f.until_usec) : NULL;

			if (streq(f.check, serial) && (until || !is_own))
				fprintf(c->out, "%s %s in %s from %s%s%s\n", serial,
					until ? "was" : "is", history_entry_name(entry),
					since ? since : "", until ? " to " : " on",
					until ? until : "");
		}
	}
}

static ExitStatus print_others(Context *c)
{
	const char *const properties[] = {port_attributes[PORT_ATTR_cable_serial].name, NULL};
	_cleanup_(histories_done) Histories h = {};
	_cleanup_selection_ Selection s = {};
	ExitStatus status = selection_read(c, 0, properties, &s);

	if (status == STATUS_OK)
		status = histories_read(c, selection_names, &h);
	for (size_t i = 0; status == STATUS_OK && i < s.n; i++)
		print_cages(c, &h, s.ports[i]);
	return status;
}

ExitStatus cable_command(Context *c)
{
	ExitStatus status =
		list_with(c,
			  "Port,Netdev,CableType,CableVendor,CablePartNumber,CableSerialNumber,"
			  "CableLength,CableMaxRate,CableRxPowerMargin,CableTxPowerMargin,"
			  "CableTemperature,CableFlags",
			  8);

	return status == STATUS_OK && c->n_arguments > 0 && !c->json ? print_others(c) : status;
}
