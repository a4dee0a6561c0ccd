/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Calls of the daemon. */

#include "rdmad-client.h"

/* The client of O, to be called for it; NULL and RDMAD_SERVICE_ERROR_GONE if O or its client is no
 * more. */
RdmadClient *client_of_object(RdmadObject *o, GError **error);

/*
 * Calls a method of the daemon. What the daemon had signalled before it answered is with the
 * objects when the caller has the answer. _finish and _sync check that its body is of SIGNATURE.
 */
void client_call_async(RdmadClient *c, const char *path, const char *interface, const char *method,
		       GVariant *arguments, GCancellable *cancellable, GAsyncReadyCallback callback,
		       gpointer user_data);
GDBusMessage *client_call_finish(RdmadClient *c, GAsyncResult *result, const char *signature,
				 GError **error);
GDBusMessage *client_call_sync(RdmadClient *c, const char *path, const char *interface,
			       const char *method, GVariant *arguments, const char *signature,
			       GCancellable *cancellable, GError **error);
