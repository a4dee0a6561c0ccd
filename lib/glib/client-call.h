/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Calls that the client makes to the daemon. */

#include "rdmad-client.h"

/* The client of O. NULL and RDMAD_SERVICE_ERROR_GONE: O has been removed, or its client freed. */
RdmadClient *client_of_object(RdmadObject *o, GError **error);

/*
 * Calls a method of the daemon; takes ARGUMENTS, a tuple, if that is floating. TIMEOUT_MSEC is that
 * of GDBus: -1 is the usual one, and G_MAXINT none. When the caller has the answer, the objects
 * have everything that the daemon has signalled before it answered.
 *
 * client_call_finish() and client_call_sync() return the answer, with a reference, if its body is
 * of the type SIGNATURE, see reply_check(); otherwise NULL and an error.
 */
void client_call_async(RdmadClient *c, const char *path, const char *interface, const char *method,
		       GVariant *arguments, int timeout_msec, GCancellable *cancellable,
		       GAsyncReadyCallback callback, gpointer user_data);
GDBusMessage *client_call_finish(RdmadClient *c, GAsyncResult *result, const char *signature,
				 GError **error);
GDBusMessage *client_call_sync(RdmadClient *c, const char *path, const char *interface,
			       const char *method, GVariant *arguments, int timeout_msec,
			       const char *signature, GCancellable *cancellable, GError **error);
