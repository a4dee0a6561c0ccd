/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "table-columns.h"

#include "counter.h"
#include "decode.h"
#include "table.h"

/* Where the member of a column is, if the column is stored. */
#define PLACE(structure, field, ...)                                                               \
	__VA_OPT__(.offset = offsetof(structure, field), .size = sizeof(__VA_ARGS__), )
#define ROW(structure, field_, storage, type_, signature_, tail_, unit_, help_)                    \
	{                                                                                          \
		.field = #field_,                                                                  \
		.type = COLUMN_##type_,                                                            \
		.unit = UNIT_##unit_,                                                              \
		.is_published = sizeof(signature_) > 1,                                            \
		PLACE(structure, field_, storage).signature = signature_,                          \
		.tail = #tail_,                                                                    \
		.help = help_,                                                                     \
	},
#define SIGNATURE(...) COLUMN_SIGNATURE(__VA_ARGS__)
#define END	       COLUMN_TAIL_SIGNATURE ")"

/* clang-format off */
/* An array of the columns and the signature of each table */

static const Column gid_columns[] = {
#define GIDS(...) ROW(GidEntry, __VA_ARGS__)
#include "table-columns.def"
};
const char gid_table_signature[] = "a("
#define GIDS(...) SIGNATURE(__VA_ARGS__)
#include "table-columns.def"
	END;

static const Column pkey_columns[] = {
#define PKEYS(...) ROW(PkeyEntry, __VA_ARGS__)
#include "table-columns.def"
};
const char pkey_table_signature[] = "a("
#define PKEYS(...) SIGNATURE(__VA_ARGS__)
#include "table-columns.def"
	END;

static const Column netdev_columns[] = {
#define NETDEVS(...) ROW(NetdevEntry, __VA_ARGS__)
#include "table-columns.def"
};
const char netdev_table_signature[] = "a("
#define NETDEVS(...) SIGNATURE(__VA_ARGS__)
#include "table-columns.def"
	END;

static const Column bond_member_columns[] = {
#define BOND_MEMBERS(...) ROW(BondMember, __VA_ARGS__)
#include "table-columns.def"
};
const char bond_member_table_signature[] = "a("
#define BOND_MEMBERS(...) SIGNATURE(__VA_ARGS__)
#include "table-columns.def"
	END;

static const Column vf_columns[] = {
#define VFS(...) ROW(VfEntry, __VA_ARGS__)
#include "table-columns.def"
};
const char vf_table_signature[] = "a("
#define VFS(...) SIGNATURE(__VA_ARGS__)
#include "table-columns.def"
	END;

static const Column chardev_columns[] = {
#define CHARDEVS(...) ROW(ChardevEntry, __VA_ARGS__)
#include "table-columns.def"
};
const char chardev_table_signature[] = "a("
#define CHARDEVS(...) SIGNATURE(__VA_ARGS__)
#include "table-columns.def"
	END;

static const Column health_columns[] = {
#define HEALTH(...) ROW(HealthEntry, __VA_ARGS__)
#include "table-columns.def"
};
const char health_table_signature[] = "a("
#define HEALTH(...) SIGNATURE(__VA_ARGS__)
#include "table-columns.def"
	END;

static const Column finding_columns[] = {
#define FINDINGS(...) ROW(FindingEntry, __VA_ARGS__)
#include "table-columns.def"
};
const char finding_table_signature[] = "a("
#define FINDINGS(...) SIGNATURE(__VA_ARGS__)
#include "table-columns.def"
	END;

static const Column accelerator_columns[] = {
#define ACCELERATORS(...) ROW(AcceleratorEntry, __VA_ARGS__)
#include "table-columns.def"
};
const char accelerator_table_signature[] = "a("
#define ACCELERATORS(...) SIGNATURE(__VA_ARGS__)
#include "table-columns.def"
	END;

static const Column transition_columns[] = {
#define TRANSITIONS(...) ROW(PublishedTransition, __VA_ARGS__)
#include "table-columns.def"
};
const char transition_table_signature[] = "a("
#define TRANSITIONS(...) SIGNATURE(__VA_ARGS__)
#include "table-columns.def"
	END;

static const Column past_finding_columns[] = {
#define PAST_FINDINGS(...) ROW(PastFinding, __VA_ARGS__)
#include "table-columns.def"
};
const char past_finding_table_signature[] = "a("
#define PAST_FINDINGS(...) SIGNATURE(__VA_ARGS__)
#include "table-columns.def"
	END;

static const Column past_cable_columns[] = {
#define PAST_CABLES(...) ROW(PastCable, __VA_ARGS__)
#include "table-columns.def"
};
const char past_cable_table_signature[] = "a("
#define PAST_CABLES(...) SIGNATURE(__VA_ARGS__)
#include "table-columns.def"
	END;

static const Column evidence_columns[] = {
#define EVIDENCES(...) ROW(PublishedEvidence, __VA_ARGS__)
#include "table-columns.def"
};
const char evidence_table_signature[] = "a("
#define EVIDENCES(...) SIGNATURE(__VA_ARGS__)
#include "table-columns.def"
	END;

static const Column user_columns[] = {
#define USERS(...) ROW(PortUser, __VA_ARGS__)
#include "table-columns.def"
};
const char user_table_signature[] = "a("
#define USERS(...) SIGNATURE(__VA_ARGS__)
#include "table-columns.def"
	END;

static const Column altname_columns[] = {
#define ALTNAMES(...) ROW(AltnameEntry, __VA_ARGS__)
#include "table-columns.def"
};

static const Column address_columns[] = {
#define ADDRESSES(...) ROW(AddressEntry, __VA_ARGS__)
#include "table-columns.def"
};

static const Column counter_file_columns[] = {
#define COUNTER_FILES(...) ROW(CounterEntry, __VA_ARGS__)
#include "table-columns.def"
};

static const Column holder_columns[] = {
#define HOLDERS(...) ROW(HolderEntry, __VA_ARGS__)
#include "table-columns.def"
};

/* clang-format on */

_Static_assert(ARRAY_SIZE(gid_columns) <= TABLE_COLUMNS_MAX, "TABLE_COLUMNS_MAX is too small");

#define LAYOUT(structure, name)                                                                    \
	{                                                                                          \
		.columns = name##_columns, .n_columns = ARRAY_SIZE(name##_columns),                \
		.entry_size = sizeof(structure), .signature = name##_table_signature,              \
	}

/* No column is published. */
#define UNPUBLISHED(structure, name)                                                               \
	{                                                                                          \
		.columns = name##_columns, .n_columns = ARRAY_SIZE(name##_columns),                \
		.entry_size = sizeof(structure), .signature = "a()",                               \
	}

static const TableLayout layouts[_ATTR_TYPE_MAX] = {
	[ATTR_GIDS] = LAYOUT(GidEntry, gid),
	[ATTR_PKEYS] = LAYOUT(PkeyEntry, pkey),
	[ATTR_NETDEVS] = LAYOUT(NetdevEntry, netdev),
	[ATTR_BOND_MEMBERS] = LAYOUT(BondMember, bond_member),
	[ATTR_VFS] = LAYOUT(VfEntry, vf),
	[ATTR_CHARDEVS] = LAYOUT(ChardevEntry, chardev),
	[ATTR_HEALTH] = LAYOUT(HealthEntry, health),
	[ATTR_ACCELERATORS] = LAYOUT(AcceleratorEntry, accelerator),
	[ATTR_FINDINGS] = LAYOUT(FindingEntry, finding),
	[ATTR_ALTNAMES] = UNPUBLISHED(AltnameEntry, altname),
	[ATTR_ADDRESSES] = UNPUBLISHED(AddressEntry, address),
	[ATTR_COUNTERS] = UNPUBLISHED(CounterEntry, counter_file),
	[ATTR_USERS] = UNPUBLISHED(HolderEntry, holder),
};

const TableLayout transition_layout = LAYOUT(PublishedTransition, transition);
const TableLayout past_finding_layout = LAYOUT(PastFinding, past_finding);
const TableLayout past_cable_layout = LAYOUT(PastCable, past_cable);
const TableLayout evidence_layout = LAYOUT(PublishedEvidence, evidence);
const TableLayout user_layout = LAYOUT(PortUser, user);

const char *user_kind_name(uint32_t kind)
{
	return kind == USER_PROCESS ? "process" : kind == USER_KERNEL ? "kernel" : "unknown";
}

const TableLayout *table_layout(AttrType type)
{
	return layouts[type].columns ? &layouts[type] : NULL;
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
