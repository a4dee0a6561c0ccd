/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "bus-list.h"

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

static int append_port(sd_bus_message *m, const char *contents, const Port *p)
{
	char path[RDMAD_PATH_MAX];
	int r = sd_bus_message_open_container(m, 'r', contents);

	if (r >= 0)
		r = sd_bus_message_append_basic(m, 'o', port_path(p, path));
	for (ListedAttr i = 0; r >= 0 && i < _LISTED_MAX; i++)
		r = bus_append_port_attr(m, p, listed_attributes[i]);
	return r < 0 ? r : sd_bus_message_close_container(m);
}

int bus_list_ports(sd_bus_message *call, const Cache *c, sd_bus_error *error)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	const char *device = NULL;
	const BusOption options[] = {{"device", 's', &device}};
	char contents[sizeof(bus_list_signature)];
	Device *only = NULL;
	int r = bus_read_options(call, "ListPorts", options, ARRAY_SIZE(options), error);

	if (r < 0)
		return r;
	if (device && (lookup_device(c, device, &only) < 0 || !only->published))
		return sd_bus_error_setf(error, RDMAD_ERROR_NOT_FOUND, "No device \"%s\"", device);
	r = sd_bus_message_new_method_return(call, &reply);
	if (r < 0)
		return r;
	/* without "a(" and ")" */
	text_copy(contents, strlen(bus_list_signature) - 2, bus_list_signature + 2);
	r = sd_bus_message_open_container(reply, 'a', bus_list_signature + 1);
	for (size_t i = 0; r >= 0 && i < c->n_devices; i++) {
		const Device *d = c->devices[i];

		for (uint32_t n = 0; r >= 0 && (!only || d == only) && n < d->n_ports; n++)
			if (d->ports[n]->published)
				r = append_port(reply, contents, d->ports[n]);
	}
	if (r >= 0)
		r = sd_bus_message_close_container(reply);
	return r < 0 ? r : sd_bus_send(NULL, reply, NULL);
}
