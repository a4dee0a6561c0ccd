/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "port.h"
#include "row-set.h"

/* The part that a row with SOURCE and TYPE belongs to, 0 if none */
#define PART_OF(source, type)                                                                      \
	((type) == ATTR_GIDS || (type) == ATTR_NETDEVS || (type) == ATTR_ALTNAMES ||               \
			 (type) == ATTR_ADDRESSES                                                  \
		 ? READ_GIDS                                                                       \
	 : (type) == ATTR_PKEYS					  ? READ_PKEYS                     \
	 : (type) == ATTR_VFS					  ? READ_VFS                       \
	 : (type) == ATTR_COUNTERS || (type) == ATTR_USERS	  ? 0                              \
	 : (source) == SOURCE_VERBS				  ? READ_VERBS                     \
	 : (source) == SOURCE_DV				  ? READ_DIRECT                    \
	 : (source) == SOURCE_ETHTOOL || (source) == SOURCE_HWMON ? READ_SIGNAL                    \
	 : (source) == SOURCE_DCB				  ? READ_DCB                       \
	 : (source) == SOURCE_NEIGHBOR				  ? READ_NEIGHBOR                  \
	 : (source) == SOURCE_MODULE				  ? READ_CABLE                     \
	 : (source) == SOURCE_NLDEV || (source) == SOURCE_RTNL || (source) == SOURCE_SYSFS         \
		 ? READ_LINKS                                                                      \
		 : 0)

static const uint16_t part_of[_PORT_ATTR_MAX] = {
#define PORT(field, name, type, unit, interface, class, valid, source, absent, metric, help)       \
	[PORT_ATTR_##field] = PART_OF(SOURCE_##source, ATTR_##type),
#include "port-attributes.def"
#undef PORT
};

unsigned int port_part_of(PortAttr a)
{
	return part_of[a];
}

#define PARTS(P)                                                                                   \
	P(VERBS)                                                                                   \
	P(LINKS)                                                                                   \
	P(GIDS)                                                                                    \
	P(DIRECT)                                                                                  \
	P(PKEYS)                                                                                   \
	P(DCB)                                                                                     \
	P(VFS)                                                                                     \
	P(SIGNAL)                                                                                  \
	P(NEIGHBOR)                                                                                \
	P(CABLE)

#define P(part)                                                                                    \
	static _always_inline_ bool is_of_##part(const Attribute *a)                               \
	{                                                                                          \
		return PART_OF(a->source, a->type) == READ_##part;                                 \
	}
PARTS(P)
#undef P

#define P(part) | READ_##part
_Static_assert((0 PARTS(P)) == READ_ANY, "a part is missing in PARTS");
#undef P

AttrMask port_rows_of(unsigned int parts)
{
	AttrMask rows = {};

#define P(part)                                                                                    \
	if (parts & READ_##part)                                                                   \
		rows = mask_or(rows, port_rows(is_of_##part));
	PARTS(P)
#undef P
	return rows;
}
