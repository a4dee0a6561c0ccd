/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The device that a query is about, for as long as the query takes: what it is called, where it is
 * in sysfs, and its context if it may have one. */

#include "query-context.h"
#include "query-dv.h"
#include "query-isolated.h"
#include "query-netdev.h"
#include "query-policy.h"
#include "query-verbs.h"
#include "source.h"

/* What the worker keeps between queries. */
typedef struct Worker {
	Netlink nldev, rtnl;
	Contexts *contexts;
	PolicyOptions policy;
	Isolation isolation;
	unsigned int kernel;
	int classes; /* /sys/class */
	int net;     /* /sys/class/net */
	/* Devices that could not be opened last time, and why: so that each reason is logged once.
	 * The oldest makes room. */
	struct {
		uint32_t device;
		int error;
	} failures[64];
	unsigned int next_failure;
} Worker;

/* ANSWER_USEC: see Isolation. */
int worker_init(Worker *w, const PolicyOptions *policy, uint64_t answer_usec);
void worker_done(Worker *w);

typedef struct Target {
	Worker *worker;
	uint32_t device;
	DeviceSnapshot nldev; /* what nldev says, before the query */
	int sysfs;	      /* its directory, negative if there is none to be had */
	struct ibv_context *context;
	int open_error; /* why there is no context; 0 if there shall be none */
	VerbsDevice verbs;
	const DvProvider *dv; /* of its direct verbs; NULL if there is none */
	bool is_isolated;     /* there is no context here: ISOLATED is asked instead */
	Isolated isolated;
	/* read when the first port needs them */
	VerbsGids gids;
	Ipoib *ipoib;
	size_t n_ipoib;
	bool ipoib_read;
} Target;

/* Finds the device with kernel index DEVICE. Only a device that is not there is an error. */
int target_find(Worker *w, uint32_t device, Target *ret);
/* The same, and opens it as far as the policy allows. */
int target_open(Worker *w, uint32_t device, Target *ret);
/* Closes the context, held or not, after it said that its device is gone, and opens a new one:
 * perhaps it is not. */
void target_reopen(Target *t);
void target_close(Target *t);
