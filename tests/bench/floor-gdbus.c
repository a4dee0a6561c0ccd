/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A floor: a service with the objects of rdmad that is written with GDBus in the usual way, with
 * GDBusObjectManagerServer and the code that gdbus-codegen makes from the introspection files in
 * dbus/.
 *
 *     floor-gdbus ADDRESS NAME
 *
 * It asks the rdmad on that bus for its objects, and publishes the same devices and ports with the
 * same values.
 */

#include <ctype.h>
#include <gio/gio.h>

#include "floor-gdbus-generated.h"
#include "names.h"

static GDBusInterfaceSkeleton *new_interface(const char *name)
{
	if (g_str_equal(name, RDMAD_INTERFACE_DEVICE))
		return G_DBUS_INTERFACE_SKELETON(floor_device_skeleton_new());
	if (g_str_equal(name, RDMAD_INTERFACE_PORT))
		return G_DBUS_INTERFACE_SKELETON(floor_port_skeleton_new());
	if (g_str_equal(name, RDMAD_INTERFACE_INFINIBAND))
		return G_DBUS_INTERFACE_SKELETON(floor_port_infini_band_skeleton_new());
	return NULL;
}

/* gdbus-codegen makes "gid-table-length" of "GidTableLength". */
static char *gobject_name(const char *property)
{
	GString *name = g_string_new(NULL);

	for (const char *p = property; *p; p++) {
		if (isupper(*p) && p > property)
			g_string_append_c(name, '-');
		g_string_append_c(name, (char)tolower(*p));
	}
	return g_string_free(name, FALSE);
}

static void set_property(GObject *object, const char *property, GVariant *variant)
{
	g_autofree char *name = gobject_name(property);
	g_auto(GValue) value = G_VALUE_INIT;

	g_dbus_gvariant_to_gvalue(variant, &value);
	g_object_set_property(object, name, &value);
}

static void add_object(GDBusObjectManagerServer *manager, const char *path,
		       GVariantIter *interfaces)
{
	g_autoptr(GDBusObjectSkeleton) object = g_dbus_object_skeleton_new(path);
	GVariantIter *properties;
	const char *interface, *property;
	GVariant *value;
	gboolean any = FALSE;

	while (g_variant_iter_loop(interfaces, "{&sa{sv}}", &interface, &properties)) {
		g_autoptr(GDBusInterfaceSkeleton) skeleton = new_interface(interface);

		if (!skeleton)
			continue;
		while (g_variant_iter_loop(properties, "{&sv}", &property, &value))
			set_property(G_OBJECT(skeleton), property, value);
		g_dbus_object_skeleton_add_interface(object, skeleton);
		any = TRUE;
	}
	if (any)
		g_dbus_object_manager_server_export(manager, object);
}

int main(int argc, char *argv[])
{
	g_autoptr(GDBusConnection) connection = NULL;
	g_autoptr(GDBusObjectManagerServer) manager = NULL;
	g_autoptr(GMainLoop) loop = g_main_loop_new(NULL, FALSE);
	g_autoptr(GVariant) reply = NULL, taken = NULL;
	g_autoptr(GVariantIter) objects = NULL;
	g_autoptr(GError) error = NULL;
	GVariantIter *interfaces;
	const char *path;

	if (argc != 3)
		return 2;
	connection = g_dbus_connection_new_for_address_sync(
		argv[1],
		G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT |
			G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION,
		NULL, NULL, &error);
	if (!connection)
		g_error("%s", error->message);
	reply = g_dbus_connection_call_sync(
		connection, RDMAD_BUS_NAME, RDMAD_ROOT_PATH, "org.freedesktop.DBus.ObjectManager",
		"GetManagedObjects", NULL, G_VARIANT_TYPE("(a{oa{sa{sv}}})"), 0, G_MAXINT, NULL,
		&error);
	if (!reply)
		g_error("%s", error->message);
	manager = g_dbus_object_manager_server_new(RDMAD_ROOT_PATH);
	g_variant_get(reply, "(a{oa{sa{sv}}})", &objects);
	while (g_variant_iter_loop(objects, "{&oa{sa{sv}}}", &path, &interfaces))
		add_object(manager, path, interfaces);
	g_dbus_object_manager_server_set_connection(manager, connection);
	taken = g_dbus_connection_call_sync(
		connection, "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus",
		"RequestName", g_variant_new("(su)", argv[2], 0), NULL, 0, -1, NULL, &error);
	if (!taken)
		g_error("%s", error->message);
	g_main_loop_run(loop);
}
