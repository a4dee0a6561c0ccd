/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads all attributes of one object, or of all objects, with one call. */

#include "client-follow.h"
#include "client-objects.h"
#include "method.h"
#include "object-private.h"
#include "util.h"

static void add_property(const Answer *a, RdmadObject *o, const char *name, GVariant *value,
			 size_t *row)
{
	if (rdmad_object_find_property(o, name, row))
		client_add_loaded(a->client, o, *row, value, a->reply);
}

/* Those of PROPERTIES, a{sv}, that its own list does not call unavailable: a{sv}, floating. */
static GVariant *only_available(GVariant *properties)
{
	g_autoptr(GVariant) unavailable =
		g_variant_lookup_value(properties, "Unavailable", G_VARIANT_TYPE("a{ss}"));
	GVariantBuilder b;
	GVariantIter iter;
	GVariant *value;
	const char *name;

	g_variant_builder_init(&b, G_VARIANT_TYPE_VARDICT);
	g_variant_iter_init(&iter, properties);
	while (g_variant_iter_loop(&iter, "{&sv}", &name, &value))
		if (!unavailable || !g_variant_lookup(unavailable, name, "&s", NULL))
			g_variant_builder_add(&b, "{sv}", name, value);
	return g_variant_builder_end(&b);
}

/* One object */

static gpointer take_properties(const Answer *a, _unused_ GError **error)
{
	g_autoptr(GVariant) properties = g_variant_get_child_value(a->body, 0);
	GVariantIter iter;
	GVariant *value;
	const char *name;
	size_t row = 0;

	g_variant_iter_init(&iter, properties);
	while (g_variant_iter_loop(&iter, "{&sv}", &name, &value))
		add_property(a, a->source, name, value, &row);
	client_take_loaded(a->client, a->reply);
	return g_variant_ref_sink(only_available(properties));
}

/* Without the name of an interface the call means all that the object has. */
static const Method get_all = {
	"org.freedesktop.DBus.Properties", "GetAll", "(a{sv})", take_properties,
	(GDestroyNotify)g_variant_unref,   FALSE};

static GVariant *all_interfaces(void)
{
	return g_variant_new("(s)", "");
}

METHOD_FUNCTIONS(rdmad_object_load_all, RdmadObject, RDMAD_IS_OBJECT, GVariant *, get_all, TRUE,
		 all_interfaces())

/* All objects */

static void add_object(const Answer *a, const char *path, GVariant *interfaces)
{
	RdmadObject *o;
	Place place;
	GVariantIter iter, properties_iter;
	GVariant *properties, *value;
	const char *name;
	AttrInterface interface;
	size_t row = 0;

	if (!place_parse(path, &place))
		return;
	o = client_get_object(a->client, place);
	g_variant_iter_init(&iter, interfaces);
	while (o && g_variant_iter_loop(&iter, "{&s@a{sv}}", &name, &properties)) {
		if (!rdmad_object_find_interface(o, name, &interface))
			continue;
		g_variant_iter_init(&properties_iter, properties);
		while (g_variant_iter_loop(&properties_iter, "{&sv}", &name, &value))
			add_property(a, o, name, value, &row);
	}
}

static gpointer take_objects(const Answer *a, _unused_ GError **error)
{
	g_autoptr(GVariant) objects = g_variant_get_child_value(a->body, 0);
	GVariantIter iter;
	GVariant *interfaces;
	const char *path;

	g_variant_iter_init(&iter, objects);
	while (g_variant_iter_loop(&iter, "{&o@a{sa{sv}}}", &path, &interfaces))
		add_object(a, path, interfaces);
	client_take_loaded(a->client, a->reply);
	return GINT_TO_POINTER(TRUE);
}

static const Method get_objects = {"org.freedesktop.DBus.ObjectManager",
				   "GetManagedObjects",
				   "(a{oa{sa{sv}}})",
				   take_objects,
				   NULL,
				   FALSE};

static GVariant *no_arguments(void)
{
	return g_variant_new("()");
}

METHOD_FUNCTIONS(rdmad_client_load_all, RdmadClient, RDMAD_IS_CLIENT, gboolean, get_objects, TRUE,
		 no_arguments())
