/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The reply of ListPorts(), as objects that have only the values in it. */

#include "bus-walk.h"
#include "names.h"
#include "port-name.h"
#include "ports.h"

/* Sets the path of the device of PORT, which its own path says. */
static int set_device(Object *port)
{
	char path[RDMAD_PATH_MAX], *text;
	uint32_t device, number;

	if (object_path_parse(port->path, &device, &number) < 0)
		return -EBADMSG;
	text = strdup(object_path_put(device, PORT_NUMBER_NONE, path));
	if (!text)
		return -ENOMEM;
	port->values[PORT_ATTR_device_index] = (Value){.type = VALUE_TEXT, .text = text};
	return 0;
}

/* The property NAME in the tail: of PORT, which is then in *NAMED, or of its device. */
static int read_named(ObjectList *l, Object *port, const char *name, AttrMask *named,
		      sd_bus_message *m)
{
	bool of_device;
	const Attribute *row = object_find_row(name, &of_device);

	if (!row)
		return 0;
	if (of_device)
		return object_list_read_device(l, port, row, m);
	mask_set(named, (unsigned int)(row - port->rows), true);
	return object_read_row(port, (size_t)(row - port->rows), m);
}

/* The fields are there for each port. Takes those away that are properties of an interface that the
 * port does not have, as far as can be seen: they have no value, and no reason for that. */
static void drop_foreign(Object *port, AttrMask named)
{
	for (ListedAttr i = 0; i < _LISTED_MAX; i++) {
		PortAttr a = listed_attributes[i];

		if (port->rows[a].interface != INTERFACE_PORT && !mask_has(&named, a) &&
		    !object_unavailable_code(port, a))
			value_done(&port->values[a]);
	}
}

/* Reads what is between the path of PORT and the end of its structure. */
static int read_port(ObjectList *l, Object *port, sd_bus_message *m)
{
	AttrMask named = {};
	const char *name;
	BusWalk w;
	int r = set_device(port);

	for (ListedAttr i = 0; r >= 0 && i < _LISTED_MAX; i++)
		r = object_read_row(port, listed_attributes[i], m);
	if (r < 0)
		return r;
	w = bus_walk_pairs(m, "sv");
	while (bus_walk_named(&w, &name))
		w.r = read_named(l, port, name, &named, m);
	drop_foreign(port, named);
	return w.r;
}

static int read_entry(ObjectList *l, sd_bus_message *m)
{
	_cleanup_(object_free_pointer) Object *port = NULL;
	const char *path;
	int r = sd_bus_message_read_basic(m, 'o', &path);

	if (r >= 0)
		r = object_new(path, &port);
	if (r >= 0)
		r = port->is_port ? read_port(l, port, m) : -EBADMSG;
	if (r >= 0)
		r = object_list_put(l, port);
	if (r < 0)
		return r;
	port = NULL;
	return sd_bus_message_exit_container(m);
}

/* Whether NAME is a property that each port has and that is a field. */
static bool is_field(const char *name)
{
	for (ListedAttr i = 0; i < _LISTED_MAX; i++) {
		const Attribute *row = &port_attributes[listed_attributes[i]];

		if (row->interface == INTERFACE_PORT && streq(row->name, name))
			return true;
	}
	return false;
}

/* Adds the option "reasons". Without it nobody could tell a field without a value. */
static int append_reasons(sd_bus_message *m)
{
	return sd_bus_message_append(m, "{sv}", "reasons", "b", 1);
}

/* Adds the option "properties", without what is a field. */
static int append_properties(sd_bus_message *m, const char *const *properties)
{
	_cleanup_free_ const char **names = NULL;
	size_t n = 0, n_names = 0;

	while (properties[n])
		n++;
	names = calloc(n + 1, sizeof(*names));
	for (size_t i = 0; names && i < n; i++)
		if (!is_field(properties[i]))
			names[n_names++] = properties[i];
	return names ? ports_append_texts(m, "properties", names) : -ENOMEM;
}

static int call(sd_bus *bus, const char *const *properties, sd_bus_message **ret,
		sd_bus_error *error)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	int r = sd_bus_message_new_method_call(bus, &m, RDMAD_BUS_NAME, RDMAD_ROOT_PATH,
					       RDMAD_INTERFACE_MANAGER, "ListPorts");

	if (r >= 0)
		r = sd_bus_message_open_container(m, 'a', "{sv}");
	if (r >= 0)
		r = append_reasons(m);
	if (r >= 0)
		r = append_properties(m, properties);
	if (r >= 0)
		r = sd_bus_message_close_container(m);
	return r < 0 ? r : sd_bus_call(bus, m, 0, error, ret);
}

int ports_list(sd_bus *bus, const char *const *properties, ObjectList *ret, sd_bus_error *error)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	_cleanup_objects_ ObjectList list = {};
	int r = call(bus, properties, &reply, error);

	if (r >= 0)
		r = sd_bus_message_enter_container(reply, 'a', NULL);
	while (r >= 0 && (r = sd_bus_message_at_end(reply, false)) == 0) {
		r = sd_bus_message_enter_container(reply, 'r', NULL);
		if (r >= 0)
			r = read_entry(&list, reply);
	}
	if (r < 0)
		return r;
	*ret = list;
	list = (ObjectList){};
	return 0;
}
