/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Questions to a family of generic netlink. */

#include "genl.h"
#include "query-netlink.h"

/* The connection to a family. */
typedef struct Genl {
	Netlink netlink;
	GenlFamily family;
	bool is_known; /* the kernel was asked for the family: one without it is not asked again */
} Genl;

#define GENL_CLOSED                                                                                \
	{                                                                                          \
		.netlink = NETLINK_CLOSED                                                          \
	}

/* Opens the socket if it is closed, and learns the number of the family NAME once. -EOPNOTSUPP: the
 * kernel has no such family. */
int genl_open(Genl *g, const char *name);
void genl_done(Genl *g);
/* Reads the attributes of MESSAGE up to LAST into RET, NULL where it has none. -EBADMSG: it is no
 * COMMAND, or damaged. */
int genl_parse(const struct nlmsghdr *message, uint8_t command, struct nlattr **ret, int last);
/* A new request of COMMAND, without attributes, to the family, which is open. NULL without memory.
 */
struct nl_msg *genl_request(const Genl *g, uint8_t command, int flags);
/* The same to the family of ethtool, about the interface IFINDEX, with that in the attribute
 * HEADER. Other attributes follow. */
struct nl_msg *genl_ethtool_request(const Genl *g, uint8_t command, int header, uint32_t ifindex,
				    uint32_t flags);
/* Asks it COMMAND about the interface IFINDEX, with statistics if the kernel has some for that, and
 * no other attribute. */
int genl_ethtool_ask(Genl *g, uint8_t command, uint32_t ifindex, NetlinkHandler handler,
		     void *userdata);
