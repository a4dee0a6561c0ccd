/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Reads the pages of a module by ethtool's family of generic netlink. The kernel wants
 * CAP_NET_ADMIN for that, and asks the driver, which asks its firmware or talks to the module over
 * a slow bus; before Linux 7 it holds the RTNL lock meanwhile. */

#include "module.h"
#include "query-genl.h"

/*
 * Reads the module in the cage of the interface IFINDEX. -ENOMEDIUM: the driver says that there is
 * none. -EOPNOTSUPP: the driver or the kernel (before 5.13) reads no modules. Another negative
 * errno: the first page cannot be read. A page behind it that cannot be read is left out.
 */
int module_read(Genl *g, uint32_t ifindex, ModulePages *ret);

/* A NetlinkHandler: reads an answer into the MODULE_PAGE_SIZE bytes of PAGE. -EBADMSG: it is none,
 * or has not a whole page. */
int module_parse_page(const struct nlmsghdr *message, void *page);
