/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A batch: the changes that one flush of the daemon brings. They are applied to the objects and
 * reported together. */

#include "rdmad-client.h"

typedef struct Batch {
	RdmadClient *client;
	GPtrArray *touched;	 /* objects that may change */
	GPtrArray *changes;	 /* RdmadChange */
	GPtrArray *port_signals; /* signals of ports, to be passed on */
} Batch;

void batch_init(Batch *b, RdmadClient *c);
void batch_clear(Batch *b);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Batch, batch_clear)
/* Applies one signal of the daemon. A signal with an unexpected content is ignored. */
void batch_apply_signal(Batch *b, GDBusMessage *m);
/* Applies OBJECTS, a{oa{sa{sv}}}, which are all objects. Others are removed. */
void batch_apply_objects(Batch *b, GVariant *objects);
/* Row ROW of O was read, with an answer that has ORDER. VALUE is NULL if it could not be read:
 * then O may have to report that the row is outdated. */
void batch_apply_loaded(Batch *b, RdmadObject *o, size_t row, GVariant *value, guint32 order);
/* Finds out what has changed. To be called once, after everything has been applied. */
void batch_commit(Batch *b);
/* Then: emits the signals of the objects and of the client. */
void batch_emit(Batch *b);
