/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* How many frames have paused a network interface, or the other end of its link, by ethtool's
 * family of generic netlink. */

#include "query-genl.h"

/* The answers to ETHTOOL_MSG_PAUSE_GET, and to ETHTOOL_MSG_STATS_GET for MAC control frames. A
 * number that is not there is UINT64_MAX. */
typedef struct PauseFrames {
	uint64_t tx, rx;
	uint64_t tx_control, rx_control; /* those of a priority (PFC) are in these only */
} PauseFrames;

/* Asks for the interface IFINDEX. -EOPNOTSUPP: the kernel has no such family. What the driver does
 * not say is no error. */
int pauses_get(Genl *g, uint32_t ifindex, PauseFrames *ret);
/* NetlinkHandlers: read an answer into PauseFrames. -EBADMSG: it is damaged, or another one, and
 * nothing is written. */
int pauses_parse(const struct nlmsghdr *message, void *pauses);
int pauses_parse_control(const struct nlmsghdr *message, void *pauses);
