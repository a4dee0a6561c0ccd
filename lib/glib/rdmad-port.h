/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "rdmad-object.h"

G_BEGIN_DECLS

/**
 * RdmadPort:
 *
 * A port of an RDMA device: `org.rdma.Port` and the interfaces beside it. Attributes of an
 * interface that the port does not have, such as `lid` on RoCE, are unavailable.
 */
#define RDMAD_TYPE_PORT (rdmad_port_get_type())
RDMAD_GLIB_PUBLIC
G_DECLARE_FINAL_TYPE(RdmadPort, rdmad_port, RDMAD, PORT, RdmadObject)

/**
 * rdmad_port_find_device:
 * @self: a port
 *
 * The device of a port.
 *
 * Returns: (nullable) (transfer none): the device that it belongs to; %NULL if that has been
 * removed
 */
RDMAD_GLIB_PUBLIC
RdmadDevice *rdmad_port_find_device(RdmadPort *self);

/**
 * rdmad_port_query_async:
 * @self: a port
 * @max_age_usec: how old an answer from the daemon's cache may be, in microseconds; negative: ask
 * the hardware
 * @cancellable: (nullable): to give up
 * @callback: (scope async) (closure user_data): called when it is done
 * @user_data: for @callback
 *
 * Asks for the raw fields under their C names and with their C values, as `ibv_query_port(3)` and
 * the other sources give them.
 */
RDMAD_GLIB_PUBLIC
void rdmad_port_query_async(RdmadPort *self, gint64 max_age_usec, GCancellable *cancellable,
			    GAsyncReadyCallback callback, gpointer user_data);

/**
 * rdmad_port_query_finish:
 * @self: a port
 * @result: what the callback got
 * @error: why there is no answer: an #RdmadServiceError or an error of the bus
 *
 * Ends what [method@Port.query_async] began.
 *
 * Returns: (transfer full): a dictionary, `a{sv}`, with those fields that a source supplied
 */
RDMAD_GLIB_PUBLIC
GVariant *rdmad_port_query_finish(RdmadPort *self, GAsyncResult *result, GError **error);

/**
 * rdmad_port_query_sync:
 * @self: a port
 * @max_age_usec: how old an answer from the daemon's cache may be, in microseconds; negative: ask
 * the hardware
 * @cancellable: (nullable): to give up
 * @error: as that of [method@Port.query_finish]
 *
 * The same, waiting for the answer. Changes that the daemon announced before it answered are
 * signalled from within.
 *
 * Returns: (transfer full): a dictionary, `a{sv}`, with those fields that a source supplied
 */
RDMAD_GLIB_PUBLIC
GVariant *rdmad_port_query_sync(RdmadPort *self, gint64 max_age_usec, GCancellable *cancellable,
				GError **error);

G_END_DECLS
