/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A port that has lost a P_Key since rdmad looks at it: programs in that partition cannot connect,
 * or not to limited members, if the port is one of them now. Where all ports of the machine have
 * lost it, somebody has meant that. */

#include <stdlib.h>

#include "check-parts.h"
#include "checks.h"

/* A P_Key without the bit that says whether the port is a full member */
#define PARTITION(key) ((key)&0x7fffU)

#define FULL_MEMBER 0x8000U

/* The partitions of the active ports of a protocol, each once, with the P_Key of the fullest member
 * in it, or 0. */
typedef struct Partitions {
	uint16_t key[PARTITION(UINT32_MAX) + 1];
	uint16_t list[PARTITION(UINT32_MAX) + 1];
	size_t n, n_ports;
} Partitions;

/* The partitions of PORT; NULL if it is none of PROTOCOL, or is in no partition now, or has those
 * of its virtual functions too, which come and go with what uses these. */
static const Value *table_of(const CheckRun *r, const Object *port, const char *protocol)
{
	const Value *table;

	if (!port->is_port || !object_is_active(port) ||
	    !streq(object_text(port, PORT_ATTR_protocol), protocol) ||
	    object_list_is_plane(r->objects, port) || check_may_be_idle(r, port) ||
	    check_has_functions(port))
		return NULL;
	table = object_value(port, PORT_ATTR_pkeys);
	return table && table->type == VALUE_ARRAY ? table : NULL;
}

static unsigned int key_of(const Value *entry)
{
	return (unsigned int)format_member_number(ATTR_PKEYS, "pkey", entry) & UINT16_MAX;
}

static void add_table(Partitions *p, const Value *table)
{
	p->n_ports++;
	for (size_t i = 0; i < table->n; i++) {
		unsigned int key = key_of(&table->items[i]), partition = PARTITION(key);

		if (key == 0)
			continue;
		if (p->key[partition] == 0)
			p->list[p->n++] = (uint16_t)partition;
		p->key[partition] |= (uint16_t)key;
	}
}

/* Whether a member with the P_Key HAS reaches what one with KEY does. */
static bool is_as_full(unsigned int has, unsigned int key)
{
	return PARTITION(has) == PARTITION(key) && (has | ~key) & FULL_MEMBER;
}

static bool table_has(const Value *table, unsigned int key)
{
	for (size_t i = 0; i < table->n; i++)
		if (is_as_full(key_of(&table->items[i]), key))
			return true;
	return false;
}

/* Whether a port with TABLE can have lost what others have, or is alone. */
static bool may_miss(const Partitions *p, const Value *table)
{
	for (size_t i = 0; i < p->n; i++)
		if (!table_has(table, p->key[p->list[i]]))
			return true;
	return p->n_ports == 1;
}

/* Whether a third of the ports of this protocol have KEY, or more. If fewer have it, somebody has
 * taken it from all, and has forgotten these. */
static bool is_usual(const CheckRun *r, unsigned int key)
{
	const char *protocol = object_text(r->port, PORT_ATTR_protocol);
	size_t n = 0, n_all = 0;

	for (size_t i = 0; i < r->objects->n; i++) {
		const Value *table = table_of(r, r->objects->items[i], protocol);

		n_all += table != NULL;
		n += table && table_has(table, key);
	}
	return 3 * n >= n_all;
}

/* Of the P_Keys that the port has lost, and should have, the last is told. */
static void look_at_evidence(CheckRun *r, const Partitions *p, const Value *table)
{
	const Attribute *row = &port_attributes[PORT_ATTR_pkeys];
	SeenSource evidence = check_evidence(r, r->port);
	uint64_t when = 0;
	_cleanup_free_ char *text = NULL;
	unsigned int lost = 0;
	Seen e;

	for (size_t i = 0; seen_read(&evidence, i, &e); i++) {
		unsigned int key = (unsigned int)strtoul(e.from, NULL, 16) & UINT16_MAX;
		/* no more than another port has */
		unsigned int wanted = p->n_ports > 1 ? key & p->key[PARTITION(key)] : key;

		if (!streq(e.what, row->name) || !*e.from || *e.to || wanted == 0 ||
		    table_has(table, wanted) || (p->n_ports > 1 && !is_usual(r, wanted)))
			continue;
		lost = key;
		when = e.realtime_usec;
	}
	if (when == 0)
		return;
	text = format_time(when);
	check_find(r, row, "the P_Key 0x%04x has gone at %s%s%s", lost, text ? text : "",
		   p->n_ports > 1 ? ", and another port has it" : "",
		   table_has(table, PARTITION(lost)) ? "; the port is a limited member now" : "");
}

static void look_at_protocol(CheckRun *r, const char *protocol)
{
	_cleanup_free_ Partitions *p = NULL; /* NULL: there is no table */
	const Value *table;

	for (size_t i = 0; i < r->objects->n; i++) {
		table = table_of(r, r->objects->items[i], protocol);
		if (table && !p && !(p = calloc(1, sizeof(*p)))) {
			r->error = -ENOMEM;
			return;
		}
		if (table)
			add_table(p, table);
	}
	for (size_t i = 0; i < r->n_ports && p; i++) {
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
