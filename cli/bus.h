/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The connection to rdmad, and what its errors mean for the user. */

#include "object.h"
#include "rdmactl.h"

/* Connects to the system bus: of HOST, of the local container MACHINE, or of this machine if both
 * are NULL. */
ExitStatus bus_connect(const char *host, const char *machine, sd_bus **ret);

/* Says why "WHAT: ..." failed; the error's name decides the exit status. */
ExitStatus bus_complain(const char *what, const sd_bus_error *error, int r);

/* Whether the error is that there is no rdmad: the bus, or systemd asked by the bus, could not
 * start it; or the connection turned out to lead nowhere. */
bool bus_is_absence(const sd_bus_error *error, int r);

/* Whether the error is that there is no such port. */
bool bus_is_no_port(const sd_bus_error *error);

/* All devices and ports, from one reply and so from one moment. */
ExitStatus bus_read_objects(sd_bus *bus, ObjectList *ret);

/* The object path of PORT as the user wrote it: without a word, or saying what is wrong. */
int bus_get_port(sd_bus *bus, const char *port, char **ret_path, sd_bus_error *error);
ExitStatus bus_find_port(sd_bus *bus, const char *port, char **ret_path);
