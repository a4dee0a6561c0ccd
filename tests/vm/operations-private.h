/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the files of operations share. */

#include "util.h"
#include "world.h"

/* The operation that is being done. */
typedef struct Op {
	World *w;
	uint64_t random;
	uint64_t usec; /* the time before the change is made */
	unsigned int slot;
	const SlotKind *kind;
	WorldSlot *s;
	char *text;
	size_t size;
} Op;

/* A random number below N. */
uint32_t pick(Op *o, uint32_t n);
/* Appends to the text of the operation. */
void tell(Op *o, const char *format, ...) _printf_(2, 3);
/* Writes WHAT and the result R of the call to the text. Returns whether the call succeeded. It is
 * no error if the kernel refuses it: the operations are random. */
bool did(Op *o, int r, const char *what);

/* The operations that make a port fail, or end that. */
void do_fail(Op *o);
/* A few queries fail, and the following ones succeed: perhaps between two parts of an answer. */
void do_hiccup(Op *o);
void do_delay(Op *o);
void do_hang(Op *o);
/* Several devices hang at once. Either all of them go on after a while, without an event, or each
 * when its turn comes. */
void do_hang_several(Op *o);
void do_end_fault(Op *o);
