/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Ports by their names, numbers and addresses. */

#include "entries.h"
#include "method.h"
#include "names.h"
#include "util.h"

/* The kinds of FindPorts. */
static const char *const kinds[] = {
	[RDMAD_LOOKUP_ANY] = NULL,
	[RDMAD_LOOKUP_NAME] = "name",
	[RDMAD_LOOKUP_NETDEV] = "netdev",
	[RDMAD_LOOKUP_ALTNAME] = "altname",
	[RDMAD_LOOKUP_IFINDEX] = "ifindex",
	[RDMAD_LOOKUP_GUID] = "port-guid",
	[RDMAD_LOOKUP_NODE_GUID] = "node-guid",
	[RDMAD_LOOKUP_SYSTEM_GUID] = "system-guid",
	[RDMAD_LOOKUP_PCI] = "pci",
	[RDMAD_LOOKUP_ADDRESS] = "address",
	[RDMAD_LOOKUP_GID] = "gid",
};

/* How many of several ports the error names. */
#define NAMED 4

static gpointer take_matches(const Answer *a, GError **error)
{
	g_autoptr(GVariant) entries = g_variant_get_child_value(a->body, 0);

	return entries_matches(a->client, entries, error);
}

const Method method_find_ports = {
	RDMAD_INTERFACE_MANAGER,	   "FindPorts", "(a" ENTRY_MATCH ")", take_matches,
	(GDestroyNotify)g_ptr_array_unref, FALSE};

static GVariant *find_arguments(RdmadLookup lookup, const char *text)
{
	GVariantBuilder options;

	g_variant_builder_init(&options, G_VARIANT_TYPE_VARDICT);
	if (kinds[lookup])
		g_variant_builder_add(&options, "{sv}", "by", g_variant_new_string(kinds[lookup]));
	return g_variant_new("(sa{sv})", text, &options);
}

METHOD_FUNCTIONS(rdmad_client_find_ports, RdmadClient, RDMAD_IS_CLIENT, GPtrArray *,
		 method_find_ports, (guint)lookup < G_N_ELEMENTS(kinds) && text,
		 find_arguments(lookup, text), RdmadLookup lookup, const char *text)

/* One port */

static void set_ambiguous(const char *text, const GPtrArray *matches, GError **error)
{
	g_autoptr(GString) names = g_string_new(NULL);

	for (guint i = 0; i < matches->len && i < NAMED; i++) {
		const RdmadPortMatch *m = matches->pdata[i];

		g_string_append_printf(names, "%s%s", i == 0 ? "" : ", ",
				       rdmad_object_get_name(RDMAD_OBJECT(m->port)));
	}
	if (matches->len > NAMED)
		g_string_append_printf(names, " and %u more", matches->len - NAMED);
	g_set_error(error, RDMAD_SERVICE_ERROR, RDMAD_SERVICE_ERROR_AMBIGUOUS,
		    "\"%s\" is more than one port: %s", text, names->str);
}

/* The only match. */
static gpointer take_one(const Answer *a, GError **error)
{
	g_autoptr(GPtrArray) matches = take_matches(a, error);
	const char *text;

	if (!matches)
		return NULL;
	if (matches->len == 1)
		return rdmad_port_match_ref(matches->pdata[0]);
	g_variant_get_child(a->arguments, 0, "&s", &text);
	if (matches->len > 1)
		set_ambiguous(text, matches, error);
	else
		g_set_error(error, RDMAD_SERVICE_ERROR, RDMAD_SERVICE_ERROR_NOT_FOUND,
			    "No port \"%s\"", text);
	return NULL;
}

static const Method find_port = {RDMAD_INTERFACE_MANAGER,
				 "FindPorts",
				 "(a" ENTRY_MATCH ")",
				 take_one,
				 (GDestroyNotify)rdmad_port_match_unref,
				 FALSE};

/* The port of OWNED, which may be NULL. */
static RdmadPort *port_of(RdmadPortMatch *owned, guint *ret_gid_index)
{
	g_autoptr(RdmadPortMatch) match = owned;

	if (match && ret_gid_index)
		*ret_gid_index = match->gid_index;
	return match ? g_object_ref(match->port) : NULL;
}

void rdmad_client_find_port_async(RdmadClient *self, RdmadLookup lookup, const char *text,
				  GCancellable *cancellable, GAsyncReadyCallback callback,
				  gpointer user_data)
{
	g_return_if_fail(RDMAD_IS_CLIENT(self));
	g_return_if_fail((guint)lookup < G_N_ELEMENTS(kinds));
	g_return_if_fail(text);
	method_call_async(&find_port, self, find_arguments(lookup, text), cancellable, callback,
			  user_data);
}

RdmadPort *rdmad_client_find_port_finish(RdmadClient *self, GAsyncResult *result,
					 guint *ret_gid_index, GError **error)
{
	return port_of(method_call_finish(&find_port, self, result, error), ret_gid_index);
}

RdmadPort *rdmad_client_find_port_sync(RdmadClient *self, RdmadLookup lookup, const char *text,
				       guint *ret_gid_index, GCancellable *cancellable,
				       GError **error)
{
	g_return_val_if_fail(RDMAD_IS_CLIENT(self), NULL);
	g_return_val_if_fail((guint)lookup < G_N_ELEMENTS(kinds), NULL);
	g_return_val_if_fail(text, NULL);
	return port_of(method_call_sync(&find_port, self, find_arguments(lookup, text), cancellable,
					error),
		       ret_gid_index);
}
