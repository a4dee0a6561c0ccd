/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "bus.h"

#include "names.h"

ExitStatus bus_connect(const char *host, const char *machine, sd_bus **ret)
{
	_cleanup_(sd_bus_flush_close_unref_pointer) sd_bus *bus = NULL;
	int r;

	if (host)
		r = sd_bus_open_system_remote(&bus, host);
	else if (machine)
		r = sd_bus_open_system_machine(&bus, machine);
	else
		r = sd_bus_open_system(&bus);
	if (r < 0) {
		complain("rdmad is not running: cannot connect to the system bus%s%s: %s",
			 host || machine ? " of " : "",
			 host	   ? host
			 : machine ? machine
				   : "",
			 strerror(-r));
		return STATUS_NO_DAEMON;
	}
	*ret = steal_pointer(&bus);
	return STATUS_OK;
}

bool bus_is_absence(const sd_bus_error *error, int r)
{
	static const char *const names[] = {
		SD_BUS_ERROR_SERVICE_UNKNOWN,
		SD_BUS_ERROR_NAME_HAS_NO_OWNER,
		SD_BUS_ERROR_NO_SERVER,
		SD_BUS_ERROR_DISCONNECTED,
	};

	/* EPIPE: with -H, the ssh that was started has ended before it read anything */
	if (r == -ENOTCONN || r == -ECONNRESET || r == -ECONNREFUSED || r == -EPIPE)
		return true;
	if (!sd_bus_error_is_set(error))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (sd_bus_error_has_name(error, names[i]))
			return true;
	return startswith(error->name, "org.freedesktop.DBus.Error.Spawn.") ||
	       startswith(error->name, "org.freedesktop.systemd1.");
}

bool bus_is_no_port(const sd_bus_error *error)
{
	return sd_bus_error_has_name(error, RDMAD_ERROR_NOT_FOUND) ||
	       sd_bus_error_has_name(error, SD_BUS_ERROR_UNKNOWN_OBJECT);
}

ExitStatus bus_complain(const char *what, const sd_bus_error *error, int r)
{
	const char *message = error && error->message ? error->message : strerror(-r);

	if (bus_is_absence(error, r)) {
		complain("rdmad is not running: %s", message);
		return STATUS_NO_DAEMON;
	}
	complain("%s: %s", what, message);
	return bus_is_no_port(error) ? STATUS_NO_PORT : STATUS_FAILED;
}

ExitStatus bus_read_objects(sd_bus *bus, ObjectList *ret)
{
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	_cleanup_(sd_bus_message_unref_pointer) sd_bus_message *reply = NULL;
	_cleanup_objects_ ObjectList list = {};
	int r;

	r = sd_bus_call_method(bus, RDMAD_BUS_NAME, RDMAD_ROOT_PATH,
			       "org.freedesktop.DBus.ObjectManager", "GetManagedObjects", &error,
			       &reply, NULL);
	if (r >= 0)
		r = object_list_read(&list, reply);
	if (r < 0)
		return bus_complain("cannot read the ports", &error, r);
	*ret = list;
	list = (ObjectList){};
	return STATUS_OK;
}

int bus_get_port(sd_bus *bus, const char *port, char **ret_path, sd_bus_error *error)
{
	_cleanup_(sd_bus_message_unref_pointer) sd_bus_message *reply = NULL;
	const char *path;
	int r;

	r = sd_bus_call_method(bus, RDMAD_BUS_NAME, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER,
			       "GetPort", error, &reply, "sa{sv}", port, 0);
	if (r >= 0)
		r = sd_bus_message_read_basic(reply, 'o', &path);
	if (r < 0)
		return r;
	*ret_path = strdup(path);
	return *ret_path ? 0 : -ENOMEM;
}

ExitStatus bus_find_port(sd_bus *bus, const char *port, char **ret_path)
{
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	int r = bus_get_port(bus, port, ret_path, &error);

	return r < 0 ? bus_complain(port, &error, r) : STATUS_OK;
}
