/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Walking over an array of a message:
 *
 *	BusWalk w = bus_walk_pairs(m, "sv");
 *
 *	while (bus_walk_named(&w, &key))
 *		w.r = read_value(m, key);
 *	return w.r;
 *
 * A header alone, as bus-open.h.
 */

#include <systemd/sd-bus.h>

#include "util.h"

typedef struct BusWalk {
	sd_bus_message *m;
	char type;	      /* of an entry */
	const char *contents; /* the types in an entry */
	bool is_inside;	      /* an entry has been entered */
	int r;		      /* a negative errno ends the walk: who reads an entry sets it */
} BusWalk;

/* Begin a walk over the array of M that is next: of pairs, or of structures. CONTENTS is a literal,
 * the types in an entry. */
#define bus_walk_pairs(m, contents)	 bus_walk_begin((m), "{" contents "}", 'e', (contents))
#define bus_walk_structures(m, contents) bus_walk_begin((m), "(" contents ")", 'r', (contents))

static inline BusWalk bus_walk_begin(sd_bus_message *m, const char *entry, char type,
				     const char *contents)
{
	return (BusWalk){.m = m,
			 .type = type,
			 .contents = contents,
			 .r = sd_bus_message_enter_container(m, 'a', entry)};
}

/* Enters the next entry. False at the end of the array, which is left then, and after an error; R
 * of W is then 0 or the error. What was not read of the entry before is passed over. */
static inline bool bus_walk_next(BusWalk *w)
{
	int r = w->r;

	while (r >= 0 && w->is_inside && (r = sd_bus_message_at_end(w->m, false)) == 0)
		r = sd_bus_message_skip(w->m, NULL);
	if (r >= 0 && w->is_inside)
		r = sd_bus_message_exit_container(w->m);
	if (r >= 0)
		r = sd_bus_message_enter_container(w->m, w->type, w->contents);
	w->is_inside = r > 0;
	if (r == 0)
		r = sd_bus_message_exit_container(w->m);
	w->r = MIN(r, 0);
	return w->is_inside;
}

/* The same of entries that begin with a text or an object path, which is read into *RET. */
static inline bool bus_walk_named(BusWalk *w, const char **ret)
{
	if (bus_walk_next(w))
		w->r = sd_bus_message_read_basic(w->m, w->contents[0], ret);
	return w->is_inside && w->r >= 0;
}
