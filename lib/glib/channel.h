/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The signals of a bus connection that concern rdmad, in the order in which the bus has sent them.
 *
 * GDBus dispatches each signal and each reply by itself, so a program may see a signal after a
 * reply that was sent later. The client has to know whether a signal is older than an answer. So a
 * filter in the thread of GDBus puts the signals into a queue as they come in, and the main context
 * of the client takes all of them at once.
 */

#include <gio/gio.h>

typedef struct Channel Channel;
typedef void (*ChannelReady)(gpointer user_data);

/* Begins to collect signals: those whose path is /org/rdma or below, whoever sends them, and
 * NameOwnerChanged for org.rdma. Calls READY in CONTEXT when there are any, and when the connection
 * has been closed. */
Channel *channel_new(GDBusConnection *connection, GMainContext *context, ChannelReady ready,
		     gpointer user_data);
/* Ends that: READY is not called any more. To be called in CONTEXT. Takes NULL, and returns it. */
Channel *channel_free(Channel *c);

/* Moves the signals that have been collected to the end of QUEUE, as GDBusMessage with a reference.
 */
void channel_take(Channel *c, GQueue *queue);

/* The place of M among all messages that have come in since there is a channel: another one of the
 * same sender that has a lower place was sent earlier. Never 0; it may wrap. */
guint32 channel_order(GDBusMessage *m);
gboolean channel_is_closed(Channel *c);
