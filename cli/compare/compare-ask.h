/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Asks many machines at one time. Each is asked as rdmactl -H asks one: ssh runs
 * systemd-stdio-bridge there, which connects to the system bus. ssh asks for no password
 * (BatchMode), because many would be asked for at once.
 */

#include "compare-machines.h"

typedef struct AskLimits {
	unsigned int jobs; /* so many machines at once */
	uint64_t usec;	   /* so long for each */
} AskLimits;

#define ASK_LIMITS_USUAL                                                                           \
	{                                                                                          \
		.jobs = 32, .usec = 10 * USEC_PER_SEC                                              \
	}

/* Reads the devices and ports of all machines. One that does not answer gets a reason, and is no
 * error. How many have been asked is shown on standard error, if that is a terminal. */
ExitStatus machines_ask(Machines *m, const AskLimits *limits);
