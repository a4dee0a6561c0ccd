/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The state of the worker process: what it keeps from one query to the next. */

#include "query-accelerators.h"
#include "query-context.h"
#include "query-devlink.h"
#include "query-isolated.h"
#include "query-known.h"
#include "query-leave.h"
#include "query-netdev.h"

typedef struct Querier {
	Netlink nldev, rtnl;   /* opened at the first use */
	Genl devlink, ethtool; /* the same */
	Contexts *contexts;
	KnownDevices known;
	Leaves leaves; /* what may be asked without a query of the core */
	PolicyOptions policy;
	Isolation isolation;
	/* NULL, or whether something waits to which a query for users gives way */
	bool (*gives_way)(void *userdata);
	void *userdata;
	unsigned int kernel; /* KERNEL() of the running kernel */
	int classes;	     /* descriptor of /sys/class */
	int net;	     /* descriptor of /sys/class/net */
	Accelerators accelerators;
	/* All IPoIB interfaces, read while Query.links_generation was IPOIB_GENERATION. */
	Ipoib *ipoib;
	size_t n_ipoib;
	uint32_t ipoib_generation;
	bool ipoib_read; /* false: never */
} Querier;

/* ANSWER_USEC: see Isolation. The globs of POLICY are not copied. A negative errno: that of
 * contexts_new(), and nothing is left to free. */
int querier_init(Querier *querier, const PolicyOptions *policy, uint64_t answer_usec);
void querier_done(Querier *querier);
/* Closes what is open of DEVICE, which has gone, and forgets what was known of it. */
void querier_forget(Querier *querier, uint32_t device);
