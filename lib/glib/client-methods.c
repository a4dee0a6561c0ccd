/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The methods of the daemon's manager. */

#include "entries.h"
#include "method.h"
#include "names.h"
#include "util.h"

/* Refresh */

static const Method refresh = {RDMAD_INTERFACE_MANAGER, "Refresh", "()",
			       method_take_nothing,	NULL,	   FALSE};

METHOD_FUNCTIONS(rdmad_client_refresh, RdmadClient, RDMAD_IS_CLIENT, gboolean, refresh, TRUE,
		 method_no_options())

/* GetCounters */

static gpointer take_counters(const Answer *a, GError **error)
{
	g_autoptr(GVariant) sets = g_variant_get_child_value(a->body, 0);
	g_autoptr(GVariant) ports = g_variant_get_child_value(a->body, 1);

	return entries_port_counters(a->client, sets, ports, error);
}

static const Method get_counters = {RDMAD_INTERFACE_MANAGER,
				    "GetCounters",
				    "(a" ENTRY_COUNTER_SET "a" ENTRY_COUNTER_VALUES ")",
				    take_counters,
				    (GDestroyNotify)g_ptr_array_unref,
				    FALSE};

/* PORTS may be NULL: all. */
static GVariant *ports_arguments(const char *const *ports)
{
	GVariantBuilder options;

	g_variant_builder_init(&options, G_VARIANT_TYPE_VARDICT);
	if (ports)
		g_variant_builder_add(&options, "{sv}", "ports", g_variant_new_strv(ports, -1));
	return g_variant_new("(a{sv})", &options);
}

METHOD_FUNCTIONS(rdmad_client_get_counters, RdmadClient, RDMAD_IS_CLIENT, GPtrArray *, get_counters,
		 TRUE, ports_arguments(ports), const char *const *ports)

/* GetHistory */

static const Method get_history = {RDMAD_INTERFACE_MANAGER,	      "GetHistory",
				   "(a" ENTRY_TRANSITION ")",	      entries_take_transitions,
				   (GDestroyNotify)g_ptr_array_unref, FALSE};

static GVariant *name_arguments(const char *name)
{
	return g_variant_new("(sa{sv})", name, NULL);
}

METHOD_FUNCTIONS(rdmad_client_get_history, RdmadClient, RDMAD_IS_CLIENT, GPtrArray *, get_history,
		 name, name_arguments(name), const char *name)

/* ListHistories */

static gpointer take_histories(const Answer *a, _unused_ GError **error)
{
	g_autoptr(GVariant) entries = g_variant_get_child_value(a->body, 0);

	return entries_histories(a->client, entries);
}

static const Method list_histories = {RDMAD_INTERFACE_MANAGER,
				      "ListHistories",
				      "(a" ENTRY_HISTORY ")",
				      take_histories,
				      (GDestroyNotify)g_ptr_array_unref,
				      FALSE};

/* OPTIONS may be NULL: none. */
static GVariant *options_arguments(GVariant *options)
{
	return options ? g_variant_new("(@a{sv})", options) : method_no_options();
}

static gboolean is_dictionary(GVariant *options)
{
	return !options || g_variant_is_of_type(options, G_VARIANT_TYPE_VARDICT);
}

METHOD_FUNCTIONS(rdmad_client_list_histories, RdmadClient, RDMAD_IS_CLIENT, GPtrArray *,
		 list_histories, is_dictionary(options), options_arguments(options),
		 GVariant *options)

/* WaitFor */

static gpointer take_ports(const Answer *a, GError **error)
{
	g_autoptr(GHashTable) ports =
		g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_object_unref);
	g_autoptr(GVariant) entries = g_variant_get_child_value(a->body, 0);
	const char *name, *path;
	GVariantIter iter;

	g_variant_iter_init(&iter, entries);
	while (g_variant_iter_next(&iter, "{&s&o}", &name, &path)) {
		RdmadPort *port = entries_find_port(a->client, path, error);

		if (!port)
			return NULL;
		g_hash_table_insert(ports, g_strdup(name), g_object_ref(port));
	}
	return g_steal_pointer(&ports);
}

static const Method wait_for = {RDMAD_INTERFACE_MANAGER,
				"WaitFor",
				"(a{so})",
				take_ports,
				(GDestroyNotify)g_hash_table_unref,
				TRUE};

static GVariant *wait_arguments(GVariant *condition, gint64 timeout_usec)
{
	return g_variant_new("(@a{sv}t)", condition,
			     timeout_usec < 0 ? G_MAXUINT64 : (guint64)timeout_usec);
}

METHOD_FUNCTIONS(rdmad_client_wait_for, RdmadClient, RDMAD_IS_CLIENT, GHashTable *, wait_for,
		 condition != NULL && is_dictionary(condition),
		 wait_arguments(condition, timeout_usec), GVariant *condition, gint64 timeout_usec)
