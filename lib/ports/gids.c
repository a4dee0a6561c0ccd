/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gids.h"

#include "format.h"
#include "gid.h"

GidWalk gid_walk(const Object *port)
{
	GidWalk w = {};

	if (port && port->made)
		(void)object_table(port, PORT_ATTR_gids, &w.table);
	else
		w.values = object_value(port, PORT_ATTR_gids);
	return w;
}

static uint32_t parse_type(const char *text)
{
	char buffer[24];
	uint32_t type = 0;

	while (type < _GID_TYPE_MAX && !streq(text, gid_type_name(type, buffer)))
		type++;
	return type;
}

/* Sets *RET to what rdmad has published as V. False if V is no entry. */
static bool read_entry(const Value *v, GidEntry *ret)
{
	const char *namespace = format_member_text(ATTR_GIDS, "namespace", v);

	*ret = (GidEntry){
		.index = (uint32_t)format_member_number(ATTR_GIDS, "index", v),
		.type = parse_type(format_member_text(ATTR_GIDS, "type", v)),
		.ifindex = (uint32_t)format_member_number(ATTR_GIDS, "ifindex", v),
		.vlan_id = (uint32_t)format_member_number(ATTR_GIDS, "vlan_id", v),
		.namespace = *namespace ? GID_NAMESPACE_OTHER : GID_NAMESPACE_OWN,
	};
	text_copy(ret->netdev, sizeof(ret->netdev), format_member_text(ATTR_GIDS, "netdev", v));
	return gid_parse(format_member_text(ATTR_GIDS, "gid", v), ret->gid) == 0;
}

const GidEntry *gid_next(GidWalk *w)
{
	if (w->table && w->i < w->table->n)
		return (const GidEntry *)(const void *)w->table->entries + w->i++;
	while (w->i < value_count(w->values))
		if (read_entry(&w->values->items[w->i++], &w->read))
			return &w->read;
	return NULL;
}
