/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Applies signals to objects, and reports all changes of one flush together. */

#include "client-batch.h"

#include "client-objects.h"
#include "client-private.h"
#include "names.h"
#include "object-private.h"

/* A signal of a port that the client passes on: StateChanged or SubnetReconfigured. */
typedef struct PortSignal {
	RdmadObject *port;
	const char *signal; /* the name in GObject */
	GVariant *body;	    /* a tuple of strings: the arguments */
} PortSignal;

static void port_signal_free(gpointer data)
{
	PortSignal *e = data;

	g_object_unref(e->port);
	g_variant_unref(e->body);
	g_free(e);
}

void batch_init(Batch *b, RdmadClient *c)
{
	*b = (Batch){
		.client = g_object_ref(c),
		.touched = g_ptr_array_new_with_free_func(g_object_unref),
		.changes = g_ptr_array_new_with_free_func((GDestroyNotify)rdmad_change_free),
		.port_signals = g_ptr_array_new_with_free_func(port_signal_free),
	};
}

void batch_clear(Batch *b)
{
	g_clear_pointer(&b->touched, g_ptr_array_unref);
	g_clear_pointer(&b->changes, g_ptr_array_unref);
	g_clear_pointer(&b->port_signals, g_ptr_array_unref);
	g_clear_object(&b->client);
}

static void touch(Batch *b, RdmadObject *o)
{
	if (rdmad_object_begin(o))
		g_ptr_array_add(b->touched, g_object_ref(o));
}

/* Takes over PROPERTIES. */
static void add_change(Batch *b, RdmadChangeKind kind, RdmadObject *o, char **properties)
{
	RdmadChange *change = g_new(RdmadChange, 1);

	*change = (RdmadChange){
		.kind = kind,
		.object = g_object_ref(o),
		.properties = properties ? properties : g_new0(char *, 1),
	};
	g_ptr_array_add(b->changes, change);
}

static RdmadObject *find_object(Batch *b, const char *path)
{
	Place place;

	return place_parse(path, &place) ? client_get_object(b->client, place) : NULL;
}

static void remove_object(Batch *b, RdmadObject *o)
{
	touch(b, o);
	add_change(b, RDMAD_CHANGE_REMOVED, o, NULL);
	rdmad_object_set_removed(o);
	client_remove_object(b->client, o);
}

/* The object at PATH has INTERFACES, a{sa{sv}}; WHOLE: and no others. */
static void apply_interfaces(Batch *b, const char *path, GVariant *interfaces, gboolean whole)
{
	g_autoptr(RdmadObject) created = NULL;
	RdmadObject *o;
	Place place;
	GVariantIter iter;
	GVariant *properties;
	const char *name;
	AttrInterface interface;
	unsigned int seen = 0;

	if (!place_parse(path, &place)) {
		g_debug("%s is neither a device nor a port", path);
		return;
	}
	o = client_get_object(b->client, place);
	if (!o) {
		o = created = rdmad_object_new(
			place.port == 0 ? RDMAD_TYPE_DEVICE : RDMAD_TYPE_PORT, b->client, place);
		rdmad_object_begin(o);
	} else {
		touch(b, o);
	}
	g_variant_iter_init(&iter, interfaces);
	while (g_variant_iter_loop(&iter, "{&s@a{sv}}", &name, &properties)) {
		if (!rdmad_object_find_interface(o, name, &interface))
			continue;
		rdmad_object_apply(o, interface, properties, TRUE);
		seen |= 1U << interface;
	}
	if (created) {
		if (!(seen >> rdmad_object_main_interface(o) & 1)) {
			g_debug("%s has no interface of its kind", path);
			return;
		}
		client_add_object(b->client, o);
		g_ptr_array_add(b->touched, g_object_ref(o));
		add_change(b, RDMAD_CHANGE_ADDED, o, NULL);
		return;
	}
	for (interface = 0; whole && interface < INTERFACE_RAW; interface++)
		if (rdmad_object_get_interfaces(o) & ~seen & 1U << interface)
			rdmad_object_remove_interface(o, interface);
}

static void apply_properties_changed(Batch *b, GDBusMessage *m)
{
	RdmadObject *o = find_object(b, g_dbus_message_get_path(m));
	g_autoptr(GVariant) changed = NULL;
	g_autofree const char **invalidated = NULL;
	const char *name;
	AttrInterface interface;

	g_variant_get(g_dbus_message_get_body(m), "(&s@a{sv}^a&s)", &name, &changed, &invalidated);
	if (!o || !rdmad_object_find_interface(o, name, &interface) ||
	    !(rdmad_object_get_interfaces(o) >> interface & 1))
		return;
	touch(b, o);
	rdmad_object_apply(o, interface, changed, FALSE);
	for (size_t i = 0; invalidated[i]; i++)
		rdmad_object_apply_invalidated(o, interface, invalidated[i], channel_order(m));
}

static void apply_interfaces_added(Batch *b, GDBusMessage *m)
{
	g_autoptr(GVariant) interfaces = NULL;
	const char *path;

	g_variant_get(g_dbus_message_get_body(m), "(&o@a{sa{sv}})", &path, &interfaces);
	apply_interfaces(b, path, interfaces, FALSE);
}

static void apply_interfaces_removed(Batch *b, GDBusMessage *m)
{
	g_autofree const char **names = NULL;
	const char *path;
	RdmadObject *o;
	unsigned int gone = 0;
	AttrInterface interface;

	g_variant_get(g_dbus_message_get_body(m), "(&o^a&s)", &path, &names);
	o = find_object(b, path);
	if (!o)
		return;
	for (size_t i = 0; names[i]; i++)
		if (rdmad_object_find_interface(o, names[i], &interface))
			gone |= 1U << interface;
	if (gone >> rdmad_object_main_interface(o) & 1) {
		remove_object(b, o);
		return;
	}
	touch(b, o);
	for (interface = 0; interface < INTERFACE_RAW; interface++)
		if (gone >> interface & 1)
			rdmad_object_remove_interface(o, interface);
}

static void add_port_signal(Batch *b, GDBusMessage *m, const char *signal)
{
	RdmadObject *o = find_object(b, g_dbus_message_get_path(m));
	PortSignal *e;

	if (!o || !RDMAD_IS_PORT(o))
		return;
	e = g_new(PortSignal, 1);
	*e = (PortSignal){
		.port = g_object_ref(o),
		.signal = signal,
		.body = g_variant_ref(g_dbus_message_get_body(m)),
	};
	g_ptr_array_add(b->port_signals, e);
}

static void apply_state_changed(Batch *b, GDBusMessage *m)
{
	add_port_signal(b, m, "state-changed");
}

static void apply_subnet_reconfigured(Batch *b, GDBusMessage *m)
{
	add_port_signal(b, m, "subnet-reconfigured");
}

void batch_apply_signal(Batch *b, GDBusMessage *m)
{
	static const struct {
		const char *interface, *member, *type;
		void (*apply)(Batch *b, GDBusMessage *m);
	} signals[] = {
		{"org.freedesktop.DBus.Properties", "PropertiesChanged", "(sa{sv}as)",
		 apply_properties_changed},
		{"org.freedesktop.DBus.ObjectManager", "InterfacesAdded", "(oa{sa{sv}})",
		 apply_interfaces_added},
		{"org.freedesktop.DBus.ObjectManager", "InterfacesRemoved", "(oas)",
		 apply_interfaces_removed},
		{RDMAD_INTERFACE_PORT, "StateChanged", "(sss)", apply_state_changed},
		{RDMAD_INTERFACE_PORT, "SubnetReconfigured", "(s)", apply_subnet_reconfigured},
	};
	GVariant *body = g_dbus_message_get_body(m);

	for (size_t i = 0; i < G_N_ELEMENTS(signals); i++) {
		if (g_strcmp0(g_dbus_message_get_interface(m), signals[i].interface) != 0 ||
		    g_strcmp0(g_dbus_message_get_member(m), signals[i].member) != 0)
			continue;
		if (body && g_variant_is_of_type(body, G_VARIANT_TYPE(signals[i].type)))
			signals[i].apply(b, m);
		else
			g_debug("%s of %s has the type %s, not %s", signals[i].member,
				g_dbus_message_get_path(m),
				body ? g_variant_get_type_string(body) : "()", signals[i].type);
	}
}

void batch_apply_objects(Batch *b, GVariant *objects)
{
	g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
	GPtrArray *have = b->client->objects;
	GVariantIter iter;
	GVariant *interfaces;
	const char *path;

	g_variant_iter_init(&iter, objects);
	while (g_variant_iter_loop(&iter, "{&o@a{sa{sv}}}", &path, &interfaces)) {
		apply_interfaces(b, path, interfaces, TRUE);
		g_hash_table_add(seen, find_object(b, path));
	}
	for (guint i = have->len; i > 0; i--) {
		RdmadObject *o = have->pdata[i - 1];
		unsigned int main = 1U << rdmad_object_main_interface(o);

		if (!g_hash_table_contains(seen, o) || !(rdmad_object_get_interfaces(o) & main))
			remove_object(b, o);
	}
}

void batch_apply_loaded(Batch *b, RdmadObject *o, size_t row, GVariant *value, guint32 order)
{
	if (!rdmad_object_is_present(o))
		return;
	touch(b, o);
	if (value)
		rdmad_object_apply_loaded(o, row, value, order);
}

void batch_commit(Batch *b)
{
	for (guint i = 0; i < b->touched->len; i++) {
		RdmadObject *o = b->touched->pdata[i];
		gboolean is_new = rdmad_object_is_new(o);
		g_auto(GStrv) names = rdmad_object_commit(o);

		if (!is_new && rdmad_object_is_present(o) && names[0])
			add_change(b, RDMAD_CHANGE_CHANGED, o, g_steal_pointer(&names));
	}
}

static void emit_change(RdmadClient *c, const RdmadChange *change)
{
	gboolean is_port = RDMAD_IS_PORT(change->object);

	switch (change->kind) {
	case RDMAD_CHANGE_ADDED:
		g_signal_emit_by_name(c, is_port ? "port-added" : "device-added", change->object);
		break;
	case RDMAD_CHANGE_CHANGED:
		g_signal_emit_by_name(c, is_port ? "port-changed" : "device-changed",
				      change->object, change->properties);
		break;
	case RDMAD_CHANGE_REMOVED:
		g_signal_emit_by_name(c, is_port ? "port-removed" : "device-removed",
				      change->object);
		break;
	}
}

static void emit_port_signal(const PortSignal *e)
{
	const char *text[3] = {};

	for (size_t i = 0; i < g_variant_n_children(e->body) && i < G_N_ELEMENTS(text); i++)
		g_variant_get_child(e->body, i, "&s", &text[i]);
	g_signal_emit_by_name(e->port, e->signal, text[0], text[1], text[2]);
}

void batch_emit(Batch *b)
{
	for (guint i = 0; i < b->touched->len; i++)
		rdmad_object_notify(b->touched->pdata[i]);
	for (guint i = 0; i < b->changes->len; i++)
		emit_change(b->client, b->changes->pdata[i]);
	for (guint i = 0; i < b->port_signals->len; i++)
		emit_port_signal(b->port_signals->pdata[i]);
	if (b->changes->len > 0)
		g_signal_emit_by_name(b->client, "changed", b->changes);
}
