/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Why something has no value: the rows of unavailable.def. */

#include <stdbool.h>

typedef enum UnavailableCode {
#define UNAVAILABLE(name, ...) UNAVAILABLE_##name,
#include "unavailable.def"
#undef UNAVAILABLE
	_UNAVAILABLE_MAX
} UnavailableCode;

/* A row. There is one of each, so that two reasons are the same if their pointers are. */
typedef struct Unavailable {
	char code[20]; /* "link-down" */
	char text[91]; /* "the link is down" */
	bool on_bus;   /* rdmad can say it; otherwise only librdmad-glib does */
} Unavailable;

extern const Unavailable unavailable_rows[_UNAVAILABLE_MAX];

/* The row of CODE; NULL if it is not in the table. */
const Unavailable *unavailable_find(const char *code);
/* The text for people of CODE. A code that is not in the table, of a later rdmad, is its own text.
 */
const char *unavailable_text(const char *code);
