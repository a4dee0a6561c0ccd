/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which entry of a GID table a program should use. */

#include "entries.h"
#include "gid.h"
#include "method.h"
#include "names.h"
#include "util.h"

/* The wish of the caller. */
typedef struct Wish {
	char *address;	  /* as text, for the daemon; NULL: any */
	uint8_t gid[16];  /* ADDRESS as it is in a GID */
	const char *zone; /* a part of ADDRESS; NULL: none */
	char *netdev;	  /* NULL: any */
	RdmadGidType type;
	RdmadPort *port; /* NULL: not known yet */
	gboolean asked;	 /* PORT is what the daemon has found by ADDRESS or NETDEV */
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
	return type >= RDMAD_GID_TYPE_ANY && type <= RDMAD_GID_TYPE_ROCE_V2;
}

/* The name that TYPE has on the bus. */
static const char *type_name(RdmadGidType type, char buffer[24])
{
	G_STATIC_ASSERT((int)RDMAD_GID_TYPE_IB == GID_TYPE_IB &&
			(int)RDMAD_GID_TYPE_ROCE_V1 == GID_TYPE_ROCE_V1 &&
			(int)RDMAD_GID_TYPE_ROCE_V2 == GID_TYPE_ROCE_V2);
	return gid_type_name((uint32_t)type, buffer);
}

/* NULL and an error if that cannot be wanted. */
static Wish *wish_new(RdmadPort *port, const char *address, const char *netdev, RdmadGidType type,
		      GError **error)
{
	g_autoptr(Wish) w = g_new0(Wish, 1);

	w->address = g_strdup(address);
	w->netdev = g_strdup(netdev);
	w->type = type;
	w->port = port ? g_object_ref(port) : NULL;
	if (address && gid_parse_zone(w->address, w->gid, &w->zone) < 0) {
		g_set_error(error, RDMAD_SERVICE_ERROR, RDMAD_SERVICE_ERROR_INVALID_ARGUMENT,
			    "\"%s\" is not an IP address or a GID", address);
		return NULL;
	}
	return g_steal_pointer(&w);
}

/* The table */

/* An entry that was read. The texts are those of the table. */
typedef struct Entry {
	GidChoice choice;
	gboolean named; /* it has the address and the interface that are wanted */
	const char *gid, *type, *netdev, *address;
} Entry;

/* The type that the bus calls NAME; _GID_TYPE_MAX if this library does not know it. */
static uint32_t type_of(const char *name)
{
	char buffer[24];
	uint32_t type;

	for (type = 0; type < _GID_TYPE_MAX; type++)
		if (streq(gid_type_name(type, buffer), name))
			break;
	return type;
}

/* The members in the tail of an entry. */
typedef struct Details {
	uint32_t ifindex, vlan_id, namespace;
} Details;

static void read_details(GVariant *tail, Details *ret)
{
	const char *namespace = "";

	*ret = (Details){};
	g_variant_lookup(tail, "Ifindex", "u", &ret->ifindex);
	g_variant_lookup(tail, "VlanId", "u", &ret->vlan_id);
	g_variant_lookup(tail, "Namespace", "&s", &namespace);
	if (streq(namespace, gid_namespace_name(GID_NAMESPACE_OTHER)))
		ret->namespace = GID_NAMESPACE_OTHER;
}

/* A text property of the port of W; "" if there is none. */
static const char *port_text(const Wish *w, const char *name)
{
	const char *text = rdmad_object_get_string(RDMAD_OBJECT(w->port), name);

	return text ? text : "";
}

/* FALSE: it does not fit W. The GIDs of InfiniBand have no address and no interface: a port that
 * was found by those of its IPoIB interface has any of them. */
static gboolean read_entry(const Wish *w, GVariant *entry, Entry *ret)
{
	g_autoptr(GVariant) tail = NULL;
	Entry e = {};
	Details d;

	g_variant_get(entry, "(u&s&s&s&s@a{sv})", &e.choice.index, &e.gid, &e.type, &e.netdev,
		      &e.address, &tail);
	e.choice.type = type_of(e.type);
	if (e.choice.type == _GID_TYPE_MAX || gid_parse(e.gid, e.choice.gid) < 0 ||
	    (w->type != RDMAD_GID_TYPE_ANY && e.choice.type != (uint32_t)w->type))
		return FALSE;
	read_details(tail, &d);
	e.named = (!w->netdev || streq(w->netdev, e.netdev)) &&
		  gid_zone_fits(w->zone, e.netdev, d.ifindex) &&
		  (!w->address || memcmp(w->gid, e.choice.gid, sizeof(w->gid)) == 0);
	e.choice.where = gid_where(e.netdev, d.vlan_id, d.namespace, port_text(w, "netdev"),
				   port_text(w, "master"));
	*ret = e;
	return e.named || (w->asked && e.choice.type == GID_TYPE_IB);
}

static gboolean is_better(const Entry *a, const Entry *b)
{
	return a->named != b->named ? a->named : gid_compare(&a->choice, &b->choice) < 0;
}

static char *text_or_null(const char *text)
{
	return *text ? g_strdup(text) : NULL;
}

static RdmadGid *make_gid(RdmadPort *port, GVariant *entry, const Entry *e)
{
	RdmadGid *g = g_atomic_rc_box_new0(RdmadGid);

	g->port = g_object_ref(port);
	g->index = e->choice.index;
	g->gid = g_strdup(e->gid);
	g->type = g_strdup(e->type);
	g->netdev = text_or_null(e->netdev);
	g->address = text_or_null(e->address);
	g->details = g_variant_get_child_value(entry, 5);
	rdmad_object_get_number(RDMAD_OBJECT(port), "gid-generation", &g->generation);
	return g;
}

/* The best entry of TABLE that fits W. */
static RdmadGid *choose(const Wish *w, GVariant *table, GError **error)
{
	g_autoptr(GVariant) best = NULL;
	Entry best_entry = {}, e;

	for (gsize i = 0; i < g_variant_n_children(table); i++) {
		g_autoptr(GVariant) entry = g_variant_get_child_value(table, i);

		if (!read_entry(w, entry, &e) || (best && !is_better(&e, &best_entry)))
			continue;
		g_clear_pointer(&best, g_variant_unref);
		best = g_steal_pointer(&entry);
		best_entry = e;
	}
	if (best)
		return make_gid(w->port, best, &best_entry);
	g_set_error(error, RDMAD_SERVICE_ERROR, RDMAD_SERVICE_ERROR_NOT_FOUND, "%s has no such GID",
		    rdmad_object_get_name(RDMAD_OBJECT(w->port)));
	return NULL;
}

/* The port */

static gpointer take_port(const Answer *a, GError **error)
{
	const char *path;
	RdmadPort *port;

	g_variant_get_child(a->body, 0, "&o", &path);
	port = entries_find_port(a->client, path, error);
	return port ? g_object_ref(port) : NULL;
}

static const Method by_address = {
	RDMAD_INTERFACE_MANAGER, "GetPortByAddress", "(ou)", take_port, g_object_unref, FALSE};
static const Method by_netdev = {
	RDMAD_INTERFACE_MANAGER, "GetPortByNetdev", "(o)", take_port, g_object_unref, FALSE};

static const Method *port_method(const Wish *w)
{
	return w->address ? &by_address : &by_netdev;
}

static GVariant *port_arguments(const Wish *w)
{
	GVariantBuilder options;
	char buffer[24];

	g_variant_builder_init(&options, G_VARIANT_TYPE_VARDICT);
	if (w->address && w->netdev)
		g_variant_builder_add(&options, "{sv}", "netdev", g_variant_new_string(w->netdev));
	if (w->address && w->type != RDMAD_GID_TYPE_ANY)
		g_variant_builder_add(&options, "{sv}", "type",
				      g_variant_new_string(type_name(w->type, buffer)));
	return g_variant_new("(sa{sv})", w->address ? w->address : w->netdev, &options);
}

/* The calls */

static void on_table(GObject *port, GAsyncResult *result, gpointer user_data)
{
	g_autoptr(GTask) task = user_data;
	GError *error = NULL;
	g_autoptr(GVariant) table = rdmad_object_load_finish(RDMAD_OBJECT(port), result, &error);
	RdmadGid *gid = table ? choose(g_task_get_task_data(task), table, &error) : NULL;

	if (gid)
		g_task_return_pointer(task, gid, (GDestroyNotify)rdmad_gid_unref);
	else
		g_task_return_error(task, error);
}

/* Goes on when the port is known. Takes over the task. */
static void load_table(GTask *task)
{
	const Wish *w = g_task_get_task_data(task);

	rdmad_object_load_async(RDMAD_OBJECT(w->port), "gids", g_task_get_cancellable(task),
				on_table, task);
}

static void on_port(GObject *client, GAsyncResult *result, gpointer user_data)
{
	g_autoptr(GTask) task = user_data;
	Wish *w = g_task_get_task_data(task);
	GError *error = NULL;

	w->port = method_call_finish(port_method(w), client, result, &error);
	w->asked = TRUE;
	if (w->port)
		load_table(g_steal_pointer(&task));
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
	if (port)
		load_table(g_steal_pointer(&task));
	else
		method_call_async(port_method(w), self, port_arguments(w), cancellable, on_port,
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
	g_autoptr(GVariant) table = NULL;
	g_autoptr(Wish) w = NULL;

	g_return_val_if_fail(RDMAD_IS_CLIENT(self), NULL);
	g_return_val_if_fail(!port || RDMAD_IS_PORT(port), NULL);
	g_return_val_if_fail(port || address || netdev, NULL);
	g_return_val_if_fail(is_type(type), NULL);
	w = wish_new(port, address, netdev, type, error);
	if (!w)
		return NULL;
	if (!w->port) {
		w->port = method_call_sync(port_method(w), self, port_arguments(w), cancellable,
					   error);
		w->asked = TRUE;
	}
	if (!w->port)
		return NULL;
	table = rdmad_object_load_sync(RDMAD_OBJECT(w->port), "gids", cancellable, error);
	return table ? choose(w, table, error) : NULL;
}
