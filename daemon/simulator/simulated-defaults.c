/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "simulated-defaults.h"

/* clang-format off */
const SimulatedDefault simulated_defaults[] = {
	{_PROTOCOL_MAX,       PORT_ATTR_state,             "active"},
	{_PROTOCOL_MAX,       PORT_ATTR_phys_state,        "link-up"},
	{_PROTOCOL_MAX,       PORT_ATTR_max_mtu,           "4096"},
	{_PROTOCOL_MAX,       PORT_ATTR_active_mtu,        "4096"},
	{_PROTOCOL_MAX,       PORT_ATTR_active_width,      "4"},
	{_PROTOCOL_MAX,       PORT_ATTR_active_speed,      "EDR"},
	{_PROTOCOL_MAX,       PORT_ATTR_active_speed_ex,   "EDR"},
	{_PROTOCOL_MAX,       PORT_ATTR_max_msg_sz,        "0x40000000"},
	{_PROTOCOL_MAX,       PORT_ATTR_gid_tbl_len,       "1"},
	{_PROTOCOL_MAX,       PORT_ATTR_pkey_tbl_len,      "1"},
	{_PROTOCOL_MAX,       PORT_ATTR_port_cap_flags,    "raw:0"},
	{_PROTOCOL_MAX,       PORT_ATTR_port_cap_flags2,   "raw:0"},
	{_PROTOCOL_MAX,       PORT_ATTR_flags,             "no"},
	{_PROTOCOL_MAX,       PORT_ATTR_lid,               "0"},
	{_PROTOCOL_MAX,       PORT_ATTR_lmc,               "0"},
	{_PROTOCOL_MAX,       PORT_ATTR_sm_lid,            "0"},
	{_PROTOCOL_MAX,       PORT_ATTR_sm_sl,             "0"},
	{_PROTOCOL_MAX,       PORT_ATTR_subnet_timeout,    "0"},
	{_PROTOCOL_MAX,       PORT_ATTR_max_vl_num,        "raw:0"},

	{PROTOCOL_INFINIBAND, PORT_ATTR_link_layer,        "infiniband"},
	{PROTOCOL_INFINIBAND, PORT_ATTR_active_speed,      "raw:128"},
	{PROTOCOL_INFINIBAND, PORT_ATTR_active_speed_ex,   "NDR"},
	{PROTOCOL_INFINIBAND, PORT_ATTR_gid_tbl_len,       "8"},
	{PROTOCOL_INFINIBAND, PORT_ATTR_pkey_tbl_len,      "128"},
	{PROTOCOL_INFINIBAND, PORT_ATTR_port_cap_flags,    "0x2251e848"},
	{PROTOCOL_INFINIBAND, PORT_ATTR_port_cap_flags2,   "raw:0x432"},
	{PROTOCOL_INFINIBAND, PORT_ATTR_cap_mask,          "0x4322651e848"},
	{PROTOCOL_INFINIBAND, PORT_ATTR_max_vl_num,        "8"},
	{PROTOCOL_INFINIBAND, PORT_ATTR_sm_lid,            "1"},
	{PROTOCOL_INFINIBAND, PORT_ATTR_subnet_timeout,    "18"},
	{PROTOCOL_INFINIBAND, PORT_ATTR_subnet_prefix,     "fe80:0000:0000:0000"},

	{PROTOCOL_OPA,        PORT_ATTR_link_layer,        "infiniband"},
	{PROTOCOL_OPA,        PORT_ATTR_gid_tbl_len,       "6"},
	{PROTOCOL_OPA,        PORT_ATTR_pkey_tbl_len,      "16"},
	{PROTOCOL_OPA,        PORT_ATTR_cap_mask,          "0x00490022"},
	{PROTOCOL_OPA,        PORT_ATTR_port_cap_flags,    "0x00490022"},
	{PROTOCOL_OPA,        PORT_ATTR_max_vl_num,        "8"},
	{PROTOCOL_OPA,        PORT_ATTR_sm_lid,            "1"},
	{PROTOCOL_OPA,        PORT_ATTR_subnet_timeout,    "18"},
	{PROTOCOL_OPA,        PORT_ATTR_subnet_prefix,     "fe80:0000:0000:0000"},

	{PROTOCOL_ROCE,       PORT_ATTR_link_layer,        "ethernet"},
	{PROTOCOL_ROCE,       PORT_ATTR_gid_tbl_len,       "256"},
	{PROTOCOL_ROCE,       PORT_ATTR_port_cap_flags,    "0x04010000"},
	{PROTOCOL_ROCE,       PORT_ATTR_netdev_mtu,        "9000"},
	{PROTOCOL_ROCE,       PORT_ATTR_netdev_up,         "yes"},
	{PROTOCOL_ROCE,       PORT_ATTR_netdev_carrier,    "yes"},
	{PROTOCOL_ROCE,       PORT_ATTR_netdev_operstate,  "up"},

	{PROTOCOL_IWARP,      PORT_ATTR_link_layer,        "ethernet"},
	{PROTOCOL_IWARP,      PORT_ATTR_port_cap_flags,    "0x00010000"},
	{PROTOCOL_IWARP,      PORT_ATTR_netdev_mtu,        "9000"},
	{PROTOCOL_IWARP,      PORT_ATTR_netdev_up,         "yes"},
	{PROTOCOL_IWARP,      PORT_ATTR_netdev_carrier,    "yes"},
	{PROTOCOL_IWARP,      PORT_ATTR_netdev_operstate,  "up"},
};

/* clang-format on */

const size_t n_simulated_defaults = ARRAY_SIZE(simulated_defaults);
