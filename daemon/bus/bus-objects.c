/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tree of objects, as sd-bus sees it. */

#include "bus-private.h"
#include "bus-property.h"
#include "lookup.h"
#include "names.h"
#include "port-name.h"

/* Whether INTERFACE is among INTERFACES, a mask. */
static bool has_interface(unsigned int interfaces, const char *interface)
{
	for (AttrInterface i = 0; i < INTERFACE_RAW; i++)
		if (interfaces >> i & 1 && streq(attr_interface_name(i), interface))
			return true;
	return false;
}

static int find_device(_unused_ sd_bus *bus, const char *path, const char *interface,
		       void *userdata, void **ret_found, _unused_ sd_bus_error *error)
{
	Bus *b = userdata;
	Device *d;
	Port *p;

	if (lookup_path(b->cache, path, &d, &p) < 0 || p ||
	    !has_interface(device_interfaces(&d->now), interface))
		return 0;
	*ret_found = d;
	return 1;
}

static int find_port(_unused_ sd_bus *bus, const char *path, const char *interface, void *userdata,
		     void **ret_found, _unused_ sd_bus_error *error)
{
	Bus *b = userdata;
	Device *d;
	Port *p;

	if (lookup_path(b->cache, path, &d, &p) < 0 || !p ||
	    !has_interface(port_interfaces(&p->now), interface))
		return 0;
	*ret_found = p;
	return 1;
}

/* Adds a copy of PATH to NODES, which has *N. */
static int add_node(char **nodes, size_t *n, const char *path)
{
	nodes[*n] = strdup(path);
	if (!nodes[*n])
		return -ENOMEM;
	++*n;
	return 0;
}

/* Adds the objects of D. */
static int add_nodes(char **nodes, size_t *n, const Device *d)
{
	char path[RDMAD_PATH_MAX];
	int r = d->published ? add_node(nodes, n, device_path(d, path)) : 0;

	for (uint32_t i = 0; r >= 0 && i < d->n_ports; i++)
		if (d->ports[i]->published)
			r = add_node(nodes, n, port_path(d->ports[i], path));
	return r;
}

/* sd-bus calls this for each path that is introspected, PREFIX, and takes of the objects those
 * below it. So below the path of a device only that device is of interest. */
static int list_objects(_unused_ sd_bus *bus, const char *prefix, void *userdata, char ***ret_nodes,
			_unused_ sd_bus_error *error)
{
	const Bus *b = userdata;
	const Cache *c = b->cache;
	bool is_below = startswith(prefix, RDMAD_DEVICE_PREFIX "/");
	uint32_t index;
	const Device *only = object_path_device(prefix, &index) ? cache_device(c, index) : NULL;
	size_t n = 0;
	char **nodes = calloc(c->n_devices + c->n_ports + 1, sizeof(char *));
	int r = nodes ? 0 : -ENOMEM;

	if (only)
		r = r < 0 ? r : add_nodes(nodes, &n, only);
	for (size_t i = 0; !is_below && r >= 0 && i < c->n_devices; i++)
		r = add_nodes(nodes, &n, c->devices[i]);
	if (r >= 0) {
		*ret_nodes = nodes;
		return 0;
	}
	while (n > 0)
		free(nodes[--n]);
	free(nodes);
	return r;
}

int bus_export_rows(Bus *b)
{
	/* sd-bus keeps pointers to them: one set serves every connection */
	static sd_bus_vtable vtables[INTERFACE_RAW][BUS_VTABLE_MAX];
	int r;

	for (; b->n_exported < INTERFACE_RAW; b->n_exported++) {
		AttrInterface i = b->n_exported;

		if (vtables[i][0].type == 0)
			bus_vtable_build(i, bus_port_members,
					 i == INTERFACE_PORT ? bus_n_port_members : 0, vtables[i]);
		r = sd_bus_add_fallback_vtable(b->bus, NULL, RDMAD_DEVICE_PREFIX,
					       attr_interface_name(i), vtables[i],
					       i < INTERFACE_PORT ? find_device : find_port, b);
		if (r < 0)
			return r;
	}
	return 0;
}

int bus_export_list(Bus *b)
{
	return sd_bus_add_node_enumerator(b->bus, NULL, RDMAD_DEVICE_PREFIX, list_objects, b);
}
