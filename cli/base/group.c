/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "group.h"

#include "table.h"

/* An InfiniBand port has a LID, and others have a network interface. */
const PortAttr first_rows[N_FIRST_ROWS] = {
	PORT_ATTR_state, PORT_ATTR_phys_state, PORT_ATTR_lid, PORT_ATTR_netdev, PORT_ATTR_rate,
};

static bool is_first(const Attribute *rows, size_t row)
{
	for (size_t i = 0; rows == port_attributes && i < N_FIRST_ROWS; i++)
		if (first_rows[i] == row)
			return true;
	return false;
}

/* rdmad itself fills in the rows that identify the object, which come first in the table, and those
 * that say how far the others can be trusted. */
static Group group_of_core(const Attribute *rows, size_t row)
{
	for (size_t i = 0; i < row; i++)
		if (rows[i].source != SOURCE_CORE)
			return GROUP_TRUST;
	return rows == port_attributes ? GROUP_OBJECT : GROUP_FIRST;
}

Group group_of_row(const Attribute *rows, size_t row)
{
	static const Group groups[_INTERFACE_MAX] = {
#define INTERFACE(id, name, group, help) [INTERFACE_##id] = GROUP_##group,
#include "interfaces.def"
	};
	const Attribute *a = &rows[row];

	if (a->type == ATTR_UNAVAILABLE || a->interface == INTERFACE_RAW)
		return GROUP_HIDDEN;
	if (is_first(rows, row))
		return GROUP_FIRST;
	if (table_layout(a->type))
		return GROUP_TABLE;
	if (a->source == SOURCE_CORE)
		return group_of_core(rows, row);
	if (a->interface == INTERFACE_PORT)
		return a->valid == VALID_LINK_UP || a->unit != UNIT_NONE ? GROUP_LINK
									 : GROUP_GENERAL;
	return groups[a->interface];
}

const char *group_name(Group group)
{
	static const char *const names[_GROUP_MAX] = {
		[GROUP_FIRST] = "Overview",
		[GROUP_LINK] = "Link",
		[GROUP_INFINIBAND] = "InfiniBand",
		[GROUP_ETHERNET] = "Ethernet",
		[GROUP_SIGNAL] = "Signal",
		[GROUP_NEIGHBOR] = "Neighbor",
		[GROUP_CABLE] = "Cable",
		[GROUP_MLX5] = "mlx5",
		[GROUP_HBL] = "hbl",
		[GROUP_TABLE] = "Tables",
		[GROUP_GENERAL] = "Port",
		[GROUP_TRUST] = "Trust",
		[GROUP_OBJECT] = "Object",
		[GROUP_LIMITS] = "Limits",
	};

	return names[group];
}
