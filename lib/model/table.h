/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The tables of a port and of a device. table-columns.h has their entries. */

#include "counter.h"
#include "table-columns.h"

/* An immutable array of entries of one kind. NULL stands for an empty one everywhere. */
typedef struct Table {
	uint16_t n;
	uint16_t others; /* holders but one */
	uint32_t entry_size;
	uint8_t entries[] __attribute__((aligned(8)));
} Table;

/* The most entries that a table of rdmad may have; a GID table has room for 1024 on rxe, 256 on
 * mlx5, a P_Key table for at most 65535 (IBA) and 128 in practice. */
#define TABLE_ENTRIES_MAX 4096U

typedef enum PortTable {
#define T(type, field) PORT_TABLE_##type,
	PORT_TABLES(T)
#undef T
		_PORT_TABLE_MAX
} PortTable;

typedef enum DeviceTable {
#define T(type, field) DEVICE_TABLE_##type,
	DEVICE_TABLES(T)
#undef T
		_DEVICE_TABLE_MAX
} DeviceTable;

/* New table with a copy of N entries of ENTRY_SIZE bytes. NULL if there is no memory or N is 0 or
 * above TABLE_ENTRIES_MAX. */
Table *table_new(const void *entries, size_t n, size_t entry_size);
/* The same into *RET, which is NULL if N is 0. -ENOMEM. */
int table_make(const void *entries, size_t n, size_t entry_size, Table **ret);
/* A new table with the entries of T; NULL if there is no memory or T is NULL. */
Table *table_copy(const Table *t);
/* One holder more of T, which may be NULL. Returns T. */
static inline Table *table_hold(Table *t)
{
	if (t)
		t->others++;
	return t;
}
/* One holder less; the last frees T, which may be NULL. Returns NULL. */
static inline Table *table_free(Table *t)
{
	if (t && t->others > 0)
		t->others--;
	else
		free(t);
	return NULL;
}
DEFINE_CLEANUP(Table, table_free);

/* Whether the two, which may be NULL, have the same entries in the same order. */
bool table_equal(const Table *a, const Table *b);

/* How far table_next_own() has come in T and in OTHER. */
typedef struct TableCursor {
	uint32_t i, k;
} TableCursor;

/* The next entry of T from *C on, which begins zeroed, that OTHER does not have at its index; NULL:
 * there is none. The index is the first member of the entries of both, which may be NULL. An entry
 * that is not own to T is not own to OTHER either, also if the indexes are in no order. */
const void *table_next_own(const Table *t, const Table *other, TableCursor *c);

/* A loop over the entries of T, which may be NULL: TABLE_FOREACH(GidEntry, e, table) ... */
#define TABLE_FOREACH(type, e, t)                                                                  \
	for (const type *e = (t) ? (const type *)(const void *)(t)->entries : NULL,                \
			*e##_end = (t) ? e + (t)->n : NULL;                                        \
	     e < e##_end; e++)

/* The policy of the link of a virtual function, IFLA_VF_LINK_STATE_* of linux/if_link.h, in the
 * words of ip(8). RET is room for a number that has no name. */
const char *vf_policy_name(uint32_t policy, char ret[24]);
/* The reverse of it; -EINVAL. A number without a name is not taken. */
int vf_policy_parse(const char *text, uint32_t *ret);

/* Size of the entries of the tables of TYPE (ATTR_GIDS, ...); 0 if TYPE is none. */
size_t attr_table_entry_size(AttrType type);
/* Which table of a port holds the rows of TYPE; _PORT_TABLE_MAX if none does. */
PortTable attr_port_table(AttrType type);
/* Whether the row is a table that is read on demand, by a query of its own, such as the counters. A
 * table has no room among the values. */
static _always_inline_ bool attr_is_reading(const Attribute *a)
{
	return a->class == CLASS_COUNTER && a->size == 0;
}
/* The row of PORT_TABLE. */
PortAttr port_table_attr(PortTable table);
/* The same for the tables of a device; _DEVICE_TABLE_MAX if none holds the rows of TYPE. */
DeviceTable attr_device_table(AttrType type);
DeviceAttr device_table_attr(DeviceTable table);
