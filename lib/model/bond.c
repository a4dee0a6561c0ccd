/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "bond.h"

static const char *const modes[] = {
	"balance-rr", "active-backup", "balance-xor", "broadcast",
	"802.3ad",    "balance-tlb",   "balance-alb",
};

const char *bond_mode_name(uint64_t mode)
{
	return mode < ARRAY_SIZE(modes) ? modes[mode] : "";
}

bool bond_lacks_member(const char *state, const char *mode)
{
	return !streq(state, BOND_MEMBER_ACTIVE) &&
	       !(streq(state, BOND_MEMBER_BACKUP) && streq(mode, "active-backup"));
}

bool bond_spreads_evenly(const char *mode)
{
	return streq(mode, "balance-rr") || streq(mode, "balance-xor") || streq(mode, "802.3ad");
}

/* Adds a member with SPEED to a bond of which each member sends all, or which sends by one. */
static uint64_t add(uint64_t rate, uint64_t speed, bool is_of_one)
{
	return is_of_one ? MAX(rate, speed) : rate + speed;
}

void bond_rates(const Table *members, const char *mode, uint64_t *ret_all, uint64_t *ret_active)
{
	bool is_of_one = streq(mode, "active-backup") || streq(mode, "broadcast");
	uint64_t fastest = 0, all = 0, active = 0;

	TABLE_FOREACH(BondMember, m, members)
		fastest = MAX(fastest, m->speed);
	TABLE_FOREACH(BondMember, m, members) {
		uint64_t speed = m->speed ? m->speed : fastest;

		all = add(all, speed, is_of_one);
		if (streq(m->state, BOND_MEMBER_ACTIVE))
			active = add(active, speed, is_of_one);
	}
	*ret_all = all;
	*ret_active = active;
}
