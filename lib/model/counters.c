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
	{COUNTER_GROUP_##group_, #file_,	  #name_, COUNTER_##unit_, scale_,                 \
	 BITS_##bits_,		 #node_exporter_, help_},
#include "counters.def"
#undef COUNTER
};

const size_t n_counter_rows = ARRAY_SIZE(counter_rows);

static const CounterEntry *find_entry(const Table *t, CounterGroup group, const char *file)
{
	TABLE_FOREACH(CounterEntry, e, t)
		if (e->group == group && streq(e->file, file))
			return e;
	return NULL;
}

static bool has_row(const CounterEntry *e)
{
	for (size_t i = 0; i < n_counter_rows; i++)
		if (counter_rows[i].group == e->group && streq(counter_rows[i].file, e->file))
			return true;
	return false;
}

static bool has_group(const Table *t, CounterGroup group)
{
	TABLE_FOREACH(CounterEntry, e, t)
		if (e->group == group)
			return true;
	return false;
}

/* Why there is no value, from the error of reading the file. */
static const Unavailable *reason_of(int error)
{
	switch (error) {
	case -ENOENT:
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
	Counter c = {.group = row->group,
		     .name = row->name,
		     .unit = row->unit,
		     .reason = "",
		     .help = row->help};

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

int counters_interpret(const Table *table, bool complete, Counter **ret, size_t *ret_n)
{
	const CounterEntry *unicast = find_entry(table, COUNTER_GROUP_PORT, "unicast_xmit_packets");
	/* Only a port with extended counters has this file. */
	bool extended = unicast != NULL;
	Counter *counters = calloc(n_counter_rows + (table ? table->n : 0), sizeof(*counters));
	size_t n = 0;

	if (!counters)
		return -ENOMEM;
	complete = complete || has_group(table, COUNTER_GROUP_PORT);
	for (size_t i = 0; i < n_counter_rows; i++) {
		const CounterRow *row = &counter_rows[i];
		const CounterEntry *e = find_entry(table, row->group, row->file);

		if (e || (complete && row->group == COUNTER_GROUP_PORT))
			counters[n++] = interpret(row, e, extended);
	}
	TABLE_FOREACH(CounterEntry, e, table) {
		const CounterRow unknown = {
			.group = e->group, .name = e->file, .unit = COUNTER_UNKNOWN, .scale = 1};

		if (!has_row(e))
			counters[n++] = interpret(&unknown, e, extended);
	}
	*ret = counters;
	*ret_n = n;
	return 0;
}
