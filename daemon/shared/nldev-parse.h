/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The device in a message of nldev (NETLINK_RDMA). The core reads such messages when it
 * enumerates, the worker when it queries: both follow the rules here, so that they agree about
 * every device.
 */

#include <netlink/msg.h>

#include "port.h"

/* These came with Linux 6.8, 6.11 and 6.12, and the last with 7.3: the kernel headers of Debian 12
 * do not have them. */
#define NLDEV_ATTR_PRIVILEGED_QKEY 96
#define NLDEV_ATTR_DEV_TYPE	   99
#define NLDEV_ATTR_PARENT_NAME	   100
#define NLDEV_ATTR_EVENT_TYPE	   102
#define NLDEV_ATTR_MONITOR_MODE	   103
#define NLDEV_ATTR_LAST		   NLDEV_ATTR_MONITOR_MODE
#define NLDEV_ATTR_SUMMARY_MAX	   118 /* only in an entry of a summary */

/* These came with Linux 5.16: the kernel headers of Debian 11 do not have them. */
#define NLDEV_CMD_STAT_GET_STATUS	  24
#define NLDEV_ATTR_STAT_HWCOUNTER_DYNAMIC 95

/* The attributes of a message by their type, NULL where the message has none of that type. */
typedef struct nlattr *NldevAttributes[NLDEV_ATTR_LAST + 1];

/* Finds the attributes of MESSAGE. They stay valid as long as MESSAGE does. Types that are unknown
 * here are skipped: they belong to a later kernel. -EBADMSG. */
int nldev_parse_attributes(const struct nlmsghdr *message, NldevAttributes ret);

/* The kernel index in A; -EBADMSG if A is NULL or holds none. The number that stands for all
 * devices (EVENT_ALL_DEVICES) is no index. */
int nldev_parse_index(struct nlattr *a, uint32_t *ret);

/*
 * Reads the device in MESSAGE into *RET, which is overwritten and owns nothing.
 *
 * -EBADMSG if the message does not identify a device: it must have an index, a name of 1 to 63
 * bytes, and a number of ports, which may be more than RDMA_PORT_MAX. -EILSEQ if the name is none
 * that a file can have: the kernel takes "a/b", and its own directory of all devices cannot be read
 * then. Such a device is left out, and the others are served. Every other attribute is optional:
 * one that is not there, or is no number where one is expected, is not supplied. Longer text is
 * cut. Firmware version, type and parent are always supplied: the kernel leaves the attributes out
 * if the device has none, and that is the empty text and the normal type.
 */
int nldev_parse_device(const struct nlmsghdr *message, DeviceSnapshot *ret);
