/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A machine that the test owns: its cache, its clock, and the judge. What the judge says goes back
 * into the cache, as it does in the manager. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../cache/test-cache.h"
#include "checks.h"
#include "clock.h"
#include "health.h"

/* The seconds of the tests begin here, so that there is a time before. */
#define BEGIN_USEC (UINT64_C(10000000) * USEC_PER_SEC)

typedef struct Judged {
	Cache cache;
	Health *health;
	uint64_t seconds; /* since BEGIN_USEC: the time of both clocks */
	uint64_t usec;	  /* and so much later */
	uint32_t last_index;
	size_t n_told; /* of how many the last judge_at() or compare_at() has told */
	Device *told[16];
} Judged;

/* The times are those of health_new(), in seconds. */
void judged_begin(Judged *j, uint64_t settle, uint64_t counters);
void judged_done(Judged *j);
#define _cleanup_judged_ _cleanup_(judged_done)
uint64_t judged_usec(const Judged *j);

/* Adds a device with PORTS InfiniBand ports, which are active; the judge is told. */
Device *judged_add(Judged *j, const char *name, uint32_t ports);
/* Takes it away again. */
void judged_remove(Judged *j, Device *d);
/* What add() has answered for P. */
PortSnapshot judged_answer(const Port *p, uint32_t state);
/* P has answered S. Returns whether the judge wants to look. */
bool judged_set(Judged *j, Port *p, PortSnapshot s);
bool judged_set_state(Judged *j, Port *p, uint32_t state);
/* P has not answered. */
bool judged_fail(Judged *j, Port *p);
/* D has answered S: the same. */
bool judged_set_device(Judged *j, Device *d, DeviceSnapshot *s);
/* What the files expect: lines of rdmactl check --expect, with '\0' behind each. */
void judged_expect(Judged *j, const char *lines);

/* As health_acknowledge(), and it is told of. */
bool judged_acknowledge(Judged *j, Port *p, const char *check, const char *text);

/* It is SECONDS later than BEGIN_USEC, and all that is to be judged is judged; returns how many
 * devices were told of. */
size_t judge_at(Judged *j, uint64_t seconds);
size_t compare_at(Judged *j, uint64_t seconds);

/* That P, D, or without both the machine is as EXPECTED says: "ok", or "critical" and for each
 * finding " CHECK@SECONDS", with "<CAUSE" behind it, "?" if it is not certain, and "!TEXT" if it
 * was acknowledged. */
void assert_port(const Port *p, const char *expected);
void assert_device(const Device *d, const char *expected);
void assert_machine(const Judged *j, const char *expected);
/* Finding I of P. */
FindingEntry finding_of(const Port *p, size_t i);
/* That it says TEXT. */
void assert_says(const Port *p, size_t i, const char *text);
