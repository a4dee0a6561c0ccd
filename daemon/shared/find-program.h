/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Finds the other programs of rdmad. */

/* Returns the path of the program NAME, such as "rdmad-query": in the directory of the running
 * executable if the program is there, as in a build tree, otherwise in the directory where it is
 * installed. The caller frees it. NULL: no memory. */
char *find_program(const char *name);
