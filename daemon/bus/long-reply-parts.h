/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The body of a reply with a part for each device, written a few parts at a time, so that with
 * thousands of ports nobody waits until all of it is written.
 *
 * The whole body still is what is published at the moment at which it is finished: a device that
 * changes meanwhile is noted, and its part is written again at the end.
 */

#include "long-reply-kinds.h"

typedef struct LongReplyParts {
	const LongReplyRow *row; /* NULL: nothing is being written */
	BusWriter w;		 /* the body so far */
	struct LongReplyPart {
		const Device *device;
		size_t begin, size; /* in the body, without the zeros behind it */
		bool stale;	    /* the device has changed since */
	} * parts;
	size_t n;
	bool hurried; /* devices have come or gone once: from now on all parts are written at once
		       */
} LongReplyParts;

/* Begins the body of the reply ROW, which has parts. */
void long_reply_parts_begin(LongReplyParts *p, const LongReplyRow *row);
/* Writes at least one part, and more until UNTIL on CLOCK_MONOTONIC. Returns whether the body is
 * finished, or cannot be: bus_writer_error(). */
bool long_reply_parts_write(LongReplyParts *p, const Cache *c, uint64_t until);
/* D, or a port of it, is published otherwise than before. */
void long_reply_parts_changed(LongReplyParts *p, const Device *d);
/* A device has come or is about to go. */
void long_reply_parts_moved(LongReplyParts *p);
void long_reply_parts_done(LongReplyParts *p);
