/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "ports.h"

#include "bus-walk.h"
#include "names.h"

bool error_is_lost(int r)
{
	return r == -ENOTCONN || r == -ECONNRESET || r == -ECONNREFUSED || r == -EPIPE;
}

const char *error_absence(const sd_bus_error *error)
{
	static const TextPair absences[] = {
		{SD_BUS_ERROR_SERVICE_UNKNOWN, "is not installed, or was not started"},
		{SD_BUS_ERROR_NAME_HAS_NO_OWNER, "is not running"},
		{SD_BUS_ERROR_NO_SERVER, "is not running"},
		{SD_BUS_ERROR_DISCONNECTED, "is not running"},
		{"org.freedesktop.systemd1.UnitMasked", "is masked"},
		{"org.freedesktop.systemd1.NoSuchUnit", "is not installed"},
	};
	const char *sentence;

	if (!sd_bus_error_is_set(error))
		return NULL;
	sentence = text_of_key(absences, ARRAY_SIZE(absences), error->name);
	return sentence ? sentence
	       : startswith(error->name, "org.freedesktop.DBus.Error.Spawn.") ||
			       startswith(error->name, "org.freedesktop.systemd1.")
		       ? "does not start"
		       : NULL;
}

bool error_is_absence(const sd_bus_error *error, int r)
{
	return error_is_lost(r) || error_absence(error);
}

bool error_is_no_port(const sd_bus_error *error)
{
	return sd_bus_error_has_name(error, RDMAD_ERROR_NOT_FOUND) ||
	       sd_bus_error_has_name(error, SD_BUS_ERROR_UNKNOWN_OBJECT);
}

int ports_read(sd_bus *bus, ObjectList *ret, sd_bus_error *error)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	_cleanup_objects_ ObjectList list = {};
	int r = sd_bus_call_method(bus, RDMAD_BUS_NAME, RDMAD_ROOT_PATH,
				   "org.freedesktop.DBus.ObjectManager", "GetManagedObjects", error,
				   &reply, NULL);

	if (r >= 0)
		r = object_list_read(&list, reply);
	if (r < 0)
		return r;
	*ret = list;
	list = (ObjectList){};
	return 0;
}

int ports_read_one(sd_bus *bus, const char *path, ObjectList *l, sd_bus_error *error)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	_cleanup_(object_free_pointer) Object *o = NULL;
	int r;

	if (object_list_find(l, path))
		return 0;
	r = object_new(path, &o);
	if (r >= 0)
		r = sd_bus_call_method(bus, RDMAD_BUS_NAME, path, "org.freedesktop.DBus.Properties",
				       "GetAll", error, &reply, "s", "");
	if (r >= 0)
		r = object_read_properties(o, "", reply);
	if (r >= 0 && o->interfaces == 0)
		r = -EBADMSG;
	if (r >= 0)
		r = object_list_put(l, o);
	if (r >= 0)
		o = NULL;
	return r;
}

int ports_read_port(sd_bus *bus, const char *path, bool device, ObjectList *l, sd_bus_error *error)
{
	const Object *port;
	int r = ports_read_one(bus, path, l, error);

	if (r < 0 || !device)
		return r;
	port = object_list_find(l, path);
	return ports_read_one(bus, value_text(&port->values[PORT_ATTR_device_index]), l, error);
}

int ports_read_row(sd_bus *bus, Object *o, size_t i, sd_bus_error *error)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	int r = sd_bus_call_method(bus, RDMAD_BUS_NAME, o->path, "org.freedesktop.DBus.Properties",
				   "Get", error, &reply, "ss",
				   attr_interface_name(o->rows[i].interface), o->rows[i].name);

	return r < 0 ? r : object_read_row(o, i, reply);
}

void found_paths_done(FoundPaths *f)
{
	for (size_t i = 0; i < f->n; i++) {
		free(f->items[i].path);
		free(f->items[i].netdev);
	}
	free(f->items);
	*f = (FoundPaths){};
}

/* The members of an entry. */
static int read_found_details(sd_bus_message *m, uint32_t *ret_gid, const char **ret_netdev)
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
	if (!streq(by, "address") && !streq(by, "gid") && !streq(by, "subnet"))
		*ret_gid = UINT32_MAX;
	return w.r;
}

static int read_found(sd_bus_message *m, const char *path, FoundPaths *f)
{
	const char *netdev = "";
	uint32_t gid = UINT32_MAX;
	struct FoundPath *found;
	int r = read_found_details(m, &gid, &netdev);

	if (r < 0)
		return r;
	if (!array_grow(f->items, f->n))
		return -ENOMEM;
	found = &f->items[f->n++];
	*found = (struct FoundPath){strdup(path), strdup(netdev), gid};
	return found->path && found->netdev ? 0 : -ENOMEM;
}

int ports_find(sd_bus *bus, const char *what, const char *by, FoundPaths *ret, sd_bus_error *error)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	_cleanup_(found_paths_done) FoundPaths f = {};
	const char *path;
	BusWalk w;
	/* of an array with 0 elements, what follows is not read */
	int r = sd_bus_call_method(bus, RDMAD_BUS_NAME, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER,
				   "FindPorts", error, &reply, "sa{sv}", what, by ? 1 : 0, "by",
				   "s", by);

	if (r < 0)
		return r;
	w = bus_walk_structures(reply, "oa{sv}");
	while (bus_walk_named(&w, &path))
		w.r = read_found(reply, path, &f);
	if (w.r < 0)
		return w.r;
	*ret = f;
	f = (FoundPaths){};
	return 0;
}
