/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Prints the names on the bus that the XML does not have, because they are values or members of
 * entries: one in each line, as dbus/version-1.txt has them.
 */

#include <stdio.h>

#include "api-feature.h"
#include "counters.h"
#include "decode.h"
#include "event.h"
#include "lookup.h"
#include "names.h"
#include "unavailable.h"

/* The names of an enumeration or of a set of flags. */
static void print_values(const char *property, AttrType type)
{
	const char *const *names = attr_type_names(type);

	for (size_t i = 0; names && names[i]; i++)
		printf("value %s %s\n", property, names[i]);
	if (!streq(attr_signature(type), "as") || attr_is_list(type))
		return;
	for (unsigned int bit = 0; bit < decode_capability_bits(type); bit++) {
		const char *name = decode_capability(type, bit);

		/* those that have no meaning yet may get a name of their own */
		if (!startswith(name, "reserved-") && !startswith(name, "bit-"))
			printf("value %s %s\n", property, name);
	}
}

/* The positional members of an entry in one line, and a line for each member of the tail. */
static void print_entry(const char *what, const TableLayout *l)
{
	printf("entry %s", what);
	for (size_t i = 0; i < l->n_columns; i++)
		if (l->columns[i].is_published && !l->columns[i].tail[0])
			printf(" %s:%s", l->columns[i].field, l->columns[i].signature);
	putchar('\n');
	for (size_t i = 0; i < l->n_columns; i++)
		if (l->columns[i].is_published && l->columns[i].tail[0])
			printf("tail %s %s:%s\n", what, l->columns[i].tail,
			       l->columns[i].signature);
}

static void print_row(const Attribute *row)
{
	char name[128];

	if (row->interface == INTERFACE_RAW)
		return;
	snprintf(name, sizeof(name), "%s.%s", attr_interface_name(row->interface), row->name);
	print_values(name, row->type);
	if (table_layout(row->type))
		print_entry(name, table_layout(row->type));
	if (attr_absent_text(row))
		printf("absent %s %s\n", name, attr_absent_text(row));
	if (*unit_rows[row->unit].name)
		printf("unit %s %s\n", name, unit_rows[row->unit].name);
}

static void print_attributes(void)
{
	for (DeviceAttr a = 0; a < _DEVICE_ATTR_MAX; a++)
		print_row(&device_attributes[a]);
	for (PortAttr a = 0; a < _PORT_ATTR_MAX; a++) {
		print_row(&port_attributes[a]);
		if (port_attributes[a].size > 0)
			printf("raw %s:%s\n", port_attributes[a].field,
			       attr_raw_signature(port_attributes[a].type));
	}
	printf("entry " RDMAD_INTERFACE_MANAGER ".ListPorts path:o");
	for (ListedAttr i = 0; i < _LISTED_MAX; i++)
		printf(" %s:%s", port_attributes[listed_attributes[i]].name,
		       attr_signature(port_attributes[listed_attributes[i]].type));
	putchar('\n');
}

static void print_counters(void)
{
	for (size_t i = 0; i < n_counter_rows; i++)
		printf("counter %s/%s %s\n", counter_group_name(counter_rows[i].group),
		       counter_rows[i].name, counter_unit_name(counter_rows[i].unit));
	for (CounterCondition c = 0; c < _COUNTER_CONDITION_MAX; c++)
		printf("condition %s\n", counter_condition_name(c));
}

int main(void)
{
	print_attributes();
	print_entry(RDMAD_INTERFACE_PORT ".GetHistory", &transition_layout);
	print_entry(RDMAD_INTERFACE_MANAGER ".GetEvidence", &evidence_layout);
	print_entry(RDMAD_INTERFACE_MANAGER ".ListHistories.Findings", &past_finding_layout);
	print_entry(RDMAD_INTERFACE_MANAGER ".ListHistories.Cables", &past_cable_layout);
	print_entry(RDMAD_INTERFACE_PORT ".GetUsers", &user_layout);
	print_counters();
	for (UnavailableCode i = 0; i < _UNAVAILABLE_MAX; i++)
		if (unavailable_rows[i].on_bus)
			printf("code %s\n", unavailable_rows[i].code);
	for (size_t i = 0; i < n_feature_rows; i++)
		printf("feature %s\n", feature_rows[i].name);
	for (EventReason r = 0; r < _REASON_MAX; r++)
		printf("reason %s\n", event_reason_name(r));
	for (FindKind k = 0; k < _FIND_MAX; k++)
		printf("kind %s\n", find_kind_name(k));
#define SERVICE_ERROR(name, sentence) printf("error %s\n", RDMAD_ERROR_##name);
#include "errors.def"
#undef SERVICE_ERROR
	return fflush(stdout) == 0 ? 0 : 1;
}
