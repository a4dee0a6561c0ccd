/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The GID table of a port, wherever its values are from. */

#include "object.h"
#include "table.h"

/* A walk over the entries:
 *
 *	GidWalk w = gid_walk(port);
 *
 *	for (const GidEntry *e; (e = gid_next(&w));)
 */
typedef struct GidWalk {
	const Table *table;  /* of an object with a source */
	const Value *values; /* of one without */
	size_t i;
	GidEntry read; /* the entry of VALUES before I */
} GidWalk;

/* Begins a walk. It has no entries if the table of PORT is unavailable, or PORT is NULL. */
GidWalk gid_walk(const Object *port);
/* The next entry, which is valid until the next call; NULL at the end. An entry that is none, as
 * only a later rdmad could send it, is passed over. */
const GidEntry *gid_next(GidWalk *w);
