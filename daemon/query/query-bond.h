/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The bond of the network interface of a port, as rtnetlink has it: bonding, or a team. */

#include "query-netdev.h"

/*
 * Supplies the rows of S about the bond that D is, or is a member of; each is empty if there is
 * none. NET is a descriptor of /sys/class/net, for the speeds. A negative errno: the bond has no
 * answer, or its members cannot be listed; then these rows alone are missing.
 */
int bond_supply(Netlink *n, int net, const Netdev *d, PortSnapshot *s);
/* What D is as a member of a bond. Its speed is not read. */
BondMember bond_member(const Netdev *d);
