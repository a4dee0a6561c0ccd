/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "rdmad-entries.h"
#include "rdmad-object.h"

G_BEGIN_DECLS

/**
 * RdmadPort:
 *
 * A port of an RDMA device. On the bus it is an object with the interface `org.rdma.Port`, and with
 * further interfaces, depending on the kind of port. Attributes of an interface that the port does
 * not have are unavailable: a RoCE port has no `lid`.
 */
#define RDMAD_TYPE_PORT (rdmad_port_get_type())
RDMAD_GLIB_PUBLIC
G_DECLARE_FINAL_TYPE(RdmadPort, rdmad_port, RDMAD, PORT, RdmadObject)

/**
 * rdmad_port_find_device:
 * @self: a port
 *
 * Finds the device of a port.
 *
 * Returns: (nullable) (transfer none): the device that the port belongs to; %NULL if the port or
 * its device has been removed
 */
RDMAD_GLIB_PUBLIC
RdmadDevice *rdmad_port_find_device(RdmadPort *self);

/**
 * rdmad_port_query_async:
 * @self: a port
 * @max_age_usec: how old an answer from the cache of the daemon may be, in microseconds; if it is
 *   negative, the daemon asks the hardware
 * @cancellable: (nullable): cancels the call
 * @callback: (scope async) (closure user_data): called when the call has ended
 * @user_data: what @callback gets as its last argument
 *
 * Asks for the raw fields of the port. They have the names and values that they have in C, in the
 * structures that `ibv_query_port(3)` and the other sources fill.
 */
RDMAD_GLIB_PUBLIC
void rdmad_port_query_async(RdmadPort *self, gint64 max_age_usec, GCancellable *cancellable,
			    GAsyncReadyCallback callback, gpointer user_data);

/**
 * rdmad_port_query_finish:
 * @self: a port
 * @result: the result that the callback has got
 * @error: why there is no answer: an #RdmadServiceError or an error of the bus
 *
 * Ends the call that [method@Port.query_async] has begun.
 *
 * Returns: (transfer full): a dictionary, `a{sv}`, with the fields that the sources have filled
 */
RDMAD_GLIB_PUBLIC
GVariant *rdmad_port_query_finish(RdmadPort *self, GAsyncResult *result, GError **error);

/**
 * rdmad_port_query_sync:
 * @self: a port
 * @max_age_usec: how old an answer from the cache of the daemon may be, in microseconds; if it is
 *   negative, the daemon asks the hardware
 * @cancellable: (nullable): cancels the call
 * @error: the same as for [method@Port.query_finish]
 *
 * Asks for the raw fields of the port, as [method@Port.query_async] does, and waits for the answer.
 * Changes that the daemon has published before it answered are signalled before this function
 * returns.
 *
 * Returns: (transfer full): a dictionary, `a{sv}`, with the fields that the sources have filled
 */
RDMAD_GLIB_PUBLIC
GVariant *rdmad_port_query_sync(RdmadPort *self, gint64 max_age_usec, GCancellable *cancellable,
				GError **error);

/**
 * rdmad_port_get_history_async:
 * @self: a port
 * @cancellable: (nullable): cancels the call
 * @callback: (scope async) (closure user_data): called when the call has ended
 * @user_data: what @callback gets as its last argument
 *
 * Asks for the last transitions of the state of the port. For a port that has gone see
 * [method@Client.get_history_async].
 */
RDMAD_GLIB_PUBLIC
void rdmad_port_get_history_async(RdmadPort *self, GCancellable *cancellable,
				  GAsyncReadyCallback callback, gpointer user_data);

/**
 * rdmad_port_get_history_finish:
 * @self: a port
 * @result: the result that the callback has got
 * @error: why there is no answer: an #RdmadServiceError or an error of the bus
 *
 * Ends the call that [method@Port.get_history_async] has begun.
 *
 * Returns: (transfer container) (element-type RdmadTransition): the transitions, the oldest first
 */
RDMAD_GLIB_PUBLIC
GPtrArray *rdmad_port_get_history_finish(RdmadPort *self, GAsyncResult *result, GError **error);

/**
 * rdmad_port_get_history_sync:
 * @self: a port
 * @cancellable: (nullable): cancels the call
 * @error: the same as for [method@Port.get_history_finish]
 *
 * Asks for the last transitions of the state of the port, as [method@Port.get_history_async] does,
 * and waits for the answer.
 *
 * Returns: (transfer container) (element-type RdmadTransition): the transitions, the oldest first
 */
RDMAD_GLIB_PUBLIC
GPtrArray *rdmad_port_get_history_sync(RdmadPort *self, GCancellable *cancellable, GError **error);

/**
 * rdmad_port_acknowledge_async:
 * @self: a port
 * @check: the check that has found something about the port or its device, as in the attribute
 *   `findings`
 * @text: (nullable): why it is acknowledged, in at most 79 bytes
 * @cancellable: (nullable): cancels the call
 * @callback: (scope async) (closure user_data): called when the call has ended
 * @user_data: what @callback gets as its last argument
 *
 * Says that a finding is known: it does not count in the attribute `health` until it ends. Only
 * root may do that.
 */
RDMAD_GLIB_PUBLIC
void rdmad_port_acknowledge_async(RdmadPort *self, const char *check, const char *text,
				  GCancellable *cancellable, GAsyncReadyCallback callback,
				  gpointer user_data);

/**
 * rdmad_port_acknowledge_finish:
 * @self: a port
 * @result: the result that the callback has got
 * @error: why the finding is not acknowledged: %RDMAD_SERVICE_ERROR_NOT_FOUND if the check has
 *   found nothing, %RDMAD_SERVICE_ERROR_INVALID_ARGUMENT if the text is too long, or an error of
 *   the bus
 *
 * Ends the call that [method@Port.acknowledge_async] has begun.
 *
 * Returns: whether the finding is acknowledged
 */
RDMAD_GLIB_PUBLIC
gboolean rdmad_port_acknowledge_finish(RdmadPort *self, GAsyncResult *result, GError **error);

/**
 * rdmad_port_acknowledge_sync:
 * @self: a port
 * @check: the check, as for [method@Port.acknowledge_async]
 * @text: (nullable): why it is acknowledged, in at most 79 bytes
 * @cancellable: (nullable): cancels the call
 * @error: the same as for [method@Port.acknowledge_finish]
 *
 * Says that a finding is known, as [method@Port.acknowledge_async] does, and waits for the answer.
 *
 * Returns: whether the finding is acknowledged
 */
RDMAD_GLIB_PUBLIC
gboolean rdmad_port_acknowledge_sync(RdmadPort *self, const char *check, const char *text,
				     GCancellable *cancellable, GError **error);

G_END_DECLS
