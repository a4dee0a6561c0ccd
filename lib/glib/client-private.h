/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The parts of a client. Its files, from the lowest to the highest; each calls only those above it
 * in this list:
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

	char *bus_address; /* the property; NULL: the system bus */
	GDBusConnection *connection;
	gboolean own_connection;      /* the client has made or found it; it was not given */
	gboolean starting;	      /* a start is under way */
	gboolean initialized;	      /* a start has succeeded */
	GSource *reconnect;	      /* starts the client again; NULL: is not needed */
	guint matches;		      /* 1 << the start message: rules that the bus may have */
	GMainContext *context;	      /* the only one in which the client does anything */
	GCancellable *cancellable;    /* of the client's own calls */
	Channel *channel;	      /* NULL: the client is not started, or waits for the bus */
	void (*lost)(RdmadClient *c); /* the connection of the channel has been closed */
	GPtrArray *objects;	      /* sorted by place */

	gboolean owner_known; /* the bus has said who owns the name org.rdma */
	char *owner;	      /* the unique name of the owner; NULL: nobody owns it */
	gboolean fetching;    /* the call that asks for all objects is not answered yet */
	gboolean synced;      /* the objects are those of the owner: the property "connected" */
	GSource *retry;	      /* asks for all objects again; NULL: is not needed */

	GQueue incoming;   /* signals that have not been looked at */
	GQueue pending;	   /* signals of the owner that have not been applied to the objects */
	GPtrArray *loaded; /* rows that were read and have not been applied, see client-follow.c */
	guint n_barriers;  /* calls that are not answered yet, and whose answers end a flush */
	gboolean delivering; /* handlers are being called */
};
