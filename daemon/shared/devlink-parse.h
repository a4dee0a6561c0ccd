/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Messages of devlink, a family of generic netlink: which number the kernel has given it, and which
 * instance of it a message is about. An instance stands for a PCI function, or for an auxiliary
 * device such as a subfunction. To read it takes no privilege (net/devlink, 5.10 to 7.x).
 */

#include <linux/devlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>

#include "attribute.h"

/* The attributes of a message of devlink; each may be missing. */
typedef struct nlattr *DevlinkAttributes[DEVLINK_ATTR_MAX + 1];

/* The numbers that the kernel has given the family. */
typedef struct DevlinkFamily {
	uint16_t id;	/* the type of its messages; 0: there is no such family */
	uint32_t group; /* the multicast group "config"; 0: there is none */
} DevlinkFamily;

/* The name of an instance. */
typedef struct DevlinkHandle {
	AttrText bus;	 /* "pci" or "auxiliary" */
	AttrText device; /* "0000:c1:00.0", "mlx5_core.sf.4" */
} DevlinkHandle;

/* A new request for the numbers of the family; NULL without memory. The message has no sequence
 * number yet, nor NLM_F_REQUEST. A kernel without devlink answers -ENOENT, perhaps after it has
 * looked for a module. */
struct nl_msg *devlink_ask_family(void);
/* Reads the answer. -EBADMSG. */
int devlink_parse_family(const struct nlmsghdr *message, DevlinkFamily *ret);

/* Reads the attributes of a message of devlink, and its command (DEVLINK_CMD_*) and the instance
 * that it is about. -EBADMSG, also if it is about none. */
int devlink_parse(const struct nlmsghdr *message, DevlinkAttributes ret, uint8_t *ret_command,
		  DevlinkHandle *ret_handle);
