/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which entry of a GID table a program should use: the daemon decides. */

#include "client-call.h"
#include "entries.h"
#include "gid.h"
#include "method.h"

/* So often the daemon is asked anew because the table has changed meanwhile. */
#define TRIES 5

/* The wish of the caller, and what the daemon has answered. */
typedef struct Wish {
	char *address; /* NULL: any */
	char *netdev;  /* NULL: any */
	RdmadGidType type;
	RdmadPort *port; /* NULL: not known yet */
	guint index;	 /* of the GID */
	guint64 generation;
	unsigned int tries;
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

static gboolean fail_not_found(const Wish *w, GError **error)
{
	g_set_error(error, RDMAD_SERVICE_ERROR, RDMAD_SERVICE_ERROR_NOT_FOUND, "%s has no such GID",
		    w->port ? rdmad_object_get_name(RDMAD_OBJECT(w->port)) : "No port");
	return FALSE;
}

/* Takes the port and the index from MATCHES. FALSE and an error. */
static gboolean take_answer(Wish *w, const GPtrArray *matches, GError **error)
{
	const RdmadPortMatch *found = NULL;

	for (guint i = 0; i < matches->len; i++) {
		const RdmadPortMatch *m = matches->pdata[i];

		if (w->port && m->port != w->port)
			continue;
		if (found) {
			g_set_error(error, RDMAD_SERVICE_ERROR, RDMAD_SERVICE_ERROR_AMBIGUOUS,
				    "%s and %s have such a GID",
				    rdmad_object_get_name(RDMAD_OBJECT(found->port)),
				    rdmad_object_get_name(RDMAD_OBJECT(m->port)));
			return FALSE;
		}
		found = m;
	}
	if (!found || !found->has_gid)
		return fail_not_found(w, error);
	if (!w->port)
		w->port = g_object_ref(found->port);
	w->index = found->gid_index;
	rdmad_object_get_number(RDMAD_OBJECT(w->port), "gid-generation", &w->generation);
	return TRUE;
}

/* The table */

static char *text_or_null(const char *text)
{
	return *text ? g_strdup(text) : NULL;
}

static RdmadGid *make_gid(const Wish *w, GVariant *entry)
{
	RdmadGid *g = g_atomic_rc_box_new0(RdmadGid);
	const char *netdev, *address;

	g_variant_get(entry, "(uss&s&s@a{sv})", &g->index, &g->gid, &g->type, &netdev, &address,
		      &g->details);
	g->port = g_object_ref(w->port);
	g->netdev = text_or_null(netdev);
	g->address = text_or_null(address);
	g->generation = w->generation;
	return g;
}

/* The entry of TABLE that the daemon has named. NULL and an error; without an error: TABLE is a
 * later one, ask again. */
static RdmadGid *choose(Wish *w, GVariant *table, GError **error)
{
	guint64 generation = 0;
	guint index;

	rdmad_object_get_number(RDMAD_OBJECT(w->port), "gid-generation", &generation);
	if (generation != w->generation && ++w->tries < TRIES)
		return NULL;
	for (gsize i = 0; i < g_variant_n_children(table); i++) {
		g_autoptr(GVariant) entry = g_variant_get_child_value(table, i);

		g_variant_get_child(entry, 0, "u", &index);
		if (index == w->index)
			return make_gid(w, entry);
	}
	fail_not_found(w, error);
	return NULL;
}

/* The calls */

static void ask(GTask *task);

static void on_table(GObject *port, GAsyncResult *result, gpointer user_data)
{
	g_autoptr(GTask) task = user_data;
	GError *error = NULL;
	g_autoptr(GVariant) table = rdmad_object_load_finish(RDMAD_OBJECT(port), result, &error);
	RdmadGid *gid = table ? choose(g_task_get_task_data(task), table, &error) : NULL;

	if (gid)
		g_task_return_pointer(task, gid, (GDestroyNotify)rdmad_gid_unref);
	else if (error)
		g_task_return_error(task, error);
	else
		ask(g_steal_pointer(&task));
}

static void on_answer(GObject *client, GAsyncResult *result, gpointer user_data)
{
	g_autoptr(GTask) task = user_data;
	Wish *w = g_task_get_task_data(task);
	GError *error = NULL;
	g_autoptr(GPtrArray) matches =
		method_call_finish(&method_find_ports, client, result, &error);

	if (matches && take_answer(w, matches, &error))
		rdmad_object_load_async(RDMAD_OBJECT(w->port), "gids", g_task_get_cancellable(task),
					on_table, g_object_ref(task));
	else
		g_task_return_error(task, error);
}

/* Takes over the task. */
static void ask(GTask *task)
{
	const Wish *w = g_task_get_task_data(task);

	method_call_async(&method_find_ports, g_task_get_source_object(task), find_arguments(w),
			  g_task_get_cancellable(task), on_answer, task);
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
	ask(g_steal_pointer(&task));
}

RdmadGid *rdmad_client_find_gid_finish(RdmadClient *self, GAsyncResult *result, GError **error)
{
	g_return_val_if_fail(g_async_result_is_tagged(result, rdmad_client_find_gid_async), NULL);
	g_return_val_if_fail(g_task_is_valid(result, self), NULL);
	return g_task_propagate_pointer(G_TASK(result), error);
}

/* NULL without an error: ask again. */
static RdmadGid *ask_and_wait(RdmadClient *c, Wish *w, GCancellable *cancellable, GError **error)
{
	g_autoptr(GPtrArray) matches =
		method_call_sync(&method_find_ports, c, find_arguments(w), cancellable, error);
	g_autoptr(GVariant) table = NULL;

	if (!matches || !take_answer(w, matches, error))
		return NULL;
	table = rdmad_object_load_sync(RDMAD_OBJECT(w->port), "gids", cancellable, error);
	return table ? choose(w, table, error) : NULL;
}

RdmadGid *rdmad_client_find_gid_sync(RdmadClient *self, RdmadPort *port, const char *address,
				     const char *netdev, RdmadGidType type,
				     GCancellable *cancellable, GError **error)
{
	g_autoptr(Wish) w = NULL;
	RdmadGid *gid = NULL;
	GError *why = NULL;

	g_return_val_if_fail(RDMAD_IS_CLIENT(self), NULL);
	g_return_val_if_fail(!port || RDMAD_IS_PORT(port), NULL);
	g_return_val_if_fail(port || address || netdev, NULL);
	g_return_val_if_fail(is_type(type), NULL);
	w = wish_new(port, address, netdev, type, error);
	while (w && !gid && !why)
		gid = ask_and_wait(self, w, cancellable, &why);
	if (why)
		g_propagate_error(error, why);
	return gid;
}
