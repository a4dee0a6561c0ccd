/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The methods that objects on the bus have, out of their introspection: a method that is new has
 * its place in the harness by itself. */

#include "fuzz.h"

/* A method of one object. */
typedef struct BusMethod {
	char path[64], interface[64], member[64];
	char in[32], out[32]; /* signatures */
} BusMethod;

typedef struct BusMethods {
	BusMethod methods[128];
	size_t n_methods;
	/* names of interfaces, methods and properties, each once */
	char words[200][64];
	size_t n_words;
} BusMethods;

/* Adds what XML, the introspection of the object at PATH, has. */
void bus_methods_add(BusMethods *b, const char *path, const char *xml);
