/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The connection to rdmad, and what its errors mean for the user. */

#include "object.h"
#include "rdmactl.h"

/* Connects to the bus on which the options say that rdmad is. */
ExitStatus bus_connect(const Context *c, sd_bus **ret);

/* Prints "WHAT: " and why it failed. The name of ERROR decides the exit status that is returned. */
ExitStatus bus_complain(const char *what, const sd_bus_error *error, int r);

/* Ends a command whose event loop, to which the connection of C is attached, has returned R; a
 * negative R may also come from before it. Says what went wrong with WHAT; otherwise returns
 * STATUS.
 */
ExitStatus bus_end_loop(Context *c, const char *what, int r, ExitStatus status);

/* Whether the error means that there is no rdmad: the bus could not start it, or systemd could not,
 * or the connection was lost. */
bool bus_is_absence(const sd_bus_error *error, int r);

/* Why there is no rdmad, by the name of the error: "is not running". NULL if the error has another
 * meaning, or is NULL or not set. */
const char *bus_absence(const sd_bus_error *error);

/* Whether the error is that there is no such port. */
bool bus_is_no_port(const sd_bus_error *error);

/* All devices and ports. They come with one reply, so they are of one moment. */
ExitStatus bus_read_objects(sd_bus *bus, ObjectList *ret);

/* Whether the device nodes that rdmad publishes are nodes of this machine: not if rdmad runs on
 * another machine or in a container, and not if the devices are simulated. */
bool bus_is_local(const Context *c);

/* Adds the entry KEY to a dictionary a{sv}, which is open in M: the texts, of which NULL is the
 * last.
 */
int bus_append_texts(sd_bus_message *m, const char *key, char **texts);

/* The ports that rdmad finds by a name or an address, by their object paths. */
typedef struct FoundPaths {
	char **paths;
	uint32_t *gids; /* the index of the GID that holds the address; UINT32_MAX: it has none */
	char **netdevs; /* the network interface that was meant; "": none */
	size_t n;
} FoundPaths;

void bus_found_done(FoundPaths *f);
/* Calls FindPorts() for WHAT as the user wrote it; with BY, what it has to be, unless that is NULL.
 * None is no error. Prints nothing: the reason of a failure is in ERROR. */
int bus_find_ports(sd_bus *bus, const char *what, const char *by, FoundPaths *ret,
		   sd_bus_error *error);
