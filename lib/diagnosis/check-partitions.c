/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A port that has lost a P_Key since rdmad looks at it: programs in that partition cannot connect.
 * Where all ports of the machine have lost it, somebody has meant that. */

#include <stdlib.h>

#include "check-parts.h"
#include "checks.h"

/* A P_Key without the bit that says whether the port is a full member */
#define PARTITION(key) ((key)&0x7fffU)

/* The partitions of the active ports of a protocol, each once. */
typedef struct Partitions {
	bool has[PARTITION(UINT32_MAX) + 1];
	uint16_t list[PARTITION(UINT32_MAX) + 1];
	size_t n, n_ports;
} Partitions;

/* The partitions of PORT; NULL if it is none of PROTOCOL, or is in no partition now. */
static const Value *table_of(const CheckRun *r, const Object *port, const char *protocol)
{
	const Value *table;

	if (!port->is_port || !object_is_active(port) ||
	    !streq(object_text(port, PORT_ATTR_protocol), protocol) ||
	    object_list_is_plane(r->objects, port) || check_may_be_idle(r, port))
		return NULL;
	table = object_value(port, PORT_ATTR_pkeys);
	return table && table->type == VALUE_ARRAY ? table : NULL;
}

static unsigned int partition_of(const Value *entry)
{
	return PARTITION((unsigned int)format_member_number(ATTR_PKEYS, "pkey", entry));
}

static void add_table(Partitions *p, const Value *table)
{
	p->n_ports++;
	for (size_t i = 0; i < table->n; i++) {
		unsigned int partition = partition_of(&table->items[i]);

		if (p->has[partition])
			continue;
		p->has[partition] = true;
		p->list[p->n++] = (uint16_t)partition;
	}
}

static bool table_has(const Value *table, unsigned int partition)
{
	for (size_t i = 0; i < table->n; i++)
		if (partition_of(&table->items[i]) == partition)
			return true;
	return false;
}

/* Whether a port with TABLE can have lost what others have, or is alone. */
static bool may_miss(const Partitions *p, const Value *table)
{
	for (size_t i = 0; i < p->n; i++)
		if (!table_has(table, p->list[i]))
			return true;
	return p->n_ports == 1;
}

/* Of the P_Keys that the port has lost, and should have, the last is told. */
static void look_at_evidence(CheckRun *r, const Partitions *p, const Value *table)
{
	const Attribute *row = &port_attributes[PORT_ATTR_pkeys];
	SeenSource evidence = check_evidence(r, r->port);
	Value when = {.type = VALUE_UNSIGNED};
	_cleanup_free_ char *text = NULL;
	unsigned int lost = 0;
	Seen e;

	for (size_t i = 0; seen_read(&evidence, i, &e); i++) {
		unsigned int key = (unsigned int)strtoul(e.from, NULL, 16);

		if (!streq(e.what, row->name) || !*e.from || *e.to ||
		    table_has(table, PARTITION(key)) || (p->n_ports > 1 && !p->has[PARTITION(key)]))
			continue;
		lost = key;
		when.number = e.realtime_usec;
	}
	if (when.number == 0)
		return;
	text = format_value(&port_attributes[PORT_ATTR_state_change], &when);
	check_find(r, row, "the P_Key 0x%04x has gone at %s%s", lost, text ? text : "",
		   p->n_ports > 1 ? ", and another port has it" : "");
}

static void look_at_protocol(CheckRun *r, const char *protocol)
{
	_cleanup_free_ Partitions *p = calloc(1, sizeof(*p));
	const Value *table;

	if (!p) {
		r->error = -ENOMEM;
		return;
	}
	for (size_t i = 0; i < r->objects->n; i++)
		if ((table = table_of(r, r->objects->items[i], protocol)))
			add_table(p, table);
	for (size_t i = 0; i < r->n_ports; i++) {
		table = table_of(r, r->ports[i], protocol);
		if (!table || !may_miss(p, table))
			continue;
		r->port = r->ports[i];
		r->device = object_list_device(r->objects, r->port);
		if (!check_is_ignored(r, r->check->name) &&
		    !check_is_expected(r, &port_attributes[PORT_ATTR_pkeys]))
			look_at_evidence(r, p, table);
	}
	r->port = r->device = NULL;
}

void look_for_lost_pkeys(CheckRun *r)
{
	look_at_protocol(r, "infiniband");
	look_at_protocol(r, "opa");
}
