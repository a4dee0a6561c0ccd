/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "fake-message.h"

#include "list.h"

View view_of_port(const FakePort *p)
{
	return (View){
		.rows = port_attributes,
		.n_rows = _PORT_ATTR_MAX,
		.interfaces = port_interfaces(&p->s),
		.values = &p->s.values,
		.valid = &p->s.valid,
		.port_tables = p->s.tables,
		.port = &p->s,
	};
}

View view_of_device(const DeviceSnapshot *d)
{
	return (View){
		.rows = device_attributes,
		.n_rows = _DEVICE_ATTR_MAX,
		.interfaces = 1U << INTERFACE_DEVICE,
		.values = &d->values,
		.valid = &d->valid,
		.device_tables = d->tables,
		.device = d,
	};
}

static void append_unavailable(sd_bus_message *m, const View *v)
{
	sd_bus_message_open_container(m, 'a', "{ss}");
	for (unsigned int i = 0; i < v->n_rows; i++) {
		const Unavailable *why = v->port ? port_unavailable(v->port, (PortAttr)i)
						 : device_unavailable(v->device, (DeviceAttr)i);

		if (why && (v->interfaces >> v->rows[i].interface & 1))
			sd_bus_message_append(m, "{ss}", v->rows[i].name, why->code);
	}
	sd_bus_message_close_container(m);
}

static void append_value(sd_bus_message *m, const ColumnValue *v)
{
	switch (v->kind) {
	case COLUMN_VALUE_U32:
		sd_bus_message_append_basic(m, 'u', &v->u32);
		break;
	case COLUMN_VALUE_U64:
		sd_bus_message_append_basic(m, 't', &v->u64);
		break;
	case COLUMN_VALUE_TEXT:
		sd_bus_message_append_basic(m, 's', v->text);
		break;
	}
}

/* As rdmad, and with a member that only a newer rdmad has. */
static void append_tail(sd_bus_message *m, const TableLayout *l, const void *entry)
{
	ColumnValue v;

	sd_bus_message_open_container(m, 'a', "{sv}");
	sd_bus_message_append(m, "{sv}", "FromTheFuture", "a(us)", 1, 7, "later");
	for (size_t c = 0; c < l->n_columns; c++) {
		const Column *column = &l->columns[c];

		column_publish(column, entry, &v);
		if (!column->tail[0] || column_value_is_empty(&v))
			continue;
		sd_bus_message_open_container(m, 'e', "sv");
		sd_bus_message_append_basic(m, 's', column->tail);
		sd_bus_message_open_container(m, 'v', column->signature);
		append_value(m, &v);
		sd_bus_message_close_container(m);
		sd_bus_message_close_container(m);
	}
	sd_bus_message_close_container(m);
}

static void append_table(sd_bus_message *m, const View *v, AttrType type)
{
	const Table *t = v->port ? v->port_tables[attr_port_table(type)]
				 : v->device_tables[attr_device_table(type)];
	const TableLayout *l = table_layout(type);
	char members[TABLE_MEMBERS_MAX];
	ColumnValue value;

	sd_bus_message_open_container(m, 'a', l->signature + 1);
	for (size_t i = 0; t && i < t->n; i++) {
		const void *entry = t->entries + i * l->entry_size;

		sd_bus_message_open_container(m, 'r', table_members(l, members));
		for (size_t c = 0; c < l->n_columns; c++)
			if (l->columns[c].is_published && !l->columns[c].tail[0]) {
				column_publish(&l->columns[c], entry, &value);
				append_value(m, &value);
			}
		append_tail(m, l, entry);
		sd_bus_message_close_container(m);
	}
	sd_bus_message_close_container(m);
}

void append_list(sd_bus_message *m, AttrType type, const char *text)
{
	ListItem item;

	sd_bus_message_open_container(m, 'a', attr_signature(type) + 1);
	for (ListReader r = list_reader(type, text); list_next(&r, &item);)
		if (type == ATTR_WORDS)
			sd_bus_message_append(m, "s", item.word);
		else if (type == ATTR_NUMBERS)
			sd_bus_message_append(m, "u", item.number);
		else
			sd_bus_message_append(m, "{uu}", item.number, item.second);
	sd_bus_message_close_container(m);
}

static void append_scalar(sd_bus_message *m, const View *v, unsigned int row)
{
	const Attribute *a = &v->rows[row];
	AttrValue value;

	if (mask_has(v->valid, row))
		(void)attr_publish(a, v->values, &value);
	else
		(void)attr_publish_absent(a, &value);
	switch (value.kind) {
	case ATTR_VALUE_BOOL:
		sd_bus_message_append(m, "b", value.boolean);
		break;
	case ATTR_VALUE_U32:
		sd_bus_message_append(m, "u", value.u32);
		break;
	case ATTR_VALUE_S32:
		sd_bus_message_append(m, "i", value.s32);
		break;
	case ATTR_VALUE_U64:
		sd_bus_message_append(m, "t", value.u64);
		break;
	case ATTR_VALUE_TEXT:
		if (a->type == ATTR_DEVICE_PATH)
			sd_bus_message_append(m, "o", value.text);
		else
			sd_bus_message_append(m, "s", value.text);
		break;
	case ATTR_VALUE_LIST:
		append_list(m, a->type, value.text);
		break;
	case ATTR_VALUE_NAMES:
		sd_bus_message_append_strv(m, CONST_CAST(char **, value.names));
		break;
	}
}

void append_variant(sd_bus_message *m, const View *v, unsigned int row)
{
	const Attribute *a = &v->rows[row];

	sd_bus_message_open_container(m, 'v', attr_signature(a->type));
	if (a->type == ATTR_UNAVAILABLE)
		append_unavailable(m, v);
	else if (a->size == 0)
		append_table(m, v, a->type);
	else
		append_scalar(m, v, row);
	sd_bus_message_close_container(m);
}

static void append_property(sd_bus_message *m, const View *v, unsigned int row)
{
	sd_bus_message_open_container(m, 'e', "sv");
	sd_bus_message_append(m, "s", v->rows[row].name);
	append_variant(m, v, row);
	sd_bus_message_close_container(m);
}

static void append_members(sd_bus_message *m, const View *v, AttrInterface interface,
			   const AttrMask *only)
{
	for (unsigned int i = 0; i < v->n_rows; i++)
		if ((interface == INTERFACE_RAW ? v->interfaces >> v->rows[i].interface & 1
						: v->rows[i].interface == interface) &&
		    (!only || mask_has(only, i)))
			append_property(m, v, i);
	/* what rdmactl has never heard of */
	if (!only)
		sd_bus_message_append(m, "{sv}", "FromTheFuture", "(dx)", 1.5, INT64_C(-1));
}

void append_properties(sd_bus_message *m, const View *v, AttrInterface interface,
		       const AttrMask *only)
{
	sd_bus_message_open_container(m, 'a', "{sv}");
	append_members(m, v, interface, only);
	sd_bus_message_close_container(m);
}

/* Appends the property of V called NAME, if V has it and it has a value. */
static bool append_named(sd_bus_message *m, const View *v, const char *name)
{
	for (unsigned int i = 0; i < v->n_rows; i++) {
		if (v->rows[i].interface == INTERFACE_RAW || !streq(v->rows[i].name, name))
			continue;
		if ((v->interfaces >> v->rows[i].interface & 1) && mask_has(v->valid, i))
			append_property(m, v, i);
		return true;
	}
	return false;
}

static void append_all_named(sd_bus_message *m, const View *port, const View *device,
			     const char *const *names)
{
	for (size_t i = 0; names[i]; i++)
		if (!append_named(m, port, names[i]))
			append_named(m, device, names[i]);
}

void append_listed(sd_bus_message *m, const char *path, const View *port, const View *device,
		   const char *const *names)
{
	sd_bus_message_append(m, "o", path);
	for (ListedAttr i = 0; i < _LISTED_MAX; i++)
		append_scalar(m, port, listed_attributes[i]);
	sd_bus_message_open_container(m, 'a', "{sv}");
	append_all_named(m, port, device, names);
	sd_bus_message_append(m, "{sv}", "FromTheFuture", "(dx)", 1.5, INT64_C(-1));
	sd_bus_message_close_container(m);
}

void append_found(sd_bus_message *m, bool all, const View *port, const View *device,
		  const char *const *names)
{
	sd_bus_message_open_container(m, 'a', "{sv}");
	if (all)
		append_members(m, port, INTERFACE_RAW, NULL);
	append_all_named(m, port, device, names);
	sd_bus_message_close_container(m);
}

static void append_interfaces(sd_bus_message *m, const View *v)
{
	sd_bus_message_open_container(m, 'a', "{sa{sv}}");
	for (AttrInterface i = 0; i < INTERFACE_RAW; i++) {
		if (!(v->interfaces >> i & 1))
			continue;
		sd_bus_message_open_container(m, 'e', "sa{sv}");
		sd_bus_message_append(m, "s", attr_interface_name(i));
		append_properties(m, v, i, NULL);
		sd_bus_message_close_container(m);
	}
	sd_bus_message_close_container(m);
}

void append_object(sd_bus_message *m, const char *path, const View *v)
{
	sd_bus_message_append(m, "o", path);
	append_interfaces(m, v);
}
