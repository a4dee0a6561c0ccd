/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The well-known names of rdmad. interfaces.def has those of all interfaces of objects. */

#define RDMAD_BUS_NAME	    "org.rdma"
#define RDMAD_ROOT_PATH	    "/org/rdma"
#define RDMAD_DEVICE_PREFIX "/org/rdma/device"

#define RDMAD_INTERFACE_MANAGER	   "org.rdma.Manager"
#define RDMAD_INTERFACE_SIMULATOR  "org.rdma.Simulator"
#define RDMAD_INTERFACE_DEVICE	   "org.rdma.Device"
#define RDMAD_INTERFACE_PORT	   "org.rdma.Port"
#define RDMAD_INTERFACE_INFINIBAND "org.rdma.Port.InfiniBand"
#define RDMAD_INTERFACE_ETHERNET   "org.rdma.Port.Ethernet"

/* The promise of org.rdma(5), section COMPATIBILITY, has a number, which stays as long as the
 * promise is kept. Additions are in api-features.def. */
#define RDMAD_API_VERSION 1U

/* errors.def says what they mean. */
#define RDMAD_ERROR_NOT_FOUND	     "org.rdma.Error.NotFound"
#define RDMAD_ERROR_AMBIGUOUS	     "org.rdma.Error.Ambiguous"
#define RDMAD_ERROR_INVALID_OPTION   "org.rdma.Error.InvalidOption"
#define RDMAD_ERROR_INVALID_ARGUMENT "org.rdma.Error.InvalidArgument"
#define RDMAD_ERROR_DEVICE_TIMEOUT   "org.rdma.Error.DeviceTimeout"
#define RDMAD_ERROR_WAIT_TIMEOUT     "org.rdma.Error.WaitTimeout"
#define RDMAD_ERROR_QUERY_FAILED     "org.rdma.Error.QueryFailed"
#define RDMAD_ERROR_LIMITS_EXCEEDED  "org.rdma.Error.LimitsExceeded"

/* Length of the longest object path: device and port are 32-bit numbers */
#define RDMAD_PATH_MAX sizeof(RDMAD_DEVICE_PREFIX "/4294967295/port/4294967295")
