/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What is missing on a machine, and what to do next: sentences for people. */

#include "doctor-facts.h"

#define ADVICE_MAX 32

typedef struct Advice {
	char *items[ADVICE_MAX];
	size_t n;
} Advice;

void advice_find(const Context *c, const Machine *m, Advice *ret);
void advice_done(Advice *a);
#define _cleanup_advice_ _cleanup_(advice_done)
