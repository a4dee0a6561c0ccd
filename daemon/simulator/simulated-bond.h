/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The setting bond_member.IFINDEX of a simulated port: a member of its bond. */

#include "bond.h"

/*
 * Makes *RET of IFINDEX, the text behind the dot of KEY, and VALUE: the name of the interface, then
 * active, backup or down, then the speed in bit/s. -EINVAL with a message.
 */
int simulated_bond_member_parse(const char *key, const char *ifindex, const char *value,
				BondMember *ret, char **ret_message);
