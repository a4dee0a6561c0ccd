/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What the PHY of a network interface says: why the link is down, how often it was lost, and what
 * forward error correction (FEC) has to do, by ethtool's family of generic netlink. To ask takes no
 * privilege. The kernel holds the RTNL lock while the driver asks its firmware.
 */

#include "port.h"
#include "query-genl.h"

/* The answer to ETHTOOL_MSG_LINKSTATE_GET. A number that is not there is UINT64_MAX. */
typedef struct PhyLink {
	uint64_t up;		  /* 0: the link is down */
	uint64_t state, substate; /* why: link-down.def */
	uint64_t sqi, sqi_max;	  /* the quality of the signal */
	uint64_t downs;		  /* how often the link was lost */
} PhyLink;

/* The answer to ETHTOOL_MSG_FEC_GET, of all lanes. The same. */
typedef struct PhyFec {
	uint64_t active; /* a bit of enum ethtool_link_mode_bit_indices */
	uint64_t corrected, uncorrectable, corrected_bits;
} PhyFec;

/* The answers to ETHTOOL_MSG_PAUSE_GET, and to ETHTOOL_MSG_STATS_GET for MAC control frames. The
 * same. */
typedef struct PauseFrames {
	uint64_t tx, rx;
	uint64_t tx_control, rx_control; /* those of a priority (PFC) are in these only */
} PauseFrames;

/* Asks for the interface IFINDEX, and supplies the rows with source ETHTOOL of S. -EOPNOTSUPP: the
 * kernel has no such family. Another negative errno: that of the kernel to the first question that
 * failed; the rows of the others are there. What the driver does not say is no error. */
int ethtool_supply(Genl *g, uint32_t ifindex, PortSnapshot *s);

/* Asks for the interface IFINDEX how many frames have paused it, or its other end. The same. */
int ethtool_get_pauses(Genl *g, uint32_t ifindex, PauseFrames *ret);

/* Read an answer. -EBADMSG. */
int ethtool_parse_pause(const struct nlmsghdr *message, PauseFrames *ret);
int ethtool_parse_control(const struct nlmsghdr *message, PauseFrames *ret);
int ethtool_parse_link(const struct nlmsghdr *message, PhyLink *ret);
int ethtool_parse_fec(const struct nlmsghdr *message, PhyFec *ret);
/* Supply the rows of S that it has. */
void ethtool_supply_link(const PhyLink *l, PortSnapshot *s);
void ethtool_supply_fec(const PhyFec *f, PortSnapshot *s);
