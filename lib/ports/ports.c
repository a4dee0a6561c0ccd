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

int ports_read_device(sd_bus *bus, const Object *port, ObjectList *l, sd_bus_error *error)
{
	return ports_read_one(bus, object_text(port, PORT_ATTR_device_index), l, error);
}

int ports_append_texts(sd_bus_message *m, const char *key, const char *const *texts)
{
	int r = sd_bus_message_open_container(m, 'e', "sv");

	if (r >= 0)
		r = sd_bus_message_append(m, "s", key);
	if (r >= 0)
		r = sd_bus_message_open_container(m, 'v', "as");
	if (r >= 0)
		r = sd_bus_message_append_strv(m, (char **)texts);
	if (r >= 0)
		r = sd_bus_message_close_container(m);
	return r < 0 ? r : sd_bus_message_close_container(m);
}
