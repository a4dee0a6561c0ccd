/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The modules in the cages of ports, from rdmad-cable (daemon/cable/cable-main.c), which may read
 * them and is started by the bus. rdmad has no right to. */

#include "bus.h"
#include "port.h"

/* Asks for the module of the interface IFINDEX. HANDLER and *RET are as those of
 * bus_ask_neighbors(). */
int bus_ask_module(Bus *b, uint32_t ifindex, sd_bus_message_handler_t handler, void *userdata,
		   sd_bus_slot **ret);
/* Fills *RET with READ_CABLE of what ANSWER says; if that is a negative errno, also with what the
 * error leaves: -EOPNOTSUPP: modules are not read here; another: this one could not be. */
int bus_take_module(sd_bus_message *answer, PortSnapshot *ret);
