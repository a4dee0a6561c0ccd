/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What is under librdmad-glib: the functions of GDBus that it calls, and channel.h. There is no
 * connection and no thread: its calls come here, and the harness answers them, and sends signals.
 */

#include <gio/gio.h>

/* Stands for a connection to a bus. */
GDBusConnection *peer_connection(void);

/* The library waits for the answer to CALL: *RET is a new reference, or NULL and an error. */
typedef GDBusMessage *(*PeerAnswer)(void *userdata, GDBusMessage *call, GError **error);
/* Who answers calls for which a program waits (the functions *_sync). */
void peer_set_answer(PeerAnswer answer, void *userdata);

/* How many calls have no answer yet. */
guint peer_n_calls(void);
/* Call I of those, from the oldest. */
GDBusMessage *peer_call(guint i);
/* Answers it: with REPLY, or, if that is NULL, with ERROR. Takes over ERROR. */
void peer_answer(guint i, GDBusMessage *reply, GError *error);

/* Gives M, a signal, to all clients. */
void peer_signal(GDBusMessage *m);
/* The connection is closed from now on, until peer_reset(). */
void peer_close(void);
/* All is as at the beginning. No client may be there. */
void peer_reset(void);
