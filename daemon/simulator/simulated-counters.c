/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "simulated-counters.h"

#include "counters.h"

/* How many counters of one port settings may set. */
#define COUNTERS_SET_MAX 256U

#define HARDWARE_MAX 8U

/* In place of the error of a setting: its value is by how much the counter grows with a reading. */
#define GROWS 1

/* In place of the group of a setting: it is of the port at the other end of the link. */
#define GROUP_FAR _COUNTER_GROUP_MAX

/* The counters that grow, and by how much between two readings. Data is in words of four bytes. */
static const struct {
	const char *file;
	uint64_t step;
} moving[] = {
	{"port_xmit_data", 25000000},	 {"port_rcv_data", 12500000},
	{"port_xmit_packets", 50000},	 {"port_rcv_packets", 25000},
	{"unicast_xmit_packets", 49990}, {"unicast_rcv_packets", 24990},
	{"multicast_xmit_packets", 10},	 {"multicast_rcv_packets", 10},
	{"rx_write_requests", 1000},	 {"ip4InSegs", 70000},
	{"ip4OutSegs", 80000},
};

/* The files in hw_counters/ by protocol. Those of iWARP are files of the driver iw_cxgb4, which the
 * table of counters does not have. */
static const char *const hardware[_PROTOCOL_MAX][HARDWARE_MAX] = {
	[PROTOCOL_INFINIBAND] = {"rx_write_requests", "out_of_buffer", "out_of_sequence",
				 "local_ack_timeout_err"},
	[PROTOCOL_ROCE] = {"rx_write_requests", "out_of_buffer", "out_of_sequence",
			   "rx_icrc_encapsulated", "np_cnp_sent", "rp_cnp_handled",
			   "np_ecn_marked_roce_packets"},
	[PROTOCOL_IWARP] = {"ip4InSegs", "ip4OutSegs", "ip4RetransSegs"},
};

static CounterEntry entry(CounterGroup group, const char *file, uint32_t n)
{
	CounterEntry e = {.group = group};

	text_copy(e.file, sizeof(e.file), file);
	for (size_t i = 0; i < ARRAY_SIZE(moving); i++)
		if (streq(moving[i].file, file))
			e.value = n * moving[i].step;
	return e;
}

static CounterEntry *find(CounterEntry *entries, size_t n, const CounterEntry *e)
{
	for (size_t i = 0; i < n; i++)
		if (entries[i].group == e->group && streq(entries[i].file, e->file))
			return &entries[i];
	return NULL;
}

/* Replaces counters by those that are set, and removes those whose setting is empty (-ENOENT). */
static size_t override(CounterEntry *entries, size_t n, const Table *settings, bool far,
		       uint32_t reading)
{
	TABLE_FOREACH(CounterEntry, setting, settings) {
		CounterEntry e = *setting, *at;

		if ((e.group == GROUP_FAR) != far)
			continue;
		e.group = far ? COUNTER_GROUP_PORT : e.group;
		at = find(entries, n, &e);
		if (e.error >= 0) {
			at = at ? at : &entries[n++];
			*at = e;
			at->value *= e.error == GROWS ? reading : 1;
			at->error = 0;
		} else if (at) {
			*at = entries[--n];
		}
	}
	return n;
}

int simulated_counters_read(const SimulatedPort *p, bool far, uint32_t n, Table **ret)
{
	const Table *settings = p->now.tables[PORT_TABLE_COUNTERS];
	_cleanup_free_ CounterEntry *entries = NULL;
	size_t k = 0;

	entries = calloc(n_counter_rows + HARDWARE_MAX + (settings ? settings->n : 0),
			 sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	for (size_t i = 0; i < n_counter_rows && p->protocol != PROTOCOL_IWARP; i++)
		if (counter_rows[i].group == COUNTER_GROUP_PORT)
			entries[k++] = entry(COUNTER_GROUP_PORT, counter_rows[i].file, n);
	for (size_t i = 0; !far && i < HARDWARE_MAX && hardware[p->protocol][i]; i++)
		entries[k++] = entry(COUNTER_GROUP_HARDWARE, hardware[p->protocol][i], n);
	k = override(entries, k, settings, far, n);
	return table_make(entries, k, sizeof(*entries), ret);
}

/* The counter's name in KEY; NULL if it is of something else. */
static const char *parse_key(const char *key, CounterGroup *ret)
{
	static const char *const prefixes[] = {
		[COUNTER_GROUP_PORT] = "counter.",
		[COUNTER_GROUP_HARDWARE] = "hw_counter.",
		[COUNTER_GROUP_DEVICE] = "device_counter.",
		[COUNTER_GROUP_ETHTOOL] = "ethtool_counter.",
		[GROUP_FAR] = "far_counter.",
	};
	const char *name = NULL;

	for (CounterGroup g = 0; !name && g < ARRAY_SIZE(prefixes); g++) {
		name = startswith(key, prefixes[g]);
		*ret = g;
	}
	return name;
}

bool simulated_is_counter(const char *key)
{
	CounterGroup group;

	return parse_key(key, &group) != NULL;
}

int simulated_counters_set(const Table *old, const char *key, const char *value, Table **ret,
			   char **ret_message)
{
	_cleanup_free_ CounterEntry *entries = NULL;
	size_t n = old ? old->n : 0;
	CounterEntry e = {}, *at;
	CounterGroup group;
	const char *name = parse_key(key, &group), *number;

	if (!*name || strlen(name) >= sizeof(e.file))
		return scenario_refuse(-EINVAL, ret_message,
				       "%.100s: expected a counter of up to %zu bytes", key,
				       sizeof(e.file) - 1);
	e.group = group;
	text_copy_clean(e.file, sizeof(e.file), name);
	number = startswith(value, "+");
	e.error = !*value ? -ENOENT : number ? GROWS : 0;
	if (*value &&
	    text_to_u64(number ? number : value, number ? UINT32_MAX : UINT64_MAX, &e.value) < 0)
		return scenario_refuse(-EINVAL, ret_message,
				       "%.100s = %.100s: expected a number, +NUMBER, or nothing",
				       key, value);
	entries = malloc((n + 1) * sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	if (n)
		memcpy(entries, old->entries, n * sizeof(*entries));
	at = find(entries, n, &e);
	*(at ? at : &entries[n++]) = e;
	if (n > COUNTERS_SET_MAX)
		return scenario_refuse(-ENOSPC, ret_message,
				       "%.100s: too many, expected at most %u counters of a port",
				       key, COUNTERS_SET_MAX);
	return table_make(entries, n, sizeof(*entries), ret);
}
