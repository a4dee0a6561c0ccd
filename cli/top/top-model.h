/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The model of rdmactl top: the ports that it shows, and their counters. The model has no clock and
 * makes no calls: objects and answers are given to it.
 */

#include "object.h"
#include "sample.h"

typedef enum TopRate {
	TOP_RECEIVE,	     /* bytes in a second */
	TOP_TRANSMIT,	     /* bytes in a second */
	TOP_RECEIVE_PACKETS, /* packets in a second */
	TOP_TRANSMIT_PACKETS,
	_TOP_RATE_MAX
} TopRate;

/* An error counter that has grown. */
typedef struct TopError {
	char *name;
	uint64_t new_errors;
} TopError;

typedef struct TopPort {
	char *path;
	const Object *object;	     /* in the list that top_model_follow() had */
	Sample last;		     /* its times are 0 before the first sample */
	double rates[_TOP_RATE_MAX]; /* below 0: not known */
	TopError *errors;	     /* since the first sample */
	size_t n_errors;
	char *failure; /* why the counters could not be read; NULL: they could */
} TopPort;

typedef struct TopModel {
	TopPort *ports; /* in the order of their paths */
	size_t n;
	bool has_rates;	     /* two samples were taken */
	int64_t clock_ahead; /* by how many us the clock of rdmad's machine is ahead of this one */
	uint64_t stopped_usec; /* since when rdmad does not run, on CLOCK_REALTIME; 0: it runs */
	uint64_t waiting_usec; /* since when the counters are waited for, likewise; 0: they are not
				*/
	char *failure;	       /* why no counters could be read at all; NULL: they could */
} TopModel;

/* Whether PORT is one of those to show. */
typedef bool TopFilter(void *userdata, const Object *port);

/* Makes the ports of the model those of OBJECTS that FILTER takes. The counters of a port stay.
 * OBJECTS must stay until the next call. -ENOMEM. */
int top_model_follow(TopModel *m, const ObjectList *objects, TopFilter *filter, void *userdata);
/* Takes an answer of GetCounters(). With REMOTE, the clock of the machine that is asked may differ
 * from REALTIME_USEC, the time here. -EBADMSG, -ENOMEM. */
int top_model_sample(TopModel *m, Samples *all, bool remote, uint64_t realtime_usec);
/* The counters could not be read, for the reason TEXT. */
void top_model_fail(TopModel *m, const char *text);
/* rdmad has stopped: from now on no rate is known. */
void top_model_stop(TopModel *m, uint64_t realtime_usec);
/* rdmad runs again: forgets that it did not, and for which answer of the one before is waited. */
void top_model_restart(TopModel *m);
void top_model_done(TopModel *m);

/* How many errors the port has had since the first sample. */
uint64_t top_port_errors(const TopPort *p);
/* Whether a counter with this name counts what went wrong. There are counters that no table has, so
 * its name decides. */
bool top_is_error_counter(const char *name);
