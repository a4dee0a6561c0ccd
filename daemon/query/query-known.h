/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The memory of the worker from one query to the next: values that do not change as long as a
 * device is there and has its name. They are used for a device that is held open, which proves that
 * the device is still there, and read again whenever the device's own attributes are asked for.
 */

#include "query-counters.h"
#include "query-dv.h"
#include "query-gids.h"
#include "query-gpudirect.h"
#include "query-link.h"
#include "query-pkeys.h"
#include "query-policy.h"
#include "query-verbs.h"

typedef struct Known {
	uint32_t device;     /* kernel index */
	AttrText name;	     /* when POLICY was decided */
	uint32_t first_port; /* device_first_port() */
	Policy policy;
	const Unavailable *why_polled; /* why it is not POLICY_HOLD; NULL if it is */
	const DvProvider *dv;	       /* of its direct verbs; NULL if there is none */
	AttrMask unmeasured;	       /* the rows of its ports that its driver does not measure */
	VerbsDevice verbs;	       /* driver_id is negative until it has a uverbs node */
	DmaBuf dma_buf;		       /* whether DMA-BUF was tried */
	bool has_cap_flags;	       /* VERBS.cap_flags was read */
	unsigned int link_layers; /* of its ports that were read: a mask of 1 << IBV_LINK_LAYER_* */
	KnownLink link;		  /* the interface of the port that was read last */
	DeviceGids gids;	  /* the last tables of its ports */
	DeviceFiles pkeys;	  /* the open files of its P_Key tables */
	DeviceFiles counters;	  /* and those of its counters */
	bool left_out;		  /* the log says that counters are left out */
	size_t n_gids;		  /* how many GIDs all its ports had last time */
	int open_error;		  /* why it could not be opened last time; 0: it could */
} Known;

typedef struct KnownDevices {
	Known *entries; /* sorted by device */
	size_t n;
} KnownDevices;

/* NULL if nothing is known. Valid until the next call of one of the other two. */
Known *known_find(const KnownDevices *k, uint32_t device);
/* The same, with a new entry if there is none; NULL without memory. */
Known *known_add(KnownDevices *k, uint32_t device);
/* Does nothing if nothing is known of it. */
void known_forget(KnownDevices *k, uint32_t device);
void known_done(KnownDevices *k);
