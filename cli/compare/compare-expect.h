/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Makes an expectation file (rdmactl check --expect) of what most machines of a kind have: how many
 * ports there are, the names of these, and the attributes on which there is a majority. An
 * attribute that is the same for all ports is written once, before the first heading.
 */

#include "compare-find.h"

/* Writes the lines of such a file. Each is shorter than EXPECT_LINE_MAX. */
void compare_put_expect(FILE *f, const Kind *k, const IgnoredRows *ignored);
/* Writes the file PATH, or, if there is more than one kind, a file PATH.NAME for each kind. Says
 * what went wrong. */
ExitStatus compare_write_expect(const Kinds *k, const IgnoredRows *ignored, const char *path);
