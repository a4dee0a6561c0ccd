/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A run of rdmactl check: what it looks at, and what it finds. */

#include "expect.h"
#include "selection.h"

typedef struct Check Check;

typedef struct CheckRun {
	Context *c;
	const Expectations *expect;
	Selection chosen;	/* the ports that are checked */
	const Object **devices; /* their devices, as far as they were looked at */
	size_t n_devices;
	bool local; /* the device nodes are those of this machine */

	/* what is looked at now */
	const Check *check;
	const Object *port, *device; /* NULL: no port or no device in particular */
	size_t n_findings;	     /* so far */
} CheckRun;

typedef enum CheckScope { SCOPE_MACHINE, SCOPE_DEVICE, SCOPE_PORT } CheckScope;

struct Check {
	const char *name;
	CheckScope scope; /* whether LOOK is called once, for each device or for each port */
	void (*look)(CheckRun *r); /* calls check_find() if the condition holds */
	const char *condition;	   /* what is wrong then, as a sentence */
};

/* Prints that something is wrong with what the run looks at now, unless an expectation says to
 * ignore this check there. ROW is the attribute that is wrong, or NULL. */
void check_find(CheckRun *r, const Attribute *row, const char *format, ...) _printf_(3, 4);
