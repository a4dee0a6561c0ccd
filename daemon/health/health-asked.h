/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What each check has asked for until now, and so after which changes it is to look again. */

#include "checks.h"

/* A set of checks, by their places in checks[]: as a set of rows, it has room for them. */
typedef AttrMask CheckSet;

#define CHECKS_MAX	   (64U * ATTR_MASK_WORDS)
#define CHECK_PLACE(check) ((unsigned int)((check)-checks))

/* What one look has asked for. A device that it looks at with a port is the port's own. */
typedef struct Asked {
	AttrMask port, device;		   /* of what it looks at */
	AttrMask other_port, other_device; /* of others */
	bool evidence, counters;
	bool time; /* what it says may be another thing later */
} Asked;

typedef struct AskedBy {
	Asked any;   /* what any check has asked for */
	Asked *last; /* [n_checks]: what each check has asked for last */
	/* by row: who has asked for it */
	CheckSet port[_PORT_ATTR_MAX], device[_DEVICE_ATTR_MAX];
	CheckSet other_port[_PORT_ATTR_MAX], other_device[_DEVICE_ATTR_MAX];
	CheckSet evidence, counters, time;
	CheckSet others;	     /* who has asked for something of others */
	CheckSet of_device, of_port; /* those of these scopes */
} AskedBy;

/* A is all zero until then. -ENOMEM. */
int asked_begin(AskedBy *a);
void asked_done(AskedBy *a);
/* CHECK has asked for NOW. */
void asked_note(AskedBy *a, const Check *check, const Asked *now);
/* Who has asked for one of ROWS, by BY: a member of AskedBy. */
CheckSet asked_who(const CheckSet *by, AttrMask rows);
