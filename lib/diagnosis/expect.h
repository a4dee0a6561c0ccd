/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Expectations of ports, for rdmactl check. An expectation is a line KEY = VALUE.
 *
 * A line of a file that stands below a heading [GLOB] applies to the ports with such a name, and to
 * those on a device or with a network interface of such a name. In place of GLOB or beside it, with
 * ',' between, a heading can have attributes of the port or its device: [Function = vf]. All other
 * lines apply to every port.
 *
 * KEY is an attribute of a port or of its device, by the name of its property. A number that counts
 * something (a rate, bytes, lanes, entries) and a link speed must be at least VALUE; in a heading
 * they must be equal to it. For text, VALUE is a glob; for a list, names that must all be in it;
 * for a table, a member that one of its entries must have. If several lines give one attribute of a
 * port a value, the last line counts.
 *
 * KEY can also be a counter, as GetCounters names it: one that rdmad knows, or hw_counter.NAME for
 * any in hw_counters/. A counter, and an attribute that is a number or a version, can be compared
 * with <, <=, > and >= too. VALUE of a counter can be NUMBER/TIME, such as 10/1h: by how much it
 * grows.
 *
 * Two keys are no attributes: Ports says to how many ports the heading applies, and Ignore names
 * checks to leave out.
 */

#include "object.h"

/* A line of a file has fewer bytes than this, with its end. */
#define EXPECT_LINE_MAX 4096U

typedef enum ExpectationKind {
	EXPECT_ATTRIBUTE,
	EXPECT_COUNTER,
	EXPECT_PORTS,
	EXPECT_IGNORE,
	EXPECT_SECTION,	  /* a heading; if it is only a name, there is such a port */
	EXPECT_CONDITION, /* behind it: an attribute in the heading */
} ExpectationKind;

/* How a number has to compare. */
typedef enum ExpectationOrder {
	ORDER_EQUAL, /* for what counts something: at least */
	ORDER_LESS,
	ORDER_LESS_EQUAL,
	ORDER_GREATER,
	ORDER_GREATER_EQUAL,
	_ORDER_MAX
} ExpectationOrder;

typedef struct Expectation {
	ExpectationKind kind;
	size_t section;	      /* the number of the heading among the items, from 1; 0: none */
	const Attribute *row; /* of EXPECT_ATTRIBUTE and EXPECT_CONDITION; NULL otherwise */
	const char *counter;  /* of EXPECT_COUNTER; NULL otherwise */
	const char *glob;     /* of EXPECT_SECTION: the name in the heading; NULL: any */
	ExpectationOrder order;
	uint64_t per_usec; /* of EXPECT_COUNTER: NUMBER is how much it grows in so long; 0: its
			      value */
	bool of_device;	   /* ROW is an attribute of the device */
	const char *text;  /* the value as it was written, or the heading */
	uint64_t number;   /* TEXT as a number, if it is a number, a code or a boolean */
	char *place;	   /* "FILE:LINE" */
} Expectation;

typedef struct Expectations {
	bool (*is_check)(const char *name); /* which names Ignore may have; the caller sets it */
	bool given; /* there is a file, perhaps an empty one, or an expectation other than Ignore on
		     * the command line: somebody has said what ports there should be */
	Expectation *items;
	size_t n;
	char **texts; /* what the items point to; owned */
	size_t n_texts;
	char *error; /* what was wrong with the last argument that was refused, or with a file */
} Expectations;

/* Adds the expectations in ARGUMENT: KEY=VALUE, or the path of a file. -EINVAL: E->error says what
 * is wrong with it, for a file with the number of the line. -ENOMEM. */
int expect_add(Expectations *e, const char *argument);
/* Adds to E, which is empty, what is expected of the machine: the expectations in the file PATH and
 * in the files of PATH.d whose names end in ".conf", by name, as far as there are any. Of a file
 * with an error none counts, and E->error says what is wrong with the first such file; NULL:
 * nothing. -ENOMEM. */
int expect_add_machine(Expectations *e, const char *path);
void expectations_done(Expectations *e);

/* Whether TEXT can be the value that is expected of row A. */
bool expect_accepts(const Attribute *a, const char *text);

/* The heading above X, as it was written; NULL: there is none. */
const char *expectation_heading(const Expectations *e, const Expectation *x);
/* Whether X, one of E, applies to PORT of DEVICE, which may be NULL. */
bool expectation_applies(const Expectations *e, const Expectation *x, const Object *port,
			 const Object *device);
/* Whether there is an expectation on how much a counter grows. */
bool expectations_have_rates(const Expectations *e);
/* Whether the attribute of O, the port or its device, is as expected. An unavailable attribute is
 * not. */
bool expectation_holds(const Expectation *e, const Object *o);
/* Whether a counter with this value is as expected. */
bool expectation_holds_for(const Expectation *e, uint64_t value);
/* Formats the expected value for people: "at least 400 Gb/s", "less than 10". The caller frees it;
 * NULL without memory. */
char *expectation_format(const Expectation *e);
