/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A program that the bus starts to answer what rdmad may not see itself. It has one object with one
 * interface, both called as the program is on the bus, and ends when nobody has asked for a while.
 */

#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>

#define HELPER_METHODS_MAX 2U

typedef struct HelperMethod {
	const char *name;		 /* NULL: there is none */
	const char *takes, *returns;	 /* its types */
	sd_bus_message_handler_t answer; /* gets the Helper */
} HelperMethod;

typedef struct Helper {
	const char *name, *path;
	HelperMethod methods[HELPER_METHODS_MAX];
	uint64_t idle_usec; /* so long after the last call the program ends */
	/* of the helper itself */
	sd_event_source *idle;
	sd_bus_vtable vtable[HELPER_METHODS_MAX + 2];
} Helper;

/* Serves until nobody has called helper_note_call() for a while. Nobody of the same user sees what
 * this process may see. If ERROR, which is that of the preparations, is negative, nobody is served.
 * An error is printed after the name of PROGRAM. Returns the exit status of the program. */
int helper_main(Helper *h, const char *program, int error);
/* A call has come. */
void helper_note_call(Helper *h);
