/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* How rdmactl monitor prints what happens: a line for people, or with --json an object on a line.
 */

#include "object.h"
#include "rdmactl.h"

/* Something that happened, to an object or to rdmad. What does not apply is NULL. */
typedef struct News {
	const char *name; /* the member "event" of the JSON object: "changed", "added", ... */
	const Object *object;
	const Attribute *row;		    /* the attribute of OBJECT that changed */
	const Value *old_value, *new_value; /* of ROW; NULL if unavailable */
	const char *absence;		    /* why NEW_VALUE is unavailable: the code */
	const char *text;		    /* printed for people instead of the values */
	const char *reason;		    /* why it happened, as rdmad signalled it */
} News;

/* Prints NEWS with the current time and flushes the output. If a table has changed, people get a
 * line for each entry that went and for each that came. Returns false if the output cannot be
 * written, because its reader has gone. */
bool news_print(const Context *c, const News *news);
