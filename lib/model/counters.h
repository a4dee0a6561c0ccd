/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The counters of a port: counters.def at run time. A port has a table of the raw numbers
 * that sysfs has (struct CounterEntry in table.h). Here each gets its unit, and the reason if there
 * is no value.
 */

#include "counter.h"
#include "table.h"

/* A row of counters.def. */
typedef struct CounterRow {
	CounterGroup group;
	CounterUnit unit;
	unsigned int scale;	/* the published value is that of sysfs times this */
	unsigned int bits;	/* the width of the counter, COUNTER_BITS_EXT, or 0: not known */
	char file[32];		/* its name in sysfs */
	char name[32];		/* as it is published */
	char node_exporter[36]; /* its name there without node_infiniband_ and _total; "": none */
} CounterRow;

/* A counter with 64 bits on ports that have extended counters, and 32 on others. */
#define COUNTER_BITS_EXT 65U

extern const CounterRow counter_rows[];
extern const size_t n_counter_rows;
/* What ROW, which must be one of these, counts: one sentence. */
const char *counter_help(const CounterRow *row);

/* The row of the counter that sysfs has as FILE in GROUP; NULL: it has none. */
const CounterRow *counter_find(CounterGroup group, const char *file);

/*
 * The counters of a table without the numbers: the same for all tables with the same files, so that
 * they are found once for all ports of one kind.
 */
typedef struct CounterSet CounterSet;

/*
 * The counters of TABLE (NULL: none), which must live longer than *RET: first those with a row, in
 * the order of the rows, then the others in the order of the table. -ENOMEM.
 *
 * If COMPLETE, or if the table has any counter of counters/, all rows of that group are there, and
 * those that the port does not offer are COUNTER_MISSING: a port that answers performance
 * management has them all. Of hw_counters/ only what the table has is there: each driver has its
 * own.
 */
int counter_set_new(const Table *table, bool complete, CounterSet **ret);
/* Takes NULL too. */
void counter_set_free(CounterSet *s);
DEFINE_CLEANUP(CounterSet, counter_set_free);
/* Whether S is the set of TABLE with COMPLETE too: it has the same files in the same order. */
bool counter_set_fits(const CounterSet *s, const Table *table, bool complete);
/* How many counters S has. */
size_t counter_set_size(const CounterSet *s);
/* The counter I of S with the number that is in TABLE, which S fits; NULL: that of
 * counter_set_new().
 */
Counter counter_set_get(const CounterSet *s, size_t i, const Table *table);
