/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What each check has asked for until now, and so after which changes it is to look again. */

#include "checks.h"

/* A mask of 1 << place in checks[] */
typedef uint64_t CheckSet;

#define CHECKS_ALL	 UINT64_MAX
#define CHECK_BIT(check) (UINT64_C(1) << ((check)-checks))

/* What one look has asked for. A device that it looks at with a port is the port's own. */
typedef struct Asked {
	AttrMask port, device;		   /* of what it looks at */
	AttrMask other_port, other_device; /* of others */
	bool evidence, counters;
	bool time; /* what it says may be another thing later */
} Asked;

typedef struct AskedBy {
	Asked any;	/* what any check has asked for */
	Asked last[64]; /* by check: what it has asked for last */
	/* by row: who has asked for it */
	CheckSet port[_PORT_ATTR_MAX], device[_DEVICE_ATTR_MAX];
	CheckSet other_port[_PORT_ATTR_MAX], other_device[_DEVICE_ATTR_MAX];
	CheckSet evidence, counters, time;
	CheckSet others;	     /* who has asked for something of others */
	CheckSet of_device, of_port; /* those of these scopes */
} AskedBy;

/* A is all zero until then. */
void asked_begin(AskedBy *a);
/* CHECK has asked for NOW. */
void asked_note(AskedBy *a, const Check *check, const Asked *now);
/* Who has asked for one of ROWS, by BY: a member of AskedBy. */
CheckSet asked_who(const CheckSet *by, AttrMask rows);
