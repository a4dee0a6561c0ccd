/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The histories that rdmad has of ports, also of those that have gone, and which of them the
 * arguments of a command choose. */

#include "object.h"
#include "rdmactl.h"

/* The histories that rdmad has, as ListHistories() returns them, and those that the arguments
 * choose. */
typedef struct Histories {
	ObjectList objects; /* what histories_read() was told to read of them */
	Value all;
	const Value **chosen; /* entries of ALL, each once */
	size_t n;
} Histories;

void histories_done(Histories *h);
/* Reads all histories, and of all ports and devices what the choice needs and PROPERTIES; see
 * selection_read(). */
ExitStatus histories_read(Context *c, const char *const *properties, Histories *ret);
/* Chooses those that the arguments of C name: a port that is there by any of its names, one that
 * has gone by the name that it had, or a pattern of names. Without an argument it is all but those
 * of planes. STATUS_NO_PORT if an argument names none, which is said; the others are chosen. */
ExitStatus histories_choose(Context *c, Histories *h);

/* Members of an entry. A member that is not there, or has another type, reads as empty. */
const char *history_entry_name(const Value *entry);
const Value *history_entry_member(const Value *entry, const char *key);
const char *history_entry_text(const Value *entry, const char *key);
uint64_t history_entry_number(const Value *entry, const char *key);
/* Whether the port is there. */
bool history_entry_is_present(const Value *entry);

typedef struct PastState {
	uint64_t realtime_usec, monotonic_usec; /* the latter is 0 if that was before the boot */
	const char *from, *to, *reason;
	uint64_t rate; /* bit/s, 0: unknown */
	/* who was on a link that went down; 0: nobody, or it is not known */
	uint64_t qps, processes;
} PastState;

/* False: there is no transition I. */
bool history_read_transition(const Value *entry, size_t i, PastState *ret);

/* A finding about the port or its device; or a module in the cage, as one whose check is its serial
 * number and whose severity is CABLE. */
typedef struct FormerFinding {
	const char *check, *severity;
	const char *attribute, *cause; /* "": none */
	uint64_t since_usec;
	uint64_t until_usec;	    /* 0: it holds */
	uint64_t acknowledged_usec; /* 0: nobody has acknowledged it */
	const char *acknowledged_text;
} FormerFinding;

#define HISTORY_CABLE "cable"

/* False: there is no finding I. */
bool history_read_finding(const Value *entry, size_t i, FormerFinding *ret);
/* False: there is no module I. */
bool history_read_cable(const Value *entry, size_t i, FormerFinding *ret);
