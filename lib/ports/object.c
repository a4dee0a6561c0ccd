/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "object.h"

#include <fnmatch.h>
#include <strings.h>

#include "bus-walk.h"
#include "decode.h"
#include "pci.h"
#include "port-name.h"
#include "table.h"
#include "unavailable.h"

#define BATCH_ROWS 7U

/* Rows that were asked for, in that order: those that most ask for come first. Their values stay
 * where they are, since callers have pointers to them. */
typedef struct MadeBatch {
	struct MadeBatch *next;
	uint8_t n, rows[BATCH_ROWS];
	Value values[BATCH_ROWS];
} MadeBatch;
_Static_assert(64 * ATTR_MASK_WORDS <= UINT8_MAX + 1, "a row of a batch is one byte");

static int new_object(const char *path, Object **ret)
{
	size_t size = strlen(path) + 1;
	uint32_t device, port;
	bool is_port;
	Object *o;

	if (object_path_parse(path, &device, &port) < 0)
		return -EINVAL;
	is_port = port != PORT_NUMBER_NONE;
	o = calloc(1, sizeof(*o) + size);
	if (!o)
		return -ENOMEM;
	memcpy(o->path, path, size);
	o->is_port = is_port;
	o->rows = is_port ? port_attributes : device_attributes;
	o->n_rows = is_port ? (size_t)_PORT_ATTR_MAX : (size_t)_DEVICE_ATTR_MAX;
	*ret = o;
	return 0;
}

int object_new(const char *path, Object **ret)
{
	_cleanup_(object_free_pointer) Object *o = NULL;
	int r = new_object(path, &o);

	if (r < 0)
		return r;
	o->values = calloc(o->n_rows, sizeof(Value));
	if (!o->values)
		return -ENOMEM;
	*ret = steal_pointer(&o);
	return 0;
}

int object_new_from(const char *path, const ObjectSource *source, const void *what, AttrMask *read,
		    Object **ret)
{
	_cleanup_(object_free_pointer) Object *o = NULL;
	int r = new_object(path, &o);

	if (r < 0)
		return r;
	o->made = malloc(sizeof(*o->made));
	if (!o->made)
		return -ENOMEM;
	*o->made = (MadeValues){.source = source, .what = what, .read = read};
	*ret = steal_pointer(&o);
	return 0;
}

void object_forget(Object *o)
{
	MadeBatch *b;

	while ((b = o->made->first)) {
		o->made->first = b->next;
		for (size_t i = 0; i < b->n; i++)
			value_done(&b->values[i]);
		free(b);
	}
	o->made->failed = false;
}

Object *object_free(Object *o)
{
	if (!o)
		return NULL;
	if (o->made)
		object_forget(o);
	free(o->made);
	for (size_t i = 0; o->values && i < o->n_rows; i++)
		value_done(&o->values[i]);
	free(o->values);
	free(o);
	return NULL;
}

Object *object_copy(const Object *o)
{
	_cleanup_(object_free_pointer) Object *copy = NULL;

	if (object_new(o->path, &copy) < 0)
		return NULL;
	copy->interfaces = o->interfaces;
	for (size_t i = 0; i < o->n_rows; i++)
		if (value_copy(&o->values[i], &copy->values[i]) < 0)
			return NULL;
	return steal_pointer(&copy);
}

static const Attribute *find_row(const Attribute *rows, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (rows[i].interface != INTERFACE_RAW && strcasecmp(rows[i].name, name) == 0)
			return &rows[i];
	return NULL;
}

const Attribute *object_find_row(const char *name, bool *ret_of_device)
{
	const Attribute *row = find_row(port_attributes, _PORT_ATTR_MAX, name);

	*ret_of_device = row == NULL;
	return row ? row : find_row(device_attributes, _DEVICE_ATTR_MAX, name);
}

/* The row; the number of rows if there is none. Each name is that of one row of an object, whatever
 * the interface: INTERFACE_RAW is any. Names come in the order of the rows: *CURSOR, where the last
 * was found, saves looking. */
static size_t find_property(const Object *o, AttrInterface interface, const char *name,
			    size_t *cursor)
{
	for (size_t n = 0; n < o->n_rows; n++) {
		size_t i = *cursor;
		AttrInterface of = o->rows[i].interface;

		*cursor = (i + 1) % o->n_rows;
		if (of != INTERFACE_RAW && (of == interface || interface == INTERFACE_RAW) &&
		    streq(o->rows[i].name, name))
			return i;
	}
	return o->n_rows;
}

size_t object_find_name(const Object *o, const char *name, size_t *cursor)
{
	return find_property(o, INTERFACE_RAW, name, cursor);
}

int object_read_row(Object *o, size_t i, sd_bus_message *m)
{
	_cleanup_value_ Value read = {};
	AttrType type = o->rows[i].type;
	bool is_counted =
		o->counts_entries && type != ATTR_FINDINGS && attr_table_entry_size(type) > 0;
	int r = is_counted ? value_read_count(m, &read) : value_read(m, &read);

	if (r >= 0)
		r = value_join(type, &read);
	if (r < 0)
		return r;
	o->interfaces |= 1U << o->rows[i].interface;
	value_done(&o->values[i]);
	o->values[i] = read;
	read = (Value){};
	return 0;
}

static int read_properties(Object *o, const char *interface, sd_bus_message *m, size_t *cursor)
{
	AttrInterface i = INTERFACE_RAW;
	const char *name;
	BusWalk w;

	if (*interface && attr_interface_find(interface, &i) < 0)
		return sd_bus_message_skip(m, "a{sv}");
	if (i != INTERFACE_RAW)
		o->interfaces |= 1U << i;
	w = bus_walk_pairs(m, "sv");
	while (bus_walk_named(&w, &name)) {
		size_t row = find_property(o, i, name, cursor);

		if (row < o->n_rows)
			w.r = object_read_row(o, row, m);
	}
	return w.r;
}

int object_read_properties(Object *o, const char *interface, sd_bus_message *m)
{
	size_t cursor = 0;

	return read_properties(o, interface, m, &cursor);
}

int object_read_interfaces(Object *o, sd_bus_message *m)
{
	BusWalk w = bus_walk_pairs(m, "sa{sv}");
	const char *interface;
	size_t cursor = 0;

	while (bus_walk_named(&w, &interface))
		w.r = read_properties(o, interface, m, &cursor);
	return w.r;
}

void object_remove_interface(Object *o, const char *interface)
{
	AttrInterface i;

	if (attr_interface_find(interface, &i) < 0)
		return;
	o->interfaces &= ~(1U << i);
	for (size_t a = 0; a < o->n_rows; a++)
		if (o->rows[a].interface == i)
			value_done(&o->values[a]);
}

static const Value no_value = {};

/* Makes the value of row I, to be kept in B, or in a new one at *END without B. Of a row without a
 * value nothing is kept. */
static const Value *add_value(MadeValues *made, size_t i, MadeBatch *b, MadeBatch **end)
{
	Value value = {};

	if (made->source->read(made->what, i, &value) < 0) {
		made->failed = true;
		return &no_value;
	}
	if (value.type == VALUE_NONE)
		return &no_value;
	if (!b)
		b = *end = calloc(1, sizeof(*b));
	if (!b) {
		value_done(&value);
		made->failed = true;
		return &no_value;
	}
	b->rows[b->n] = (uint8_t)i;
	b->values[b->n] = value;
	return &b->values[b->n++];
}

static const Value *make_value(MadeValues *made, size_t i)
{
	MadeBatch **end = &made->first, *b;

	mask_set(made->read, (unsigned int)i, true);
	while ((b = *end)) {
		for (size_t k = 0; k < b->n; k++)
			if (b->rows[k] == i)
				return &b->values[k];
		if (b->n < BATCH_ROWS)
			break;
		end = &b->next;
	}
	return add_value(made, i, b, end);
}

const Value *object_stored(const Object *o, size_t i)
{
	return o->made ? make_value(o->made, i) : &o->values[i];
}

bool object_has(const Object *o, size_t i)
{
	return object_stored(o, i)->type != VALUE_NONE ||
	       (o->made && object_unavailable_code(o, i));
}

static size_t row_of_codes(const Object *o)
{
	return o->is_port ? (size_t)PORT_ATTR_unavailable : (size_t)DEVICE_ATTR_unavailable;
}

const char *object_unavailable_code(const Object *o, size_t i)
{
	const Value *code;

	if (o->made) {
		mask_set(o->made->read, (unsigned int)i, true);
		mask_set(o->made->read, (unsigned int)row_of_codes(o), true);
		return o->made->source->unavailable(o->made->what, i);
	}
	code = value_lookup(&o->values[row_of_codes(o)], o->rows[i].name);

	return code ? value_text(code) : NULL;
}

const char *object_unavailable(const Object *o, size_t i)
{
	const char *code = object_unavailable_code(o, i);

	return code ? unavailable_text(code) : NULL;
}

/* Every port has a maximum MTU, and rdmad can learn it by verbs only. A code that stands for no
 * known MTU is an answer of verbs too. */
const char *object_verbs_obstacle(const Object *port)
{
	const char *code = object_unavailable_code(port, PORT_ATTR_max_mtu);

	return code && !streq(code, unavailable_rows[UNAVAILABLE_UNKNOWN_CODE].code) ? code : NULL;
}

const Value *object_value(const Object *o, size_t i)
{
	const Value *v = o ? object_stored(o, i) : NULL;

	/* a source makes only what is valid */
	return v && v->type != VALUE_NONE && (o->made || !object_unavailable_code(o, i)) ? v : NULL;
}

bool object_table(const Object *o, size_t i, const Table **ret)
{
	mask_set(o->made->read, (unsigned int)i, true);
	return o->made->source->table(o->made->what, i, ret);
}

bool object_count(const Object *o, size_t i, size_t *ret)
{
	const Table *table = NULL;
	const Value *v;

	if (o->made) {
		if (!object_table(o, i, &table))
			return false;
		*ret = table ? table->n : 0;
		return true;
	}
	v = object_value(o, i);
	if (!v || v->type != VALUE_ARRAY)
		return false;
	*ret = v->n;
	return true;
}

const char *object_text(const Object *o, size_t i)
{
	return o ? value_text(object_value(o, i)) : "";
}

uint64_t object_number(const Object *o, size_t i)
{
	return o ? value_number(object_value(o, i)) : 0;
}

bool object_is_active(const Object *port)
{
	const char *state = object_text(port, PORT_ATTR_state);

	return streq(state, "active") || streq(state, "active-defer");
}

bool object_is_stale(const Object *port)
{
	return value_is_true(object_value(port, PORT_ATTR_stale));
}

const char *object_name(const Object *o, char buffer[96])
{
	const Value *name = object_stored(o, o->is_port ? (size_t)PORT_ATTR_device_name
							: (size_t)DEVICE_ATTR_name);
	const Value *port = o->is_port ? object_stored(o, PORT_ATTR_port_num) : NULL;
	char device[65];

	/* clean: the last character may have been cut */
	text_copy_clean(device, sizeof(device), value_text(name));
	if (port && port->type == VALUE_UNSIGNED)
		snprintf(buffer, 96, "%s/%u", device, (unsigned int)port->number);
	else
		snprintf(buffer, 96, "%s", device);
	return buffer;
}

const char *object_node(const Object *device, const char *class)
{
	const Value *nodes = object_value(device, DEVICE_ATTR_chardevs);

	VALUE_FOREACH(node, nodes) {
		if (node->type == VALUE_STRUCT && node->n >= 2 &&
		    streq(value_text(&node->items[0]), class))
			return value_text(&node->items[1]);
	}
	return "";
}

const char *object_uverbs_node(const Object *device)
{
	return object_node(device, "verbs");
}

bool object_is_pattern(const char *name)
{
	return strpbrk(name, "*?[") != NULL;
}

bool object_matches(const Object *port, const char *pattern)
{
	const Value *netdev = object_value(port, PORT_ATTR_netdev);
	const Value *netdevs = object_value(port, PORT_ATTR_netdevs);
	char name[96], *slash;

	if (fnmatch(pattern, object_name(port, name), 0) == 0 ||
	    fnmatch(pattern, value_text(object_stored(port, PORT_ATTR_device_name)), 0) == 0)
		return true;
	slash = strrchr(name, '/');
	if (slash)
		*slash = ':';
	return fnmatch(pattern, name, 0) == 0 ||
	       (netdev && fnmatch(pattern, value_text(netdev), 0) == 0) ||
	       (netdevs && netdevs->type == VALUE_ARRAY && value_has_member(netdevs, pattern));
}

void object_list_done(ObjectList *l)
{
	for (size_t i = 0; i < l->n; i++)
		object_free(l->items[i]);
	free(l->items);
	*l = (ObjectList){};
}

/* Where PATH is in the list, or where it would be inserted. */
static size_t find_place(const ObjectList *l, const char *path)
{
	/* strverscmp() sorts device/9 before device/10 */
	return array_place(l->n, i, strverscmp(l->items[i]->path, path) < 0);
}

Object *object_list_find(const ObjectList *l, const char *path)
{
	size_t i = find_place(l, path);

	return i < l->n && streq(l->items[i]->path, path) ? l->items[i] : NULL;
}

int object_list_put(ObjectList *l, Object *o)
{
	size_t i = find_place(l, o->path);

	if (i < l->n && streq(l->items[i]->path, o->path)) {
		object_free(l->items[i]);
		l->items[i] = o;
		return 0;
	}
	if (!array_grow(l->items, l->n))
		return -ENOMEM;
	memmove(&l->items[i + 1], &l->items[i], (l->n - i) * sizeof(o));
	l->items[i] = o;
	l->n++;
	return 0;
}

const Object *object_list_device(const ObjectList *l, const Object *port)
{
	if (port->device)
		return port->device;
	return object_list_find(l, value_text(object_stored(port, PORT_ATTR_device_index)));
}

int object_list_read_device(ObjectList *l, const Object *port, const Attribute *row,
			    sd_bus_message *m)
{
	const char *path = value_text(&port->values[PORT_ATTR_device_index]);
	_cleanup_(object_free_pointer) Object *new = NULL;
	Object *o = object_list_find(l, path);
	int r = 0;

	if (!o) {
		r = object_new(path, &new);
		if (r >= 0)
			r = object_list_put(l, new);
		if (r < 0)
			return r;
		o = steal_pointer(&new);
	}
	return object_read_row(o, (size_t)(row - o->rows), m);
}

bool object_is_function(const Object *device)
{
	return pci_function_is_part(object_text(device, DEVICE_ATTR_function));
}

bool driver_tells_adapters(const char *driver)
{
	return !startswith(driver, "hfi") && !streq(driver, "ib_qib");
}

const char *object_adapter_guid(const Object *device)
{
	return driver_tells_adapters(object_text(device, DEVICE_ATTR_driver))
		       ? object_text(device, DEVICE_ATTR_sys_image_guid)
		       : "";
}

bool object_list_is_plane(const ObjectList *l, const Object *port)
{
	const Object *device = object_list_device(l, port);

	return streq(object_text(device, DEVICE_ATTR_dev_type),
		     decode_name(ATTR_DEVICE_TYPE, DEVICE_TYPE_SMI));
}

void object_list_remove(ObjectList *l, const char *path)
{
	size_t i = find_place(l, path);

	if (i >= l->n || !streq(l->items[i]->path, path))
		return;
	object_free(l->items[i]);
	l->n--;
	memmove(&l->items[i], &l->items[i + 1], (l->n - i) * sizeof(*l->items));
}

int object_list_read_object(ObjectList *l, const char *path, sd_bus_message *m, Object **ret)
{
	_cleanup_(object_free_pointer) Object *o = NULL;
	int r = object_new(path, &o);

	if (r == -EINVAL) /* it is neither a port nor a device */
		return 0;
	if (r < 0)
		return r;
	r = object_read_interfaces(o, m);
	if (r < 0 || o->interfaces == 0)
		return r;
	r = object_list_put(l, o);
	if (r < 0)
		return r;
	*ret = steal_pointer(&o);
	return 0;
}

int object_list_read(ObjectList *l, sd_bus_message *m)
{
	BusWalk w = bus_walk_pairs(m, "oa{sa{sv}}");
	const char *path;
	Object *o;

	while (bus_walk_named(&w, &path))
		w.r = object_list_read_object(l, path, m, &o);
	return w.r;
}
