/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Which peers reach a RoCE port: by its addresses, and its place in a bond. */

#include "bond.h"
#include "check-parts.h"
#include "gid.h"

bool check_stands_by(const Object *port)
{
	const Value *members = object_value(port, PORT_ATTR_bond_members);
	const char *netdev = object_text(port, PORT_ATTR_netdev);

	VALUE_FOREACH(m, members) {
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

	VALUE_FOREACH(gid, gids) {
		const char *text = format_member_text(ATTR_GIDS, "address", gid);

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
	VALUE_FOREACH(gid, gids) {
		if (check_reaches(format_member_text(ATTR_GIDS, "gid", gid)))
			return 1;
		/* one that has gone into another network namespace has left its addresses */
		if (*format_member_text(ATTR_GIDS, "netdev", gid))
			is = 0;
	}
	return is;
}
