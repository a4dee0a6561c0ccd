/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The priorities of the interface of an Ethernet port, which decide whether RoCE loses packets:
 * Data Center Bridging (IEEE 802.1Q), which rtnetlink tells everybody, and values from files of a
 * driver and of the RDMA connection manager.
 */

#include <linux/dcbnl.h>

#include "query-netdev.h"

#define DCB_PRIORITIES 8U
#define DCB_DSCPS      64U
/* The kernel has as many selectors. */
#define DCB_TRUST_MAX 6U

typedef struct Dcb {
	bool has_pfc, has_ets, has_map, has_trust;
	uint8_t pfc_cap;
	uint8_t pfc_enabled; /* a bit for each priority */
	/* of each traffic class */
	uint8_t bandwidth[IEEE_8021QAZ_MAX_TCS], algorithm[IEEE_8021QAZ_MAX_TCS];
	uint8_t traffic_class[DCB_PRIORITIES];
	uint8_t dscp[DCB_DSCPS]; /* one more than the priority; 0: it is not mapped */
	/* The trusted selectors, IEEE_8021QAZ_APP_SEL_* and 255 for PCP, the more trusted first. */
	uint8_t trust[DCB_TRUST_MAX];
	size_t n_trust;
} Dcb;

/* Asks for the interface NAME. -EOPNOTSUPP: its driver, or the kernel, has no DCB. */
int dcb_get(Netlink *n, const char *name, Dcb *ret);
/* A NetlinkHandler: reads one message (RTM_GETDCB with DCB_CMD_IEEE_GET) into a Dcb. -EBADMSG. */
int dcb_parse(const struct nlmsghdr *message, void *ret);
/* Supplies the rows of S that D says something about. */
void dcb_supply(const Dcb *d, PortSnapshot *s);

/* Supplies ECN of the interface D, where its driver has files about it. NET is a descriptor of
 * /sys/class/net. */
void dcb_supply_ecn(int net, const Netdev *d, PortSnapshot *s);
/* Supplies what the interface D trusts, if its driver is one of which the rows of S say it. */
void dcb_supply_trust(int net, const Netdev *d, PortSnapshot *s);
/* Supplies the default type of GID of PORT of the device NAME. RDMA_CM is a descriptor of the
 * directory rdma_cm in configfs. */
void dcb_supply_gid_type(int rdma_cm, const char *name, uint32_t port, PortSnapshot *s);
