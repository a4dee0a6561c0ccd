/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The state of the worker process: what it keeps from one query to the next. */

#include "query-context.h"
#include "query-isolated.h"
#include "query-known.h"
#include "query-netdev.h"

typedef struct Querier {
	Netlink nldev, rtnl;
	Contexts *contexts;
	KnownDevices known;
	PolicyOptions policy;
	Isolation isolation;
	unsigned int kernel;
	int classes; /* /sys/class */
	int net;     /* /sys/class/net */
	/* The IPoIB interfaces, read when Query.links_generation was this. */
	Ipoib *ipoib;
	size_t n_ipoib;
	uint32_t ipoib_generation;
	bool ipoib_read;
} Querier;

/* ANSWER_USEC: see Isolation. */
int querier_init(Querier *querier, const PolicyOptions *policy, uint64_t answer_usec);
void querier_done(Querier *querier);
/* Closes what is open of DEVICE, which has gone, and forgets what was known of it. */
void querier_forget(Querier *querier, uint32_t device);
