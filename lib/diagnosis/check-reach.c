/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Which peers reach a RoCE port: by its addresses, and its place in a bond. */

#include "bond.h"
#include "check-parts.h"
#include "gid.h"

bool check_stands_by(const Object *port)
{
	const Value *members = object_value(port, PORT_ATTR_bond_members);
	const char *netdev = object_text(port, PORT_ATTR_netdev);

	for (size_t i = 0; members && members->type == VALUE_ARRAY && i < members->n; i++) {
		const Value *m = &members->items[i];

		if (streq(format_member_text(ATTR_BOND_MEMBERS, "name", m), netdev))
			return streq(format_member_text(ATTR_BOND_MEMBERS, "state", m),
				     BOND_MEMBER_BACKUP);
	}
	return false;
}

bool check_reaches(const char *text)
{
	uint8_t gid[16];

	return gid_parse(text, gid) == 0 && !gid_is_link_local(gid);
}

bool check_has_ipv4(const Object *port)
{
	const Value *gids = object_value(port, PORT_ATTR_gids);

	for (size_t i = 0; gids && gids->type == VALUE_ARRAY && i < gids->n; i++) {
		const char *text = format_member_text(ATTR_GIDS, "address", &gids->items[i]);

		if (strchr(text, '.') && check_reaches(text))
			return true;
	}
	return false;
}

int check_is_reachable(const Object *port)
{
	const Value *gids = object_value(port, PORT_ATTR_gids);
	int is = -1;

	if (check_stands_by(port))
		return -1;
	for (size_t i = 0; gids && gids->type == VALUE_ARRAY && i < gids->n; i++) {
		if (check_reaches(format_member_text(ATTR_GIDS, "gid", &gids->items[i])))
			return 1;
		/* one that has gone into another network namespace has left its addresses */
		if (*format_member_text(ATTR_GIDS, "netdev", &gids->items[i]))
			is = 0;
	}
	return is;
}
