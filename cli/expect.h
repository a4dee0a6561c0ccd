/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What ports are expected to be, for rdmactl check: lines KEY = VALUE, those of a file below
 * headings [GLOB] for the ports, devices or network interfaces with such names, all others for
 * every port. A key is an attribute of a port or of its device by its property name; numbers that
 * count something (rates, bytes, lanes, entries) and link speeds are the least that will do, text
 * is a glob, a list names what must be in it, and a table must have an entry with that member. Of
 * several lines about one value of one port the last counts. Two keys are none: Ports, how many
 * ports the heading stands for, and Ignore, the checks to leave out.
 */

#include "object.h"
#include "rdmactl.h"

typedef enum ExpectationKind {
	EXPECT_ATTRIBUTE,
	EXPECT_PORTS,
	EXPECT_IGNORE,
	EXPECT_SECTION, /* the heading itself: there is such a port */
} ExpectationKind;

typedef struct Expectation {
	ExpectationKind kind;
	const char *glob;     /* NULL: every port */
	const Attribute *row; /* NULL but for ATTRIBUTE */
	bool of_device;	      /* ROW is the device's */
	const char *text;     /* the value as it was written */
	uint64_t number;      /* what it stands for, where that is a number, code or boolean */
	char *place;	      /* "FILE:LINE" */
} Expectation;

typedef struct Expectations {
	bool (*is_check)(const char *name); /* which names Ignore may have; the caller sets it */
	bool given;			    /* there are some, though perhaps in an empty file */
	Expectation *items;
	size_t n;
	char **texts; /* what the items point to */
	size_t n_texts;
} Expectations;

/* Adds ARGUMENT: KEY=VALUE, or the path of a file. Says what is wrong with it, in a file with the
 * line. */
ExitStatus expect_add(Expectations *e, const char *argument);

/* Whether E is about PORT. */
bool expectation_applies(const Expectation *e, const Object *port);
/* Whether the attribute of O, the port or its device, is as expected; an unavailable one is not. */
bool expectation_holds(const Expectation *e, const Object *o);
/* What is expected, as people read it: "at least 400 Gb/s"; NULL without memory. */
char *expectation_format(const Expectation *e);
