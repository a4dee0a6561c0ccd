/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The messages of a bus connection that concern rdmad, in the order in which the bus sent them.
 *
 * GDBus dispatches signals and replies one by one, and a signal may be seen after a reply that was
 * sent later. What the client needs is the order: whether a signal is older than an answer. So the
 * messages are taken where they come in, by a filter in the thread of GDBus, and wait in a queue
 * until the main context of the client takes all of them at once.
 */

#include <gio/gio.h>

typedef struct Channel Channel;
typedef void (*ChannelReady)(gpointer user_data);

/* Begins to collect: signals from below /org/rdma, whoever sends them, and news about who owns
 * org.rdma. READY is called in CONTEXT when there are any, or when the connection has closed. */
Channel *channel_new(GDBusConnection *connection, GMainContext *context, ChannelReady ready,
		     gpointer user_data);
/* Ends it: READY is not called any more. To be called in CONTEXT. */
void channel_free(Channel *c);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Channel, channel_free)

/* Moves what has been collected to the end of QUEUE (of GDBusMessage, owned). */
void channel_take(Channel *c, GQueue *queue);
gboolean channel_is_closed(Channel *c);
