/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Bonds that work with fewer members than they have, or with unequal ones: programs see nothing of
 * it but the rate. */

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

static uint64_t speed_of(const Value *entry)
{
	return format_member_number(ATTR_BOND_MEMBERS, "speed", entry);
}

/* Adds NAME to the list, of which it is number N, from 0. */
static void add_to_list(MemberList list, size_t n, const char *name, const char *why)
{
	size_t used = strlen(list);

	if (n < MEMBERS_MAX)
		snprintf(list + used, sizeof(MemberList) - used, "%s%s (%s)", n ? ", " : "", name,
			 why);
	else if (n == MEMBERS_MAX)
		snprintf(list + used, sizeof(MemberList) - used, ", ...");
}

/* Those of MEMBERS that the bond lacks; returns how many. */
static size_t find_lost(const Value *members, const char *mode, MemberList ret)
{
	size_t n = 0;

	for (size_t i = 0; i < members->n; i++) {
		const Value *m = &members->items[i];

		if (bond_lacks_member(member(m, "state"), mode))
			add_to_list(ret, n++, member(m, "name"), member(m, "state"));
	}
	return n;
}

/* Those of MEMBERS that have less speed than another, and get as much to carry. A link without a
 * speed can be one of a driver that has none to say; but LACP needs the speed. */
static size_t find_slower(const Value *members, const char *mode, MemberList ret)
{
	uint64_t fastest = 0;
	size_t n = 0;

	for (size_t i = 0; i < members->n && bond_spreads_evenly(mode); i++)
		fastest = MAX(fastest, speed_of(&members->items[i]));
	for (size_t i = 0; i < members->n; i++) {
		const Value *m = &members->items[i];
		uint64_t speed = speed_of(m);
		char why[32];

		if (speed >= fastest || (speed == 0 && !streq(mode, "802.3ad")))
			continue;
		if (speed > 0)
			snprintf(why, sizeof(why), "%.6g Gb/s", (double)speed / 1e9);
		else
			snprintf(why, sizeof(why), "no speed");
		add_to_list(ret, n++, member(m, "name"), why);
	}
	return n;
}

void look_at_bond(CheckRun *r)
{
	const Value *members = object_value(r->port, PORT_ATTR_bond_members);
	_cleanup_free_ char *all = NULL, *active = NULL;
	const char *mode = object_text(r->port, PORT_ATTR_bond_mode), *says;
	const char *bond = object_text(r->port, PORT_ATTR_bond);
	MemberList list = "";
	size_t n;

	if (!members || members->type != VALUE_ARRAY ||
	    check_is_expected(r, &port_attributes[PORT_ATTR_bond_members]) ||
	    check_is_expected(r, &port_attributes[PORT_ATTR_bond_active_rate]))
		return;
	n = find_lost(members, mode, list);
	/* a port that is down because no member carries says so itself */
	if (n == members->n && !object_is_active(r->port))
		return;
	if (n > 0)
		says = n == 1 ? "carries nothing" : "carry nothing";
	else if ((n = find_slower(members, mode, list)) > 0)
		says = n == 1 ? "is slower" : "are slower";
	else
		return;
	all = format_row(r->port, PORT_ATTR_bond_rate);
	active = format_row(r->port, PORT_ATTR_bond_active_rate);
	if (!all || !active) {
		r->error = -ENOMEM;
		return;
	}
	check_find(r, &port_attributes[PORT_ATTR_bond_members],
		   "%zu of %zu members of %s %s: %s; BondActiveRate is %s, BondRate %s", n,
		   members->n, *bond ? bond : "the bond", says, list, active, all);
}
