/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the judge keeps of each device and port, and of all. */

#include "counter-ladder.h"
#include "health-asked.h"
#include "health-kept.h"
#include "health-object.h"
#include "health.h"

/* What has changed of a port or device since it was judged. */
typedef struct Mark {
	AttrMask rows;
	bool whole;    /* it is new */
	bool counters; /* its counters have been read */
} Mark;

/* What makes a port fit to be used: see health-fit.c. */
typedef struct Fit {
	uint64_t since_usec;   /* since when it is; 0: it is not */
	uint64_t quiet_usec;   /* since when it is as it has to be */
	uint64_t state_change; /* the last that was seen */
	Table *gids;	       /* that it had when it was fit last */
	uint32_t lid;	       /* that it had when it could be used last */
	bool is_known;	       /* it has been looked at */
	bool is_broken;	       /* it was not usable then */
	bool lacks_gids;       /* one of GIDS was not there */
} Fit;

typedef struct PortHealth {
	Object *object;
	Mark mark;
	Fit fit;
	CounterLadder *ladders[_SAMPLE_END_MAX]; /* NULL: nobody has read these counters */
} PortHealth;

/* A sample in the form that checks take. */
typedef struct MadeSample {
	const CounterLadder *of; /* NULL: none */
	size_t i;
	Sample sample;
} MadeSample;

typedef struct DeviceHealth {
	Object *object;
	size_t order; /* among the devices */
	Mark mark;
	bool is_marked;	       /* it, or a port */
	bool is_again;	       /* what depends on the time is to be judged again */
	bool has_failed;       /* its driver has said so */
	bool is_told;	       /* something else is to be said of it, or of a port */
	uint64_t details_usec; /* when details were told last */
	uint64_t fit_usec;     /* when one of its ports may be fit, or details are told; UINT64_MAX:
				* after a     change */
	KeptList kept;
} DeviceHealth;

struct Health {
	const Cache *cache;
	Expectations expect;
	uint64_t settle_usec;
	uint64_t counter_usec; /* how often rdmad reads counters by itself; 0: never */
	AskedBy asked;
	Asked now;		  /* by the check that looks */
	const Object *history_of; /* the port with HISTORY; NULL: none was asked for in this run */
	Value history;
	PortEvidence evidence;
	MadeSample samples[4]; /* by SampleEnd: the one now, and one before */

	/* what the checks look at */
	ObjectList list;
	Object **ports;
	const Object **devices;
	size_t n_ports, n_devices;
	bool is_other_set; /* devices or ports have come or gone */
	bool hides_devices;

	bool is_marked;	     /* anything */
	bool is_again;	     /* a kept finding depends on the time */
	CheckSet compares;   /* who is to compare the ports */
	CheckSet unsettled;  /* who because something has changed */
	CheckSet again;	     /* who is to compare them again */
	uint64_t again_usec; /* when: UINT64_MAX: never */
	uint64_t fit_usec;   /* the first FIT_USEC of a device, or earlier */
	uint64_t judged_usec;
	uint64_t timed_usec; /* when what depends on the time was judged last */
	KeptList kept;	     /* of the machine */
};

/* health-fit.c */

void fit_done(Fit *f);
/* D is judged: finds out NOW which of its ports are fit. Returns whether others are, or
 * a link went down since that was told. */
bool fit_look(Health *h, Device *d, uint64_t now);

/* health-counters.c */

/* The functions of CheckAsk. */
const Sample *health_ask_counters(void *userdata, const Object *port, const char **ret_why);
const Sample *health_ask_counters_before(void *userdata, const Object *port, uint64_t most_usec);
const Sample *health_ask_far(void *userdata, const Object *port);
const Sample *health_ask_far_before(void *userdata, const Object *port, uint64_t most_usec);
/* Forgets the counters of a port. */
void health_drop_counters(Health *h, PortHealth *ph);
