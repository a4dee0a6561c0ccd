/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The last argument of every method: a dictionary of options. */

#include <systemd/sd-bus.h>

/* An option that a method takes. TYPE is 's' or 't'; VALUE a const char **, whose text lives as
 * long as the message, or a uint64_t *. */
typedef struct BusOption {
	const char *name;
	char type;
	void *value;
} BusOption;

/*
 * Reads the a{sv} of METHOD, which takes the N options at OPTIONS, and sets the value of each that
 * is there; of one that is there twice the last. An option that is not among them or has another
 * type is an error that names it.
 */
int bus_read_options(sd_bus_message *m, const char *method, const BusOption *options, size_t n,
		     sd_bus_error *error);
