/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The client in its parts: client.c makes it and shows what it has, client-follow.c keeps the
 * objects as the daemon has them, client-batch.c applies messages to objects and reports what came
 * of it, client-call.c calls the daemon.
 */

#include "channel.h"
#include "object-private.h"
#include "rdmad-client.h"

struct _RdmadClient {
	GObject parent_instance;

	char *bus_address;
	GDBusConnection *connection;
	GMainContext *context;	   /* where all of this happens */
	GCancellable *cancellable; /* of the client's own calls */
	Channel *channel;
	GPtrArray *objects; /* sorted by place */

	gboolean owner_known; /* the bus has said who owns the name */
	char *owner;	      /* its unique name; NULL: nobody */
	gboolean loading;     /* has asked for all objects */
	gboolean synced;      /* the objects are those of the owner */
	GSource *retry;

	GQueue incoming;   /* messages not looked at yet */
	GQueue pending;	   /* signals of the owner not applied yet */
	GPtrArray *loaded; /* rows that were read, not applied yet */
	guint n_barriers;  /* calls whose answers end a flush */
	gboolean delivering;
};

/* client-follow.c */

/* Begins: what has to be sent to the bus, in this order, waiting for the answers. */
#define START_MESSAGES 3
GDBusMessage *client_start_message(guint i);
/* Before the first of them is sent. */
gboolean client_attach(RdmadClient *c, GDBusConnection *connection, GError **error);
/* Takes in the answer to the last of them, which has all objects. TRUE: done, or there is no
 * daemon. */
gboolean client_take_snapshot(RdmadClient *c, GDBusMessage *reply, GError **error);
void client_detach(RdmadClient *c);
/* The daemon has answered a call: what it signalled before is applied and reported. */
void client_take_answer(RdmadClient *c, GDBusMessage *reply);
/* The error that REPLY is; FALSE also if its body is not of SIGNATURE. */
gboolean client_check_reply(GDBusMessage *reply, const char *signature, GError **error);

/* client-batch.c */

typedef struct Batch {
	RdmadClient *client;
	GPtrArray *touched; /* objects */
	GPtrArray *changes; /* RdmadChange */
	GPtrArray *events;  /* signals of ports, to be passed on */
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

/* client-batch.c, client.c and client-call.c, for objects */

/* Whether A was sent before B by the same peer. Serials go up by one and may wrap. */
static inline gboolean serial_is_before(guint32 a, guint32 b)
{
	return (gint32)(a - b) < 0;
}

/* The device or port at PLACE; NULL. */
RdmadObject *rdmad_client_get_object(RdmadClient *c, Place place);
/* The ports of the device with INDEX. */
GPtrArray *rdmad_client_list_ports_of(RdmadClient *c, guint32 index);

/*
 * Calls a method of the daemon. What the daemon had signalled before it answered is with the
 * objects when the caller has the answer. _finish and _sync check that its body is of SIGNATURE.
 */
void rdmad_client_call_async(RdmadClient *c, const char *path, const char *interface,
			     const char *method, GVariant *arguments, GCancellable *cancellable,
			     GAsyncReadyCallback callback, gpointer user_data);
GDBusMessage *rdmad_client_call_finish(RdmadClient *c, GAsyncResult *result, const char *signature,
				       GError **error);
GDBusMessage *rdmad_client_call_sync(RdmadClient *c, const char *path, const char *interface,
				     const char *method, GVariant *arguments, const char *signature,
				     GCancellable *cancellable, GError **error);

/* client-follow.c: REPLY, the answer to such a call, has VALUE for the row of O. */
void rdmad_client_loaded(RdmadClient *c, RdmadObject *o, size_t row, GVariant *value,
			 GDBusMessage *reply);
