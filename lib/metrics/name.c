/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The names and units of metrics, made of those of rows. */

#include "metrics-private.h"

/* Takes SUFFIX from the end of NAME. False if it does not end so, or is nothing else. */
static bool drop_suffix(char *name, const char *suffix)
{
	size_t n = strlen(name), n_suffix = strlen(suffix);

	if (n <= n_suffix || !streq(name + n - n_suffix, suffix))
		return false;
	name[n - n_suffix] = '\0';
	return true;
}

static bool ends_with_word(const char *name, const char *word)
{
	size_t n = strlen(name), n_word = strlen(word);

	return n > n_word && name[n - n_word - 1] == '_' && streq(name + n - n_word, word);
}

static void add(char name[METRIC_NAME_MAX], const char *text)
{
	size_t n = strlen(name);

	snprintf(name + n, METRIC_NAME_MAX - n, "%s", text);
}

/* As in ASCII: the language of the user makes no difference. */
static bool is_upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

static bool is_lower_or_digit(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

/* Adds NAME in snake case: LinkWidth is link_width, VL15_dropped is vl15_dropped. The names of
 * counters come from drivers: what may not be in the name of a metric becomes '_'. */
static void add_snake_case(char name[METRIC_NAME_MAX], const char *text)
{
	size_t n = strlen(name);
	char before = '_';

	for (; *text && n + 2 < METRIC_NAME_MAX; before = *text++) {
		if (is_upper(*text) && is_lower_or_digit(before))
			name[n++] = '_';
		if (is_upper(*text))
			name[n++] = (char)(*text - 'A' + 'a');
		else
			name[n++] = is_lower_or_digit(*text) ? *text : '_';
	}
	name[n] = '\0';
}

const char *metric_row_unit(const Attribute *row)
{
	return unit_rows[row->unit].metric;
}

static bool is_family(const Attribute *row)
{
	switch (row->metric) {
	case METRIC_GAUGE:
	case METRIC_COUNTER:
	case METRIC_STATESET:
		return true;
	case METRIC_NONE:
	case METRIC_INFO:
	case METRIC_LABEL:
	case _METRIC_MAX:
		break;
	}
	return false;
}

bool metric_row_name(const Attribute *row, char ret[METRIC_NAME_MAX])
{
	const char *unit = metric_row_unit(row);

	if (!is_family(row))
		return false;
	snprintf(ret, METRIC_NAME_MAX, "rdma_%s_",
		 row->interface < INTERFACE_PORT ? "device" : "port");
	add_snake_case(ret, row->name);
	drop_suffix(ret, "_usec");
	/* "_count" at the end is for histograms. PortCount of a device is rdma_device_ports. */
	if (drop_suffix(ret, "_count") && row->metric == METRIC_GAUGE)
		add(ret, "s");
	if (*unit && !ends_with_word(ret, unit)) {
		add(ret, "_");
		add(ret, unit);
	}
	if (row->metric == METRIC_COUNTER)
		add(ret, "_total");
	return true;
}

const char *metric_info_name(const Attribute *row)
{
	return row->interface < INTERFACE_PORT ? "rdma_device_info" : "rdma_port_info";
}

void metric_label_name(const Attribute *row, char ret[METRIC_NAME_MAX])
{
	ret[0] = '\0';
	add_snake_case(ret, row->name);
}

/* The name without "_total". */
static void name_counter(CounterGroup group, const char *name, char ret[METRIC_NAME_MAX])
{
	const char *rest = NULL;

	snprintf(ret, METRIC_NAME_MAX, "rdma_port_%s",
		 group == COUNTER_GROUP_HARDWARE  ? "hw_"
		 : group == COUNTER_GROUP_DEVICE  ? "device_"
		 : group == COUNTER_GROUP_ETHTOOL ? "ethtool_"
						  : "");
	if (group == COUNTER_GROUP_PORT)
		rest = startswith(name, "port_");
	add_snake_case(ret, rest ? rest : name);
}

void metric_counter_name(CounterGroup group, const char *name, CounterUnit unit,
			 char ret[METRIC_NAME_MAX])
{
	name_counter(group, name, ret);
	if (unit != COUNTER_UNKNOWN)
		add(ret, "_total");
}

const char *metric_counter_unit(const CounterRow *row)
{
	const char *unit = row->unit == COUNTER_UNKNOWN ? "" : counter_unit_name(row->unit);
	char name[METRIC_NAME_MAX];

	name_counter(row->group, row->name, name);
	return *unit && ends_with_word(name, unit) ? unit : "";
}
