/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The changes that one flush of the daemon brings, applied to the objects and reported together. */

#include "rdmad-client.h"

typedef struct Batch {
	RdmadClient *client;
	GPtrArray *touched;	 /* objects */
	GPtrArray *changes;	 /* RdmadChange */
	GPtrArray *port_signals; /* signals of ports, to be passed on */
} Batch;

void batch_init(Batch *b, RdmadClient *c);
void batch_clear(Batch *b);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Batch, batch_clear)
/* Applies one signal of the daemon. */
void batch_apply_signal(Batch *b, GDBusMessage *m);
/* Applies all objects, a{oa{sa{sv}}}: others are no more. */
void batch_apply_objects(Batch *b, GVariant *objects);
/* O is to be looked at, and changed if VALUE is not NULL. */
void batch_apply_loaded(Batch *b, RdmadObject *o, size_t row, GVariant *value, guint32 serial);
/* Objects take their new values; from then on there is only batch_emit() to do. */
void batch_commit(Batch *b);
void batch_emit(Batch *b);
