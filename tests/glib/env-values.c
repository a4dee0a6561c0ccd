/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whether the objects of the client are those on the bus. */

#include "env.h"

static GVariant *managed_objects(Env *e)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(GVariant) reply = g_dbus_connection_call_sync(
		rdmad_client_get_connection(e->l->client), RDMAD_BUS_NAME, RDMAD_ROOT_PATH,
		"org.freedesktop.DBus.ObjectManager", "GetManagedObjects", NULL, NULL, 0, -1, NULL,
		&error);

	if (!reply)
		fail_msg("%s", error->message);
	return g_variant_get_child_value(reply, 0);
}

/* The GObject property as a GVariant of the type that the value has on the bus. */
static GVariant *property_variant(RdmadObject *o, GParamSpec *property, const GVariantType *type)
{
	g_auto(GValue) value = G_VALUE_INIT;

	g_object_get_property(G_OBJECT(o), g_param_spec_get_name(property), &value);
	if (G_VALUE_HOLDS_STRING(&value))
		return g_variant_type_equal(type, G_VARIANT_TYPE_OBJECT_PATH)
			       ? g_variant_new_object_path(g_value_get_string(&value))
			       : g_variant_new_string(g_value_get_string(&value));
	if (G_VALUE_HOLDS_UINT(&value))
		return g_variant_new_uint32(g_value_get_uint(&value));
	if (G_VALUE_HOLDS_INT(&value))
		return g_variant_new_int32(g_value_get_int(&value));
	if (G_VALUE_HOLDS_UINT64(&value))
		return g_variant_new_uint64(g_value_get_uint64(&value));
	if (G_VALUE_HOLDS_BOOLEAN(&value))
		return g_variant_new_boolean(g_value_get_boolean(&value));
	if (G_VALUE_HOLDS_BOXED(&value))
		return g_variant_new_strv(g_value_get_boxed(&value), -1);
	return g_value_dup_variant(&value);
}

/* The property that has the D-Bus name NAME. */
static GParamSpec *find_property(RdmadObject *o, const char *name)
{
	guint n;
	g_autofree GParamSpec **all = g_object_class_list_properties(G_OBJECT_GET_CLASS(o), &n);

	for (guint i = 0; i < n; i++)
		if (g_strcmp0(g_param_spec_get_nick(all[i]), name) == 0)
			return all[i];
	return NULL;
}

static void check_property(RdmadObject *o, const char *name, GVariant *value, GVariant *reasons)
{
	GParamSpec *property = find_property(o, name);
	g_autoptr(GVariant) has = NULL;
	const char *why = NULL;

	/* the one property without a row, those that change without a signal, and those that
	 * change a little later than others */
	if (streq(name, "Ports") || streq(name, "LastQueryTimestamp") || streq(name, "Health") ||
	    streq(name, "Findings") || streq(name, "FitSince") ||
	    g_str_has_suffix(name, "Generation"))
		return;
	if (!property)
		fail_msg("%s has no property for %s", rdmad_object_get_name(o), name);
	g_variant_lookup(reasons, name, "&s", &why);
	assert_int_equal(rdmad_object_is_available(o, g_param_spec_get_name(property)), !why);
	if (why) {
		assert_string_equal(
			rdmad_object_get_unavailable_code(o, g_param_spec_get_name(property)), why);
		return;
	}
	has = g_variant_take_ref(property_variant(o, property, g_variant_get_type(value)));
	if (!g_variant_equal(has, value)) {
		g_autofree char *a = g_variant_print(has, TRUE);
		g_autofree char *b = g_variant_print(value, TRUE);

		fail_msg("%s of %s is %s, and on the bus %s", name, rdmad_object_get_name(o), a, b);
	}
}

guint env_check_values(Env *e)
{
	g_autoptr(GVariant) objects = managed_objects(e);
	GVariantIter by_path, by_interface, by_name;
	GVariant *interfaces, *properties, *value;
	const char *path, *interface, *name;
	guint n = 0;

	g_variant_iter_init(&by_path, objects);
	while (g_variant_iter_loop(&by_path, "{&o@a{sa{sv}}}", &path, &interfaces)) {
		RdmadObject *o =
			strstr(path, "/port/")
				? (RdmadObject *)rdmad_client_get_port(e->l->client, path)
				: (RdmadObject *)rdmad_client_get_device(e->l->client, path);
		g_autoptr(GVariant) reasons = NULL;

		assert_non_null(o);
		g_object_get(o, "unavailable", &reasons, NULL);
		g_variant_iter_init(&by_interface, interfaces);
		while (g_variant_iter_loop(&by_interface, "{&s@a{sv}}", &interface, &properties)) {
			if (!g_str_has_prefix(interface, "org.rdma."))
				continue;
			g_variant_iter_init(&by_name, properties);
			while (g_variant_iter_loop(&by_name, "{&sv}", &name, &value)) {
				check_property(o, name, value, reasons);
				n++;
			}
		}
	}
	return n;
}
