/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The other ends of links, from rdmad-neighbors (daemon/neighbors/neighbors-main.c), which asks
 * lldpd and is started by the bus. rdmad has no right to ask lldpd. */

#include "bus.h"
#include "port.h"

/* Asks for all of them. HANDLER gets the answer, an error too, once, unless *RET, which the caller
 * frees, is freed before; it must be freed before B. 0, or a negative errno. */
int bus_ask_neighbors(Bus *b, sd_bus_message_handler_t handler, void *userdata, sd_bus_slot **ret);
/*
 * Begins to read ANSWER at NOW_USEC (CLOCK_REALTIME). 0, or a negative errno: it is no answer.
 * bus_next_neighbor() fills *RET with READ_NEIGHBOR of the other end of the link of INTERFACE,
 * without numbers that cannot be: 1; 0: there are no more; a negative errno.
 */
int bus_take_neighbors(sd_bus_message *answer);
int bus_next_neighbor(sd_bus_message *answer, uint64_t now_usec, const char **ret_interface,
		      PortSnapshot *ret);
