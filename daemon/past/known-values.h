/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The values that a port, or a device, had last, as text, by kinds of evidence: only those that it
 * has had, one behind the other. */

#include "evidence-kind.h"

/* Room for such a value: one that is longer is known as far as this. */
typedef char KnownText[24];

/* All zero: none. */
typedef struct KnownValues {
	unsigned char *bytes; /* of each: kind, length, text with its zero */
	size_t n;	      /* bytes */
} KnownValues;

void known_done(KnownValues *k);
/* The value of KIND; NULL: there is none. It is valid until the next one is set. */
const char *known_get(const KnownValues *k, EvidenceKind kind);
/* TEXT, for which a KnownText has room, is the value of KIND now. Without memory, what was known
 * stays. */
void known_set(KnownValues *k, EvidenceKind kind, const char *text);
