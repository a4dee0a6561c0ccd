/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Many devices of rdma_sim of which most hang, and the service rdmad beside them: one wedged
 * firmware with many virtual functions. Those that hang were added first, so they are asked first.
 * Every function fails the test if something does not happen within minutes. Times are in ms.
 */

#include "fabric.h"

typedef struct Crowd {
	Fixture *f;
	/* Hears the healthy ports alone: to read what comes of hundreds that become stale takes the
	 * test a tenth of a second, in which it would not read of a change. */
	Fixture *healthy;
	unsigned int n_hung, n_healthy;	    /* "hung0" and so on, "sim0" and so on: a port each */
	uint32_t first_hung, first_healthy; /* their kernel indexes; those of the others follow */
	unsigned int processes;		    /* the most that the service has had */
	unsigned int lid;		    /* that was set last */
} Crowd;

/* When something was so, counted from the moment when systemd has executed rdmad. */
typedef struct CrowdStart {
	double name;	/* the name org.rdma was on the bus */
	double healthy; /* every healthy port was there, fresh, with its state */
	double started; /* READY=1: "systemctl start" succeeds */
} CrowdStart;

typedef struct CrowdUsage {
	unsigned int processes; /* of the service, now */
	/* Memory in KiB: of the core, and of all workers together (PSS); of the whole service with
	 * all that the kernel counts for it, the most that there was. */
	unsigned long core, workers, peak;
} CrowdUsage;

/* Stops the service and removes all devices; adds others, all of which answer; writes rdmad.conf.
 * TOGETHER: those that will hang are of one adapter. If not, each device is one of its own. */
Crowd *crowd_new(Fixture *f, unsigned int n_hung, unsigned int n_healthy, bool together,
		 const char *configuration);
void crowd_free(Crowd *c);
/* Stops the service. Nothing may hang. */
void crowd_stop(Crowd *c);
/* From now on the first N_HUNG devices hang: processes that ask them are in state D. Then, with
 * EVENT, each sends an event that makes rdmad ask. */
void crowd_hang(const Crowd *c, bool event);
/* They go on, without an event. */
void crowd_heal(const Crowd *c);
/* systemctl start, which has to succeed, and until all healthy ports are published. */
CrowdStart crowd_start(Crowd *c);
/* The healthy device number I gets another LID, and says so. Does not wait. */
void crowd_change(Crowd *c, unsigned int i);
/* Waits for the signal with the last LID of each healthy device in MASK. RET_MS has a time for
 * each, counted from BEGIN. It may be NULL. */
void crowd_wait_changes(Crowd *c, unsigned int mask, double begin, double *ret_ms);
/* Waits until all devices that hang are stale, or that none is. */
void crowd_wait_stale(Crowd *c, bool stale);
CrowdUsage crowd_usage(Crowd *c);
