/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Two cables that are exchanged. On a machine whose ports are each at a switch of their own, the
 * names of the switches mostly have the order of the ports; if all do but two, each of which is
 * where the other one would be, somebody has taken one cable for the other. */

#include "check-parts.h"
#include "checks.h"
#include "decode.h"
#include "pci.h"

/* Ours: two that are exchanged are found by the order of the others, of which there are two at
 * least. */
#define PORTS_LEAST 4U

/* A port whose rail is by its neighbour. */
typedef struct Cable {
	const Object *port;
	const char *address;
} Cable;

static int compare_cables(const void *a, const void *b)
{
	const Cable *x = a, *y = b;

	return pci_port_compare(x->address, object_number(x->port, PORT_ATTR_port_num), y->address,
				object_number(y->port, PORT_ATTR_port_num));
}

/* Fills RET, which has room for all ports, in the order of PCI. A function has the cable of its
 * adapter. */
static size_t find_cables(const CheckRun *r, Cable *ret)
{
	const char *by_neighbor = decode_name(ATTR_RAIL_SOURCE, RAIL_SOURCE_NEIGHBOR);
	size_t n = 0;

	for (size_t i = 0; i < r->objects->n; i++) {
		const Object *port = r->objects->items[i];
		const Object *device = object_list_device(r->objects, port);

		if (port->is_port && !object_is_function(device) &&
		    streq(object_text(port, PORT_ATTR_rail_source), by_neighbor) &&
		    *object_text(port, PORT_ATTR_neighbor))
			ret[n++] = (Cable){port, object_text(device, DEVICE_ATTR_pci_address)};
	}
	sort(ret, n, sizeof(*ret), compare_cables);
	return n;
}

static void say(CheckRun *r, const Object *one, const Object *other, size_t n)
{
	const Attribute *row = &port_attributes[PORT_ATTR_neighbor];
	char name[96];

	r->port = one;
	r->device = object_list_device(r->objects, r->port);
	if (!check_is_expected(r, row))
		check_find(r, row,
			   "the port is at %s, and %s at %s: exchanged, they would have the order "
			   "of the other %zu ports",
			   object_text(one, PORT_ATTR_neighbor), object_name(other, name),
			   object_text(other, PORT_ATTR_neighbor), n - 2);
	r->port = r->device = NULL;
}

void look_for_swapped_rails(CheckRun *r)
{
	_cleanup_free_ Cable *cables = calloc(r->objects->n + 1, sizeof(*cables));
	size_t wrong[2], n, n_wrong = 0;

	/* if ports were named, only these are checked */
	if (r->n_names > 0)
		return;
	if (!cables) {
		r->error = -ENOMEM;
		return;
	}
	n = find_cables(r, cables);
	for (size_t i = 0; i < n; i++) {
		if (object_number(cables[i].port, PORT_ATTR_rail) == i)
			continue;
		if (n_wrong == ARRAY_SIZE(wrong))
			return;
		wrong[n_wrong++] = i;
	}
	if (n < PORTS_LEAST || n_wrong < ARRAY_SIZE(wrong) ||
	    object_number(cables[wrong[0]].port, PORT_ATTR_rail) != wrong[1] ||
	    object_number(cables[wrong[1]].port, PORT_ATTR_rail) != wrong[0])
		return;
	say(r, cables[wrong[0]].port, cables[wrong[1]].port, n);
}
