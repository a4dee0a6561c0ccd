/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Bonds that work with fewer members than they have: programs see nothing of it but the rate. */

#include <inttypes.h>

#include "bond.h"
#include "check-parts.h"
#include "checks.h"

/* The most members in a sentence, and room for them. If there are more, it ends in "...". */
#define MEMBERS_MAX 4U
typedef char MemberList[MEMBERS_MAX * 40U];

static const char *member(const Value *entry, const char *name)
{
	return format_member_text(ATTR_BOND_MEMBERS, name, entry);
}

/* Those of MEMBERS that the bond lacks; returns how many. */
static size_t find_lost(const Value *members, const char *mode, MemberList ret)
{
	size_t n = 0, used = 0;

	for (size_t i = 0; i < members->n; i++) {
		const Value *m = &members->items[i];

		if (!bond_lacks_member(member(m, "state"), mode))
			continue;
		if (n < MEMBERS_MAX)
			used += (size_t)snprintf(ret + used, sizeof(MemberList) - used, "%s%s (%s)",
						 n ? ", " : "", member(m, "name"),
						 member(m, "state"));
		else if (n == MEMBERS_MAX)
			snprintf(ret + used, sizeof(MemberList) - used, ", ...");
		n++;
	}
	return n;
}

void look_at_bond(CheckRun *r)
{
	const Value *members = object_value(r->port, PORT_ATTR_bond_members);
	_cleanup_free_ char *all = NULL, *active = NULL;
	MemberList lost = "";
	size_t n;

	if (!members || members->type != VALUE_ARRAY ||
	    check_is_expected(r, &port_attributes[PORT_ATTR_bond_members]) ||
	    check_is_expected(r, &port_attributes[PORT_ATTR_bond_active_rate]))
		return;
	n = find_lost(members, object_text(r->port, PORT_ATTR_bond_mode), lost);
	/* a port that is down because no member carries says so itself */
	if (n == 0 || (n == members->n && !object_is_active(r->port)))
		return;
	all = format_row(r->port, PORT_ATTR_bond_rate);
	active = format_row(r->port, PORT_ATTR_bond_active_rate);
	if (!all || !active) {
		r->error = -ENOMEM;
		return;
	}
	check_find(r, &port_attributes[PORT_ATTR_bond_members],
		   "%zu of %zu members of %s %s nothing: %s; BondActiveRate is %s, BondRate %s", n,
		   members->n, object_text(r->port, PORT_ATTR_bond), n == 1 ? "carries" : "carry",
		   lost, active, all);
}
