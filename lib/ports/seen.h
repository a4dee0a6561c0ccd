/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What a port and its device have shown beside the states: the entries of GetEvidence(), or what
 * they are made of. */

#include "value.h"

typedef struct Seen {
	uint64_t realtime_usec, monotonic_usec;
	const char *what, *from, *to, *reason; /* "": none */
} Seen;

/* From where the entries come. All zero: there are none. */
typedef struct SeenSource {
	bool (*read)(const void *of, size_t i, Seen *ret); /* as seen_read() */
	const void *of;
} SeenSource;

/* The entries of EVIDENCE, the reply of GetEvidence(), which may be NULL or of another type. One
 * that has another form is empty. */
SeenSource seen_in(const Value *evidence);

/* Reads entry I of S, whose texts *RET points to; the time of an empty one is 0. False: there is no
 * such entry. */
bool seen_read(const SeenSource *s, size_t i, Seen *ret);

/* Whether E is a change of WHAT from a number to another one, which these are. */
bool seen_numbers(const Seen *e, const char *what, uint64_t *ret_from, uint64_t *ret_to);

/* The text of an entry of a table without its index: "fe80::1" of "[3] fe80::1". */
const char *seen_without_index(const char *text);
