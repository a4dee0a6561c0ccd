/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What a ping prints. */

#include "ping-chain.h"

/* A peer, and how the tries have ended: DONE or BROKEN. */
typedef struct PingResult {
	PingWay way;
	PingState *tries;
	size_t n, n_answered;
} PingResult;

/* Prints the way, a line. */
void ping_print_way(FILE *f, const PingWay *way);
/* Prints the last try, a line. */
void ping_print_try(FILE *f, const PingResult *r);
/* Prints a line if packets of the path MTU are lost. */
void ping_print_mtu(FILE *f, const PingWay *way);
/* Prints it as entry I of the list in JSON. */
void ping_print_json(FILE *f, const PingResult *r);
