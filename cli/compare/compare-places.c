/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "compare-places.h"

#include "decode.h"

bool device_is_compared(const Object *o)
{
	return !o->is_port && !streq(object_text(o, DEVICE_ATTR_dev_type),
				     decode_name(ATTR_DEVICE_TYPE, DEVICE_TYPE_SMI));
}

const char *device_model(const Object *device)
{
	static const DeviceAttr rows[] = {DEVICE_ATTR_hca_type, DEVICE_ATTR_driver,
					  DEVICE_ATTR_dev_protocol};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (*object_text(device, rows[i]))
			return object_text(device, rows[i]);
	return "unknown";
}

static const char *device_name(const Object *device)
{
	return value_text(&device->values[DEVICE_ATTR_name]);
}

bool place_is_common(const Kind *k, const Place *p)
{
	return 2 * p->n > k->n;
}

void places_done(Kind *k)
{
	for (size_t i = 0; i < k->n_places; i++)
		free(k->places[i].objects);
	free(k->places);
	k->places = NULL;
	k->n_places = 0;
}

/* Adds a place at the end; NULL without memory. */
static Place *add_place(Kind *k)
{
	Place *p;

	if (!array_grow(k->places, k->n_places))
		return NULL;
	p = &k->places[k->n_places];
	*p = (Place){.objects = calloc(k->n, sizeof(*p->objects)), .device = k->n_places};
	if (!p->objects)
		return NULL;
	k->n_places++;
	return p;
}

static void put_object(Place *p, size_t member, const Object *o)
{
	if (p->n++ == 0)
		p->usual = o;
	p->objects[member] = o;
}

/* Devices */

/* The devices of one machine, in the order of their PCI addresses. */
typedef struct Devices {
	const Object **items; /* NULL: it has its place */
	size_t n;
} Devices;

static int compare_devices(const void *a, const void *b)
{
	const Object *x = *(const Object *const *)a, *y = *(const Object *const *)b;
	int order = strcmp(object_text(x, DEVICE_ATTR_pci_address),
			   object_text(y, DEVICE_ATTR_pci_address));

	return order ? order : strverscmp(device_name(x), device_name(y));
}

static int list_devices(const Machine *machine, Devices *ret)
{
	const ObjectList *l = &machine->objects;

	ret->items = calloc(l->n + 1, sizeof(*ret->items));
	if (!ret->items)
		return -ENOMEM;
	for (size_t i = 0; i < l->n; i++)
		if (device_is_compared(l->items[i]))
			ret->items[ret->n++] = l->items[i];
	sort(ret->items, ret->n, sizeof(*ret->items), compare_devices);
	return 0;
}

static bool has_same_name(const Object *a, const Object *b)
{
	return streq(device_name(a), device_name(b));
}

static bool has_same_model(const Object *a, const Object *b)
{
	return streq(device_model(a), device_model(b));
}

static bool has_same_slot(const Object *a, const Object *b)
{
	const char *slot = object_text(a, DEVICE_ATTR_pci_address);

	return *slot && streq(slot, object_text(b, DEVICE_ATTR_pci_address));
}

static bool has_same_model_and_slot(const Object *a, const Object *b)
{
	return has_same_model(a, b) && has_same_slot(a, b);
}

/* Gives each device that has no place yet the first free one whose device is LIKE it. */
static void match_devices(Kind *k, size_t member, Devices *d,
			  bool (*like)(const Object *a, const Object *b))
{
	for (size_t i = 0; i < d->n; i++)
		for (size_t p = 0; p < k->n_places && d->items[i]; p++) {
			Place *place = &k->places[p];

			if (place->objects[member] || !like(d->items[i], place->usual))
				continue;
			put_object(place, member, d->items[i]);
			d->items[i] = NULL;
		}
}

/* Gives the devices of a machine their places, and makes those that are missing. */
static int place_devices(Kind *k, size_t member, Devices *d)
{
	match_devices(k, member, d, has_same_name);
	match_devices(k, member, d, has_same_model_and_slot);
	match_devices(k, member, d, has_same_model);
	match_devices(k, member, d, has_same_slot);
	for (size_t i = 0; i < d->n; i++) {
		Place *p = d->items[i] ? add_place(k) : NULL;

		if (p)
			put_object(p, member, d->items[i]);
		else if (d->items[i])
			return -ENOMEM;
	}
	return 0;
}

/* Whether two machines have the same devices with the same names. */
static bool are_alike(const Devices *a, const Devices *b)
{
	for (size_t i = 0; i < a->n && i < b->n; i++)
		if (!has_same_name(a->items[i], b->items[i]) ||
		    !has_same_model(a->items[i], b->items[i]))
			return false;
	return a->n == b->n;
}

/* The member whose devices most others have too, or the first one of them. Only one that nobody
 * else is like can be skipped, so this is quick if most are alike. */
static size_t find_usual(const Devices *d, size_t n)
{
	size_t usual = 0, most = 0;

	for (size_t i = 0; i < n && most < n - i; i++) {
		size_t alike = 0;

		for (size_t other = i; other < n; other++)
			alike += are_alike(&d[i], &d[other]);
		if (alike > most) {
			most = alike;
			usual = i;
		}
	}
	return usual;
}

static int find_devices(Kind *k)
{
	Devices *d = calloc(k->n, sizeof(*d));
	size_t usual = 0;
	int r = d ? 0 : -ENOMEM;

	for (size_t i = 0; r == 0 && i < k->n; i++)
		r = list_devices(k->members[i], &d[i]);
	if (r == 0) {
		/* the places are those of a usual machine, and only others are added to them */
		usual = find_usual(d, k->n);
		r = place_devices(k, usual, &d[usual]);
	}
	for (size_t i = 0; r == 0 && i < k->n; i++)
		if (i != usual)
			r = place_devices(k, i, &d[i]);
	for (size_t i = 0; d && i < k->n; i++)
		free(d[i].items);
	free(d);
	return r;
}

/* Ports */

static Place *find_port_place(Kind *k, size_t device, uint64_t number)
{
	Place *p;

	for (size_t i = device + 1; i < k->n_places; i++)
		if (k->places[i].is_port && k->places[i].device == device &&
		    k->places[i].port == number)
			return &k->places[i];
	p = add_place(k);
	if (!p)
		return NULL;
	p->is_port = true;
	p->device = device;
	p->port = number;
	return p;
}

/* Finds the ports of the device that a machine has at place DEVICE. */
static int find_ports(Kind *k, size_t member, size_t device)
{
	const ObjectList *l = &k->members[member]->objects;
	const Object *d = k->places[device].objects[member];

	for (size_t i = 0; d && i < l->n; i++) {
		const Object *o = l->items[i];
		Place *p;

		if (!o->is_port || o->values[PORT_ATTR_port_num].type != VALUE_UNSIGNED ||
		    !streq(value_text(&o->values[PORT_ATTR_device_index]), d->path))
			continue;
		p = find_port_place(k, device, o->values[PORT_ATTR_port_num].number);
		if (!p)
			return -ENOMEM;
		if (!p->objects[member])
			put_object(p, member, o);
	}
	return 0;
}

/* Each device, and behind it its ports. */
static int compare_places(const void *a, const void *b)
{
	const Place *x = a, *y = b;

	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	if (x->is_port != y->is_port)
		return x->is_port ? 1 : -1;
	return (x->port > y->port) - (x->port < y->port);
}

/* Sorts the places, which moves those of devices. */
static void sort_places(Kind *k)
{
	size_t device = 0;

	sort(k->places, k->n_places, sizeof(*k->places), compare_places);
	for (size_t i = 0; i < k->n_places; i++) {
		if (!k->places[i].is_port)
			device = i;
		k->places[i].device = device;
	}
}

/* Names PLACE as most machines do, or as the first one that has it. */
static void name_place(const Kind *k, Place *p)
{
	const Object *common = NULL;
	char name[96];
	size_t lead = 0;

	for (size_t i = 0; i < k->n; i++) {
		if (!p->objects[i])
			continue;
		if (lead == 0)
			common = p->objects[i];
		lead = streq(object_name(common, p->name), object_name(p->objects[i], name))
			       ? lead + 1
			       : lead - 1;
	}
	if (lead == 0)
		common = p->usual;
	object_name(common, p->name);
}

int places_find(Kind *k)
{
	int r = find_devices(k);
	size_t n_devices = k->n_places;

	for (size_t device = 0; device < n_devices; device++)
		for (size_t i = 0; r == 0 && i < k->n; i++)
			r = find_ports(k, i, device);
	if (r < 0)
		return r;
	sort_places(k);
	for (size_t i = 0; i < k->n_places; i++)
		name_place(k, &k->places[i]);
	return 0;
}
