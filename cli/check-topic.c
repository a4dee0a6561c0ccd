/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "check-topic.h"

#define NO_ROW _PORT_ATTR_MAX /* ends a topic */

static const PortAttr topics[_TOPIC_MAX][8] = {
	[TOPIC_LINK] = {PORT_ATTR_state, PORT_ATTR_phys_state, PORT_ATTR_link_downs,
			PORT_ATTR_netdev_up, PORT_ATTR_netdev_carrier, PORT_ATTR_netdev_operstate,
			NO_ROW},
	[TOPIC_SPEED] = {PORT_ATTR_rate, PORT_ATTR_data_rate, PORT_ATTR_active_width,
			 PORT_ATTR_link_speed, PORT_ATTR_port_speed, PORT_ATTR_netdev_speed,
			 PORT_ATTR_rate_source, NO_ROW},
	[TOPIC_MTU] = {PORT_ATTR_active_mtu, PORT_ATTR_netdev_mtu, NO_ROW},
	[TOPIC_SUBNET] = {PORT_ATTR_lid, PORT_ATTR_lmc, PORT_ATTR_sm_lid, PORT_ATTR_sm_sl,
			  PORT_ATTR_subnet_timeout, NO_ROW},
	[TOPIC_CAPABILITIES] = {PORT_ATTR_capabilities, PORT_ATTR_cap_mask, NO_ROW},
};

Topic topic_of_row(const Attribute *row)
{
	Topic topic = 0;

	for (; row && topic < _TOPIC_MAX; topic++)
		for (size_t i = 0; topics[topic][i] != NO_ROW; i++)
			if (row == &port_attributes[topics[topic][i]])
				return topic;
	return _TOPIC_MAX;
}
