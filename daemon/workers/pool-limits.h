/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* How much and how long the pool of workers puts up with. */

#include "util.h"

/* Events that one worker may send in a second */
#define POOL_EVENTS_MAX 256U
/* Seconds in a row in which it may send more than that */
#define POOL_FLOOD_SECONDS 5U
/* Processes at one time, those that are wedged or about to end included: a limit for a machine on
 * which many processes wait in the kernel and cannot be killed. */
#define POOL_PROCESSES_MAX 256U
/* The last places are only for devices whose last query was answered. */
#define POOL_PROCESSES_KEPT 16U
/* Workers that read in parallel, if there are so many CPUs, and devices in a row that have the same
 * one. To start a worker takes as long as to ask some ten devices, and it needs more than 1 MiB. */
#define POOL_MAIN_MAX	  4U
#define POOL_MAIN_DEVICES 64U
/* How long a query may keep others waiting: the time-out divided by the first number, and by the
 * second in a crisis (pool.h). A crisis begins with the first, and has 8 steps of the second until
 * each of 255 devices has a worker: the healthy ones have been asked before one time-out is over,
 * and time is left to start the workers. On a machine that is slow at the moment the third is the
 * limit in a crisis. */
#define POOL_PATIENCE	     4U
#define POOL_PATIENCE_CRISIS 32U
#define POOL_PATIENCE_SLOW   8U
/* For how long the vendor's library of a device is not asked after it crashed, hung or lied */
#define POOL_LIBRARY_PAUSE_USEC (60 * USEC_PER_SEC)
/* Workers that a device may spoil in a row before it gets one of its own */
#define POOL_PROBATION_FROM 2U

/*
 * Bytes of the entries of the tables of one device, and of all devices together. Counters are not
 * among them: they are in no reply that lists objects.
 *
 * A device: one with 1024 ports, each with 128 P_Keys of 8 bytes and 8 GIDs of 52, has 1440 KiB. An
 * mlx5 device with 2 ports, each with 256 GIDs and 128 P_Keys, has 28 KiB.
 *
 * All: D-Bus allows 64 MiB for a reply, and an entry there is at most four times as long as here
 * (a GID 128 bytes, and 80 more with all that its tail can have). So the tables take 48 MiB of
 * GetManagedObjects() at most, and 16 MiB are left for the rest, 4 kB for each of 4096 ports. There
 * may be more ports (RDMA_PORTS_MAX): those of a device that has so many have few or no GIDs and
 * P_Keys.
 */
#define POOL_DEVICE_TABLES_MAX (1536U * 1024)
#define POOL_TABLES_MAX	       (12U * 1024 * 1024)

typedef struct PoolTiming {
	uint64_t answer_usec; /* a wedged worker is killed after this */
	uint64_t exit_usec;   /* a worker whose connection was closed must have ended after this */
	/* The pause before a wedged device is tried again: it doubles from the first to the second.
	 */
	uint64_t retry_usec, retry_max_usec;
	uint64_t turn_usec; /* the least time between two wedged devices that are tried again */
	/* The pause before the second restart in a row and each that follows, likewise. */
	uint64_t restart_usec, restart_max_usec;
	uint64_t calm_usec;  /* the next restart is without pause again after this time */
	uint64_t queue_usec; /* a query that no worker could take fails after this time */
} PoolTiming;

/* ANSWER is longer than two firmware commands of mlx5, which gives up each after 60 s: a query of a
 * port may take two. */
#define POOL_TIMING_DEFAULT                                                                        \
	{                                                                                          \
		.answer_usec = 150 * USEC_PER_SEC, .exit_usec = 5 * USEC_PER_SEC,                  \
		.retry_usec = USEC_PER_SEC, .retry_max_usec = 600 * USEC_PER_SEC,                  \
		.turn_usec = 50 * USEC_PER_MSEC, .restart_usec = 100 * USEC_PER_MSEC,              \
		.restart_max_usec = 30 * USEC_PER_SEC, .calm_usec = 60 * USEC_PER_SEC,             \
		.queue_usec = 60 * USEC_PER_SEC,                                                   \
	}
