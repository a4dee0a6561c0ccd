/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "rail-numbers.h"

#include "decode.h"
#include "gpus.h"

void rail_numbers_done(RailNumbers *r)
{
	free(r->items);
}

const RailNumber *rail_number_of(const RailNumbers *r, const Object *port)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->items[i].port == port)
			return &r->items[i];
	return NULL;
}

const char *rail_numbers_source(const RailNumbers *r)
{
	return r->by_neighbor ? "neighbor" : "order";
}

/* How far the nearest accelerator is from DEVICE. */
static Distance find_nearest(const Object *device, const Gpus *g)
{
	Distance nearest = _DISTANCE_MAX;
	uint64_t hops;

	for (size_t i = 0; i < g->n; i++)
		nearest = MIN(nearest, gpu_distance(device, &g->items[i], &hops));
	return nearest;
}

typedef struct Candidate {
	const Object *port;
	const char *address; /* of the physical function */
	bool is_function;
	Distance nearest;
} Candidate;

/* Returns whether PORT can be one for a network of accelerators: then *RET is it. Those that are a
 * part of an accelerator are mostly wired to the others of the machine. */
static bool find_candidate(const ObjectList *objects, const Object *port, const Gpus *g,
			   Candidate *ret)
{
	const Object *device = object_list_device(objects, port);
	Candidate c = {port, "", object_is_function(device), DISTANCE_LOC};

	if (!*object_text(device, DEVICE_ATTR_pci_address) || object_list_is_plane(objects, port) ||
	    streq(object_text(port, PORT_ATTR_protocol),
		  decode_name(ATTR_PROTOCOL, PROTOCOL_RAW_PACKET)))
		return false;
	c.nearest = find_nearest(device, g);
	if (c.nearest == DISTANCE_LOC)
		return false;
	c.address = object_text(device, c.is_function ? DEVICE_ATTR_physical_function
						      : DEVICE_ATTR_pci_address);
	*ret = c;
	return true;
}

/* The ports of one cable together, first that of the adapter itself. A longer address is one with a
 * greater domain. */
static int compare_cables(const Candidate *x, const Candidate *y)
{
	size_t n = strlen(x->address), m = strlen(y->address);
	uint64_t i = object_number(x->port, PORT_ATTR_port_num),
		 k = object_number(y->port, PORT_ATTR_port_num);
	int order = n != m ? (n < m ? -1 : 1) : strcmp(x->address, y->address);

	return order ? order : (i > k) - (i < k);
}

static int compare_candidates(const void *a, const void *b)
{
	const Candidate *x = a, *y = b;
	int order = compare_cables(x, y);

	if (order == 0)
		order = (int)x->is_function - (int)y->is_function;
	return order ? order : strverscmp(x->port->path, y->port->path);
}

static const char *neighbor_of(const RailNumber *r)
{
	return object_text(r->port, PORT_ATTR_neighbor);
}

static int compare_names(const void *a, const void *b)
{
	return strverscmp(*(const char *const *)a, *(const char *const *)b);
}

/* A port has the number of its switch in the order of their names. -ENOMEM. */
static int number_by_neighbors(RailNumbers *r)
{
	_cleanup_free_ const char **names = calloc(r->n + 1, sizeof(*names));
	size_t n = 0, n_names = 0;

	if (!names)
		return -ENOMEM;
	for (size_t i = 0; i < r->n; i++) {
		if (r->items[i].is_another)
			continue;
		names[n++] = neighbor_of(&r->items[i]);
		if (!*names[n - 1])
			return 0;
	}
	sort(names, n, sizeof(*names), compare_names);
	for (size_t i = 0; i < n; i++)
		if (n_names == 0 || !streq(names[n_names - 1], names[i]))
			names[n_names++] = names[i];
	for (size_t i = 0; i < r->n; i++)
		r->items[i].number =
			r->items[i].is_another
				? r->items[i - 1].number
				: array_place(n_names, k,
					      strverscmp(names[k], neighbor_of(&r->items[i])) < 0);
	r->by_neighbor = n > 0;
	return 0;
}

/* Numbers those of the N candidates that are near enough. */
static void number_by_order(const Candidate *c, size_t n, RailNumbers *r)
{
	const Candidate *last = NULL;
	size_t n_cables = 0;
	bool some_near = false;

	for (size_t i = 0; i < n; i++)
		some_near |= c[i].nearest <= DISTANCE_PXB;
	for (size_t i = 0; i < n; i++) {
		bool is_another = last && compare_cables(last, &c[i]) == 0;

		if (some_near && c[i].nearest > DISTANCE_PXB)
			continue;
		last = &c[i];
		n_cables += !is_another;
		r->items[r->n++] = (RailNumber){c[i].port, n_cables - 1, n_cables - 1, is_another};
	}
}

int rail_numbers_find(const ObjectList *objects, RailNumbers *ret)
{
	_cleanup_free_ Candidate *c = calloc(objects->n + 1, sizeof(*c));
	_cleanup_(rail_numbers_done)
		RailNumbers r = {.items = calloc(objects->n + 1, sizeof(*r.items))};
	_cleanup_(gpus_done) Gpus g = {};
	size_t n = 0;

	if (!c || !r.items || gpus_find(objects, &g) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < objects->n; i++)
		if (objects->items[i]->is_port)
			n += find_candidate(objects, objects->items[i], &g, &c[n]);
	sort(c, n, sizeof(*c), compare_candidates);
	number_by_order(c, n, &r);
	if (number_by_neighbors(&r) < 0)
		return -ENOMEM;
	*ret = r;
	r.items = NULL;
	return 0;
}
