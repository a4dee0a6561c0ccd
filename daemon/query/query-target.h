/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The device that a query is about, for as long as the query takes: what it is called, where it is
 * in sysfs, and its context if it may have one. */

#include "query-nldev.h"
#include "query-state.h"

typedef struct Target {
	Querier *querier;
	const Query *query;
	uint32_t device;
	Known *known;
	AttrText name;
	DeviceSnapshot nldev; /* what nldev says of the device, if its attributes are asked for */
	bool has_chardev;
	NldevChardev chardev; /* likewise */
	int sysfs;	      /* target_sysfs() */
	struct ibv_context *context;
	int open_error;	  /* why there is no context; 0 if there shall be none */
	bool is_isolated; /* there is no context here: ISOLATED is asked instead */
	Isolated isolated;
	VerbsGids gids; /* read when the first port needs them */
} Target;

/* Finds the device of Q, which stays as long as *RET does, and opens it as far as the policy
 * allows unless Q is for counters. Only a device that is not there is an error. */
int target_open(Querier *querier, const Query *q, Target *ret);
/* Its directory, a descriptor, negative if there is none to be had. */
int target_sysfs(Target *t);
/* Whether the device is not there any more, after something said so. */
bool target_is_gone(Target *t);
/* Closes the context, held or not, after it said that its device is gone, and opens a new one:
 * perhaps it is not. */
void target_reopen(Target *t);
void target_close(Target *t);
/* All IPoIB interfaces of the machine. */
int target_ipoib(Target *t, const Ipoib **ret, size_t *ret_n);
