/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Infers the past of a port from its evidence: a function of an array, which knows no bus
 * and no clock. The rules are the rows of explain-causes.def.
 */

#include "util.h"

/* Something that was seen. Texts are the caller's. */
typedef struct Clue {
	uint64_t realtime_usec, monotonic_usec; /* the latter is 0 if that was before the boot */
	const char *what;			/* State, or what GetEvidence() has */
	const char *from, *to;			/* "": no value */
	const char *reason;
	bool used; /* explain_infer() writes it: this belongs to the explanation */
} Clue;

/* Something that is so now. */
typedef struct Fact {
	const char *what, *value;
	bool used; /* as in Clue */
} Fact;

typedef enum Trouble {
#define TROUBLE(trouble, ...) TROUBLE_##trouble,
#include "explain-causes.def"
	_TROUBLE_MAX,
	TROUBLE_NONE = _TROUBLE_MAX
} Trouble;

typedef enum Confidence { CERTAIN, LIKELY, UNKNOWN } Confidence;

typedef struct Cause {
	const char *id;
	unsigned int troubles; /* mask of 1 << Trouble */
	Confidence confidence;
	const char *steps, *says, *advice;
} Cause;

extern const Cause causes[];
extern const size_t n_causes;

typedef struct Explanation {
	Trouble trouble;    /* TROUBLE_NONE: there is nothing to explain */
	const Cause *cause; /* NULL: unknown */
	bool over;	    /* the trouble has ended */
	size_t begin;	    /* the clue with which it began; the number of clues: none was seen */
	size_t episode;	    /* the first clue that belongs to it */
} Explanation;

/*
 * Explains the last trouble in the N clues, which are in the order of time, with N_FACTS facts of
 * now. A trouble that goes on comes before one that is over, and the worse before the other. Of
 * what was seen only that counts which is not separated from the trouble by QUIET_USEC in which the
 * port was well.
 */
#define QUIET_USEC (30 * USEC_PER_SEC)
Explanation explain_infer(Clue *clues, size_t n, Fact *facts, size_t n_facts);

/* Something that was FROM before the trouble and is TO now: programs that ran all the time may
 * still hold what was. */
typedef struct Difference {
	const char *what, *from, *to; /* TO is "" of an entry of a table that has gone */
} Difference;

/* Finds the differences after the trouble that E explains. Those that a clue of E tells are left
 * out, but with ALL they are not. RET has room for N. Nothing if the port is not well again. */
size_t explain_differences(const Clue *clues, size_t n, const Explanation *e, bool all,
			   Difference *ret);

/* Puts the clues into the order of time. Those of the same time keep their order. */
void explain_sort(Clue *clues, size_t n);

const char *trouble_words(Trouble t);
/* "certain", "likely", "unknown" */
const char *confidence_name(Confidence c);
