/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Where the other programs of rdmad are. */

/* The path of the program NAME ("rdmad-query"): beside the running executable, as in a build tree,
 * or else where it is installed. For the caller to free; NULL: no memory. */
char *find_program(const char *name);
