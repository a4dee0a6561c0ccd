/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What a client consists of. Its files, from the lowest to the highest; each calls only those above
 * it in this list:
 *
 *   client-objects.c  the list of its devices and ports
 *   client-batch.c    applies messages to objects and reports what came of it
 *   client-follow.c   keeps the objects as the daemon has them
 *   client-start.c    connects, asks for all that the client follows, and ends it
 *   client.c          the class, and what the client has
 *   client-call.c     calls the daemon
 */

#include "channel.h"
#include "rdmad-client.h"

struct _RdmadClient {
	GObject parent_instance;

	char *bus_address;
	GDBusConnection *connection;
	gboolean own_connection;   /* the client has made or found it; it was not given */
	gboolean starting;	   /* a start is under way */
	guint matches;		   /* 1 << the start message: rules that the bus may have */
	GMainContext *context;	   /* where all of this happens */
	GCancellable *cancellable; /* of the client's own calls */
	Channel *channel;
	GPtrArray *objects; /* sorted by place */

	gboolean owner_known; /* the bus has said who owns the name */
	char *owner;	      /* its unique name; NULL: nobody */
	gboolean fetching;    /* has asked for all objects */
	gboolean synced;      /* the objects are those of the owner */
	GSource *retry;

	GQueue incoming;   /* messages not looked at yet */
	GQueue pending;	   /* signals of the owner not applied yet */
	GPtrArray *loaded; /* rows that were read, not applied yet */
	guint n_barriers;  /* calls whose answers end a flush */
	gboolean delivering;
};
