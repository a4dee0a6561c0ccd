/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "bus-property.h"

#include <assert.h>

#include "list.h"
#include "names.h"
#include "row-set.h"

static void put_member(BusWriter *w, const ColumnValue *v)
{
	switch (v->kind) {
	case COLUMN_VALUE_U32:
		bus_writer_put_u32(w, v->u32);
		break;
	case COLUMN_VALUE_U64:
		bus_writer_put_u64(w, v->u64);
		break;
	case COLUMN_VALUE_TEXT:
		bus_writer_put_text(w, 's', v->text);
		break;
	}
}

/* The members of ENTRY that are by name. Most entries have none. */
static void put_tail(BusWriter *w, const TableLayout *l, const void *entry)
{
	ColumnValue v;

	bus_writer_open(w, 'a', "{sv}");
	for (size_t c = 0; c < l->n_columns; c++) {
		const Column *column = &l->columns[c];

		if (!column->tail[0])
			continue;
		column_publish(column, entry, &v);
		if (column_value_is_empty(&v))
			continue;
		bus_writer_open_property(w, column->tail, column->signature);
		put_member(w, &v);
		bus_writer_close_property(w);
	}
	bus_writer_close(w);
}

void bus_put_entry(BusWriter *w, const TableLayout *l, const void *entry)
{
	char members[TABLE_MEMBERS_MAX];
	ColumnValue v;

	bus_writer_open(w, 'r', w->message ? table_members(l, members) : NULL);
	for (size_t c = 0; c < l->n_columns; c++)
		if (l->columns[c].is_published && !l->columns[c].tail[0]) {
			column_publish(&l->columns[c], entry, &v);
			put_member(w, &v);
		}
	put_tail(w, l, entry);
	bus_writer_close(w);
}

void bus_put_entries(BusWriter *w, const TableLayout *l, const void *entries, size_t n)
{
	bus_writer_open(w, 'a', l->signature + 1);
	for (size_t i = 0; i < n; i++)
		bus_put_entry(w, l, (const char *)entries + i * l->entry_size);
	bus_writer_close(w);
}

static void put_table(BusWriter *w, AttrType type, const Table *t)
{
	bus_put_entries(w, table_layout(type), t ? t->entries : NULL, t ? t->n : 0);
}

void bus_put_list(BusWriter *w, AttrType type, const char *text)
{
	ListItem item;

	bus_writer_open(w, 'a', attr_signature(type) + 1);
	for (ListReader r = list_reader(type, text); list_next(&r, &item);) {
		if (type == ATTR_WORDS) {
			bus_writer_put_text(w, 's', item.word);
			continue;
		}
		if (type == ATTR_PAIRS)
			bus_writer_open(w, 'e', "uu");
		bus_writer_put_u32(w, item.number);
		if (type == ATTR_PAIRS) {
			bus_writer_put_u32(w, item.second);
			bus_writer_close(w);
		}
	}
	bus_writer_close(w);
}

/* A published value of a scalar row. */
static void put_value(BusWriter *w, const Attribute *row, const AttrValue *v)
{
	switch (v->kind) {
	case ATTR_VALUE_BOOL:
		bus_writer_put_bool(w, v->boolean);
		break;
	case ATTR_VALUE_U32:
		bus_writer_put_u32(w, v->u32);
		break;
	case ATTR_VALUE_U64:
		bus_writer_put_u64(w, v->u64);
		break;
	case ATTR_VALUE_S32:
		bus_writer_put_s32(w, v->s32);
		break;
	case ATTR_VALUE_TEXT:
		bus_writer_put_text(w, attr_signature(row->type)[0], v->text);
		break;
	case ATTR_VALUE_LIST:
		bus_put_list(w, row->type, v->text);
		break;
	case ATTR_VALUE_NAMES:
		bus_writer_open(w, 'a', "s");
		for (size_t i = 0; v->names[i]; i++)
			bus_writer_put_text(w, 's', v->names[i]);
		bus_writer_close(w);
		break;
	}
}

static void put_scalar(BusWriter *w, const Attribute *row, const void *values)
{
	AttrValue v;

	(void)attr_publish(row, values, &v);
	put_value(w, row, &v);
}

/* What is written for a row that has no valid value. */
static void put_absent(BusWriter *w, const Attribute *row)
{
	AttrValue v;

	if (attr_publish_absent(row, &v) < 0)
		put_table(w, row->type, NULL);
	else
		put_value(w, row, &v);
}

static void put_reason(BusWriter *w, const char *name, const Unavailable *why)
{
	bus_writer_open(w, 'e', "ss");
	bus_writer_put_text(w, 's', name);
	bus_writer_put_text(w, 's', why->code);
	bus_writer_close(w);
}

#define INTERFACE(id, ...)                                                                         \
	static _always_inline_ bool is_on_##id(const Attribute *a)                                 \
	{                                                                                          \
		return a->interface == INTERFACE_##id;                                             \
	}
#include "interfaces.def"

/* The rows of O that are on INTERFACES. */
static AttrMask rows_on(const CacheObject *o, unsigned int interfaces)
{
	AttrMask rows = {};

#define INTERFACE(id, ...)                                                                         \
	if (interfaces >> INTERFACE_##id & 1)                                                      \
		rows = mask_or(rows, o->port ? port_rows(is_on_##id) : device_rows(is_on_##id));
#include "interfaces.def"
	return rows;
}

/* The reasons of the rows AMONG; NULL: of all. */
static void put_unavailable(BusWriter *w, const CacheObject *o, const AttrMask *among)
{
	AttrMask rows = mask_without(rows_on(o, cache_object_interfaces(o)), *o->valid);

	bus_writer_open(w, 'a', "{ss}");
	MASK_FOREACH(a, among ? mask_and(rows, *among) : rows)
	put_reason(w, o->rows[a].name, cache_object_unavailable(o, a));
	bus_writer_close(w);
}

static inline void put_row(BusWriter *w, const CacheObject *o, const Attribute *row, size_t a)
{
	if (row->type == ATTR_UNAVAILABLE)
		put_unavailable(w, o, NULL);
	else if (!mask_has(o->valid, (unsigned int)a))
		put_absent(w, row);
	else if (row->size == 0)
		put_table(w, row->type, cache_object_table(o, a));
	else
		put_scalar(w, row, o->values);
}

static inline void put_property(BusWriter *w, const CacheObject *o, const Attribute *row, size_t a)
{
	bus_writer_open_property(w, row->name, attr_signature(row->type));
	put_row(w, o, row, a);
	bus_writer_close_property(w);
}

/* Not inlined into the hundreds of getters below: then gcc makes no constants of sets of rows. */
__attribute__((noinline)) void bus_put_row(BusWriter *w, const CacheObject *o, size_t a)
{
	put_row(w, o, &o->rows[a], a);
}

void bus_put_property(BusWriter *w, const CacheObject *o, size_t a)
{
	put_property(w, o, &o->rows[a], a);
}

void bus_put_reasons(BusWriter *w, const CacheObject *port, const AttrMask *among)
{
	const Attribute *row = &port->rows[PORT_ATTR_unavailable];

	bus_writer_open_property(w, row->name, attr_signature(row->type));
	put_unavailable(w, port, among);
	bus_writer_close_property(w);
}

static void put_port_paths(BusWriter *w, const Device *d)
{
	char path[RDMAD_PATH_MAX];

	for (uint32_t n = 0; n < d->n_ports; n++)
		if (d->ports[n]->published)
			bus_writer_put_text(w, 'o', port_path(d->ports[n], path));
}

static void put_device_ports(BusWriter *w, const Device *d)
{
	bus_writer_open(w, 'a', "o");
	put_port_paths(w, d);
	bus_writer_close(w);
}

void bus_put_objects(BusWriter *w, const Cache *c, const char *list)
{
	bool ports = streq(list, "Ports");
	char path[RDMAD_PATH_MAX];

	bus_writer_open(w, 'a', "o");
	for (size_t i = 0; i < c->n_devices && bus_writer_error(w) >= 0; i++) {
		const Device *d = c->devices[i];

		if (ports)
			put_port_paths(w, d);
		else if (d->published)
			bus_writer_put_text(w, 'o', device_path(d, path));
	}
	bus_writer_close(w);
}

/* All properties of an interface */

void bus_put_members(BusWriter *w, const CacheObject *o, unsigned int interfaces)
{
	MASK_FOREACH(a, rows_on(o, interfaces))
	put_property(w, o, &o->rows[a], a);
	if (interfaces >> INTERFACE_DEVICE & 1) {
		bus_writer_open_property(w, "Ports", "ao");
		put_device_ports(w, o->device);
		bus_writer_close_property(w);
	}
}

void bus_put_properties(BusWriter *w, const CacheObject *o, unsigned int interfaces)
{
	bus_writer_open(w, 'a', "{sv}");
	bus_put_members(w, o, interfaces);
	bus_writer_close(w);
}

unsigned int bus_changed_interfaces(const AttrMask *changed)
{
	unsigned int interfaces = 0;

	MASK_FOREACH(a, mask_and(*changed, port_rows(attr_is_signalled)))
	interfaces |= 1U << port_attributes[a].interface;
	return interfaces;
}

static _always_inline_ bool is_sent(const Attribute *a)
{
	return attr_is_in_signals(a) && !row_is_table(a);
}

static _always_inline_ bool is_invalidated(const Attribute *a)
{
	return attr_is_signalled(a) && row_is_table(a);
}

void bus_put_port_changes(BusWriter *w, const Port *p, AttrInterface interface,
			  const AttrMask *changed)
{
	const CacheObject o = cache_object_of_port(p);

	bus_writer_open(w, 'a', "{sv}");
	MASK_FOREACH(a, mask_and(*changed, port_rows(is_sent)))
	if (port_attributes[a].interface == interface)
		bus_put_property(w, &o, a);
	bus_writer_close(w);
	bus_writer_open(w, 'a', "s");
	MASK_FOREACH(a, mask_and(*changed, port_rows(is_invalidated)))
	if (port_attributes[a].interface == interface)
		bus_writer_put_text(w, 's', port_attributes[a].name);
	bus_writer_close(w);
}

/* Getters */

static int get_device_ports(_unused_ sd_bus *bus, _unused_ const char *path,
			    _unused_ const char *interface, _unused_ const char *property,
			    sd_bus_message *reply, void *userdata, _unused_ sd_bus_error *error)
{
	BusWriter w = {.message = reply};

	put_device_ports(&w, userdata);
	return bus_writer_error(&w);
}

/* One getter a row, so that reading a property looks nothing up. */
#define GETTER(kind, field, row)                                                                   \
	static int get_##kind##_##field(_unused_ sd_bus *bus, _unused_ const char *path,           \
					_unused_ const char *interface,                            \
					_unused_ const char *property, sd_bus_message *reply,      \
					void *userdata, _unused_ sd_bus_error *error)              \
	{                                                                                          \
		const CacheObject o = cache_object_of_##kind(userdata);                            \
		BusWriter w = {.message = reply};                                                  \
                                                                                                   \
		bus_put_row(&w, &o, row);                                                          \
		return bus_writer_error(&w);                                                       \
	}
#define PORT(field, ...) GETTER(port, field, PORT_ATTR_##field)
#include "port-attributes.def"
#undef PORT
#define DEVICE(field, ...) GETTER(device, field, DEVICE_ATTR_##field)
#include "device-attributes.def"
#undef DEVICE

static const sd_bus_property_get_t port_getters[_PORT_ATTR_MAX] = {
#define PORT(field, ...) [PORT_ATTR_##field] = get_port_##field,
#include "port-attributes.def"
#undef PORT
};

static const sd_bus_property_get_t device_getters[_DEVICE_ATTR_MAX] = {
#define DEVICE(field, ...) [DEVICE_ATTR_##field] = get_device_##field,
#include "device-attributes.def"
#undef DEVICE
};

static uint64_t property_flags(const Attribute *row)
{
	switch (row->class) {
	case CLASS_IDENTITY:
	case CLASS_FIXED:
		return SD_BUS_VTABLE_PROPERTY_CONST;
	case CLASS_GENERATION:
	case CLASS_COUNTER:
		return 0;
	case CLASS_CONST: /* perhaps not known at first */
	case CLASS_DYNAMIC:
		/* A table may be large: say that it changed, not to what. */
		return attr_table_entry_size(row->type) > 0
			       ? SD_BUS_VTABLE_PROPERTY_EMITS_INVALIDATION
			       : SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE;
	case _CLASS_MAX:
		break;
	}
	return 0;
}

void bus_vtable_build(AttrInterface interface, const sd_bus_vtable *members, size_t n_members,
		      sd_bus_vtable vtable[BUS_VTABLE_MAX])
{
	bool device = interface < INTERFACE_PORT;
	const Attribute *rows = device ? device_attributes : port_attributes;
	const sd_bus_property_get_t *getters = device ? device_getters : port_getters;
	size_t n_rows = device ? (size_t)_DEVICE_ATTR_MAX : (size_t)_PORT_ATTR_MAX;
	size_t n = 0;

	vtable[n++] = (sd_bus_vtable)SD_BUS_VTABLE_START(0);
	for (size_t i = 0; i < n_rows; i++) {
		if (rows[i].interface != interface)
			continue;
		assert(n < BUS_VTABLE_MAX - 1);
		vtable[n++] =
			(sd_bus_vtable)SD_BUS_PROPERTY(rows[i].name, attr_signature(rows[i].type),
						       getters[i], 0, property_flags(&rows[i]));
	}
	if (interface == INTERFACE_DEVICE)
		vtable[n++] = (sd_bus_vtable)SD_BUS_PROPERTY("Ports", "ao", get_device_ports, 0,
							     SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE);
	assert(n + n_members < BUS_VTABLE_MAX);
	for (size_t i = 0; i < n_members; i++)
		vtable[n + i] = members[i];
	vtable[n + n_members] = (sd_bus_vtable)SD_BUS_VTABLE_END;
}
