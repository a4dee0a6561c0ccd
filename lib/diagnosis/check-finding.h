/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A run of the checks: what they look at, and what they find. They print nothing, and all that they
 * ask is in CheckAsk. */

#include "expect.h"
#include "sample.h"
#include "seen.h"

/* As monitoring systems have them. Worse ones are greater. */
typedef enum Severity {
	SEVERITY_OK,	   /* nothing is wrong */
	SEVERITY_WARNING,  /* programs can use the port, but somebody should look at it */
	SEVERITY_CRITICAL, /* programs cannot use the port, or it is not as somebody said that it
			      shall be */
	_SEVERITY_MAX
} Severity;

/* The kinds of trouble: a monitoring system has one condition for each. A new check belongs to one
 * of them, and no other place has to know of it. */
typedef enum CheckCondition {
	CONDITION_PORT,	  /* programs cannot use the port, or it is not there */
	CONDITION_LINK,	  /* the link is slow or goes down again and again */
	CONDITION_LOSS,	  /* counters are not as they should be */
	CONDITION_STALE,  /* it is not known how the port is */
	CONDITION_CONFIG, /* somebody has configured it otherwise than it should be */
	CONDITION_DEVICE, /* the adapter, or its place on PCI Express */
	_CONDITION_MAX
} CheckCondition;
/* The mask of all of them */
#define CONDITIONS_ALL ((1U << _CONDITION_MAX) - 1)

typedef struct Check Check;

/* One thing that is wrong. */
typedef struct Finding {
	const Check *check;
	const Object *port, *device; /* which it is about; NULL: none in particular */
	const Attribute *row;	     /* the attribute that is wrong; NULL: none in particular */
	char *sentence;
	char counter[64]; /* the counter that has grown otherwise than expected; "": none */
	const struct Finding *cause; /* after findings_fold(): the finding of which this one is a
					part; NULL: it stands for itself */
	const char *acknowledged;    /* what somebody has said who knows of it; NULL: nobody has */
} Finding;

/* How often a link may go down. */
typedef struct FlapLimit {
	uint64_t n; /* so often, or more, in so long is too often; 0: never */
	uint64_t usec;
	const char *text; /* the time as it was written */
} FlapLimit;

/* If nobody says otherwise: two link downs of a port in 24 hours are to be looked into, says
 * NVIDIA's bring-up procedure for InfiniBand clusters. */
#define FLAP_LIMIT	2U
#define FLAP_LIMIT_USEC (24 * 3600 * USEC_PER_SEC)
#define FLAP_LIMIT_TEXT "24h"

/* More link downs than rdmad says the times of. */
#define FLAPS_MAX 256U

/* Reads "3/12h", or "off". TEXT is kept. */
bool flap_limit_parse(const char *text, FlapLimit *ret);

/* A device that was here, and whose hardware has gone since. */
typedef struct LostDevice {
	const char *name, *driver, *model; /* as they were */
	const char *guid, *adapter; /* GUIDs: its own, and that of the system image; "": none */
	const char *path;	    /* of the hardware, in sysfs */
	uint64_t usec;		    /* when it went, on CLOCK_REALTIME */
} LostDevice;

/* The functions that a check calls while it looks, because few checks need them. A returned value
 * stays until the next call of the function. A function that is NULL: its values are not known. */
typedef struct CheckAsk {
	/* The history of PORT, a dictionary as ListHistories() has it; NULL: there is none. */
	const Value *(*history)(void *userdata, const Object *port);
	/* The evidence of O, a device or a port with its device; none if it cannot be read. */
	SeenSource (*evidence)(void *userdata, const Object *o);
	/* The counters of PORT; NULL: they cannot be read, and *RET_WHY says why, or is NULL:
	 * nobody has read them. */
	const Sample *(*counters)(void *userdata, const Object *port, const char **ret_why);
	/* An earlier sample, with which that is compared: the oldest that is at most MOST_USEC
	 * older, or else the youngest; NULL: there is none. The function is NULL: what rdmad has
	 * found in its own samples counts. */
	const Sample *(*counters_before)(void *userdata, const Object *port, uint64_t most_usec);
	/* The same of the port at the other end of the link of PORT; NULL: nobody has read them. */
	const Sample *(*far_counters)(void *userdata, const Object *port);
	const Sample *(*far_counters_before)(void *userdata, const Object *port,
					     uint64_t most_usec);
	/* Whether who asks may use a device node: 0, or a negative errno. */
	int (*access)(void *userdata, const char *node);
	/* The mask of the IPv4 address ADDRESS on NETDEV, both in the order of the host; 0: it has
	 * no such address, or other interfaces do not answer for it. */
	uint32_t (*subnet_mask)(void *userdata, const char *netdev, uint32_t address);
	/* Whether a device that is in a container is not among the objects (rdma system: netns
	 * exclusive). */
	bool (*hides_devices)(void *userdata);
	/* Whether the driver may have said that DEVICE has failed; NULL: its evidence is to be
	 * read. */
	bool (*may_have_failed)(void *userdata, const Object *device);
	/* Number I of the devices whose hardware has gone, and whose names none has taken; false:
	 * there are no more. The function is NULL: what rdmad has found of the machine counts. */
	bool (*lost)(void *userdata, size_t i, LostDevice *ret);
	/* What rdmad has found of no device, as the manager publishes it; NULL: nothing. */
	const Value *(*of_machine)(void *userdata);
	void *userdata;
} CheckAsk;

typedef struct CheckRun {
	/* what is judged */
	const ObjectList *objects; /* all devices and ports, of one moment */
	Object **ports;		   /* those that are checked */
	size_t n_ports;
	char **names; /* names and patterns by which they were chosen; none: all are checked */
	size_t n_names;
	char **missing; /* of each name that is none: "mlx5_7: no such port" */
	size_t n_missing;
	const Expectations *expect;
	FlapLimit flap;
	unsigned int only;    /* mask of 1 << CheckCondition: what is told */
	uint64_t settle_usec; /* ports that changed later than so long ago are not compared */
	uint64_t now_usec;    /* on CLOCK_REALTIME */
	CheckAsk ask;

	/* what is looked at now */
	const Check *check;
	const Object *port, *device; /* NULL: no port or no device in particular */
	const char *counter;	     /* whose growth; NULL: of none */
	const Object **devices;	     /* those that were looked at so far */
	size_t n_devices;

	Finding *findings; /* so far, in the order in which they were found */
	size_t n_findings;
	int error; /* -ENOMEM: the run is not complete */
} CheckRun;

typedef enum CheckScope { SCOPE_MACHINE, SCOPE_DEVICE, SCOPE_PORT } CheckScope;

struct Check {
	char name[20];
	Severity severity;
	CheckCondition condition;
	CheckScope scope;    /* whether it looks once, at each device or at each port */
	uint64_t clear_usec; /* where somebody keeps findings: one ends when it has not been true
				for so long */
};

/* Notes that something is wrong with what the run looks at now, unless an expectation says to
 * ignore this check there, or it is a plane of a device that nobody has named. ROW is the attribute
 * that is wrong, or NULL. */
void check_find(CheckRun *r, const Attribute *row, const char *format, ...) _printf_(3, 4);
/* Whether X, an expectation of R, applies to PORT; NULL: to all ports of the device that the run
 * looks at. */
bool check_applies(const CheckRun *r, const Expectation *x, const Object *port);
/* Whether somebody has asked for PORT by its name. */
bool check_is_named(const CheckRun *r, const Object *port);
/* Whether an expectation says to ignore the check called NAME for what the run looks at now: for
 * the port, or for all ports of the device. */
bool check_is_ignored(const CheckRun *r, const char *name);

/* Sets the cause of each finding that comes from what another finding says already, so that one
 * cause is one finding. */
void findings_fold(CheckRun *r);
/* How bad F and the findings that have it as their cause are; SEVERITY_OK if F has a cause itself,
 * is acknowledged, or is about nothing that is to be told. */
Severity finding_severity(const CheckRun *r, const Finding *f);

/* Frees what the run has made; it can be run again. */
void check_run_done(CheckRun *r);

/* "port", "link", ... */
const char *condition_name(CheckCondition c);
/* "ok", "warning", "critical" */
const char *severity_name(Severity s);
