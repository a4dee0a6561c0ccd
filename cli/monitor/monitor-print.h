/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* How rdmactl monitor prints what happens: a line for people, or with --json an object on a line.
 */

#include "object.h"
#include "rdmactl.h"

/* Something that happened, to an object or to rdmad. A member that does not apply is NULL. */
typedef struct News {
	const char *name; /* the member "event" of the JSON object: "changed", "added", ... */
	const Object *object;
	const Attribute *row;		    /* the attribute of OBJECT that changed */
	const Value *old_value, *new_value; /* of ROW; NULL if unavailable */
	const char *absence;		    /* why NEW_VALUE is unavailable: the code */
	const char *detail;		    /* printed for people behind the values */
	size_t more;			    /* so many other attributes changed because of this */
	uint64_t changed_usec; /* when rdmad noticed it, CLOCK_REALTIME; 0: it has not said so */
	const char *text;      /* printed for people instead of the values */
	const char *reason;    /* why it happened, as rdmad signalled it */
} News;

/* Whether a line has the date beside the time. */
typedef struct NewsDate {
	bool always;  /* otherwise only the first line of a day, but not the first line */
	int last_day; /* of the last line; 0: there was none */
} NewsDate;

/* Prints NEWS with the time of rdmad or else the current time, and flushes the output. If a table
 * has changed, people get a line for each entry that went and for each that came. Returns false if
 * the output cannot be written, because its reader has gone. */
bool news_print(const Context *c, NewsDate *date, const News *news);
