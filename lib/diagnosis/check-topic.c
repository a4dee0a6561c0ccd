/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "check-topic.h"

/* Those of devices are behind those of ports. */
#define PORT_ROW(field)	  PORT_ATTR_##field
#define DEVICE_ROW(field) (_PORT_ATTR_MAX + DEVICE_ATTR_##field)

/* PORT_ATTR_device_index, which is in none, ends a topic. */
static const uint16_t topics[_TOPIC_MAX][16] = {
	[TOPIC_LINK] = {PORT_ROW(state), PORT_ROW(phys_state), PORT_ROW(link_downs),
			PORT_ROW(netdev_up), PORT_ROW(netdev_carrier), PORT_ROW(netdev_operstate)},
	[TOPIC_SPEED] = {PORT_ROW(rate), PORT_ROW(data_rate), PORT_ROW(active_width),
			 PORT_ROW(link_speed), PORT_ROW(port_speed), PORT_ROW(netdev_speed),
			 PORT_ROW(rate_source), PORT_ROW(bond_members), PORT_ROW(bond_rate),
			 PORT_ROW(bond_active_rate), PORT_ROW(autoneg), PORT_ROW(supported_speeds),
			 PORT_ROW(advertised_speeds), PORT_ROW(partner_speeds)},
	[TOPIC_MTU] = {PORT_ROW(active_mtu), PORT_ROW(netdev_mtu)},
	[TOPIC_GIDS] = {PORT_ROW(gids), PORT_ROW(gid_index)},
	[TOPIC_SUBNET] = {PORT_ROW(lid), PORT_ROW(lmc), PORT_ROW(sm_lid), PORT_ROW(sm_sl),
			  PORT_ROW(subnet_timeout)},
	[TOPIC_PRIORITIES] = {PORT_ROW(pfc_enabled), PORT_ROW(priority_trust),
			      PORT_ROW(neighbor_pfc), PORT_ROW(dscp_to_priority)},
	[TOPIC_CLASSES] = {PORT_ROW(ets_bandwidth), PORT_ROW(ets_algorithm), PORT_ROW(prio_to_tc)},
	[TOPIC_ECN] = {PORT_ROW(ecn_notification), PORT_ROW(ecn_reaction)},
	[TOPIC_CAPABILITIES] = {PORT_ROW(capabilities), PORT_ROW(cap_mask)},
	[TOPIC_PCIE] = {DEVICE_ROW(pcie_rate), DEVICE_ROW(pcie_speed), DEVICE_ROW(pcie_width),
			DEVICE_ROW(pcie_max_rate), DEVICE_ROW(pcie_max_speed),
			DEVICE_ROW(pcie_max_width)},
};

Topic topic_of_row(const Attribute *row)
{
	Topic topic = 0;
	size_t number;

	if (!row)
		return _TOPIC_MAX;
	number = row->is_of_port ? (size_t)(row - port_attributes)
				 : _PORT_ATTR_MAX + (size_t)(row - device_attributes);
	for (; topic < _TOPIC_MAX; topic++)
		for (size_t i = 0; topics[topic][i] != PORT_ATTR_device_index; i++)
			if (number == topics[topic][i])
				return topic;
	return _TOPIC_MAX;
}
