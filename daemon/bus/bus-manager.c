/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "bus-manager.h"

#include "bus-list-ports.h"
#include "bus-open-snapshot.h"
#include "bus-options.h"
#include "bus-wait-for.h"
#include "log.h"
#include "long-reply.h"
#include "lookup.h"
#include "manager.h"
#include "names.h"

/* What a failed look-up of the KIND named TEXT is to the caller. */
static int lookup_error(sd_bus_error *error, int r, const char *kind, const char *text)
{
	switch (r) {
	case -ENOENT:
		return sd_bus_error_setf(error, RDMAD_ERROR_NOT_FOUND, "No %s \"%s\"", kind, text);
	case -EEXIST:
		return sd_bus_error_setf(error, RDMAD_ERROR_AMBIGUOUS,
					 "More than one port is meant by %s \"%s\"", kind, text);
	default:
		return sd_bus_error_setf(error, RDMAD_ERROR_INVALID_ARGUMENT, "\"%s\" is no %s",
					 text, kind);
	}
}

static int reply_port(sd_bus_message *m, const Port *p)
{
	char path[RDMAD_PATH_MAX];

	return sd_bus_reply_method_return(m, "o", port_path(p, path));
}

/* The text argument and no option. */
static int read_text(sd_bus_message *m, const char *method, const char **ret, sd_bus_error *error)
{
	int r = sd_bus_message_read_basic(m, 's', ret);

	return r < 0 ? r : bus_read_options(m, method, NULL, 0, error);
}

static int method_get_device_by_name(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	char path[RDMAD_PATH_MAX];
	const char *text;
	Device *d;
	int r = read_text(m, "GetDeviceByName", &text, error);

	if (r < 0)
		return r;
	r = lookup_device(manager_cache(userdata), text, &d);
	if (r == 0 && !d->published)
		r = -ENOENT;
	if (r < 0)
		return lookup_error(error, r, "device", text);
	return sd_bus_reply_method_return(m, "o", device_path(d, path));
}

typedef int (*PortLookup)(const Cache *c, const char *text, Port **ret);

static int get_port(sd_bus_message *m, void *userdata, sd_bus_error *error, const char *method,
		    const char *kind, PortLookup lookup)
{
	const char *text;
	Port *p;
	int r = read_text(m, method, &text, error);

	if (r < 0)
		return r;
	r = lookup(manager_cache(userdata), text, &p);
	if (r == 0 && !p->published)
		r = -ENOENT;
	if (r < 0)
		return lookup_error(error, r, kind, text);
	return reply_port(m, p);
}

static int method_get_port(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	return get_port(m, userdata, error, "GetPort", "port", lookup_port);
}

static int method_get_port_by_netdev(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	return get_port(m, userdata, error, "GetPortByNetdev", "netdev of a port",
			lookup_port_by_netdev);
}

static int method_get_port_by_guid(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	return get_port(m, userdata, error, "GetPortByGuid", "port GUID", lookup_port_by_guid);
}

static int method_get_port_by_address(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	char path[RDMAD_PATH_MAX], buffer[24];
	const char *text, *type_name = NULL, *netdev = NULL;
	const BusOption options[] = {{"type", 's', &type_name}, {"netdev", 's', &netdev}};
	uint32_t index;
	GidType type = _GID_TYPE_MAX;
	Port *p;
	int r = sd_bus_message_read_basic(m, 's', &text);

	if (r < 0)
		return r;
	r = bus_read_options(m, "GetPortByAddress", options, ARRAY_SIZE(options), error);
	if (r < 0)
		return r;
	if (type_name) {
		for (type = 0; type < _GID_TYPE_MAX; type++)
			if (streq(gid_type_name(type, buffer), type_name))
				break;
		if (type == _GID_TYPE_MAX)
			return sd_bus_error_setf(
				error, RDMAD_ERROR_INVALID_OPTION,
				"Option \"type\": \"%s\" is none of IB, RoCE v1, RoCE v2",
				type_name);
	}
	r = lookup_gid_by_address(manager_cache(userdata), text, type, netdev, &p, &index);
	if (r < 0)
		return lookup_error(error, r,
				    r == -EINVAL ? "IP address" : "GID with the IP address", text);
	return sd_bus_reply_method_return(m, "ou", port_path(p, path), index);
}

static int method_list_ports(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	return long_reply_answer(bus_long_replies(manager_bus(userdata)), m, &bus_list_kind, error);
}

static int method_refresh(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	int r = bus_read_options(m, "Refresh", NULL, 0, error);

	if (r < 0)
		return r;
	r = manager_refresh(userdata, m);
	if (r == -ENOBUFS)
		return sd_bus_error_setf(error, RDMAD_ERROR_LIMITS_EXCEEDED,
					 "Too many calls of Refresh are waiting");
	return r < 0 ? r : 1;
}

static int method_wait_for(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	return bus_wait_call(bus_waits(manager_bus(userdata)), m, error);
}

/* Everything that org.rdma.Manager shows, by property name. */
static int get_property(_unused_ sd_bus *bus, _unused_ const char *path,
			_unused_ const char *interface, const char *property, sd_bus_message *reply,
			void *userdata, _unused_ sd_bus_error *error)
{
	const Cache *c = manager_cache(userdata);
	ManagerStatus s;

	manager_status(userdata, &s);
	if (streq(property, "Version"))
		return sd_bus_message_append(reply, "s", RDMAD_VERSION);
	if (streq(property, "Simulated"))
		return sd_bus_message_append(reply, "b", (int)s.simulated);
	if (streq(property, "MonitorMode"))
		return sd_bus_message_append(reply, "b", (int)s.monitor_mode);
	if (streq(property, "ReconcileIntervalUSec"))
		return sd_bus_message_append(reply, "t", s.reconcile_usec);
	if (streq(property, "LastSyncTimestamp"))
		return sd_bus_message_append(reply, "t", s.last_sync_usec);
	if (streq(property, "LostEventCount"))
		return sd_bus_message_append(reply, "t", s.lost_events);
	if (streq(property, "DeviceCount"))
		return sd_bus_message_append(reply, "u", (uint32_t)c->n_devices);
	if (streq(property, "PortCount"))
		return sd_bus_message_append(reply, "u", (uint32_t)c->n_ports);
	return sd_bus_message_append(reply, "u", c->n_active);
}

/* clang-format off */
static const sd_bus_vtable manager_vtable[] = {
	SD_BUS_VTABLE_START(0),
	SD_BUS_PROPERTY("Version", "s", get_property, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_PROPERTY("Simulated", "b", get_property, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_PROPERTY("MonitorMode", "b", get_property, 0, 0),
	SD_BUS_PROPERTY("ReconcileIntervalUSec", "t", get_property, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_PROPERTY("DeviceCount", "u", get_property, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("PortCount", "u", get_property, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("ActivePortCount", "u", get_property, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("LastSyncTimestamp", "t", get_property, 0, 0),
	SD_BUS_PROPERTY("LostEventCount", "t", get_property, 0, 0),
	SD_BUS_METHOD_WITH_ARGS("GetDeviceByName", SD_BUS_ARGS("s", name, "a{sv}", options),
				SD_BUS_RESULT("o", device), method_get_device_by_name, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("GetPort", SD_BUS_ARGS("s", port, "a{sv}", options),
				SD_BUS_RESULT("o", path), method_get_port, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("GetPortByNetdev", SD_BUS_ARGS("s", netdev, "a{sv}", options),
				SD_BUS_RESULT("o", port), method_get_port_by_netdev, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("GetPortByGuid", SD_BUS_ARGS("s", guid, "a{sv}", options),
				SD_BUS_RESULT("o", port), method_get_port_by_guid, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("GetPortByAddress", SD_BUS_ARGS("s", address, "a{sv}", options),
				SD_BUS_RESULT("o", port, "u", gid_index), method_get_port_by_address, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_NAMES("ListPorts", "a{sv}", SD_BUS_PARAM(options),
				 bus_list_signature, SD_BUS_PARAM(ports), method_list_ports, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("Refresh", SD_BUS_ARGS("a{sv}", options), SD_BUS_NO_RESULT,
				method_refresh, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("WaitFor", SD_BUS_ARGS("a{sv}", condition, "t", timeout_usec),
				SD_BUS_RESULT("a{so}", ports), method_wait_for, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("OpenSnapshot", SD_BUS_ARGS("a{sv}", options),
				SD_BUS_RESULT("h", memory, "h", changed, "a{sv}", info),
				bus_snapshot_open, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_VTABLE_END,
};
/* clang-format on */

static int get_log_property(_unused_ sd_bus *bus, _unused_ const char *path,
			    _unused_ const char *interface, const char *property,
			    sd_bus_message *reply, _unused_ void *userdata,
			    _unused_ sd_bus_error *error)
{
	const char *value = streq(property, "LogLevel")	   ? log_level_name(log_max_level)
			    : streq(property, "LogTarget") ? log_target()
							   : "rdmad";

	return sd_bus_message_append(reply, "s", value);
}

static int set_log_level(_unused_ sd_bus *bus, _unused_ const char *path,
			 _unused_ const char *interface, _unused_ const char *property,
			 sd_bus_message *value, _unused_ void *userdata, sd_bus_error *error)
{
	const char *name;
	int level, r = sd_bus_message_read_basic(value, 's', &name);

	if (r < 0)
		return r;
	level = log_level_from_name(name);
	if (level < 0)
		return sd_bus_error_setf(error, SD_BUS_ERROR_INVALID_ARGS, "\"%s\" is no log level",
					 name);
	log_max_level = level;
	return 0;
}

static int set_log_target(_unused_ sd_bus *bus, _unused_ const char *path,
			  _unused_ const char *interface, _unused_ const char *property,
			  sd_bus_message *value, _unused_ void *userdata, sd_bus_error *error)
{
	const char *target;
	int r = sd_bus_message_read_basic(value, 's', &target);

	if (r < 0)
		return r;
	if (!streq(target, log_target()))
		return sd_bus_error_setf(error, SD_BUS_ERROR_NOT_SUPPORTED,
					 "The log target is decided when rdmad starts");
	return 0;
}

/* org.freedesktop.LogControl1(5) */
/* clang-format off */
static const sd_bus_vtable log_control_vtable[] = {
	SD_BUS_VTABLE_START(0),
	SD_BUS_WRITABLE_PROPERTY("LogLevel", "s", get_log_property, set_log_level, 0, 0),
	SD_BUS_WRITABLE_PROPERTY("LogTarget", "s", get_log_property, set_log_target, 0, 0),
	SD_BUS_PROPERTY("SyslogIdentifier", "s", get_log_property, 0, 0),
	SD_BUS_VTABLE_END,
};
/* clang-format on */

int bus_manager_add(sd_bus *bus, struct Manager *m)
{
	int r;

	bus_list_init();
	r = sd_bus_add_object_vtable(bus, NULL, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER,
				     manager_vtable, m);
	if (r < 0)
		return r;
	return sd_bus_add_object_vtable(bus, NULL, "/org/freedesktop/LogControl1",
					"org.freedesktop.LogControl1", log_control_vtable, NULL);
}
