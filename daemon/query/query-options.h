/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The command line of rdmad-query. */

#include "query-dv.h"

typedef struct Options {
	int fd;		       /* the socket to the core, or to the worker */
	PolicyOptions policy;  /* which devices may be opened */
	uint64_t timeout_usec; /* after what time without an answer the core gives up */
	const DvProvider
		*isolated; /* not NULL: answer a worker about one device of this provider */
	bool nursery;	   /* fork workers (nursery.h) */
	const char *query; /* not NULL: NAME[/PORT] of what to print, instead of serving */
} Options;

#define OPTIONS_DEFAULT                                                                            \
	{                                                                                          \
		.fd = 3, .policy = {.hold = true}, .timeout_usec = 2 * USEC_PER_SEC,               \
	}

/* Takes the options into O, which has the defaults before. 1: go on; 0: help or version was
 * printed, and that is all; a negative errno: logged. The texts belong to ARGV. Call options_done()
 * after. */
int options_parse(int argc, char *argv[], Options *o);
void options_done(Options *o);
