/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* org.freedesktop.LogControl1(5), where systemd looks for it. */

#include "bus-private.h"
#include "bus-shown.h"
#include "log.h"

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
					 BUS_SHOW(name));
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

/* clang-format off */
static const sd_bus_vtable log_control_vtable[] = {
	SD_BUS_VTABLE_START(0),
	SD_BUS_WRITABLE_PROPERTY("LogLevel", "s", get_log_property, set_log_level, 0, 0),
	SD_BUS_WRITABLE_PROPERTY("LogTarget", "s", get_log_property, set_log_target, 0, 0),
	SD_BUS_PROPERTY("SyslogIdentifier", "s", get_log_property, 0, 0),
	SD_BUS_VTABLE_END,
};
/* clang-format on */

int bus_log_add(Bus *b)
{
	return sd_bus_add_object_vtable(b->bus, NULL, "/org/freedesktop/LogControl1",
					"org.freedesktop.LogControl1", log_control_vtable, NULL);
}
