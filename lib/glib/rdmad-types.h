/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The types that all headers of librdmad-glib use. Programs include rdmad-glib.h only. */

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
 * @RDMAD_SERVICE_ERROR_AMBIGUOUS: the name means more than one port
 * @RDMAD_SERVICE_ERROR_INVALID_OPTION: the daemon does not know the option
 * @RDMAD_SERVICE_ERROR_INVALID_ARGUMENT: an argument is outside its range
 * @RDMAD_SERVICE_ERROR_DEVICE_TIMEOUT: the device did not answer in time; the objects keep their
 *   values
 * @RDMAD_SERVICE_ERROR_QUERY_FAILED: the device, the driver or the kernel answered with an error
 * @RDMAD_SERVICE_ERROR_LIMITS_EXCEEDED: too many calls of this kind are waiting
 * @RDMAD_SERVICE_ERROR_WAIT_TIMEOUT: the condition that a call waits for was not met in time
 * @RDMAD_SERVICE_ERROR_UNAVAILABLE: the attribute has no valid value now; the message says why
 * @RDMAD_SERVICE_ERROR_GONE: the object has been removed, or its client has been freed
 *
 * The errors of the daemon and of the objects. Errors of the bus are in the domains of #GDBusError
 * and #GIOErrorEnum.
 */
typedef enum {
	RDMAD_SERVICE_ERROR_NOT_FOUND,
	RDMAD_SERVICE_ERROR_AMBIGUOUS,
	RDMAD_SERVICE_ERROR_INVALID_OPTION,
	RDMAD_SERVICE_ERROR_INVALID_ARGUMENT,
	RDMAD_SERVICE_ERROR_DEVICE_TIMEOUT,
	RDMAD_SERVICE_ERROR_QUERY_FAILED,
	RDMAD_SERVICE_ERROR_LIMITS_EXCEEDED,
	RDMAD_SERVICE_ERROR_WAIT_TIMEOUT,
	RDMAD_SERVICE_ERROR_UNAVAILABLE,
	RDMAD_SERVICE_ERROR_GONE,
} RdmadServiceError;

#define RDMAD_SERVICE_ERROR (rdmad_service_error_quark())
/**
 * rdmad_service_error_quark:
 *
 * Gives the error domain of #RdmadServiceError.
 *
 * Returns: the quark of the domain
 */
RDMAD_GLIB_PUBLIC
GQuark rdmad_service_error_quark(void);

/**
 * RdmadLookup:
 * @RDMAD_LOOKUP_ANY: any of the others: the first kind, in the order that `org.rdma(5)` has, by
 * which a port is found
 * @RDMAD_LOOKUP_NAME: the name of a port, `mlx5_0/1`, or of a device, `mlx5_0`, which means all its
 *   ports
 * @RDMAD_LOOKUP_NETDEV: the name of a network interface
 * @RDMAD_LOOKUP_ALTNAME: an alternative name of a network interface
 * @RDMAD_LOOKUP_IFINDEX: the index of a network interface, as text
 * @RDMAD_LOOKUP_GUID: the GUID of a port, as `0002:c903:00ab:cdef`
 * @RDMAD_LOOKUP_NODE_GUID: the node GUID of a device
 * @RDMAD_LOOKUP_SYSTEM_GUID: the system image GUID, which all devices of an adapter have
 * @RDMAD_LOOKUP_PCI: a PCI address, as `0000:c1:00.0` or `c1:00.0`
 * @RDMAD_LOOKUP_ADDRESS: an IP address
 * @RDMAD_LOOKUP_GID: a GID, in the notation of IPv6
 *
 * What kind of name [method@Client.find_port_async] and [method@Client.find_ports_async] are to
 * look for.
 */
typedef enum {
	RDMAD_LOOKUP_ANY,
	RDMAD_LOOKUP_NAME,
	RDMAD_LOOKUP_NETDEV,
	RDMAD_LOOKUP_ALTNAME,
	RDMAD_LOOKUP_IFINDEX,
	RDMAD_LOOKUP_GUID,
	RDMAD_LOOKUP_NODE_GUID,
	RDMAD_LOOKUP_SYSTEM_GUID,
	RDMAD_LOOKUP_PCI,
	RDMAD_LOOKUP_ADDRESS,
	RDMAD_LOOKUP_GID,
} RdmadLookup;

/**
 * RdmadGidType:
 * @RDMAD_GID_TYPE_ANY: any type; only as an argument
 * @RDMAD_GID_TYPE_IB: that of InfiniBand
 * @RDMAD_GID_TYPE_ROCE_V1: RoCE v1, which no router forwards
 * @RDMAD_GID_TYPE_ROCE_V2: RoCE v2, over UDP
 *
 * The type of a GID.
 */
typedef enum {
	RDMAD_GID_TYPE_ANY = -1,
	RDMAD_GID_TYPE_IB = 0,
	RDMAD_GID_TYPE_ROCE_V1 = 1,
	RDMAD_GID_TYPE_ROCE_V2 = 2,
} RdmadGidType;

/**
 * RdmadChangeKind:
 * @RDMAD_CHANGE_ADDED: the object is new
 * @RDMAD_CHANGE_CHANGED: some of its properties have other values
 * @RDMAD_CHANGE_REMOVED: the object has been removed; it keeps its last values
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
 * @object: the device or port that it has happened to
 * @properties: (array zero-terminated=1): the names of the #GObject properties that have changed;
 *   empty unless @kind is %RDMAD_CHANGE_CHANGED
 *
 * The change of one object, as [signal@Client::changed] reports it. Do not write to the fields.
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
 * Returns: (transfer full): a copy, to be freed with [method@Change.free]
 */
RDMAD_GLIB_PUBLIC
RdmadChange *rdmad_change_copy(const RdmadChange *change);

/**
 * rdmad_change_free:
 * @change: (transfer full) (nullable): a change, or %NULL
 *
 * Frees a copy of a change.
 */
RDMAD_GLIB_PUBLIC
void rdmad_change_free(RdmadChange *change);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(RdmadChange, rdmad_change_free)

G_END_DECLS
