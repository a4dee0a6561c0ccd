/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The tables of a port and of a device, and their entries. */

#include "attribute.h"

typedef enum CounterGroup {
	COUNTER_GROUP_PORT,	/* counters/ in sysfs */
	COUNTER_GROUP_HARDWARE, /* hw_counters/ */
	_COUNTER_GROUP_MAX
} CounterGroup;

/* How the value of a column is understood. */
typedef enum ColumnType {
	COLUMN_U32,
	COLUMN_U64,
	COLUMN_TEXT,		  /* an array of characters: terminated, zero behind its end */
	COLUMN_STRING,		  /* a pointer to text that lives elsewhere */
	COLUMN_ERROR,		  /* 0 or a negative errno */
	COLUMN_GID,		  /* in network byte order */
	COLUMN_GID_TYPE,	  /* enum GidType, or a number that is none */
	COLUMN_GID_ADDRESS,	  /* computed from a GidEntry */
	COLUMN_PKEY_MEMBERSHIP,	  /* computed from a PkeyEntry */
	COLUMN_COUNTER_GROUP,	  /* enum CounterGroup */
	COLUMN_COUNTER_UNIT,	  /* enum CounterUnit */
	COLUMN_COUNTER_CONDITION, /* enum CounterCondition */
} ColumnType;

/* A row of table-columns.def. OFFSET and SIZE are those of the member in the entry: 0 if it is
 * computed. */
typedef struct Column {
	const char *field;
	ColumnType type;
	AttrUnit unit;
	bool is_published;
	uint16_t offset;
	uint16_t size;
	const char *signature; /* "" if it is not published */
	const char *help;
} Column;

/* The columns of one table in the order of their rows. */
typedef struct TableLayout {
	const Column *columns;
	size_t n_columns;
	size_t n_published; /* of them */
	size_t entry_size;
	const char *signature; /* of the whole table on D-Bus: "a(us)" */
} TableLayout;

/* More columns than any table has. */
#define TABLE_COLUMNS_MAX 16U

/* The layout of the tables of TYPE (ATTR_GIDS, ...); NULL if TYPE is no table. That of
 * ATTR_COUNTERS has the files; what is published of them is counter_layout. */
const TableLayout *table_layout(AttrType type);
/* The layout of struct Counter in counters.h. */
extern const TableLayout counter_layout;

/* Their signatures on D-Bus, for ATTR_TYPES. */
extern const char gid_table_signature[], pkey_table_signature[], netdev_table_signature[],
	chardev_table_signature[], counter_table_signature[];

/* Declares the member FIELD of a structure for a column with that storage, if it has any. */
#define COLUMN_MEMBER(field, ...) __VA_OPT__(__typeof__(__VA_ARGS__) field;)

/* Entries of the tables: table-columns.def says what their members are. An entry is plain data
 * without padding, and what is behind the end of a text is zero, so that tables compare with
 * memcmp(). */
typedef struct GidEntry {
#define GIDS(field, storage, ...) COLUMN_MEMBER(field, storage)
#include "table-columns.def"
} GidEntry;

typedef struct PkeyEntry {
#define PKEYS(field, storage, ...) COLUMN_MEMBER(field, storage)
#include "table-columns.def"
} PkeyEntry;

typedef struct NetdevEntry {
#define NETDEVS(field, storage, ...) COLUMN_MEMBER(field, storage)
#include "table-columns.def"
} NetdevEntry;

typedef struct ChardevEntry {
#define CHARDEVS(field, storage, ...) COLUMN_MEMBER(field, storage)
#include "table-columns.def"
} ChardevEntry;

typedef struct CounterEntry {
#define COUNTER_FILES(field, storage, ...) COLUMN_MEMBER(field, storage)
#include "table-columns.def"
} CounterEntry;

/* An immutable array of entries of one kind. NULL stands for an empty one everywhere. */
typedef struct Table {
	uint32_t n;
	uint32_t entry_size;
	uint8_t entries[] __attribute__((aligned(8)));
} Table;

/* The most entries that a table of rdmad may have; a GID table has room for 1024 on rxe, 256 on
 * mlx5, a P_Key table for at most 65535 (IBA) and 128 in practice. */
#define TABLE_ENTRIES_MAX 4096U

/* The tables of a port in the order in which a PortSnapshot carries them. */
typedef enum PortTable {
	PORT_TABLE_GIDS,
	PORT_TABLE_PKEYS,
	PORT_TABLE_NETDEVS,
	PORT_TABLE_COUNTERS,
	_PORT_TABLE_MAX
} PortTable;

/* New table with a copy of N entries of ENTRY_SIZE bytes. NULL if there is no memory or N is 0 or
 * above TABLE_ENTRIES_MAX. */
Table *table_new(const void *entries, size_t n, size_t entry_size);
/* Takes NULL; returns NULL. */
static inline Table *table_free(Table *t)
{
	free(t);
	return NULL;
}
DEFINE_CLEANUP(Table, table_free);

/* Whether the two, which may be NULL, have the same entries in the same order. */
bool table_equal(const Table *a, const Table *b);

/* A loop over the entries of T, which may be NULL: TABLE_FOREACH(GidEntry, e, table) ... */
#define TABLE_FOREACH(type, e, t)                                                                  \
	for (const type *e = (t) ? (const type *)(const void *)(t)->entries : NULL,                \
			*e##_end = (t) ? e + (t)->n : NULL;                                        \
	     e < e##_end; e++)

/* A value of an entry as it is published. TEXT is static, or in the entry, or BUFFER. */
typedef struct ColumnValue {
	enum { COLUMN_VALUE_U32, COLUMN_VALUE_U64, COLUMN_VALUE_TEXT } kind;
	union {
		uint32_t u32;
		uint64_t u64;
		const char *text;
	};
	char buffer[48];
} ColumnValue;

/* The value of column C, which must be a published one, in ENTRY. */
void column_publish(const Column *c, const void *entry, ColumnValue *ret);

/* Size of the entries of the tables of TYPE (ATTR_GIDS, ...); 0 if TYPE is none. */
size_t attr_table_entry_size(AttrType type);
/* Which table of a port holds the rows of TYPE; _PORT_TABLE_MAX if none does. */
PortTable attr_port_table(AttrType type);
/* The row of PORT_TABLE. */
PortAttr port_table_attr(PortTable table);
