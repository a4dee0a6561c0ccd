/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What the counters of a port are: counters.def at run time. Raw numbers, as sysfs has them, are
 * entries of a table (struct CounterEntry in table.h); here they get their unit, and what is
 * wrong with them.
 */

#include "table.h"

typedef enum CounterUnit {
	COUNTER_BYTES,
	COUNTER_PACKETS,
	COUNTER_EVENTS,
	COUNTER_TICKS,
	COUNTER_UNKNOWN,
	_COUNTER_UNIT_MAX
} CounterUnit;

/* Whether the value says how often it has happened. */
typedef enum CounterCondition {
	COUNTER_VALID,
	COUNTER_SATURATED, /* at the most that it can count: at least so often */
	COUNTER_MISSING,   /* there is no value */
	_COUNTER_CONDITION_MAX
} CounterCondition;

/* A row of counters.def. */
typedef struct CounterRow {
	CounterGroup group;
	const char *file;
	const char *name;
	CounterUnit unit;
	unsigned int scale;
	unsigned int bits; /* 0: not known; COUNTER_BITS_EXT */
	const char *help;
} CounterRow;

#define COUNTER_BITS_EXT 65U /* 64 or 32 */

extern const CounterRow counter_rows[];
extern const size_t n_counter_rows;

/* A counter to publish: the columns COUNTERS of table-columns.def. Texts are static or in the table
 * that it came from. */
typedef struct Counter {
#define COUNTERS(field, storage, ...) COLUMN_MEMBER(field, storage)
#include "table-columns.def"
	const char *help; /* NULL: it has no row in counters.def */
} Counter;

/*
 * The counters of a port from the entries of TABLE (NULL: none): those with a row in the order of
 * the rows, then the others in that of the table. Of counters/ the rows are complete, missing ones
 * included, where COMPLETE or where there is any of them: each port with PMA has them. What a
 * driver counts beyond that is its own. A new array that the caller frees; -ENOMEM.
 */
int counters_interpret(const Table *table, bool complete, Counter **ret, size_t *ret_n);

/* "counters", "hw_counters": the directory in sysfs */
const char *counter_group_name(CounterGroup group);
/* "bytes", "packets", "events", "ticks", "unknown" */
const char *counter_unit_name(CounterUnit unit);
/* "valid", "saturated", "missing" */
const char *counter_condition_name(CounterCondition condition);
