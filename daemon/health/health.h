/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The judge: what the checks of lib/diagnosis say of the devices and ports of the cache.
 *
 * A check is a pure function of the rows that it asks for, of the history, of the evidence, and of
 * the time. What it asks for is noted: so after a change only those checks run again that have ever
 * asked for a row that has changed, and only for the port or device that has changed. The checks
 * that look at several ports at once (those of the machine, and others as far as they do so) are
 * the comparison: it looks at all ports, and is carried out apart from the others.
 *
 * What is found is kept. A finding that is not true any more ends at once, or after the time of its
 * check. The judge has no clock and no timer, and publishes nothing.
 */

#include "cache.h"
#include "expect.h"
#include "sample.h"

typedef struct Health Health;

/* SETTLE_USEC: ports that have changed since then are not compared with others. COUNTER_USEC: how
 * often counters are read at least; 0: nobody knows. */
int health_new(const Cache *c, uint64_t settle_usec, uint64_t counter_usec, Health **ret);
/* NULL is allowed; returns NULL. */
Health *health_free(Health *h);
/* From now on E is expected; H takes what it owns. All is to be judged again. */
void health_expect(Health *h, Expectations *e);

/* All is to be judged again: CLOCK_REALTIME was set, and what was long ago may not be any more. */
void health_mark_all(Health *h);

/* Takes a change that has been published. Returns whether anything is to be judged because of it.
 */
bool health_take_port(Health *h, const PortChange *c);
bool health_take_device(Health *h, const DeviceChange *c);
/* The driver of D has said that it has failed. The same. */
bool health_take_failure(Health *h, const Device *d);
/* The counters at END of the link of P were READ (NULL: it has none). The same. */
bool health_take_counters(Health *h, Port *p, SampleEnd end, const Table *read,
			  uint64_t realtime_usec, uint64_t monotonic_usec);
/* When those of P itself were taken last, on CLOCK_MONOTONIC; 0: never. */
uint64_t health_counters_usec(const Port *p);
/* P, or D with its ports, is about to be freed. */
void health_forget_port(Health *h, Port *p);
void health_forget_device(Health *h, Device *d);

/* Is told that something may have changed of what is known of D or its ports. DETAILS: whether also
 * such things as cache_apply_port_health() calls so; of a device they are told once in two seconds.
 */
typedef void (*HealthTell)(void *userdata, Device *d, bool details);

/* Judges what changes were about; NOW is CLOCK_REALTIME in us. */
void health_judge(Health *h, uint64_t now, HealthTell tell, void *userdata);
/* Whether the ports are to be compared. */
bool health_wants_comparison(const Health *h);
/* Whether devices can be in containers, where they are not seen. */
void health_hide(Health *h, bool hides_devices);
void health_compare(Health *h, uint64_t now, HealthTell tell, void *userdata);
/* When all has been judged as far as changes need it: when it is to be judged again, because it
 * depends on the time, on CLOCK_REALTIME; UINT64_MAX: only after a change. */
uint64_t health_next_usec(const Health *h);

/* Somebody acknowledges NOW what CHECK has found about P or its device, with TEXT, which is cut if
 * it is too long: that does not count any more until it ends. False: it has found nothing. */
bool health_acknowledge(Health *h, Port *p, const char *check, const char *text, uint64_t now);
/* How well P, D or the machine is, and in *RET_FINDINGS what is wrong with it, to be freed by the
 * caller; NULL: nothing. The health of the machine is the worst of all. */
AttrVerdict health_of_port(const Port *p, Table **ret_findings);
AttrVerdict health_of_device(const Device *d, Table **ret_findings);
/* Since when P is fit to be used, on CLOCK_REALTIME in us; 0: it is not, or nobody knows. */
uint64_t health_fit_since(const Port *p);
AttrVerdict health_of_machine(const Health *h, Table **ret_findings);
