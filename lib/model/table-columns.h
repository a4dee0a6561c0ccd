/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The columns of the tables at run time: table-columns.def as arrays, over which everything loops
 * that reads, checks, publishes or describes an entry. */

#include "attribute.h"

/* How the value of a column is understood. */
typedef enum ColumnType {
	COLUMN_U32,
	COLUMN_U64,
	COLUMN_TEXT,		/* an array of characters: terminated, zero behind its end */
	COLUMN_STRING,		/* a pointer to text that lives elsewhere */
	COLUMN_ERROR,		/* 0 or a negative errno */
	COLUMN_GID,		/* in network byte order */
	COLUMN_IP,		/* the same; IPv4 is mapped into IPv6 */
	COLUMN_GID_TYPE,	/* enum GidType, or a number that is none */
	COLUMN_GID_ADDRESS,	/* computed from a GidEntry */
	COLUMN_GID_NAMESPACE,	/* enum GidNamespace */
	COLUMN_PKEY_MEMBERSHIP, /* computed from a PkeyEntry */
	COLUMN_HEALTH_STATE,	/* enum HealthState, or a number that is none */
	COLUMN_VERDICT,		/* enum AttrVerdict */
	COLUMN_VF_GUID,		/* a number; of a VfEntry that has GUIDs */
	COLUMN_VF_POLICY,	/* IFLA_VF_LINK_STATE_* */
	COLUMN_VF_TRUST,	/* 0, 1, or UINT32_MAX: the driver does not say */
	COLUMN_COUNTER_GROUP,	/* enum CounterGroup */
	COLUMN_USER_KIND,	/* enum UserKind */
} ColumnType;

/* enum devlink_health_reporter_state of the kernel's net/devlink.h, which is not in its uapi. */
typedef enum HealthState { HEALTH_HEALTHY, HEALTH_ERROR } HealthState;

/* A row of table-columns.def. OFFSET and SIZE are those of the member in the entry: 0 if it is
 * computed. */
typedef struct Column {
	char field[20];
	char tail[20];	   /* its name in the tail; "" if it is positional or not published */
	char signature[2]; /* "" if it is not published */
	ColumnType type : 8;
	AttrUnit unit : 8;
	bool is_published;
	uint16_t offset;
	uint16_t size;
} Column;

/* The columns of one table in the order of their rows. */
typedef struct TableLayout {
	const Column *columns;
	size_t n_columns;
	size_t entry_size;
	const char *signature; /* of the whole table on D-Bus: "a(usa{sv})" */
} TableLayout;

/* More columns than any table has. */
#define TABLE_COLUMNS_MAX 16U
/* Room for the signature of an entry of any table. */
#define TABLE_MEMBERS_MAX (TABLE_COLUMNS_MAX + sizeof("a{sv}"))

/* What column I of L, which is one of the layouts below, is about: one sentence. */
const char *column_help(const TableLayout *l, size_t i);

/* The layout of the tables of TYPE (ATTR_GIDS, ...); NULL if TYPE is no table. */
const TableLayout *table_layout(AttrType type);
/* The signature of what is in an entry of L: "usa{sv}". Returns BUFFER. */
const char *table_members(const TableLayout *l, char buffer[TABLE_MEMBERS_MAX]);
/* The layout of each table, as user_layout, and its signature on D-Bus, as user_table_signature. */
#define TABLE_DECLARATION(T, type, structure, name, ...)                                           \
	extern const TableLayout name##_layout;                                                    \
	extern const char name##_table_signature[];
ALL_TABLES(TABLE_DECLARATION, )

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

/* Whether V says nothing: 0 or an empty text. In the tail such a value is left out. */
static inline bool column_value_is_empty(const ColumnValue *v)
{
	return v->kind == COLUMN_VALUE_U32   ? v->u32 == 0
	       : v->kind == COLUMN_VALUE_U64 ? v->u64 == 0
					     : v->text[0] == '\0';
}

/* The value of column C, which must be a published one, in ENTRY. */
void column_publish(const Column *c, const void *entry, ColumnValue *ret);

/* The part of a row in the signature of an entry: nothing if the member is in the tail. */
#define COLUMN_SIGNATURE(S, field, storage, type, signature, tail, ...)                            \
	COLUMN_POSITIONAL(signature, tail)
#define COLUMN_POSITIONAL(signature, ...) COLUMN_FIRST(__VA_OPT__("", ) signature, )
#define COLUMN_FIRST(first, ...)	  first
/* The tail of an entry, behind these. */
#define COLUMN_TAIL_SIGNATURE "a{sv}"

/* The kinds of owners of queue pairs. Workers send the numbers. */
typedef enum UserKind {
	USER_UNKNOWN, /* the kernel does not say: who made them has ended */
	USER_PROCESS,
	USER_KERNEL,
	_USER_KIND_MAX
} UserKind;

/* "process", "kernel" or "unknown" */
const char *user_kind_name(uint32_t kind);

/* No user, and none that is known */
#define USER_NO_UID UINT32_MAX

/* The entries, whose members are the columns. An entry is plain data without padding, and what is
 * behind the end of a text is zero, so that tables compare with memcmp(). */
#define COLUMN_MEMBER(S, field, storage, ...) COLUMN_DECLARATION(field, storage)
#define COLUMN_DECLARATION(field, ...)	      __VA_OPT__(__typeof__(__VA_ARGS__) field;)
#define TABLE_STRUCTURE(T, type, structure, name, columns, ...)                                    \
	typedef struct structure {                                                                 \
		columns(COLUMN_MEMBER, ) __VA_ARGS__                                               \
	} structure;
ALL_TABLES(TABLE_STRUCTURE, )
