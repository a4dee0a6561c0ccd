/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What all headers of librdmad-glib share. Include rdmad-glib.h. */

#include <gio/gio.h>

#define RDMAD_GLIB_PUBLIC __attribute__((visibility("default")))

G_BEGIN_DECLS

typedef struct _RdmadClient RdmadClient;
typedef struct _RdmadObject RdmadObject;
typedef struct _RdmadDevice RdmadDevice;
typedef struct _RdmadPort RdmadPort;

/**
 * RdmadServiceError:
 * @RDMAD_SERVICE_ERROR_NOT_FOUND: no such device, port, network interface, GUID or address
 * @RDMAD_SERVICE_ERROR_AMBIGUOUS: more than one port is meant
 * @RDMAD_SERVICE_ERROR_INVALID_OPTION: an option that the daemon does not know
 * @RDMAD_SERVICE_ERROR_INVALID_ARGUMENT: an argument outside its range
 * @RDMAD_SERVICE_ERROR_TIMEOUT: the hardware did not answer in time; the values of the objects are
 *   still there
 * @RDMAD_SERVICE_ERROR_QUERY_FAILED: the hardware answered with an error
 * @RDMAD_SERVICE_ERROR_LIMITS_EXCEEDED: too many calls of one kind are waiting
 * @RDMAD_SERVICE_ERROR_TIMED_OUT: what was waited for has not come
 * @RDMAD_SERVICE_ERROR_UNAVAILABLE: the attribute has no valid value now; the message says why
 * @RDMAD_SERVICE_ERROR_GONE: the object is no more, or its client is not
 *
 * What can go wrong beside the errors of the bus itself, which are those of #GDBusError and
 * #GIOErrorEnum.
 */
typedef enum {
	RDMAD_SERVICE_ERROR_NOT_FOUND,
	RDMAD_SERVICE_ERROR_AMBIGUOUS,
	RDMAD_SERVICE_ERROR_INVALID_OPTION,
	RDMAD_SERVICE_ERROR_INVALID_ARGUMENT,
	RDMAD_SERVICE_ERROR_TIMEOUT,
	RDMAD_SERVICE_ERROR_QUERY_FAILED,
	RDMAD_SERVICE_ERROR_LIMITS_EXCEEDED,
	RDMAD_SERVICE_ERROR_TIMED_OUT,
	RDMAD_SERVICE_ERROR_UNAVAILABLE,
	RDMAD_SERVICE_ERROR_GONE,
} RdmadServiceError;

#define RDMAD_SERVICE_ERROR (rdmad_service_error_quark())
/**
 * rdmad_service_error_quark:
 *
 * The domain of #RdmadServiceError.
 *
 * Returns: the quark
 */
RDMAD_GLIB_PUBLIC
GQuark rdmad_service_error_quark(void);

/**
 * RdmadLookup:
 * @RDMAD_LOOKUP_NAME: what people call it: `mlx5_0/1`, `mlx5_0` if that device has one port, the
 *   name of a network interface, or the GUID of a port
 * @RDMAD_LOOKUP_NETDEV: the name of a network interface
 * @RDMAD_LOOKUP_GUID: the GUID of a port, as `0002:c903:00ab:cdef`
 * @RDMAD_LOOKUP_ADDRESS: an IP address that is in the GID table of the port
 *
 * What the text given to [method@Client.find_port_async] is.
 */
typedef enum {
	RDMAD_LOOKUP_NAME,
	RDMAD_LOOKUP_NETDEV,
	RDMAD_LOOKUP_GUID,
	RDMAD_LOOKUP_ADDRESS,
} RdmadLookup;

/**
 * RdmadChangeKind:
 * @RDMAD_CHANGE_ADDED: the object is new
 * @RDMAD_CHANGE_CHANGED: some of its properties have other values
 * @RDMAD_CHANGE_REMOVED: the object is no more; it keeps its last values
 *
 * What has happened to an object.
 */
typedef enum {
	RDMAD_CHANGE_ADDED,
	RDMAD_CHANGE_CHANGED,
	RDMAD_CHANGE_REMOVED,
} RdmadChangeKind;

/**
 * RdmadChange:
 * @kind: what has happened
 * @object: to which device or port
 * @properties: (array zero-terminated=1): the names of the properties that changed, as
 *   #GObject has them; empty unless @kind is %RDMAD_CHANGE_CHANGED
 *
 * One change of one object, as [signal@Client::changed] reports it. Fields are for reading only.
 */
typedef struct _RdmadChange {
	RdmadChangeKind kind;
	RdmadObject *object;
	char **properties;
} RdmadChange;

#define RDMAD_TYPE_CHANGE (rdmad_change_get_type())
RDMAD_GLIB_PUBLIC
GType rdmad_change_get_type(void);

/**
 * rdmad_change_copy:
 * @change: a change
 *
 * Copies a change.
 *
 * Returns: (transfer full): a copy, to be freed with rdmad_change_free()
 */
RDMAD_GLIB_PUBLIC
RdmadChange *rdmad_change_copy(const RdmadChange *change);

/**
 * rdmad_change_free:
 * @change: (transfer full): a change
 *
 * Frees a copy.
 */
RDMAD_GLIB_PUBLIC
void rdmad_change_free(RdmadChange *change);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(RdmadChange, rdmad_change_free)

G_END_DECLS
