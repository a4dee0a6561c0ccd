/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "bus-list-ports.h"

#include <assert.h>

#include "bus-options.h"
#include "bus-property.h"
#include "lookup.h"
#include "names.h"

char bus_list_signature[2 * _LISTED_MAX + 8];

void bus_list_init(void)
{
	char *p = stpcpy(bus_list_signature, "a(o");

	for (ListedAttr i = 0; i < _LISTED_MAX; i++) {
		const char *type = attr_signature(port_attributes[listed_attributes[i]].type);

		/* plain fields only: tables would make it as large as what it stands in for */
		assert(strlen(type) == 1);
		p = stpcpy(p, type);
	}
	stpcpy(p, ")");
}

static void put_port(BusWriter *w, const Port *p)
{
	char path[RDMAD_PATH_MAX];

	/* in memory the contents of a structure need not be known */
	bus_open(w, 'r', "");
	bus_put_text(w, 'o', port_path(p, path));
	for (ListedAttr i = 0; i < _LISTED_MAX; i++)
		bus_put_port_attr(w, p, listed_attributes[i]);
	bus_close(w);
}

static int write_list(BusWriter *w, sd_bus_message *call, const Cache *c, sd_bus_error *error)
{
	const char *device = NULL;
	const BusOption options[] = {{"device", 's', &device}};
	Device *only = NULL;
	int r = bus_read_options(call, "ListPorts", options, ARRAY_SIZE(options), error);

	if (r < 0)
		return r;
	if (device && (lookup_device(c, device, &only) < 0 || !only->published))
		return sd_bus_error_setf(error, RDMAD_ERROR_NOT_FOUND, "No device \"%s\"", device);
	bus_open(w, 'a', bus_list_signature + 1);
	for (size_t i = 0; i < c->n_devices; i++) {
		const Device *d = c->devices[i];

		for (uint32_t n = 0; (!only || d == only) && n < d->n_ports; n++)
			if (d->ports[n]->published)
				put_port(w, d->ports[n]);
	}
	bus_close(w);
	return 1;
}

static size_t estimate_list(_unused_ sd_bus_message *call, const Cache *c)
{
	return 256 * c->n_ports;
}

const LongReplyKind bus_list_kind = {bus_list_signature, estimate_list, write_list};
