/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "rails.h"

#include "accelerator.h"
#include "decode.h"
#include "pci.h"

/* A port that was read. */
typedef struct Candidate {
	Port *port;
	const char *address; /* of the physical function; NULL: it has no rail */
	const char *neighbor;
	bool is_function;
	bool is_another;  /* it has the cable of the one before */
	Distance nearest; /* accelerator */
	uint32_t number;
} Candidate;

static const char *device_text(const Port *p, DeviceAttr a)
{
	const DeviceSnapshot *s = &p->device->now;

	return mask_has(&s->valid, a) ? attr_get_text(&device_attributes[a], &s->values) : "";
}

/* Those that are a part of an accelerator are mostly wired to the others of the machine. */
static Candidate describe(Port *p)
{
	const DeviceSnapshot *device = &p->device->now;
	Candidate c = {.port = p, .nearest = _DISTANCE_MAX, .neighbor = ""};

	TABLE_FOREACH(AcceleratorEntry, e, device->tables[DEVICE_TABLE_ACCELERATORS])
		c.nearest = MIN(c.nearest, distance_from_name(e->distance));
	if (mask_has(&p->now.valid, PORT_ATTR_neighbor))
		c.neighbor = TEXT_OF(&p->now.values, neighbor);
	c.is_function = pci_function_is_part(device_text(p, DEVICE_ATTR_function));
	if (port_can_be_rail(&p->now, device) && c.nearest != DISTANCE_LOC)
		c.address = device_text(p, c.is_function ? DEVICE_ATTR_physical_function
							 : DEVICE_ATTR_pci_address);
	return c;
}

/* The ports of one cable together, first that of the adapter itself. */
static int compare_cables(const Candidate *x, const Candidate *y)
{
	return pci_port_compare(x->address, x->port->number, y->address, y->port->number);
}

static int compare_candidates(const void *a, const void *b)
{
	const Candidate *x = a, *y = b;
	int order;

	/* those without a rail come last */
	if (!x->address || !y->address)
		return (int)!x->address - (int)!y->address;
	order = compare_cables(x, y);
	if (order == 0)
		order = (int)x->is_function - (int)y->is_function;
	return order ? order : x->port->device->index < y->port->device->index ? -1 : 1;
}

static int compare_names(const void *a, const void *b)
{
	return strverscmp(*(const char *const *)a, *(const char *const *)b);
}

/* A port has the number of its switch in the order of their names. Returns whether the other ends
 * of all cables are known. -ENOMEM. */
static int number_by_neighbors(Candidate *c, size_t n)
{
	_cleanup_free_ const char **names = calloc(n + 1, sizeof(*names));
	size_t n_cables = 0, n_names = 0;

	if (!names)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		if (c[i].is_another)
			continue;
		if (!*c[i].neighbor)
			return false;
		names[n_cables++] = c[i].neighbor;
	}
	sort(names, n_cables, sizeof(*names), compare_names);
	for (size_t i = 0; i < n_cables; i++)
		if (n_names == 0 || !streq(names[n_names - 1], names[i]))
			names[n_names++] = names[i];
	for (size_t i = 0; i < n; i++)
		c[i].number =
			c[i].is_another
				? c[i - 1].number
				: (uint32_t)array_place(n_names, k,
							strverscmp(names[k], c[i].neighbor) < 0);
	return true;
}

static void number_by_order(Candidate *c, size_t n)
{
	uint32_t n_cables = 0;

	for (size_t i = 0; i < n; i++) {
		c[i].is_another = i > 0 && compare_cables(&c[i - 1], &c[i]) == 0;
		n_cables += !c[i].is_another;
		c[i].number = n_cables - 1;
	}
}

static size_t find_candidates(const Cache *c, Candidate *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n_devices; i++)
		for (uint32_t k = 0; k < c->devices[i]->n_ports; k++)
			if (c->devices[i]->ports[k]->now.parts)
				ret[n++] = describe(c->devices[i]->ports[k]);
	return n;
}

int rails_number(const Cache *cache, uint64_t now, RailTell tell, void *userdata)
{
	_cleanup_free_ Candidate *c = calloc(cache->n_ports + 1, sizeof(*c));
	Distance limit = _DISTANCE_MAX;
	size_t n_all, n = 0;
	int by_neighbor;

	if (!c)
		return -ENOMEM;
	n_all = find_candidates(cache, c);
	for (size_t i = 0; i < n_all; i++)
		if (c[i].address && c[i].nearest <= DISTANCE_PXB)
			limit = DISTANCE_PXB;
	for (size_t i = 0; i < n_all; i++) {
		if (c[i].nearest > limit)
			c[i].address = NULL;
		n += c[i].address != NULL;
	}
	sort(c, n_all, sizeof(*c), compare_candidates);
	number_by_order(c, n);
	by_neighbor = number_by_neighbors(c, n);
	if (by_neighbor < 0)
		return by_neighbor;
	for (size_t i = 0; i < n_all; i++) {
		PortRail rail = {RAIL_NONE, 0, 0};
		PortChange change;

		if (i < n)
			rail = (PortRail){RAIL_NUMBERED, c[i].number,
					  by_neighbor ? RAIL_SOURCE_NEIGHBOR : RAIL_SOURCE_ORDER};
		if (memcmp(&c[i].port->now.rail, &rail, sizeof(rail)) == 0)
			continue;
		cache_apply_port_rail(c[i].port, &rail, now, &change);
		tell(userdata, &change);
		port_change_done(&change);
	}
	return 0;
}

bool rails_depend_on_port(const PortChange *c)
{
	return c->op == CACHE_ADDED || mask_has(&c->changed, PORT_ATTR_neighbor) ||
	       mask_has(&c->changed, PORT_ATTR_protocol);
}

bool rails_depend_on_device(const DeviceChange *c)
{
	static const DeviceAttr rows[] = {DEVICE_ATTR_pci_address,	 DEVICE_ATTR_function,
					  DEVICE_ATTR_physical_function, DEVICE_ATTR_dev_type,
					  DEVICE_ATTR_accelerators,	 DEVICE_ATTR_port_count};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (mask_has(&c->changed, rows[i]))
			return true;
	return c->op == CACHE_ADDED || c->op == CACHE_REMOVED;
}
