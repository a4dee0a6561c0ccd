/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The counters of a port as rdmad read them at one time. */

#include "rdmactl.h"
#include "value.h"

typedef struct Sample {
	Value counters;		 /* an array of structures with the members below */
	uint64_t realtime_usec;	 /* when they were read, on CLOCK_REALTIME */
	uint64_t monotonic_usec; /* and on CLOCK_MONOTONIC */
} Sample;

/* The members of a counter: a number, and text. */
typedef enum CounterMember {
	MEMBER_GROUP,
	MEMBER_NAME,
	MEMBER_VALUE,
	MEMBER_UNIT,
	MEMBER_CONDITION,
	MEMBER_REASON,
} CounterMember;

/* Calls GetCounters() of the port at PATH; the caller ends *RET with sample_done(). -EBADMSG if the
 * answer has another form, or the error of the call, which is in ERROR too. */
int sample_read(Context *c, const char *path, Sample *ret, sd_bus_error *error);
/* Frees the counters. */
void sample_done(Sample *s);
/* Finds the same counter in another sample; NULL if it is not there. */
const Value *sample_find(const Sample *s, const Value *counter);
/* Whether counter I is the first of its group. */
bool sample_starts_group(const Sample *s, size_t i);

/* A member that is text. */
const char *counter_member(const Value *counter, CounterMember m);
/* The number; of a missing counter 0. */
uint64_t counter_value(const Value *counter);
/* Whether the condition of the counter is CONDITION: "valid", "saturated" or "missing". */
bool counter_is(const Value *counter, const char *condition);
