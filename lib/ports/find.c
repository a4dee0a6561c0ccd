/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* FindPorts(): where the ports are that have a name, or what they are too. */

#include "bus-walk.h"
#include "names.h"
#include "ports.h"

void found_paths_done(FoundPaths *f)
{
	for (size_t i = 0; i < f->n; i++) {
		free(f->items[i].path);
		free(f->items[i].netdev);
	}
	free(f->items);
	*f = (FoundPaths){};
}

/* The values of a port, and of its device. The latter come behind those of the port. */
static int read_values(sd_bus_message *m, Object *port, ObjectList *l)
{
	size_t cursor = 0;
	const char *name;
	BusWalk w = bus_walk_pairs(m, "sv");

	while (bus_walk_named(&w, &name)) {
		size_t i = object_find_name(port, name, &cursor);
		bool of_device = false;
		const Attribute *row = i < port->n_rows ? NULL : object_find_row(name, &of_device);

		if (i < port->n_rows)
			w.r = object_read_row(port, i, m);
		else if (row && of_device)
			w.r = object_list_read_device(l, port, row, m);
	}
	return w.r;
}

static int read_object(sd_bus_message *m, const char *path, ObjectList *l)
{
	_cleanup_(object_free_pointer) Object *port = NULL;
	int r = object_new(path, &port);

	if (r >= 0)
		r = sd_bus_message_enter_container(m, 'v', "a{sv}");
	if (r >= 0)
		r = port->is_port ? read_values(m, port, l) : -EBADMSG;
	if (r >= 0)
		r = sd_bus_message_exit_container(m);
	if (r >= 0 && port->interfaces == 0)
		r = -EBADMSG;
	if (r >= 0)
		r = object_list_put(l, port);
	if (r >= 0)
		port = NULL;
	return r;
}

/* The members of an entry. */
static int read_found_details(sd_bus_message *m, const char *path, ObjectList *l, uint32_t *ret_gid,
			      const char **ret_netdev)
{
	BusWalk w = bus_walk_pairs(m, "sv");
	const char *key, *by = "";

	while (bus_walk_named(&w, &key))
		if (streq(key, "GidIndex"))
			w.r = sd_bus_message_read(m, "v", "u", ret_gid);
		else if (streq(key, "Netdev"))
			w.r = sd_bus_message_read(m, "v", "s", ret_netdev);
		else if (streq(key, "By"))
			w.r = sd_bus_message_read(m, "v", "s", &by);
		else if (l && streq(key, "Properties"))
			w.r = read_object(m, path, l);
	if (!streq(by, "address") && !streq(by, "gid") && !streq(by, "subnet"))
		*ret_gid = UINT32_MAX;
	return w.r;
}

static int read_found(sd_bus_message *m, const char *path, ObjectList *l, FoundPaths *f)
{
	const char *netdev = "";
	uint32_t gid = UINT32_MAX;
	struct FoundPath *found;
	int r = read_found_details(m, path, l, &gid, &netdev);

	if (r < 0)
		return r;
	if (!array_grow(f->items, f->n))
		return -ENOMEM;
	found = &f->items[f->n++];
	*found = (struct FoundPath){strdup(path), strdup(netdev), gid};
	return found->path && found->netdev ? 0 : -ENOMEM;
}

/* Adds NAME to NAMES, of which NULL is the last, unless it is there. */
static void add_name(const char **names, const char *name)
{
	while (*names && !streq(*names, name))
		names++;
	*names = name;
}

/* PROPERTIES, and with ALL all of the ports, or else what ListPorts() has of each. */
static int append_wanted(sd_bus_message *m, bool all, const char *const *properties)
{
	_cleanup_free_ const char **names = NULL;
	size_t n = 0;
	int r = all ? sd_bus_message_append(m, "{sv}", "all", "b", 1) : 0;

	while (properties[n])
		n++;
	names = calloc(n + _LISTED_MAX + 2, sizeof(*names));
	if (!names)
		return -ENOMEM;
	if (!all)
		add_name(names, port_attributes[PORT_ATTR_device_index].name);
	for (ListedAttr i = 0; !all && i < _LISTED_MAX; i++)
		add_name(names, port_attributes[listed_attributes[i]].name);
	for (size_t i = 0; i < n; i++)
		add_name(names, properties[i]);
	return r < 0 || !*names ? r : ports_append_texts(m, "properties", names);
}

/* L is NULL: only the paths are wanted. */
static int find(sd_bus *bus, const char *what, const char *by, bool all,
		const char *const *properties, ObjectList *l, FoundPaths *ret, sd_bus_error *error)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL, *reply = NULL;
	_cleanup_(found_paths_done) FoundPaths f = {};
	const char *path;
	BusWalk w;
	int r = sd_bus_message_new_method_call(bus, &m, RDMAD_BUS_NAME, RDMAD_ROOT_PATH,
					       RDMAD_INTERFACE_MANAGER, "FindPorts");

	if (r >= 0)
		r = sd_bus_message_append(m, "s", what);
	if (r >= 0)
		r = sd_bus_message_open_container(m, 'a', "{sv}");
	if (r >= 0 && by)
		r = sd_bus_message_append(m, "{sv}", "by", "s", by);
	if (r >= 0 && l)
		r = append_wanted(m, all, properties);
	if (r >= 0)
		r = sd_bus_message_close_container(m);
	if (r >= 0)
		r = sd_bus_call(bus, m, 0, error, &reply);
	if (r < 0)
		return r;
	w = bus_walk_structures(reply, "oa{sv}");
	while (bus_walk_named(&w, &path))
		w.r = read_found(reply, path, l, &f);
	if (w.r < 0)
		return w.r;
	*ret = f;
	f = (FoundPaths){};
	return 0;
}

int ports_find(sd_bus *bus, const char *what, const char *by, FoundPaths *ret, sd_bus_error *error)
{
	return find(bus, what, by, false, NULL, NULL, ret, error);
}

int ports_find_objects(sd_bus *bus, const char *what, bool all, const char *const *properties,
		       ObjectList *l, FoundPaths *ret, sd_bus_error *error)
{
	return find(bus, what, NULL, all, properties, l, ret, error);
}
