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

static void put_port_unavailable(BusWriter *w, const Port *p)
{
	unsigned int interfaces = port_interfaces(&p->now);

	bus_writer_open(w, 'a', "{ss}");
	for (PortAttr a = 0; a < _PORT_ATTR_MAX; a++) {
		const Attribute *row = &port_attributes[a];

		if (!mask_has(&p->now.valid, a) && interfaces >> row->interface & 1)
			put_reason(w, row->name, port_unavailable(&p->now, a));
	}
	bus_writer_close(w);
}

static void put_device_unavailable(BusWriter *w, const Device *d)
{
	unsigned int interfaces = device_interfaces(&d->now);

	bus_writer_open(w, 'a', "{ss}");
	for (DeviceAttr a = 0; a < _DEVICE_ATTR_MAX; a++) {
		const Attribute *row = &device_attributes[a];

		if (!mask_has(&d->now.valid, a) && interfaces >> row->interface & 1)
			put_reason(w, row->name, device_unavailable(&d->now, a));
	}
	bus_writer_close(w);
}

void bus_put_port_attr(BusWriter *w, const Port *p, PortAttr a)
{
	const Attribute *row = &port_attributes[a];
	bool valid = mask_has(&p->now.valid, a);

	if (row->type == ATTR_UNAVAILABLE)
		put_port_unavailable(w, p);
	else if (!valid)
		put_absent(w, row);
	else if (row->size == 0)
		put_table(w, row->type, p->now.tables[attr_port_table(row->type)]);
	else
		put_scalar(w, row, &p->now.values);
}

void bus_put_device_attr(BusWriter *w, const Device *d, DeviceAttr a)
{
	const Attribute *row = &device_attributes[a];
	bool valid = mask_has(&d->now.valid, a);

	if (row->type == ATTR_UNAVAILABLE)
		put_device_unavailable(w, d);
	else if (!valid)
		put_absent(w, row);
	else if (row->size == 0)
		put_table(w, row->type, d->now.tables[attr_device_table(row->type)]);
	else
		put_scalar(w, row, &d->now.values);
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

void bus_put_port_properties(BusWriter *w, const Port *p, unsigned int interfaces)
{
	bus_writer_open(w, 'a', "{sv}");
	for (PortAttr a = 0; a < _PORT_ATTR_MAX; a++) {
		const Attribute *row = &port_attributes[a];

		if (!(interfaces >> row->interface & 1))
			continue;
		bus_writer_open_property(w, row->name, attr_signature(row->type));
		bus_put_port_attr(w, p, a);
		bus_writer_close_property(w);
	}
	bus_writer_close(w);
}

void bus_put_device_properties(BusWriter *w, const Device *d, unsigned int interfaces)
{
	bus_writer_open(w, 'a', "{sv}");
	for (DeviceAttr a = 0; a < _DEVICE_ATTR_MAX; a++) {
		const Attribute *row = &device_attributes[a];

		if (!(interfaces >> row->interface & 1))
			continue;
		bus_writer_open_property(w, row->name, attr_signature(row->type));
		bus_put_device_attr(w, d, a);
		bus_writer_close_property(w);
	}
	if (interfaces >> INTERFACE_DEVICE & 1) {
		bus_writer_open_property(w, "Ports", "ao");
		put_device_ports(w, d);
		bus_writer_close_property(w);
	}
	bus_writer_close(w);
}

unsigned int bus_changed_interfaces(const AttrMask *changed)
{
	unsigned int interfaces = 0;

	MASK_FOREACH(a, mask_and(*changed, port_rows(attr_is_signalled)))
	interfaces |= 1U << port_attributes[a].interface;
	return interfaces;
}

static inline bool is_sent(const Attribute *a)
{
	return attr_is_in_signals(a) && !row_is_table(a);
}

static inline bool is_invalidated(const Attribute *a)
{
	return attr_is_signalled(a) && row_is_table(a);
}

void bus_put_port_changes(BusWriter *w, const Port *p, AttrInterface interface,
			  const AttrMask *changed)
{
	bus_writer_open(w, 'a', "{sv}");
	MASK_FOREACH(a, mask_and(*changed, port_rows(is_sent)))
	{
		const Attribute *row = &port_attributes[a];

		if (row->interface != interface)
			continue;
		bus_writer_open_property(w, row->name, attr_signature(row->type));
		bus_put_port_attr(w, p, a);
		bus_writer_close_property(w);
	}
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
#define PORT(field, ...)                                                                           \
	static int get_port_##field(_unused_ sd_bus *bus, _unused_ const char *path,               \
				    _unused_ const char *interface, _unused_ const char *property, \
				    sd_bus_message *reply, void *userdata,                         \
				    _unused_ sd_bus_error *error)                                  \
	{                                                                                          \
		BusWriter w = {.message = reply};                                                  \
		bus_put_port_attr(&w, userdata, PORT_ATTR_##field);                                \
		return bus_writer_error(&w);                                                       \
	}
#include "port-attributes.def"
#undef PORT

#define DEVICE(field, ...)                                                                         \
	static int get_device_##field(_unused_ sd_bus *bus, _unused_ const char *path,             \
				      _unused_ const char *interface,                              \
				      _unused_ const char *property, sd_bus_message *reply,        \
				      void *userdata, _unused_ sd_bus_error *error)                \
	{                                                                                          \
		BusWriter w = {.message = reply};                                                  \
		bus_put_device_attr(&w, userdata, DEVICE_ATTR_##field);                            \
		return bus_writer_error(&w);                                                       \
	}
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
