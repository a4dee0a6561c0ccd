/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A program that the bus starts to answer what rdmad may not see itself. It has one object with one
 * interface, both called as the program is on the bus, and ends when nobody has asked for a while.
 */

#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>

#define HELPER_METHODS_MAX 2U

typedef struct Helper Helper;

typedef struct HelperMethod {
	const char *name;	     /* NULL: there is none */
	const char *takes, *returns; /* its types; it returns an array */
	/* Answers CALL with the entries of that array, which it appends to REPLY. A negative errno,
	 * or 0 or more. */
	int (*answer)(Helper *h, sd_bus_message *call, sd_bus_message *reply, sd_bus_error *error);
} HelperMethod;

struct Helper {
	const char *name, *path;
	HelperMethod methods[HELPER_METHODS_MAX];
	uint64_t idle_usec;	 /* so long after the last call the program ends */
	unsigned int answer_sec; /* who is asked and keeps it waiting so long ends it; 0: nobody */
	/* of the helper itself */
	sd_event_source *idle;
	sd_bus_vtable vtable[HELPER_METHODS_MAX + 2];
};

/* Serves until nobody has called for a while. Nobody of the same user sees what this process may
 * see. If ERROR, which is that of the preparations, is negative, nobody is served. An error is
 * printed after the name of PROGRAM. Returns the exit status of the program. */
int helper_main(Helper *h, const char *program, int error);
/* Says that the program takes no ARGUMENT, and returns its exit status. */
int helper_refuse_argument(const char *argument);
