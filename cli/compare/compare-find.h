/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * How machines differ from the others of their kind. If more than half of the machines with a
 * device or a port agree on a value, the value is expected of all of them.
 */

#include "compare-kinds.h"

typedef enum DifferenceType {
	DIFFERENCE_MISSING,    /* the machine has no such device or port; most have one */
	DIFFERENCE_UNEXPECTED, /* it has one; most have none */
	DIFFERENCE_VALUE,      /* an attribute has another value */
	DIFFERENCE_UNDECIDED,  /* no value has a majority, or half of the machines have the thing */
} DifferenceType;

#define NO_MEMBER SIZE_MAX

typedef struct Difference {
	DifferenceType type;
	const Kind *kind;
	size_t place;	      /* in the kind */
	size_t member;	      /* in the kind; NO_MEMBER if it is undecided */
	const Attribute *row; /* NULL: it is about the device or the port itself */
	const Object *object; /* of the machine; NULL: it has none */
	const Object *usual;  /* one that has the expected value; NULL: nothing is expected */
	size_t agree, all;    /* so many of so many machines are as expected */
	bool is_absent;	      /* the attribute has no value on one of the two */
	size_t cause;	      /* of which difference this one is a part; itself: of none */
} Difference;

typedef struct Differences {
	Difference *items; /* those of one machine of a kind are together */
	size_t n;
} Differences;

/* Which attributes are left out, beside those that are never compared. */
typedef struct IgnoredRows {
	bool port[_PORT_ATTR_MAX], device[_DEVICE_ATTR_MAX];
} IgnoredRows;

/* Compares the machines of each kind. The differences have no causes yet:
 * differences_find_causes(). */
ExitStatus differences_find(const Kinds *k, const IgnoredRows *ignored, Differences *ret);
void differences_done(Differences *d);
/* Adds a copy of NEW, which has no cause yet. -ENOMEM. */
int differences_add(Differences *d, const Difference *new);
#define _cleanup_differences_ _cleanup_(differences_done)

/* An object at P whose attribute ROW is as on most machines that have the property there, in
 * *RET_AGREE of *RET_ALL; NULL if there is no such majority. *RET_ALL is 0 if no more than half of
 * the objects have the property. The value may be that there is none. */
const Object *find_majority(const Kind *k, const Place *p, size_t row, size_t *ret_agree,
			    size_t *ret_all);
/* Whether ROW of both has the same value, or none on both. */
bool same_value(const Object *a, const Object *b, size_t row);
