/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Machines that are made here, without rdmad, and what the checks find on them. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "checks.h"

#define HOUR (UINT64_C(3600) * USEC_PER_SEC)
#define DAY  (24 * HOUR)

typedef struct Machine {
	ObjectList objects;
	Expectations expect;
	Value histories, evidence; /* dictionaries by port, and of all devices */
	CheckRun run;
	size_t n_devices;
} Machine;

void machine_done(Machine *m);
#define _cleanup_machine_ _cleanup_(machine_done)
/* Adds a device with one InfiniBand port, which is active. Returns the port. */
Object *add(Machine *m);
Object *device_of(Machine *m, const Object *port);
/* Adds a second port to the device of PORT, which is as that. Returns it. */
Object *add_second(Machine *m, const Object *port);

void set_text(Object *o, size_t row, const char *text);
void set_number(Object *o, size_t row, uint64_t n);
/* The row has no value, for the reason CODE. */
void set_reason(Object *o, size_t row, const char *code);
Value *append(Value *v);
void append_text(Value *v, const char *text);
void append_number(Value *v, uint64_t n);
/* Adds an entry of the evidence of all ports and devices, which is so old. Returns its time. */
uint64_t add_evidence(Machine *m, const char *what, uint64_t age_usec, const char *from,
		      const char *to);
/* Member NAME, an array, of the history of PORT */
Value *history_of(Machine *m, const Object *port, const char *name);

/* Runs all checks; returns how many findings stand for themselves. What they say has to be whole,
 * also if any one of the values of M is not known. */
size_t found_in_all(Machine *m);
/* The same, and keeps what the check called NAME has found; returns how much that is. */
size_t found(Machine *m, const char *name);
/* That finding I says TEXT. */
void assert_says(const Machine *m, size_t i, const char *text);
