/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "counters.h"

#include "unavailable.h"

#define BITS_EXT COUNTER_BITS_EXT
#define BITS_0	 0
#define BITS_4	 4
#define BITS_8	 8
#define BITS_16	 16
#define BITS_32	 32
#define BITS_64	 64

const CounterRow counter_rows[] = {
#define COUNTER(group_, file_, name_, unit_, scale_, bits_, node_exporter_, help_)                 \
	{COUNTER_GROUP_##group_, COUNTER_##unit_, scale_, BITS_##bits_, #file_, #name_,            \
	 #node_exporter_},
#include "counters.def"
#undef COUNTER
};

const size_t n_counter_rows = ARRAY_SIZE(counter_rows);

const CounterRow *counter_find(CounterGroup group, const char *file)
{
	for (size_t i = 0; i < n_counter_rows; i++)
		if (counter_rows[i].group == group && streq(counter_rows[i].file, file))
			return &counter_rows[i];
	return NULL;
}

/* A counter of a set. */
typedef struct Member {
	const CounterRow *row; /* NULL: it has none */
	uint32_t entry;	       /* which one of the table; NO_ENTRY: the table has none for ROW */
} Member;

#define NO_ENTRY UINT32_MAX

struct CounterSet {
	const Table *table; /* the first with these files */
	bool complete;
	bool extended; /* the port has extended counters */
	size_t n;
	Member members[];
};

/* Why there is no value, from the error of reading the file. */
static const Unavailable *reason_of(int error)
{
	switch (error) {
	case -ENOENT:
	case -EOPNOTSUPP:
	case -ENOSYS:
		return &unavailable_rows[UNAVAILABLE_NOT_REPORTED];
	case -EINVAL: /* the port answered the PMA datagram so, or what sysfs has is no number */
	case -ENODATA:
		return &unavailable_rows[UNAVAILABLE_NO_VALUE];
	case -ETIME:
		return &unavailable_rows[UNAVAILABLE_FIRMWARE_TIMEOUT];
	}
	return &unavailable_rows[UNAVAILABLE_QUERY_FAILED];
}

/* PMA counters stop at their largest value. One whose value is larger than that is wider than the
 * architecture says, and not saturated. */
static bool is_saturated(const CounterEntry *e, unsigned int bits, bool extended)
{
	if (bits == COUNTER_BITS_EXT)
		bits = extended ? 64 : 32;
	return bits > 0 && e->value == (bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX);
}

static Counter interpret(const CounterRow *row, const CounterEntry *e, bool extended)
{
	Counter c = {.group = row->group, .name = row->name, .unit = row->unit, .reason = ""};

	if (!e || e->error) {
		c.condition = COUNTER_MISSING;
		c.reason = reason_of(e ? e->error : -ENOENT)->code;
		return c;
	}
	if (is_saturated(e, row->bits, extended))
		c.condition = COUNTER_SATURATED;
	if (__builtin_mul_overflow(e->value, (uint64_t)row->scale, &c.value)) {
		c.value = UINT64_MAX;
		c.condition = COUNTER_SATURATED;
	}
	return c;
}

/* Sets */

static const CounterEntry *entry_at(const Table *t, size_t i)
{
	return (const CounterEntry *)(const void *)t->entries + i;
}

static size_t size_of(const Table *t)
{
	return t ? t->n : 0;
}

static bool has_group(const Table *t, CounterGroup group)
{
	TABLE_FOREACH(CounterEntry, e, t)
		if (e->group == group)
			return true;
	return false;
}

/* The number of the first entry of T for ROW, NO_ENTRY if there is none; marks all of them in
 * HAS_ROW.
 */
static uint32_t find_entry(const Table *t, const CounterRow *row, bool *has_row)
{
	uint32_t first = NO_ENTRY;

	for (uint32_t i = 0; i < size_of(t); i++) {
		const CounterEntry *e = entry_at(t, i);

		if (has_row[i] || e->group != row->group || !streq(e->file, row->file))
			continue;
		has_row[i] = true;
		first = MIN(first, i);
	}
	return first;
}

/* Adds the rows of which T has an entry, and those that T should have. */
static void add_rows(CounterSet *s, const Table *t, bool *has_row)
{
	bool complete = s->complete || has_group(t, COUNTER_GROUP_PORT);

	for (size_t i = 0; i < n_counter_rows; i++) {
		const CounterRow *row = &counter_rows[i];
		uint32_t entry = find_entry(t, row, has_row);

		if (entry != NO_ENTRY || (complete && row->group == COUNTER_GROUP_PORT))
			s->members[s->n++] = (Member){row, entry};
		/* only a port with extended counters has this file */
		if (entry != NO_ENTRY && streq(row->file, "unicast_xmit_packets"))
			s->extended = true;
	}
}

int counter_set_new(const Table *table, bool complete, CounterSet **ret)
{
	_cleanup_free_ bool *has_row = calloc(size_of(table) + 1, sizeof(*has_row));
	CounterSet *s = calloc(1, sizeof(*s) + (n_counter_rows + size_of(table)) * sizeof(Member));

	if (!s || !has_row) {
		free(s);
		return -ENOMEM;
	}
	*s = (CounterSet){.table = table, .complete = complete};
	add_rows(s, table, has_row);
	for (uint32_t i = 0; i < size_of(table); i++)
		if (!has_row[i])
			s->members[s->n++] = (Member){NULL, i};
	*ret = s;
	return 0;
}

void counter_set_free(CounterSet *s)
{
	free(s);
}

bool counter_set_fits(const CounterSet *s, const Table *table, bool complete)
{
	if (s->complete != complete || size_of(s->table) != size_of(table))
		return false;
	for (size_t i = 0; i < size_of(table); i++) {
		const CounterEntry *a = entry_at(s->table, i), *b = entry_at(table, i);

		if (a->group != b->group || !streq(a->file, b->file))
			return false;
	}
	return true;
}

size_t counter_set_size(const CounterSet *s)
{
	return s->n;
}

Counter counter_set_get(const CounterSet *s, size_t i, const Table *table)
{
	static const CounterRow foreign = {.unit = COUNTER_UNKNOWN, .scale = 1};
	const Member *m = &s->members[i];
	const CounterEntry *e = NULL;
	Counter c;

	if (m->entry != NO_ENTRY)
		e = entry_at(table ? table : s->table, m->entry);
	c = interpret(m->row ? m->row : &foreign, e, s->extended);
	if (!m->row) {
		c.group = e->group;
		c.name = e->file;
	}
	return c;
}
