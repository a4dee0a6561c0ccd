/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The counters of ports as rdmad read them at one time, and how they differ from earlier ones. */

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
	_COUNTER_MEMBER_MAX
} CounterMember;

/* The samples of several ports. */
typedef struct PortSample {
	char *name, *path; /* of the port: "mlx5_0/1", and the object path */
	Sample sample;
} PortSample;

typedef struct SampleList {
	PortSample *items;
	size_t n;
} SampleList;

/* A reply to GetCounters(), from which sample_take() takes the samples of ports. */
typedef struct Samples {
	Value sets, ports;
	size_t next; /* of PORTS: where the search for the next one begins */
} Samples;

/* Whose counters: those of the port, or of the port at the other end of its link. */
typedef enum SampleEnd { SAMPLE_LOCAL, SAMPLE_REMOTE, _SAMPLE_END_MAX } SampleEnd;

/* Calls GetCounters() for END of the port at PATH; the caller ends *RET with sample_done().
 * -EBADMSG if the answer has another form, or the error of the call, or that of the port, which are
 * in ERROR too. */
int sample_read(sd_bus *bus, const char *path, SampleEnd end, Sample *ret, sd_bus_error *error);
/* The same for all ports; the caller ends *RET with samples_done(). */
int sample_read_all(sd_bus *bus, SampleEnd end, Samples *ret, sd_bus_error *error);
/* The same from REPLY, which has not been read. */
int samples_from(sd_bus_message *reply, Samples *ret);
void samples_done(Samples *s);
/* The sample of the port at PATH, which is found at once if it is behind the one that was taken
 * last; the caller ends *RET with sample_done(). -EBADMSG as above;
 * -ENOENT if the port is not there; -ETIMEDOUT or -EIO if it could not be read, then *RET_WHY, a
 * text of ALL, says why. */
int sample_take(Samples *all, const char *path, Sample *ret, const char **ret_why);
/* Frees the counters. */
void sample_done(Sample *s);
/* Finds the first counter called NAME; NULL if there is none. */
const Value *sample_find_name(const Sample *s, const char *name);
/* Finds the same counter in another sample; NULL if it is not there. */
const Value *sample_find(const Sample *s, const Value *counter);
/* Finds COUNTER, which is one of NOW, in the sample BEFORE of the same port. The search begins at
 * its place in NOW, so that all counters of many ports are found quickly. */
const Value *sample_find_earlier(const Sample *now, const Sample *before, const Value *counter);
/* How much COUNTER, which is one of NOW, has changed in a second since BEFORE. False if that is not
 * known: it is missing in one of the samples, it was reset, or the samples are of the same time. */
bool sample_rate(const Sample *now, const Sample *before, const Value *counter, double *ret);
/* Whether counter I is the first of its group. */
bool sample_starts_group(const Sample *s, size_t i);
/* Adds a counter behind the last one of its group. -ENOMEM. */
int sample_append(Sample *s, const char *const texts[_COUNTER_MEMBER_MAX], uint64_t value);

/* How much each counter of NOW has changed since BEFORE. A change that is not known, because the
 * counter was reset or had no value, is a missing counter with the reason. -ENOMEM. */
int sample_subtract(const Sample *now, const Sample *before, Sample *ret);
/* The sum of each counter over all ports that have a value of it; the reason says on how many ports
 * it is missing. -ENOMEM. */
int sample_total(const SampleList *list, Sample *ret);

/* Adds a port; its sample is empty. NULL without memory. */
PortSample *sample_list_add(SampleList *l, const char *name, const char *path);
/* The sample of the port called NAME, which is found at once if it is at PLACE; NULL if there is
 * none. */
const PortSample *sample_list_find(const SampleList *l, size_t place, const char *name);
void sample_list_done(SampleList *l);
#define _cleanup_samples_ _cleanup_(sample_list_done)

/* A member that is text. */
const char *counter_member(const Value *counter, CounterMember m);
/* Why a missing counter has no value, for people. */
const char *counter_reason(const Value *counter);
/* The number; of a missing counter 0. */
uint64_t counter_value(const Value *counter);
/* Whether the condition of the counter is CONDITION: "valid", "saturated" or "missing". */
bool counter_is(const Value *counter, const char *condition);
