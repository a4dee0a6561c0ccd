/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The types without use in a switch over AttrType, as one case: the compiler wants each type named.
 */

#include "attribute.h"

/* clang-format off */
/* The types that have no field among the values. */
#define ATTR_CASE_NO_FIELD                                                                         \
	case ATTR_UNAVAILABLE:                                                                     \
	case ATTR_GIDS:                                                                            \
	case ATTR_PKEYS:                                                                           \
	case ATTR_NETDEVS:                                                                         \
	case ATTR_BOND_MEMBERS:                                                                    \
	case ATTR_VFS:                                                                             \
	case ATTR_CHARDEVS:                                                                        \
	case ATTR_HEALTH:                                                                          \
	case ATTR_ACCELERATORS:                                                                    \
	case ATTR_FINDINGS:                                                                        \
	case ATTR_ALTNAMES:                                                                        \
	case ATTR_ADDRESSES:                                                                       \
	case ATTR_COUNTERS:                                                                        \
	case ATTR_USERS:                                                                           \
	case _ATTR_TYPE_MAX
/* clang-format on */
