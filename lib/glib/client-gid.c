/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which entry of a GID table a program should use: the daemon decides. */

#include "client-call.h"
#include "gid.h"
#include "method.h"
#include "table-columns.h"

/* The wish of the caller. */
typedef struct Wish {
	char *address; /* NULL: any */
	char *netdev;  /* NULL: any */
	RdmadGidType type;
	RdmadPort *port; /* NULL: any */
} Wish;

static void wish_free(gpointer data)
{
	Wish *w = data;

	g_free(w->address);
	g_free(w->netdev);
	g_clear_object(&w->port);
	g_free(w);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Wish, wish_free)

static gboolean is_type(RdmadGidType type)
{
	G_STATIC_ASSERT((int)RDMAD_GID_TYPE_IB == GID_TYPE_IB &&
			(int)RDMAD_GID_TYPE_ROCE_V1 == GID_TYPE_ROCE_V1 &&
			(int)RDMAD_GID_TYPE_ROCE_V2 == GID_TYPE_ROCE_V2);
	return type >= RDMAD_GID_TYPE_ANY && type <= RDMAD_GID_TYPE_ROCE_V2;
}

/* NULL and an error if that cannot be wanted. */
static Wish *wish_new(RdmadPort *port, const char *address, const char *netdev, RdmadGidType type,
		      GError **error)
{
	g_autoptr(Wish) w = g_new0(Wish, 1);
	const char *zone;
	uint8_t gid[16];

	if (port && !client_of_object(RDMAD_OBJECT(port), error))
		return NULL;
	if (address && gid_parse_zone(address, gid, &zone) < 0) {
		g_set_error(error, RDMAD_SERVICE_ERROR, RDMAD_SERVICE_ERROR_INVALID_ARGUMENT,
			    "\"%s\" is not an IP address or a GID", address);
		return NULL;
	}
	w->address = g_strdup(address);
	w->netdev = g_strdup(netdev);
	w->type = type;
	w->port = port ? g_object_ref(port) : NULL;
	return g_steal_pointer(&w);
}

/* The question */

static GVariant *find_arguments(const Wish *w)
{
	const char *text = w->address  ? w->address
			   : w->netdev ? w->netdev
				       : rdmad_object_get_name(RDMAD_OBJECT(w->port));
	GVariantBuilder options;
	char type[24];

	g_variant_builder_init(&options, G_VARIANT_TYPE_VARDICT);
	if (w->netdev)
		g_variant_builder_add(&options, "{sv}", w->address ? "netdev" : "by",
				      g_variant_new_string(w->address ? w->netdev : "netdev"));
	if (w->type != RDMAD_GID_TYPE_ANY)
		g_variant_builder_add(&options, "{sv}", "type",
				      g_variant_new_string(gid_type_name((uint32_t)w->type, type)));
	return g_variant_new("(sa{sv})", text, &options);
}

/* The answer */

static char *text_or_null(const char *text)
{
	return *text ? g_strdup(text) : NULL;
}

static RdmadGid *make_gid(const RdmadPortMatch *m, GVariant *entry)
{
	RdmadGid *g = g_atomic_rc_box_new0(RdmadGid);
	const char *netdev, *address;

	g_variant_get(entry, "(uss&s&s@a{sv})", &g->index, &g->gid, &g->type, &netdev, &address,
		      &g->details);
	g->port = g_object_ref(m->port);
	g->netdev = text_or_null(netdev);
	g->address = text_or_null(address);
	g_variant_lookup(m->details, "GidGeneration", "t", &g->generation);
	return g;
}

/* The GID of the only port among MATCHES that W means. NULL and an error. */
static RdmadGid *take_gid(const Wish *w, const GPtrArray *matches, GError **error)
{
	const RdmadPortMatch *found = NULL;
	g_autoptr(GVariant) entry = NULL;

	for (guint i = 0; i < matches->len; i++) {
		const RdmadPortMatch *m = matches->pdata[i];

		if (w->port && m->port != w->port)
			continue;
		if (found) {
			g_set_error(error, RDMAD_SERVICE_ERROR, RDMAD_SERVICE_ERROR_AMBIGUOUS,
				    "%s and %s have such a GID",
				    rdmad_object_get_name(RDMAD_OBJECT(found->port)),
				    rdmad_object_get_name(RDMAD_OBJECT(m->port)));
			return NULL;
		}
		found = m;
	}
	if (found)
		entry = g_variant_lookup_value(found->details, "Gid",
					       G_VARIANT_TYPE(gid_table_signature + 1));
	if (entry)
		return make_gid(found, entry);
	g_set_error(error, RDMAD_SERVICE_ERROR, RDMAD_SERVICE_ERROR_NOT_FOUND, "%s has no such GID",
		    w->port ? rdmad_object_get_name(RDMAD_OBJECT(w->port)) : "No port");
	return NULL;
}

/* The calls */

static void on_answer(GObject *client, GAsyncResult *result, gpointer user_data)
{
	g_autoptr(GTask) task = user_data;
	GError *error = NULL;
	g_autoptr(GPtrArray) matches =
		method_call_finish(&method_find_ports, client, result, &error);
	RdmadGid *gid = matches ? take_gid(g_task_get_task_data(task), matches, &error) : NULL;

	if (gid)
		g_task_return_pointer(task, gid, (GDestroyNotify)rdmad_gid_unref);
	else
		g_task_return_error(task, error);
}

void rdmad_client_find_gid_async(RdmadClient *self, RdmadPort *port, const char *address,
				 const char *netdev, RdmadGidType type, GCancellable *cancellable,
				 GAsyncReadyCallback callback, gpointer user_data)
{
	g_autoptr(GTask) task = NULL;
	GError *error = NULL;
	Wish *w;

	g_return_if_fail(RDMAD_IS_CLIENT(self));
	g_return_if_fail(!port || RDMAD_IS_PORT(port));
	g_return_if_fail(port || address || netdev);
	g_return_if_fail(is_type(type));
	task = g_task_new(self, cancellable, callback, user_data);
	g_task_set_source_tag(task, rdmad_client_find_gid_async);
	w = wish_new(port, address, netdev, type, &error);
	if (!w) {
		g_task_return_error(task, error);
		return;
	}
	g_task_set_task_data(task, w, wish_free);
	method_call_async(&method_find_ports, self, find_arguments(w), cancellable, on_answer,
			  g_steal_pointer(&task));
}

RdmadGid *rdmad_client_find_gid_finish(RdmadClient *self, GAsyncResult *result, GError **error)
{
	g_return_val_if_fail(g_async_result_is_tagged(result, rdmad_client_find_gid_async), NULL);
	g_return_val_if_fail(g_task_is_valid(result, self), NULL);
	return g_task_propagate_pointer(G_TASK(result), error);
}

RdmadGid *rdmad_client_find_gid_sync(RdmadClient *self, RdmadPort *port, const char *address,
				     const char *netdev, RdmadGidType type,
				     GCancellable *cancellable, GError **error)
{
	g_autoptr(Wish) w = NULL;
	g_autoptr(GPtrArray) matches = NULL;

	g_return_val_if_fail(RDMAD_IS_CLIENT(self), NULL);
	g_return_val_if_fail(!port || RDMAD_IS_PORT(port), NULL);
	g_return_val_if_fail(port || address || netdev, NULL);
	g_return_val_if_fail(is_type(type), NULL);
	w = wish_new(port, address, netdev, type, error);
	if (w)
		matches = method_call_sync(&method_find_ports, self, find_arguments(w), cancellable,
					   error);
	return matches ? take_gid(w, matches, error) : NULL;
}
