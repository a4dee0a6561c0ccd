/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The descriptions of processes, from rdmad-processes (daemon/processes/processes-main.c), which
 * sees them and is started by the bus. rdmad does not see them. */

#include "bus.h"

/* Asks about the processes in HOLDERS of which nothing is known. HANDLER gets the answer, an error
 * too, once, unless *RET, which the caller frees, is freed before; it must be freed before B. 0:
 * there is nothing to ask. 1: asked. A negative errno. */
int bus_ask_processes(Bus *b, const Table *holders, sd_bus_message_handler_t handler,
		      void *userdata, sd_bus_slot **ret);
/*
 * Fills in HOLDERS what ANSWER says, and joins the entries of threads of one process. A process
 * that started after BOOTTIME_USEC (CLOCK_BOOTTIME), when the kernel was asked for the holders, is
 * not the one that the kernel meant: its number was used again. -EBADMSG if ANSWER is no answer;
 * then nothing more is known.
 */
int bus_take_processes(sd_bus_message *answer, Table *holders, uint64_t boottime_usec);
