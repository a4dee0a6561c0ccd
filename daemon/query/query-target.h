/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The device that a query is about, for as long as the query takes: its name, its directory in
 * sysfs, and its context if it may have one. */

#include "query-nldev.h"
#include "query-state.h"

typedef struct Target {
	Querier *querier;
	const Query *query;
	uint32_t device; /* kernel index */
	Known *known;	 /* what the querier knows of it from before */
	AttrText name;	 /* the last that was read or given */
	/* The device from nldev: empty if nldev was not asked, because KNOWN is enough. */
	DeviceSnapshot nldev;
	/* The health reporters of the devlink instance of its parent, which device_query() takes;
	 * only if they are asked for. */
	bool has_health;
	Table *health;
	bool has_chardev;     /* CHARDEV was read: only when the device was looked at anew */
	NldevChardev chardev; /* its uverbs node */
	int sysfs;	      /* its directory, negative if that is not open: use target_sysfs() */
	struct ibv_context *context; /* NULL if there is none */
	int open_error;		     /* why there is none; 0 if there shall be none */
	bool tried_open;	     /* CONTEXT and OPEN_ERROR say what came of opening it */
	bool is_isolated; /* no context is opened in this process: ISOLATED is asked instead */
	Isolated isolated;
	Netdev netdev;	/* what rtnetlink said last of the own interface of a port */
	VerbsGids gids; /* of all its ports, read when the first port needs them */
} Target;

/* Why verbs is not asked, as PortSnapshot.open_error; 0: there is a context. */
static inline int target_obstacle(const Target *t)
{
	if (t->context)
		return 0;
	return t->open_error == 0 ? -ECANCELED : t->open_error;
}

/* Finds the device of Q, which must live as long as *RET, and opens it as far as the policy allows
 * unless Q is for counters. A device that cannot be opened is no error. -ENODEV: there is no such
 * device. Another negative errno: nldev cannot be asked. */
int target_open(Querier *querier, const Query *q, Target *ret);
/* Its directory in sysfs: a descriptor that T owns. Negative if it cannot be opened. */
int target_sysfs(Target *t);
/* The number that the kernel has for the port at PLACE, as in Query.ports. */
static inline uint32_t target_port(const Target *t, uint32_t place)
{
	return place - 1 + t->known->first_port;
}
/* Whether the device has gone. Asks the kernel: call it after an error that may mean that. */
bool target_is_gone(Target *t);
/* Opens the device, as far as the policy allows, if that was not done because the query did not
 * need it. */
void target_open_context(Target *t);
/* Closes the context, held or not, and opens a new one: call it when the context says that its
 * device has gone but the device has not. */
void target_reopen(Target *t);
void target_close(Target *t);
/* All IPoIB interfaces of the machine: *RET_N at *RET, which belong to the querier. */
int target_ipoib(Target *t, Ipoib **ret, size_t *ret_n);
