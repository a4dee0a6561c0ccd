/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "glib-peer.h"

#include "channel.h"
#include "fuzz.h"
#include "util.h"

/* A call that has no answer yet. */
typedef struct Pending {
	GDBusMessage *call;
	GTask *task;
} Pending;

/* One for each client. */
struct Channel {
	GQueue messages;
	GSource *source;
	ChannelReady ready;
	gpointer user_data;
};

static GQueue pending = G_QUEUE_INIT;
static GQueue channels = G_QUEUE_INIT;
static gboolean closed;
static guint32 last_serial;
static PeerAnswer answer_sync;
static void *answer_userdata;

GDBusConnection *peer_connection(void)
{
	static GDBusConnection *connection;

	if (!connection)
		connection = g_object_new(G_TYPE_DBUS_CONNECTION, NULL);
	return connection;
}

void peer_set_answer(PeerAnswer answer, void *userdata)
{
	answer_sync = answer;
	answer_userdata = userdata;
}

guint peer_n_calls(void)
{
	return g_queue_get_length(&pending);
}

GDBusMessage *peer_call(guint i)
{
	const Pending *p = g_queue_peek_nth(&pending, i);

	return p->call;
}

void peer_answer(guint i, GDBusMessage *reply, GError *error)
{
	Pending *p = g_queue_pop_nth(&pending, i);

	if (reply)
		g_task_return_pointer(p->task, g_object_ref(reply), g_object_unref);
	else
		g_task_return_error(p->task, error);
	g_object_unref(p->task);
	g_object_unref(p->call);
	g_free(p);
}

void peer_signal(GDBusMessage *m)
{
	for (GList *l = channels.head; l; l = l->next) {
		Channel *c = l->data;

		g_queue_push_tail(&c->messages, g_object_ref(m));
		g_source_set_ready_time(c->source, 0);
	}
}

void peer_close(void)
{
	closed = TRUE;
	for (GList *l = channels.head; l; l = l->next)
		g_source_set_ready_time(((Channel *)l->data)->source, 0);
}

void peer_reset(void)
{
	FUZZ_CHECK(g_queue_is_empty(&pending) && g_queue_is_empty(&channels));
	closed = FALSE;
	last_serial = 0;
}

/* channel.h */

typedef struct Wake {
	GSource source;
	Channel *channel;
} Wake;

static gboolean dispatch(GSource *source, _unused_ GSourceFunc callback,
			 _unused_ gpointer user_data)
{
	Channel *c = ((Wake *)source)->channel;

	g_source_set_ready_time(source, -1);
	c->ready(c->user_data);
	return G_SOURCE_CONTINUE;
}

Channel *channel_new(_unused_ GDBusConnection *connection, GMainContext *context,
		     ChannelReady ready, gpointer user_data)
{
	static GSourceFuncs functions = {.dispatch = dispatch};
	Channel *c = g_new0(Channel, 1);

	g_queue_init(&c->messages);
	c->ready = ready;
	c->user_data = user_data;
	c->source = g_source_new(&functions, sizeof(Wake));
	((Wake *)c->source)->channel = c;
	g_source_set_ready_time(c->source, closed ? 0 : -1);
	g_source_attach(c->source, context);
	g_queue_push_tail(&channels, c);
	return c;
}

Channel *channel_free(Channel *c)
{
	if (!c)
		return NULL;
	g_queue_remove(&channels, c);
	g_source_destroy(c->source);
	g_source_unref(c->source);
	g_queue_clear_full(&c->messages, g_object_unref);
	g_free(c);
	return NULL;
}

void channel_take(Channel *c, GQueue *queue)
{
	GDBusMessage *m;

	while ((m = g_queue_pop_head(&c->messages)))
		g_queue_push_tail(queue, m);
}

/* The input chooses the order of messages by their serials. */
guint32 channel_order(GDBusMessage *m)
{
	return g_dbus_message_get_serial(m);
}

gboolean channel_is_closed(_unused_ Channel *c)
{
	return closed;
}

/* GDBus */

/* clang-format off */
const char *__wrap_g_dbus_connection_get_unique_name(GDBusConnection *c);
gboolean __wrap_g_dbus_connection_send_message(GDBusConnection *c, GDBusMessage *m, GDBusSendMessageFlags flags,
	volatile guint32 *serial, GError **error);
void __wrap_g_dbus_connection_send_message_with_reply(GDBusConnection *c, GDBusMessage *m, GDBusSendMessageFlags flags,
	int timeout_msec, volatile guint32 *serial, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data);
GDBusMessage *__wrap_g_dbus_connection_send_message_with_reply_finish(GDBusConnection *c, GAsyncResult *result, GError **error);
GDBusMessage *__wrap_g_dbus_connection_send_message_with_reply_sync(GDBusConnection *c, GDBusMessage *m,
	GDBusSendMessageFlags flags, int timeout_msec, volatile guint32 *serial, GCancellable *cancellable, GError **error);
/* clang-format on */

const char *__wrap_g_dbus_connection_get_unique_name(_unused_ GDBusConnection *c)
{
	return ":1.77";
}

gboolean __wrap_g_dbus_connection_send_message(_unused_ GDBusConnection *c, GDBusMessage *m,
					       _unused_ GDBusSendMessageFlags flags,
					       _unused_ volatile guint32 *serial,
					       _unused_ GError **error)
{
	g_dbus_message_set_serial(m, ++last_serial);
	return TRUE;
}

void __wrap_g_dbus_connection_send_message_with_reply(
	GDBusConnection *c, GDBusMessage *m, _unused_ GDBusSendMessageFlags flags,
	_unused_ int timeout_msec, _unused_ volatile guint32 *serial, GCancellable *cancellable,
	GAsyncReadyCallback callback, gpointer user_data)
{
	Pending *p = g_new(Pending, 1);

	g_dbus_message_set_serial(m, ++last_serial);
	*p = (Pending){g_object_ref(m), g_task_new(c, cancellable, callback, user_data)};
	g_queue_push_tail(&pending, p);
	if (closed)
		peer_answer(peer_n_calls() - 1, NULL,
			    g_error_new_literal(G_IO_ERROR, G_IO_ERROR_CLOSED, "closed"));
}

GDBusMessage *__wrap_g_dbus_connection_send_message_with_reply_finish(_unused_ GDBusConnection *c,
								      GAsyncResult *result,
								      GError **error)
{
	return g_task_propagate_pointer(G_TASK(result), error);
}

GDBusMessage *__wrap_g_dbus_connection_send_message_with_reply_sync(
	_unused_ GDBusConnection *c, GDBusMessage *m, _unused_ GDBusSendMessageFlags flags,
	_unused_ int timeout_msec, _unused_ volatile guint32 *serial,
	_unused_ GCancellable *cancellable, GError **error)
{
	g_dbus_message_set_serial(m, ++last_serial);
	if (closed) {
		g_set_error_literal(error, G_IO_ERROR, G_IO_ERROR_CLOSED, "closed");
		return NULL;
	}
	return answer_sync(answer_userdata, m, error);
}
