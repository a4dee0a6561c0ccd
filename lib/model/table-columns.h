/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The columns of the tables at run time: table-columns.def as arrays, over which everything loops
 * that reads, checks, publishes or describes an entry. */

#include "attribute.h"

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

/* Declares the member FIELD of a structure for a column with that storage, if it has any. */
#define COLUMN_MEMBER(field, ...) __VA_OPT__(__typeof__(__VA_ARGS__) field;)
