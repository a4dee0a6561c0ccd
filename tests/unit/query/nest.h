/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Attributes within attributes. */

#include <netlink/attr.h>
#include <netlink/msg.h>

/* Ends NEST, which stays if it is empty: nla_nest_end_keep_empty() of libnl 3.5. */
static inline void nest_end(struct nl_msg *m, struct nlattr *nest)
{
	nest->nla_len = (unsigned short)((char *)nlmsg_tail(nlmsg_hdr(m)) - (char *)nest);
}
