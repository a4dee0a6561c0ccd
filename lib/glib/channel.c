/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "channel.h"

#include "compat-glib.h"
#include "names.h"
#include "util.h"

/* The part of a channel that the thread of GDBus uses too. GDBus drops its reference some time
 * after the filter has been removed, so this may live longer than the channel. */
typedef struct Shared {
	GMutex lock;	 /* for MESSAGES and CLOSED */
	GQueue messages; /* that have been collected */
	gboolean closed; /* the connection */
	GSource *source; /* a Wake */
} Shared;

struct Channel {
	Shared *shared;
	GDBusConnection *connection;
	guint filter;
	gulong closed_handler;
	ChannelReady ready;
	gpointer user_data;
};

/* The source that calls READY. Any thread starts it with g_source_set_ready_time(). */
typedef struct Wake {
	GSource source;
	Channel *channel;
} Wake;

static void shared_clear(gpointer data)
{
	Shared *s = data;

	g_queue_clear_full(&s->messages, g_object_unref);
	g_source_unref(s->source);
	g_mutex_clear(&s->lock);
}

static void shared_unref(gpointer data)
{
	g_atomic_rc_box_release_full(data, shared_clear);
}

static void shared_unref_closure(gpointer data, _unused_ GClosure *closure)
{
	shared_unref(data);
}

/* Whether M is a signal to be collected. */
static gboolean is_wanted(GDBusMessage *m)
{
	const char *path = g_dbus_message_get_path(m);
	size_t n = strlen(RDMAD_ROOT_PATH);

	if (g_dbus_message_get_message_type(m) != G_DBUS_MESSAGE_TYPE_SIGNAL || !path)
		return FALSE;
	if (strncmp(path, RDMAD_ROOT_PATH, n) == 0 && (path[n] == '\0' || path[n] == '/'))
		return TRUE;
	return g_strcmp0(g_dbus_message_get_sender(m), "org.freedesktop.DBus") == 0 &&
	       g_strcmp0(g_dbus_message_get_member(m), "NameOwnerChanged") == 0 &&
	       g_strcmp0(g_dbus_message_get_arg0(m), RDMAD_BUS_NAME) == 0;
}

static GQuark order_quark(void)
{
	return g_quark_from_static_string("rdmad-order");
}

/* GDBus has one thread for all connections, in which messages come in one after the other. Several
 * channels may see the same message. */
static void note_order(GDBusMessage *m)
{
	static guint32 last;

	if (channel_order(m) == 0)
		g_object_set_qdata(G_OBJECT(m), order_quark(),
				   GUINT_TO_POINTER(++last ? last : ++last));
}

guint32 channel_order(GDBusMessage *m)
{
	return GPOINTER_TO_UINT(g_object_get_qdata(G_OBJECT(m), order_quark()));
}

/* Runs in the thread of GDBus. */
static GDBusMessage *on_message(_unused_ GDBusConnection *connection, GDBusMessage *message,
				gboolean incoming, gpointer user_data)
{
	Shared *s = user_data;

	if (incoming)
		note_order(message);
	if (incoming && is_wanted(message)) {
		g_mutex_lock(&s->lock);
		g_queue_push_tail(&s->messages, g_object_ref(message));
		g_mutex_unlock(&s->lock);
		g_source_set_ready_time(s->source, 0);
	}
	return message;
}

/* Runs in the context in which the connection was made. */
static void on_closed(_unused_ GDBusConnection *connection, _unused_ gboolean remote,
		      _unused_ GError *error, gpointer user_data)
{
	Shared *s = user_data;

	g_mutex_lock(&s->lock);
	s->closed = TRUE;
	g_mutex_unlock(&s->lock);
	g_source_set_ready_time(s->source, 0);
}

static gboolean dispatch(GSource *source, _unused_ GSourceFunc callback,
			 _unused_ gpointer user_data)
{
	Channel *c = ((Wake *)source)->channel;

	g_source_set_ready_time(source, -1);
	c->ready(c->user_data);
	return G_SOURCE_CONTINUE;
}

Channel *channel_new(GDBusConnection *connection, GMainContext *context, ChannelReady ready,
		     gpointer user_data)
{
	static GSourceFuncs functions = {.dispatch = dispatch};
	Channel *c = g_new0(Channel, 1);
	Shared *s = g_atomic_rc_box_new0(Shared);

	g_mutex_init(&s->lock);
	g_queue_init(&s->messages);
	s->source = g_source_new(&functions, sizeof(Wake));
	((Wake *)s->source)->channel = c;
	g_source_set_static_name(s->source, "rdmad channel");
	g_source_set_ready_time(s->source, -1);
	g_source_attach(s->source, context);

	c->shared = s;
	c->connection = g_object_ref(connection);
	c->ready = ready;
	c->user_data = user_data;
	c->closed_handler =
		g_signal_connect_data(connection, "closed", G_CALLBACK(on_closed),
				      g_atomic_rc_box_acquire(s), shared_unref_closure, 0);
	c->filter = g_dbus_connection_add_filter(connection, on_message, g_atomic_rc_box_acquire(s),
						 shared_unref);
	/* it may have been closed before the handler was connected */
	if (g_dbus_connection_is_closed(connection))
		on_closed(connection, FALSE, NULL, s);
	return c;
}

Channel *channel_free(Channel *c)
{
	if (!c)
		return NULL;
	g_dbus_connection_remove_filter(c->connection, c->filter);
	g_signal_handler_disconnect(c->connection, c->closed_handler);
	g_source_destroy(c->shared->source);
	shared_unref(c->shared);
	g_object_unref(c->connection);
	g_free(c);
	return NULL;
}

void channel_take(Channel *c, GQueue *queue)
{
	GDBusMessage *m;

	g_mutex_lock(&c->shared->lock);
	while ((m = g_queue_pop_head(&c->shared->messages)))
		g_queue_push_tail(queue, m);
	g_mutex_unlock(&c->shared->lock);
}

gboolean channel_is_closed(Channel *c)
{
	gboolean closed;

	g_mutex_lock(&c->shared->lock);
	closed = c->shared->closed;
	g_mutex_unlock(&c->shared->lock);
	return closed;
}
