/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Which peers reach a RoCE port: by its addresses, and its place in a bond. */

#include "bond.h"
#include "check-parts.h"
#include "gid.h"
#include "gids.h"

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
	GidWalk w = gid_walk(port);

	for (const GidEntry *e; (e = gid_next(&w));)
		if (gid_is_ipv4(e->gid) && !gid_is_link_local(e->gid))
			return true;
	return false;
}

int check_is_reachable(const Object *port)
{
	GidWalk w = gid_walk(port);
	int is = -1;

	if (check_stands_by(port))
		return -1;
	for (const GidEntry *e; (e = gid_next(&w));) {
		if (!gid_is_link_local(e->gid))
			return 1;
		/* one that has gone into another network namespace has left its addresses */
		if (*e->netdev)
			is = 0;
	}
	return is;
}
