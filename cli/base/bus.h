/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The connection to rdmad, and what its errors mean for the user. */

#include "ports.h"
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

/* All devices and ports. They come with one reply, so they are of one moment. */
ExitStatus bus_read_objects(sd_bus *bus, ObjectList *ret);

/* Whether the device nodes that rdmad publishes are nodes of this machine: not if rdmad runs on
 * another machine or in a container, and not if the devices are simulated. */
bool bus_is_local(const Context *c);
