/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Where output goes: a terminal, perhaps through a pager, or anything else without colours. */

#include <libsmartcols/libsmartcols.h>

#include "rdmactl.h"

/* Fills the output fields of C. With PAGER, output is collected until terminal_finish(). */
ExitStatus terminal_start(Context *c, bool pager);
/* Writes what was collected, says what of the output could not be written, and gives the exit
 * status to end with: that, or STATUS. */
ExitStatus terminal_finish(Context *c, ExitStatus status);

/* A table as all commands print it; NULL without memory. */
struct libscols_table *terminal_table(const Context *c);
DEFINE_CLEANUP(struct libscols_table, scols_unref_table);
/* Prints TABLE to C->out behind INDENT blanks. */
ExitStatus terminal_print_table(const Context *c, struct libscols_table *table, int indent);

/* The colour of a port state by its published name; NULL: none. */
const char *terminal_state_color(const char *state);
/* Prints TEXT, the first character in column START, and breaks it at blanks where the line would
 * become longer than C->width. */
void terminal_print_wrapped(const Context *c, const char *text, unsigned int start);

/* The escape sequence that COLOR ("green", ...) begins with, "" without colours; and the one that
 * ends it. */
const char *terminal_color(const Context *c, const char *color);
const char *terminal_plain(const Context *c);
