/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Which devices may be opened, and of which the context may stay open for async events. */

#include "attribute.h"
#include "kernel-version.h"
#include "unavailable.h"
#include "util.h"

typedef struct PolicyOptions {
	bool hold;	   /* keep contexts open where that is harmless */
	bool hbl;	   /* open devices that have one user at a time: Gaudi */
	char **never_open; /* globs of device names, NULL-terminated; may be NULL */
} PolicyOptions;

/* The properties of a device that decide. */
typedef struct PolicyDevice {
	const char *name;
	const char *kernel_driver; /* of the parent device; "" if there is none */
	int64_t driver_id;	   /* enum rdma_driver_id, negative if unknown */
	unsigned int kernel;	   /* of the machine, a KERNEL() */
	bool exclusive;		   /* it has one user at a time; dv_find() does not look at this */
} PolicyDevice;

/* RDMA_DRIVER_MANA is newer than Debian 12's headers. */
#define DRIVER_MANA 20

typedef enum Policy {
	POLICY_NEVER_OPEN,
	POLICY_ISOLATE, /* open it in a process of its own, briefly */
	POLICY_OPEN_BRIEFLY,
	POLICY_HOLD,
} Policy;

/* Decides how the context of D may be used. *RET_WHY: why its context cannot stay open; NULL for
 * POLICY_HOLD. */
Policy policy_decide(const PolicyOptions *o, const PolicyDevice *d, const Unavailable **ret_why);
