/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "port.h"

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

AttrMask port_rows_of(unsigned int parts)
{
	AttrMask rows = {};

	for (PortAttr a = 0; a < _PORT_ATTR_MAX; a++)
		if (part_of[a] & parts)
			mask_set(&rows, a, true);
	return rows;
}
