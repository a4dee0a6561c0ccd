/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Keeps the objects as the daemon has them.
 *
 * The client has to know the order in which the daemon has sent its messages. The bus keeps it, and
 * the channel notes it. The serial numbers of the messages do not say it: those of long replies and
 * of the signals of ports are all the same.
 *
 * An answer with all objects contains what signals that came before it say. So these signals are
 * dropped, and no change is applied twice.
 *
 * The daemon sends all signals of one flush without doing anything else in between. When the first
 * of them comes, the client sends a call, its barrier. The daemon answers it after the last signal
 * of the flush. So the signals that came before the answer are all signals of the flush, and they
 * are delivered as one batch.
 */

#include "client-follow.h"

#include "client-batch.h"
#include "client-objects.h"
#include "client-private.h"
#include "names.h"
#include "object-private.h"
#include "reply.h"

/* How long the client waits for the answer that ends a flush, and how long before it asks a daemon
 * again that has refused to say which objects it has. */
#define BARRIER_MSEC 2000
#define RETRY_SEC    5

/* A row that was read with Get and has not been applied. */
typedef struct Loaded {
	RdmadObject *object;
	size_t row;
	GVariant *value; /* NULL: could not be read */
	guint32 order;	 /* of the answer to Get; 0: could not be read */
} Loaded;

/* A call whose answer ends a flush: a Ping, or a Get for a row. */
typedef struct Barrier {
	RdmadClient *client; /* no reference: has been freed if the call was cancelled */
	RdmadObject *object; /* whose row is read; NULL: a Ping */
	size_t row;
} Barrier;

static void deliver(RdmadClient *c, gboolean all, guint32 order);
static void take_messages(RdmadClient *c);
static void fetch_objects(RdmadClient *c);

static void loaded_free(gpointer data)
{
	Loaded *l = data;

	g_object_unref(l->object);
	g_clear_pointer(&l->value, g_variant_unref);
	g_free(l);
}

static void clear_pending(RdmadClient *c)
{
	g_queue_clear_full(&c->pending, g_object_unref);
	g_queue_init(&c->pending);
	g_ptr_array_set_size(c->loaded, 0);
}

/* Sends a call that the client makes by itself. CALLBACK runs in the context of the client. */
static void send_own(RdmadClient *c, GDBusMessage *m, int timeout_msec,
		     GAsyncReadyCallback callback, gpointer user_data)
{
	g_main_context_push_thread_default(c->context);
	g_dbus_connection_send_message_with_reply(c->connection, m, G_DBUS_SEND_MESSAGE_FLAGS_NONE,
						  timeout_msec, NULL, c->cancellable, callback,
						  user_data);
	g_main_context_pop_thread_default(c->context);
}

static GDBusMessage *own_call(const char *path, const char *interface, const char *method)
{
	GDBusMessage *m = g_dbus_message_new_method_call(RDMAD_BUS_NAME, path, interface, method);

	g_dbus_message_set_flags(m, G_DBUS_MESSAGE_FLAGS_NO_AUTO_START);
	return m;
}

static void set_synced(RdmadClient *c, gboolean synced)
{
	if (c->synced == synced)
		return;
	c->synced = synced;
	g_object_notify(G_OBJECT(c), "connected");
}

static void stop_retry(RdmadClient *c)
{
	if (!c->retry)
		return;
	g_source_destroy(c->retry);
	g_clear_pointer(&c->retry, g_source_unref);
}

/* The daemon has ended: the signals that it has sent are all that there are. */
static void lose_owner(RdmadClient *c)
{
	stop_retry(c);
	if (c->synced)
		deliver(c, TRUE, 0);
	clear_pending(c);
	set_synced(c, FALSE);
}

static void take_owner(RdmadClient *c, GDBusMessage *m)
{
	GVariant *body = g_dbus_message_get_body(m);
	g_autofree char *owner = NULL;

	if (!body || !g_variant_is_of_type(body, G_VARIANT_TYPE("(sss)")))
		return;
	g_variant_get_child(body, 2, "s", &owner);
	lose_owner(c);
	g_free(c->owner);
	c->owner = *owner ? g_steal_pointer(&owner) : NULL;
	c->owner_known = TRUE;
	/* if a call is on its way, its answer decides: the new owner may have got that call */
	if (c->owner && !c->fetching)
		fetch_objects(c);
}

static gboolean is_from_owner(RdmadClient *c, GDBusMessage *m)
{
	return g_strcmp0(g_dbus_message_get_sender(m), c->owner) == 0;
}

/* REPLY has VALUE for row ROW of O; both are NULL if it could not be read. */
static void add_loaded(RdmadClient *c, RdmadObject *o, size_t row, GVariant *value,
		       GDBusMessage *reply)
{
	Loaded *l = g_new(Loaded, 1);

	*l = (Loaded){
		.object = g_object_ref(o),
		.row = row,
		.value = value ? g_variant_ref(value) : NULL,
		.order = reply ? channel_order(reply) : 0,
	};
	g_ptr_array_add(c->loaded, l);
}

/* Takes in the answer to Get, NULL if there is none. */
static void take_table(RdmadClient *c, RdmadObject *o, size_t row, GDBusMessage *reply)
{
	g_autoptr(GVariant) value = NULL;

	if (!reply || !is_from_owner(c, reply) || !reply_check(reply, "(v)", NULL)) {
		add_loaded(c, o, row, NULL, NULL);
		return;
	}
	g_variant_get(g_dbus_message_get_body(reply), "(v)", &value);
	add_loaded(c, o, row, value, reply);
}

static void on_barrier(GObject *source, GAsyncResult *result, gpointer user_data)
{
	Barrier *barrier = user_data;
	RdmadClient *c = barrier->client;
	g_autoptr(RdmadObject) object = barrier->object;
	size_t row = barrier->row;
	g_autoptr(GError) error = NULL;
	g_autoptr(GDBusMessage) reply = g_dbus_connection_send_message_with_reply_finish(
		G_DBUS_CONNECTION(source), result, &error);
	g_autoptr(RdmadClient) keep = NULL;

	g_free(barrier);
	if (object)
		rdmad_object_set_loading(object, FALSE);
	if (g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
		return;
	keep = g_object_ref(c);
	c->n_barriers--;
	take_messages(c);
	if (object)
		take_table(c, object, row, reply);
	if (!c->synced || c->n_barriers > 0)
		return;
	/* without an answer of the daemon there is no end of the flush to wait for */
	if (reply && is_from_owner(c, reply))
		deliver(c, FALSE, channel_order(reply));
	else
		deliver(c, TRUE, 0);
}

static void add_barrier(RdmadClient *c, GDBusMessage *m, RdmadObject *object, size_t row)
{
	Barrier *barrier = g_new(Barrier, 1);

	*barrier = (Barrier){
		.client = c,
		.object = object ? g_object_ref(object) : NULL,
		.row = row,
	};
	if (object)
		rdmad_object_set_loading(object, TRUE);
	c->n_barriers++;
	send_own(c, m, BARRIER_MSEC, on_barrier, barrier);
}

/* Reads the tables that M invalidates and that somebody listens to. They are delivered in one batch
 * with M. */
static void request_tables(RdmadClient *c, GDBusMessage *m)
{
	GVariant *body = g_dbus_message_get_body(m);
	g_autofree const char **names = NULL;
	const char *interface_name;
	AttrInterface interface;
	RdmadObject *o;
	Place place;
	size_t row;

	if (g_strcmp0(g_dbus_message_get_member(m), "PropertiesChanged") != 0 || !body ||
	    !g_variant_is_of_type(body, G_VARIANT_TYPE("(sa{sv}as)")) ||
	    !place_parse(g_dbus_message_get_path(m), &place))
		return;
	o = client_get_object(c, place);
	g_variant_get(body, "(&s@a{sv}^a&s)", &interface_name, NULL, &names);
	if (!o || !rdmad_object_find_interface(o, interface_name, &interface))
		return;
	for (size_t i = 0; names[i]; i++) {
		g_autoptr(GDBusMessage) get = NULL;

		if (!rdmad_object_is_listened(o, interface, names[i], &row))
			continue;
		get = own_call(g_dbus_message_get_path(m), "org.freedesktop.DBus.Properties",
			       "Get");
		g_dbus_message_set_body(get, g_variant_new("(ss)", interface_name, names[i]));
		add_barrier(c, get, o, row);
	}
}

static void take_message(RdmadClient *c, GDBusMessage *m)
{
	const char *sender = g_dbus_message_get_sender(m);

	if (g_strcmp0(sender, BUS_NAME) == 0) {
		take_owner(c, m);
		return;
	}
	if (!c->fetching && (!c->synced || g_strcmp0(sender, c->owner) != 0))
		return;
	g_queue_push_tail(&c->pending, g_object_ref(m));
	if (c->synced)
		request_tables(c, m);
}

/* Looks at all signals that have come. */
static void take_messages(RdmadClient *c)
{
	if (!c->channel)
		return;
	channel_take(c->channel, &c->incoming);
	while (!g_queue_is_empty(&c->incoming)) {
		g_autoptr(GDBusMessage) m = g_queue_pop_head(&c->incoming);

		take_message(c, m);
	}
	if (c->channel && channel_is_closed(c->channel)) {
		c->lost(c);
		lose_owner(c);
		g_clear_pointer(&c->owner, g_free);
	}
}

/* More signals of the flush may come: makes sure that a call is on its way whose answer ends it. */
static void expect_rest(RdmadClient *c)
{
	g_autoptr(GDBusMessage) ping = NULL;

	if (!c->synced || c->n_barriers > 0 || g_queue_is_empty(&c->pending))
		return;
	ping = own_call(RDMAD_ROOT_PATH, "org.freedesktop.DBus.Peer", "Ping");
	add_barrier(c, ping, NULL, 0);
}

static void on_ready(gpointer user_data)
{
	g_autoptr(RdmadClient) c = g_object_ref(user_data);

	take_messages(c);
	expect_rest(c);
}

/* Applies the signals that were sent before ORDER, or ALL signals, and then the rows that were
 * read, and reports all this as one batch. */
static void deliver_batch(RdmadClient *c, gboolean all, guint32 order)
{
	g_auto(Batch) batch = {};
	GDBusMessage *m;

	batch_init(&batch, c);
	while ((m = g_queue_peek_head(&c->pending)) &&
	       (all || order_is_before(channel_order(m), order))) {
		batch_apply_signal(&batch, m);
		g_object_unref(g_queue_pop_head(&c->pending));
	}
	for (guint i = 0; i < c->loaded->len; i++) {
		const Loaded *l = c->loaded->pdata[i];

		batch_apply_loaded(&batch, l->object, l->row, l->value, l->order);
	}
	g_ptr_array_set_size(c->loaded, 0);
	batch_commit(&batch);
	c->delivering = TRUE;
	batch_emit(&batch);
	c->delivering = FALSE;
}

/* The latest of ORDER and those of the rows that were read. */
static guint32 last_loaded_order(RdmadClient *c, guint32 order)
{
	for (guint i = 0; i < c->loaded->len; i++) {
		const Loaded *l = c->loaded->pdata[i];

		if (l->value && (order == 0 || order_is_before(order, l->order)))
			order = l->order;
	}
	return order;
}

static void deliver(RdmadClient *c, gboolean all, guint32 order)
{
	g_autoptr(RdmadClient) keep = NULL;

	/* A handler has made a call. Messages from before its answer are delivered after the
	 * handlers have returned. */
	if (c->delivering || !c->channel)
		return;
	keep = g_object_ref(c);
	deliver_batch(c, all, order);
	/* handlers have read rows: apply the signals that came before these answers, then the rows
	 */
	while (c->channel && c->loaded->len > 0)
		deliver_batch(c, FALSE, last_loaded_order(c, order));
	expect_rest(c);
}

void client_take_answer(RdmadClient *c, GDBusMessage *reply)
{
	_unused_ g_autoptr(RdmadClient) keep = g_object_ref(c);

	take_messages(c);
	if (c->synced && is_from_owner(c, reply))
		deliver(c, FALSE, channel_order(reply));
	else
		expect_rest(c);
}

void client_add_loaded(RdmadClient *c, RdmadObject *o, size_t row, GVariant *value,
		       GDBusMessage *reply)
{
	if (c->synced && is_from_owner(c, reply))
		add_loaded(c, o, row, value, reply);
}

void client_take_loaded(RdmadClient *c, GDBusMessage *reply)
{
	if (c->synced && is_from_owner(c, reply))
		deliver(c, FALSE, channel_order(reply));
}

/* Whether REPLY is from the bus itself or from the owner. Before the bus has said who the owner is,
 * the daemon that answers is taken for it. */
static gboolean is_current(RdmadClient *c, GDBusMessage *reply)
{
	return !c->owner_known || is_from_owner(c, reply) ||
	       g_strcmp0(g_dbus_message_get_sender(reply), BUS_NAME) == 0;
}

/* Messages from before REPLY, the answer with all objects, are in it. */
static void drop_older(RdmadClient *c, GDBusMessage *reply)
{
	guint n = g_queue_get_length(&c->pending);

	g_ptr_array_set_size(c->loaded, 0);
	for (guint i = 0; i < n; i++) {
		g_autoptr(GDBusMessage) m = g_queue_pop_head(&c->pending);

		if (!is_from_owner(c, m) || order_is_before(channel_order(m), channel_order(reply)))
			continue;
		request_tables(c, m);
		g_queue_push_tail(&c->pending, g_steal_pointer(&m));
	}
}

gboolean client_take_objects(RdmadClient *c, GDBusMessage *reply, GError **error)
{
	_unused_ g_autoptr(RdmadClient) keep = g_object_ref(c);
	g_autoptr(GVariant) objects = NULL;
	g_auto(Batch) batch = {};
	gboolean delivering = c->delivering; /* TRUE if a handler runs the main loop */

	if (!c->channel)
		return TRUE;
	take_messages(c);
	c->fetching = FALSE;
	if (reply_is_absence(reply) || !is_current(c, reply)) {
		clear_pending(c);
		if (c->owner)
			fetch_objects(c);
		return TRUE;
	}
	if (!reply_check(reply, "(a{oa{sa{sv}}})", error)) {
		clear_pending(c);
		return FALSE;
	}
	g_free(c->owner);
	c->owner = g_strdup(g_dbus_message_get_sender(reply));

	batch_init(&batch, c);
	objects = g_variant_get_child_value(g_dbus_message_get_body(reply), 0);
	batch_apply_objects(&batch, objects);
	drop_older(c, reply);
	batch_commit(&batch);
	c->delivering = TRUE;
	set_synced(c, TRUE);
	batch_emit(&batch);
	c->delivering = delivering;
	/* applies what handlers have read */
	deliver(c, FALSE, channel_order(reply));
	return TRUE;
}

static gboolean on_retry(gpointer user_data)
{
	RdmadClient *c = user_data;

	stop_retry(c);
	if (c->owner && !c->fetching && !c->synced)
		fetch_objects(c);
	return G_SOURCE_REMOVE;
}

static void on_objects(GObject *source, GAsyncResult *result, gpointer user_data)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(GDBusMessage) reply = g_dbus_connection_send_message_with_reply_finish(
		G_DBUS_CONNECTION(source), result, &error);
	g_autoptr(RdmadClient) c = NULL;

	if (g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
		return;
	c = g_object_ref(user_data);
	if (!reply)
		c->fetching = FALSE;
	if (reply && client_take_objects(c, reply, &error))
		return;
	if (!c->owner || c->retry)
		return;
	g_warning("Cannot read the RDMA ports, trying again in %d s: %s", RETRY_SEC,
		  error->message);
	c->retry = g_timeout_source_new_seconds(RETRY_SEC);
	g_source_set_callback(c->retry, on_retry, c, NULL);
	g_source_attach(c->retry, c->context);
}

GDBusMessage *client_objects_call(void)
{
	return g_dbus_message_new_method_call(RDMAD_BUS_NAME, RDMAD_ROOT_PATH,
					      "org.freedesktop.DBus.ObjectManager",
					      "GetManagedObjects");
}

/* Asks the owner for all objects. */
static void fetch_objects(RdmadClient *c)
{
	g_autoptr(GDBusMessage) m = client_objects_call();

	g_dbus_message_set_flags(m, G_DBUS_MESSAGE_FLAGS_NO_AUTO_START);
	c->fetching = TRUE;
	send_own(c, m, -1, on_objects, c);
}

gboolean client_attach(RdmadClient *c, void (*lost)(RdmadClient *c), GError **error)
{
	if (!g_dbus_connection_get_unique_name(c->connection)) {
		g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
			    "The connection is not to a message bus");
		return FALSE;
	}
	c->context = g_main_context_ref_thread_default();
	c->cancellable = g_cancellable_new();
	c->loaded = g_ptr_array_new_with_free_func(loaded_free);
	c->lost = lost;
	c->channel = channel_new(c->connection, c->context, on_ready, c);
	c->fetching = TRUE;
	return TRUE;
}

void client_detach(RdmadClient *c)
{
	if (!c->channel)
		return;
	g_cancellable_cancel(c->cancellable);
	stop_retry(c);
	g_clear_pointer(&c->channel, channel_free);
	g_queue_clear_full(&c->incoming, g_object_unref);
	g_queue_clear_full(&c->pending, g_object_unref);
	g_clear_pointer(&c->loaded, g_ptr_array_unref);
	g_clear_pointer(&c->owner, g_free);
	g_clear_pointer(&c->context, g_main_context_unref);
	g_clear_object(&c->cancellable);
	c->owner_known = c->fetching = c->synced = FALSE;
	c->n_barriers = 0; /* those that were under way are cancelled */
}
