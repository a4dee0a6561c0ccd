/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Calls to rdmad about ports, and the meanings of its errors. Nothing here prints. */

#include "object.h"

/* Calls GetManagedObjects(): all devices and ports. They come with one reply, so they are of one
 * moment. */
int ports_read(sd_bus *bus, ObjectList *ret, sd_bus_error *error);

/* Calls ListPorts(): all ports. They have the attributes that each reply has and those of
 * PROPERTIES, the names of properties of ports or devices, of which NULL is the last. A value that
 * a port does not have is not there. Devices are there only if they have one of the properties. */
int ports_list(sd_bus *bus, const char *const *properties, ObjectList *ret, sd_bus_error *error);
/* Calls GetAll(): adds the device or port at PATH to L, unless it is there. */
int ports_read_one(sd_bus *bus, const char *path, ObjectList *l, sd_bus_error *error);
/* The same for the device of PORT. */
int ports_read_device(sd_bus *bus, const Object *port, ObjectList *l, sd_bus_error *error);

/* Adds the entry KEY to a dictionary a{sv}, which is open in M: the texts, of which NULL is the
 * last. */
int ports_append_texts(sd_bus_message *m, const char *key, const char *const *texts);

/* The ports that rdmad finds by a name or an address, by their object paths. */
typedef struct FoundPaths {
	struct FoundPath {
		char *path;
		char *netdev; /* the network interface that was meant; "": none */
		uint32_t gid; /* the index of the GID; UINT32_MAX: no address was given */
	} * items;
	size_t n;
} FoundPaths;

void found_paths_done(FoundPaths *f);
/* Calls FindPorts() for WHAT as the user wrote it. BY is the only kind of name that is meant, such
 * as "address"; NULL: any. To find no port is no error. */
int ports_find(sd_bus *bus, const char *what, const char *by, FoundPaths *ret, sd_bus_error *error);
/* The same for any kind of name. Adds the ports that are found to L: with ALL their values, or else
 * with those of ListPorts(), and with PROPERTIES, as ports_list() does. */
int ports_find_objects(sd_bus *bus, const char *what, bool all, const char *const *properties,
		       ObjectList *l, FoundPaths *ret, sd_bus_error *error);

/* Whether the connection has ended: also that of ssh, before anything was read (EPIPE) or later. */
bool error_is_lost(int r);
/* Whether the error means that there is no rdmad: the bus could not start it, or systemd could not,
 * or the connection was lost. */
bool error_is_absence(const sd_bus_error *error, int r);
/* Why there is no rdmad, by the name of the error: "is not running". NULL if the error has another
 * meaning, or is NULL or not set. */
const char *error_absence(const sd_bus_error *error);
/* Whether the error is that there is no such port. */
bool error_is_no_port(const sd_bus_error *error);
