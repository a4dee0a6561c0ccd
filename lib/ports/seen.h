/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The entries of GetEvidence(): what a port and its device have shown beside the states. */

#include "value.h"

typedef struct Seen {
	uint64_t realtime_usec, monotonic_usec;
	const char *what, *from, *to, *reason; /* "": none */
} Seen;

/* Reads entry I of EVIDENCE, the reply of GetEvidence(), whose texts *RET points to; an entry that
 * has another form is empty, and its time is 0. EVIDENCE may be NULL or of another type. False:
 * there is no such entry. */
bool seen_read(const Value *evidence, size_t i, Seen *ret);

/* The text of an entry of a table without its index: "fe80::1" of "[3] fe80::1". */
const char *seen_without_index(const char *text);
