/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "table-columns.h"

#include "counter.h"
#include "decode.h"
#include "table.h"

/* Where the member of a column is, if the column is stored. */
#define PLACE(structure, field, ...)                                                               \
	__VA_OPT__(.offset = offsetof(structure, field), .size = sizeof(__VA_ARGS__), )
#define ROW(structure, field_, storage, type_, signature_, tail_, unit_, help)                     \
	{                                                                                          \
		.field = #field_,                                                                  \
		.type = COLUMN_##type_,                                                            \
		.unit = UNIT_##unit_,                                                              \
		.is_published = sizeof(signature_) > 1,                                            \
		PLACE(structure, field_, storage).signature = signature_,                          \
		.tail = #tail_,                                                                    \
	},

#define TABLE(T, type, structure, name, columns_, ...)                                             \
	static const Column name##_columns[] = {columns_(ROW, structure)};                         \
	_Static_assert(ARRAY_SIZE(name##_columns) <= TABLE_COLUMNS_MAX, "TABLE_COLUMNS_MAX");      \
	const char name##_table_signature[] =                                                      \
		"a(" columns_(COLUMN_SIGNATURE, ) COLUMN_TAIL_SIGNATURE ")";                       \
	const TableLayout name##_layout = {.columns = name##_columns,                              \
					   .n_columns = ARRAY_SIZE(name##_columns),                \
					   .entry_size = sizeof(structure),                        \
					   .signature = name##_table_signature};
ALL_TABLES(TABLE, )

static const TableLayout *const layouts[_ATTR_TYPE_MAX] = {
#define LAYOUT(T, type, structure, name, ...) [ATTR_##type] = &name##_layout,
	PUBLISHED_TABLES(LAYOUT, ) HIDDEN_TABLES(LAYOUT, )};

const char *user_kind_name(uint32_t kind)
{
	return kind == USER_PROCESS ? "process" : kind == USER_KERNEL ? "kernel" : "unknown";
}

const TableLayout *table_layout(AttrType type)
{
	return layouts[type];
}

size_t attr_table_entry_size(AttrType type)
{
	const TableLayout *l = table_layout(type);

	return l ? l->entry_size : 0;
}

const char *table_members(const TableLayout *l, char buffer[TABLE_MEMBERS_MAX])
{
	size_t n = strlen(l->signature) - strlen("a()");

	memcpy(buffer, l->signature + strlen("a("), n);
	buffer[n] = '\0';
	return buffer;
}

/* The name of STATE; BUFFER is for a number that has none. */
static const char *health_state_name(uint32_t state, char buffer[48])
{
	if (state <= HEALTH_ERROR)
		return state == HEALTH_ERROR ? "error" : "healthy";
	snprintf(buffer, 48, "unknown(%u)", state);
	return buffer;
}

static void publish_vf_guid(const VfEntry *entry, const void *member, ColumnValue *ret)
{
	uint64_t guid;

	ret->text = "";
	if (!entry->has_guids)
		return;
	memcpy(&guid, member, sizeof(guid));
	guid_format(guid, ret->buffer);
	ret->text = ret->buffer;
}

static void publish_gid_address(const GidEntry *entry, ColumnValue *ret)
{
	gid_format_address(entry->gid, entry->type, ret->buffer);
	ret->text = ret->buffer;
}

void column_publish(const Column *c, const void *entry, ColumnValue *ret)
{
	const void *member = (const char *)entry + c->offset;
	uint32_t number = 0;

	if (c->size == sizeof(number))
		memcpy(&number, member, sizeof(number));
	ret->kind = COLUMN_VALUE_TEXT;
	switch (c->type) {
	case COLUMN_U32:
	case COLUMN_ERROR:
		ret->kind = COLUMN_VALUE_U32;
		ret->u32 = number;
		break;
	case COLUMN_U64:
		ret->kind = COLUMN_VALUE_U64;
		memcpy(&ret->u64, member, sizeof(ret->u64));
		break;
	case COLUMN_TEXT:
		ret->text = member;
		break;
	case COLUMN_STRING:
		memcpy(&ret->text, member, sizeof(ret->text));
		break;
	case COLUMN_GID:
		gid_format(member, ret->buffer);
		ret->text = ret->buffer;
		break;
	case COLUMN_IP:
		gid_format_address(member, GID_TYPE_ROCE_V2, ret->buffer);
		ret->text = ret->buffer;
		break;
	case COLUMN_GID_TYPE:
		ret->text = gid_type_name(number, ret->buffer);
		break;
	case COLUMN_GID_ADDRESS:
		publish_gid_address(entry, ret);
		break;
	case COLUMN_GID_NAMESPACE:
		ret->text = gid_namespace_name(number);
		break;
	case COLUMN_PKEY_MEMBERSHIP:
		ret->text = pkey_membership(((const PkeyEntry *)entry)->pkey);
		break;
	case COLUMN_HEALTH_STATE:
		ret->text = health_state_name(number, ret->buffer);
		break;
	case COLUMN_VERDICT:
		ret->text = decode_name(ATTR_VERDICT, number) ?: "unknown";
		break;
	case COLUMN_VF_GUID:
		publish_vf_guid(entry, member, ret);
		break;
	case COLUMN_VF_POLICY:
		ret->text = vf_policy_name(number, ret->buffer);
		break;
	case COLUMN_VF_TRUST:
		ret->text = number == UINT32_MAX ? "" : number ? "on" : "off";
		break;
	case COLUMN_COUNTER_GROUP:
		ret->text = counter_group_name(number);
		break;
	case COLUMN_USER_KIND:
		ret->text = user_kind_name(number);
		break;
	}
}
