/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* org.freedesktop.LogControl1(5), where systemd looks for it. */

#include "bus-private.h"
#include "bus-shown.h"
#include "log.h"

#define LOG_PATH      "/org/freedesktop/LogControl1"
#define LOG_INTERFACE "org.freedesktop.LogControl1"

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

/* Properties.Set
 *
 * Only root and the user that rdmad runs as may do that. sd-bus would ask the bus who the caller is
 * and wait for the answer; here the call waits, and rdmad goes on. */

/* The setting that the call M wants: *RET_LEVEL is -1 if it is no level. 0 if M is left to sd-bus,
 * which finds out what is wrong with it. */
static int read_setting(sd_bus_message *m, int *ret_level, sd_bus_error *error)
{
	const char *interface, *property, *value;
	int r = sd_bus_message_read(m, "ss", &interface, &property);

	if (r < 0)
		return r;
	if (!streq(interface, LOG_INTERFACE) ||
	    !(streq(property, "LogLevel") || streq(property, "LogTarget"))) {
		r = sd_bus_message_rewind(m, true);
		return MIN(r, 0);
	}
	if (sd_bus_message_read(m, "v", "s", &value) < 0)
		return sd_bus_error_setf(error, SD_BUS_ERROR_INVALID_ARGS,
					 "%s is a value of type s", property);
	*ret_level = -1;
	if (streq(property, "LogLevel")) {
		*ret_level = log_level_from_name(value);
		if (*ret_level < 0)
			return sd_bus_error_setf(error, SD_BUS_ERROR_INVALID_ARGS,
						 "\"%s\" is no log level", BUS_SHOW(value));
	} else if (!streq(value, log_target())) {
		return sd_bus_error_setf(error, SD_BUS_ERROR_NOT_SUPPORTED,
					 "The log target is decided when rdmad starts");
	}
	return 1;
}

/* A BusAnswer: USERDATA is the level of read_setting(). */
static int set_for(void *userdata, sd_bus_message *m, uid_t user, sd_bus_error *error)
{
	int level = (int)(intptr_t)userdata;

	if (!bus_user_may_change(user))
		return sd_bus_error_setf(error, SD_BUS_ERROR_ACCESS_DENIED,
					 "Only root may change the log");
	if (level >= 0)
		log_max_level = level;
	return sd_bus_reply_method_return(m, NULL);
}

static void on_identified(PendingCall *call, uid_t user, void *userdata)
{
	bus_answer_identified(call, user, set_for, userdata);
}

int bus_log_offer(Bus *b, sd_bus_message *m, sd_bus_error *error)
{
	static const PendingKind kind = {.identified = on_identified};
	PendingCall *call;
	int level, r;

	if (!streq(sd_bus_message_get_member(m), "Set") ||
	    !streq(sd_bus_message_get_path(m), LOG_PATH) ||
	    !sd_bus_message_is_method_call(m, "org.freedesktop.DBus.Properties", "Set") ||
	    !sd_bus_message_has_signature(m, "ssv"))
		return 0;
	r = read_setting(m, &level, error);
	if (r <= 0)
		return r;
	return pending_call_new(b->calls, m, &kind, (void *)(intptr_t)level, &call, error);
}

/* bus_log_offer() has answered before sd-bus could call this. */
static int set_nothing(_unused_ sd_bus *bus, _unused_ const char *path,
		       _unused_ const char *interface, _unused_ const char *property,
		       _unused_ sd_bus_message *value, _unused_ void *userdata, sd_bus_error *error)
{
	return sd_bus_error_setf(error, SD_BUS_ERROR_ACCESS_DENIED, "Only root may change the log");
}

/* clang-format off */
static const sd_bus_vtable log_control_vtable[] = {
	SD_BUS_VTABLE_START(0),
	SD_BUS_WRITABLE_PROPERTY("LogLevel", "s", get_log_property, set_nothing, 0, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_WRITABLE_PROPERTY("LogTarget", "s", get_log_property, set_nothing, 0, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_PROPERTY("SyslogIdentifier", "s", get_log_property, 0, 0),
	SD_BUS_VTABLE_END,
};
/* clang-format on */

int bus_log_add(Bus *b)
{
	return sd_bus_add_object_vtable(b->bus, NULL, LOG_PATH, LOG_INTERFACE, log_control_vtable,
					NULL);
}
