/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "bus-property.h"

#include <assert.h>

#include "names.h"

static int append_gids(sd_bus_message *m, const Table *t)
{
	int r = sd_bus_message_open_container(m, 'a', "(ussss)");

	TABLE_FOREACH(GidEntry, e, t)
	{
		char gid[40], address[46], type[24];

		if (r < 0)
			return r;
		gid_format(e->gid, gid);
		gid_format_address(e->gid, e->type, address);
		r = sd_bus_message_append(m, "(ussss)", e->index, gid, gid_type_name(e->type, type),
					  e->netdev, address);
	}
	return r < 0 ? r : sd_bus_message_close_container(m);
}

static int append_pkeys(sd_bus_message *m, const Table *t)
{
	int r = sd_bus_message_open_container(m, 'a', "(uus)");

	TABLE_FOREACH(PkeyEntry, e, t)
	{
		if (r < 0)
			return r;
		r = sd_bus_message_append(m, "(uus)", e->index, e->pkey, pkey_membership(e->pkey));
	}
	return r < 0 ? r : sd_bus_message_close_container(m);
}

static int append_netdevs(sd_bus_message *m, const Table *t)
{
	int r = sd_bus_message_open_container(m, 'a', "(us)");

	TABLE_FOREACH(NetdevEntry, e, t)
	{
		if (r < 0)
			return r;
		r = sd_bus_message_append(m, "(us)", e->ifindex, e->name);
	}
	return r < 0 ? r : sd_bus_message_close_container(m);
}

static int append_chardevs(sd_bus_message *m, const Table *t)
{
	int r = sd_bus_message_open_container(m, 'a', "(ssuu)");

	TABLE_FOREACH(ChardevEntry, e, t)
	{
		if (r < 0)
			return r;
		r = sd_bus_message_append(m, "(ssuu)", e->class, e->path, e->major, e->minor);
	}
	return r < 0 ? r : sd_bus_message_close_container(m);
}

/* The published value of a scalar row. */
static int append_scalar(sd_bus_message *m, const Attribute *row, const void *values, bool valid)
{
	AttrValue v;

	if (!valid) {
		switch (attr_signature(row->type)[0]) {
		case 's':
			/* an enumeration says so; other text is empty */
			return sd_bus_message_append(m, "s",
						     attr_type_names(row->type) ? "unknown" : "");
		case 'a':
			return sd_bus_message_append(m, attr_signature(row->type), 0);
		case 't':
			return sd_bus_message_append(m, "t", UINT64_C(0));
		case 'b':
			return sd_bus_message_append(m, "b", 0);
		default:
			return sd_bus_message_append(m, "u", 0U);
		}
	}
	(void)attr_publish(row, values, &v);
	switch (v.kind) {
	case ATTR_VALUE_BOOL:
		return sd_bus_message_append(m, "b", (int)v.boolean);
	case ATTR_VALUE_U32:
		return sd_bus_message_append(m, "u", v.u32);
	case ATTR_VALUE_U64:
		return sd_bus_message_append(m, "t", v.u64);
	case ATTR_VALUE_TEXT:
		return sd_bus_message_append(m, attr_signature(row->type), v.text);
	case ATTR_VALUE_NAMES:
		return sd_bus_message_append_strv(m, CONST_CAST(char **, v.names));
	}
	return -EINVAL;
}

static int append_port_unavailable(sd_bus_message *m, const Port *p)
{
	unsigned int interfaces = port_interfaces(&p->now);
	int r = sd_bus_message_open_container(m, 'a', "{ss}");

	for (PortAttr a = 0; r >= 0 && a < _PORT_ATTR_MAX; a++) {
		const char *why = port_unavailable(&p->now, a);

		if (why && interfaces >> port_attributes[a].interface & 1)
			r = sd_bus_message_append(m, "{ss}", port_attributes[a].name, why);
	}
	return r < 0 ? r : sd_bus_message_close_container(m);
}

static int append_device_unavailable(sd_bus_message *m, const Device *d)
{
	int r = sd_bus_message_open_container(m, 'a', "{ss}");

	for (DeviceAttr a = 0; r >= 0 && a < _DEVICE_ATTR_MAX; a++) {
		const char *why = device_unavailable(&d->now, a);

		if (why)
			r = sd_bus_message_append(m, "{ss}", device_attributes[a].name, why);
	}
	return r < 0 ? r : sd_bus_message_close_container(m);
}

int bus_append_port_attr(sd_bus_message *m, const Port *p, PortAttr a)
{
	const Attribute *row = &port_attributes[a];
	bool valid = mask_has(&p->now.valid, a);

	if (row->type == ATTR_UNAVAILABLE)
		return append_port_unavailable(m, p);
	if (row->type == ATTR_GIDS)
		return append_gids(m, valid ? p->now.tables[PORT_TABLE_GIDS] : NULL);
	if (row->type == ATTR_PKEYS)
		return append_pkeys(m, valid ? p->now.tables[PORT_TABLE_PKEYS] : NULL);
	if (row->type == ATTR_NETDEVS)
		return append_netdevs(m, valid ? p->now.tables[PORT_TABLE_NETDEVS] : NULL);
	return append_scalar(m, row, &p->now.values, valid);
}

int bus_append_device_attr(sd_bus_message *m, const Device *d, DeviceAttr a)
{
	const Attribute *row = &device_attributes[a];
	bool valid = mask_has(&d->now.valid, a);

	if (row->type == ATTR_UNAVAILABLE)
		return append_device_unavailable(m, d);
	if (row->type == ATTR_CHARDEVS)
		return append_chardevs(m, valid ? d->now.chardevs : NULL);
	return append_scalar(m, row, &d->now.values, valid);
}

/* One getter a row, so that reading a property looks nothing up. */
#define PORT(field, ...)                                                                           \
	static int get_port_##field(_unused_ sd_bus *bus, _unused_ const char *path,               \
				    _unused_ const char *interface, _unused_ const char *property, \
				    sd_bus_message *reply, void *userdata,                         \
				    _unused_ sd_bus_error *error)                                  \
	{                                                                                          \
		return bus_append_port_attr(reply, userdata, PORT_ATTR_##field);                   \
	}
#include "port-attributes.def"
#undef PORT

#define DEVICE(field, ...)                                                                         \
	static int get_device_##field(_unused_ sd_bus *bus, _unused_ const char *path,             \
				      _unused_ const char *interface,                              \
				      _unused_ const char *property, sd_bus_message *reply,        \
				      void *userdata, _unused_ sd_bus_error *error)                \
	{                                                                                          \
		return bus_append_device_attr(reply, userdata, DEVICE_ATTR_##field);               \
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
		return SD_BUS_VTABLE_PROPERTY_CONST;
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
	bool device = interface == INTERFACE_DEVICE;
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
	assert(n + n_members < BUS_VTABLE_MAX);
	memcpy(&vtable[n], members, n_members * sizeof(*members));
	vtable[n + n_members] = (sd_bus_vtable)SD_BUS_VTABLE_END;
}
