/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The output: to a terminal with colours, perhaps through a pager, or to anything else without
 * colours. */

#include "object.h"
#include "rdmactl.h"

/* Fills the output fields of C. With PAGER, output is collected until terminal_finish(). */
ExitStatus terminal_start(Context *c, bool pager);
/* Shows what was collected, or puts it into the buffer of standard output. */
void terminal_finish(Context *c);
/* Writes what is in the buffer of standard output. Returns STATUS; or STATUS_FAILED, and says why,
 * if something could not be written. A closed pipe is no error. */
ExitStatus terminal_flush(ExitStatus status);

/* The heading of a column for an attribute or a member called NAME: "FirmwareVersion" and
 * "firmware_version" become "FIRMWARE VERSION". */
void terminal_heading(const char *name, char *ret, size_t size);

/* The colour of a port state, which is given by its published name; NULL if it has none. */
const char *terminal_state_color(const char *state);
/* The colour of the state of PORT, which may be stale; NULL if it has none. */
const char *terminal_port_color(const Object *port);
/* Prints TEXT and the end of the line. The output is in column START already; TEXT is broken at
 * blanks into lines that begin there and are not longer than C->width. If there is little room on
 * the right of START, TEXT begins on a line of its own. */
void terminal_print_wrapped(const Context *c, const char *text, unsigned int start);

/* The escape sequences that begin COLOR ("green", ...; NULL for none) and end it; "" without
 * colours. */
const char *terminal_color(const Context *c, const char *color);
const char *terminal_plain(const Context *c);
