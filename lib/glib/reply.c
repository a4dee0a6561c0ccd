/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "reply.h"

gboolean reply_check(GDBusMessage *reply, const char *signature, GError **error)
{
	GVariant *body = g_dbus_message_get_body(reply);

	if (g_dbus_message_to_gerror(reply, error)) {
		if (error)
			g_dbus_error_strip_remote_error(*error);
		return FALSE;
	}
	if (g_str_equal(body ? g_variant_get_type_string(body) : "()", signature))
		return TRUE;
	g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
		    "The answer has the type %s, not %s",
		    body ? g_variant_get_type_string(body) : "()", signature);
	return FALSE;
}

gboolean reply_is_absence(GDBusMessage *reply)
{
	static const char *const names[] = {
		"org.freedesktop.DBus.Error.ServiceUnknown",
		"org.freedesktop.DBus.Error.NameHasNoOwner",
		"org.freedesktop.DBus.Error.NoReply",
	};
	const char *name = g_dbus_message_get_error_name(reply);

	if (g_dbus_message_get_message_type(reply) != G_DBUS_MESSAGE_TYPE_ERROR || !name ||
	    g_strcmp0(g_dbus_message_get_sender(reply), BUS_NAME) != 0)
		return FALSE;
	for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
		if (g_str_equal(name, names[i]))
			return TRUE;
	return g_str_has_prefix(name, "org.freedesktop.DBus.Error.Spawn.") ||
	       g_str_has_prefix(name, "org.freedesktop.systemd1.");
}
