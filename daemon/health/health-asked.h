/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What each check has asked for until now, and so after which changes it is to look again. */

#include "checks.h"

/* A set of checks, by their places in checks[]: as a set of rows, it has room for them. */
typedef AttrMask CheckSet;

#define CHECKS_MAX	   (64U * ATTR_MASK_WORDS)
#define CHECK_PLACE(check) ((unsigned int)((check)-checks))

/* Whose rows a look asks for: of what it looks at, and of others. A device that it looks at with a
 * port is the port's own. */
typedef enum AskedOf {
	ASKED_PORT,
	ASKED_DEVICE,
	ASKED_OTHER_PORT,
	ASKED_OTHER_DEVICE,
	_ASKED_MAX
} AskedOf;

/* What one look has asked for. */
typedef struct Asked {
	AttrMask rows[_ASKED_MAX];
	bool evidence, counters;
	bool time; /* what it says may be another thing later */
} Asked;

typedef struct AskedBy {
	AttrMask any[_ASKED_MAX];	  /* what any check has asked for */
	AttrMask (*by_check)[_ASKED_MAX]; /* [n_checks]: what each of them has; NULL: nothing */
	CheckSet evidence, counters, time;
	CheckSet others;	     /* who has asked for something of others */
	CheckSet of_device, of_port; /* those of these scopes */
} AskedBy;

/* A is all zero until then. */
void asked_begin(AskedBy *a);
/* To be called before a check looks at a device; further calls do nothing. -ENOMEM. */
int asked_reserve(AskedBy *a);
void asked_done(AskedBy *a);
/* CHECK has asked for NOW. */
void asked_note(AskedBy *a, const Check *check, const Asked *now);
/* Who has asked for one of ROWS of OF. */
CheckSet asked_who(const AskedBy *a, AskedOf of, AttrMask rows);
