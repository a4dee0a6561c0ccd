/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Families of generic netlink: which number the kernel has given each. */

#include <netlink/msg.h>

/* The numbers that the kernel has given a family. */
typedef struct GenlFamily {
	uint16_t id;	/* the type of its messages; 0: there is no such family */
	uint32_t group; /* one of its multicast groups; 0: there is none */
} GenlFamily;

/* A new request for the numbers of the family NAME; NULL without memory. The message has no
 * sequence number yet, nor NLM_F_REQUEST. A kernel without the family answers -ENOENT, perhaps
 * after it has looked for a module. */
struct nl_msg *genl_ask_family(const char *name);
/* Reads the answer; GROUP is the name of the group that is wanted, or NULL. -EBADMSG. */
int genl_parse_family(const struct nlmsghdr *message, const char *group, GenlFamily *ret);
