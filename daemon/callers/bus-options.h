/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The last argument of every method: a dictionary of options. A call may leave it out. */

#include <systemd/sd-bus.h>

#include "util.h"

/*
 * An option that a method takes. By TYPE, VALUE is
 *   's'  a const char **, whose text lives as long as the message
 *   'u'  a uint32_t *
 *   't'  a uint64_t *
 *   'b'  an int *
 *   'a'  a BusTexts *: as, of MAX texts at most. More are refused, and what comes after them is not
 *        even read.
 */
typedef struct BusOption {
	const char *name;
	char type;
	void *value;
} BusOption;

/* The value of an option of type as. */
typedef struct BusTexts {
	unsigned int max; /* how many there may be; set by the caller */
	char **texts;	  /* NULL-terminated; NULL: the option is not there */
} BusTexts;

void bus_texts_done(BusTexts *t);

/*
 * Reads the a{sv} of METHOD, which takes the N options at OPTIONS (64 at most), and sets the value
 * of each that is there; there are none where M ends. An option that is not among them, has another
 * type or is there twice is an error that names it.
 */
int bus_read_options(sd_bus_message *m, const char *method, const BusOption *options, size_t n,
		     sd_bus_error *error);
