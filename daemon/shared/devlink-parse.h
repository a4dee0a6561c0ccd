/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Messages of devlink, a family of generic netlink: which instance of it a message is about. An
 * instance stands for a PCI function, or for an auxiliary device such as a subfunction. To read it
 * takes no privilege (net/devlink, 5.10 to 7.x).
 */

#include <linux/devlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>

#include "attribute.h"

/* The attributes of a message of devlink; each may be missing. */
typedef struct nlattr *DevlinkAttributes[DEVLINK_ATTR_MAX + 1];

/* The name of an instance. */
typedef struct DevlinkHandle {
	AttrText bus;	 /* "pci" or "auxiliary" */
	AttrText device; /* "0000:c1:00.0", "mlx5_core.sf.4" */
} DevlinkHandle;

/* Reads the attributes of a message of devlink, and its command (DEVLINK_CMD_*) and the instance
 * that it is about. -EBADMSG, also if it is about none. */
int devlink_parse(const struct nlmsghdr *message, DevlinkAttributes ret, uint8_t *ret_command,
		  DevlinkHandle *ret_handle);
