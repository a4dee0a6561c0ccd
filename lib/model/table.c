/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "table.h"

#include <inttypes.h>
#include <linux/if_link.h>

Table *table_new(const void *entries, size_t n, size_t entry_size)
{
	Table *t;

	if (n == 0 || n > TABLE_ENTRIES_MAX)
		return NULL;
	t = malloc(sizeof(Table) + n * entry_size);
	if (!t)
		return NULL;
	*t = (Table){.n = (uint16_t)n, .entry_size = (uint32_t)entry_size};
	memcpy(t->entries, entries, n * entry_size);
	return t;
}

int table_make(const void *entries, size_t n, size_t entry_size, Table **ret)
{
	Table *t = table_new(entries, n, entry_size);

	if (n > 0 && !t)
		return -ENOMEM;
	*ret = t;
	return 0;
}

Table *table_copy(const Table *t)
{
	return t ? table_new(t->entries, t->n, t->entry_size) : NULL;
}

bool table_equal(const Table *a, const Table *b)
{
	if (a == b || !a || !b)
		return a == b;
	return a->n == b->n && a->entry_size == b->entry_size &&
	       memcmp(a->entries, b->entries, (size_t)a->n * a->entry_size) == 0;
}

static const uint8_t *entry_at(const Table *t, uint32_t i)
{
	return t->entries + (size_t)i * t->entry_size;
}

static uint32_t index_of(const void *entry)
{
	uint32_t index;

	memcpy(&index, entry, sizeof(index));
	return index;
}

const void *table_next_own(const Table *t, const Table *other, TableCursor *c)
{
	while (t && c->i < t->n) {
		const uint8_t *own = entry_at(t, c->i), *its;

		if (!other || c->k == other->n) {
			c->i++;
			return own;
		}
		its = entry_at(other, c->k);
		if (memcmp(own, its, t->entry_size) == 0) {
			c->i++;
			c->k++;
		} else if (index_of(own) > index_of(its)) {
			c->k++;
		} else {
			c->k += index_of(own) == index_of(its);
			c->i++;
			return own;
		}
	}
	return NULL;
}

static const char *const vf_policies[] = {
	[IFLA_VF_LINK_STATE_AUTO] = "auto",
	[IFLA_VF_LINK_STATE_ENABLE] = "enable",
	[IFLA_VF_LINK_STATE_DISABLE] = "disable",
};

const char *vf_policy_name(uint32_t policy, char ret[24])
{
	if (policy < ARRAY_SIZE(vf_policies))
		return vf_policies[policy];
	snprintf(ret, 24, "unknown(%" PRIu32 ")", policy);
	return ret;
}

int vf_policy_parse(const char *text, uint32_t *ret)
{
	for (uint32_t i = 0; i < ARRAY_SIZE(vf_policies); i++)
		if (streq(text, vf_policies[i])) {
			*ret = i;
			return 0;
		}
	return -EINVAL;
}

PortTable attr_port_table(AttrType type)
{
	/* from 1 on */
	static const uint8_t tables[_ATTR_TYPE_MAX] = {
#define T(type, field) [ATTR_##type] = PORT_TABLE_##type + 1,
		PORT_TABLES(T)
#undef T
	};

	return tables[type] ? (PortTable)(tables[type] - 1) : _PORT_TABLE_MAX;
}

PortAttr port_table_attr(PortTable table)
{
	static const PortAttr rows[_PORT_TABLE_MAX] = {
#define T(type, field) PORT_ATTR_##field,
		PORT_TABLES(T)
#undef T
	};

	return rows[table];
}

DeviceTable attr_device_table(AttrType type)
{
	static const uint8_t tables[_ATTR_TYPE_MAX] = {
#define T(type, field) [ATTR_##type] = DEVICE_TABLE_##type + 1,
		DEVICE_TABLES(T)
#undef T
	};

	return tables[type] ? (DeviceTable)(tables[type] - 1) : _DEVICE_TABLE_MAX;
}

DeviceAttr device_table_attr(DeviceTable table)
{
	static const DeviceAttr rows[_DEVICE_TABLE_MAX] = {
#define T(type, field) DEVICE_ATTR_##field,
		DEVICE_TABLES(T)
#undef T
	};

	return rows[table];
}
