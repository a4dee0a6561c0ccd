/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the members of a bond are together. */

#include "table.h"

/* The states of a member, as BondMembers has them. */
#define BOND_MEMBER_ACTIVE "active" /* it carries data */
#define BOND_MEMBER_BACKUP "backup" /* its link is up, and the bond does not use it */
#define BOND_MEMBER_DOWN   "down"

/* The name of MODE, IFLA_BOND_MODE of linux/if_link.h, as the driver has it; "" for another
 * number. */
const char *bond_mode_name(uint64_t mode);
/* Whether a bond of the mode MODE lacks a member that is in STATE. In active-backup all but one
 * stand by. In other modes one that does is not used, as with 802.3ad when the switch does not
 * answer. */
bool bond_lacks_member(const char *state, const char *mode);
/* Whether a bond of the mode MODE gives each member the same part, whatever its speed is. */
bool bond_spreads_evenly(const char *mode);
/*
 * BondRate and BondActiveRate of a bond of the mode MODE with these MEMBERS; 0 while no member has
 * a speed.
 */
void bond_rates(const Table *members, const char *mode, uint64_t *ret_all, uint64_t *ret_active);
