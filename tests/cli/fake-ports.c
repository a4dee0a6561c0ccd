/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "fake-ports.h"

#include "names.h"

#define IB                                                                                         \
	"link_layer=infiniband phys_state=link-up max_mtu=4096 gid_tbl_len=8 pkey_tbl_len=128 "    \
	"max_msg_sz=1073741824 port_cap_flags2=raw:0 init_type_reply=0 max_vl_num=4 "              \
	"bad_pkey_cntr=0 qkey_viol_cntr=0 flags=no "
#define ETHERNET                                                                                   \
	"link_layer=ethernet phys_state=link-up max_mtu=4096 gid_tbl_len=255 "                     \
	"pkey_tbl_len=1 max_msg_sz=1073741824 port_cap_flags=raw:0x04010000 "                      \
	"port_cap_flags2=raw:0 flags=no netdev_up=yes netdev_carrier=yes netdev_operstate=up "

FakePort fake_ports[N_FAKE_PORTS] = {
	{"mlx5_0/1",
	 "mlx5_0",
	 1,
	 1,
	 IB "state=active active_mtu=4096 active_width=4 active_speed=NDR lid=17 lmc=0 sm_lid=1 "
	    "sm_sl=0 subnet_timeout=18 subnet_prefix=fe80:0000:0000:0000 "
	    "port_cap_flags=raw:0x2659e848 cap_mask=0x2651e848 "
	    "netdevs=ib0 addresses=192.0.2.17,2001:db8::11",
	 "fe800000000000000002c90300abcdef ib -",
	 "ffff 7fff 8001",
	 true,
	 {}},
	{"mlx5_1/1",
	 "mlx5_1",
	 2,
	 1,
	 IB "state=down phys_state=polling active_mtu=4096 active_width=4 active_speed=SDR lid=99 "
	    "lmc=0 sm_lid=0 sm_sl=0 subnet_timeout=0 subnet_prefix=fe80:0000:0000:0000 "
	    "port_cap_flags=raw:0x2651e848 cap_mask=0x2651e848",
	 "",
	 "7fff",
	 true,
	 {}},
	{"mlx5_1/2",
	 "mlx5_1",
	 2,
	 2,
	 IB "state=init active_mtu=2048 active_width=2 active_speed=FDR lid=0 lmc=0 sm_lid=0 "
	    "sm_sl=0 subnet_timeout=0 subnet_prefix=fe80:0000:0000:0000 "
	    "port_cap_flags=raw:0x2651e848 cap_mask=0x2651e848",
	 "fe800000000000000002c90300abcdf1 ib -",
	 "7fff",
	 true,
	 {}},
	{"rocep1/1",
	 "rocep1",
	 3,
	 1,
	 ETHERNET "state=active active_mtu=1024 active_width=4 active_speed=EDR netdev=ens1f0np0 "
		  "ifindex=4 netdev_mtu=1500 netdev_address=02:00:00:00:00:01 "
		  "netdev_master=bond0 netdev_speed=100000000000",
	 "fe80000000000000000000fffe000001 v1 ens1f0np0 fe80000000000000000000fffe000001 v2 "
	 "ens1f0np0 "
	 "00000000000000000000ffffc0000201 v1 ens1f0np0 00000000000000000000ffffc0000201 v2 "
	 "ens1f0np0 00000000000000000000ffffc633640a v2 vlan.20 "
	 "00000000000000000000ffffc6336407 v2 other",
	 "",
	 true,
	 {}},
	{"iwp2/1",
	 "iwp2",
	 4,
	 1,
	 ETHERNET "state=active active_mtu=1024 active_width=1 active_speed=SDR netdev=eth1 "
		  "ifindex=5 netdev_mtu=1500 netdev_address=02:00:00:00:00:02 "
		  "netdev_speed=2500000000",
	 "02000000000200000000000000000000 ib eth1",
	 "",
	 true,
	 {}},
	{"mlx5_9/1",
	 "mlx5_9",
	 10,
	 1,
	 IB "state=raw:9 phys_state=raw:10 active_mtu=raw:6 active_width=raw:32 active_speed=raw:3 "
	    "lid=5 lmc=0 sm_lid=1 sm_sl=0 subnet_timeout=18 subnet_prefix=fe80:0000:0000:0000 "
	    "port_cap_flags=raw:0x2651e848 cap_mask=0x2651e848 stale=yes "
	    "last_error=the\\shardware\\sdid\\snot\\sanswer\\swithin\\s2\\ss",
	 "",
	 "ffff",
	 true,
	 {}},
};

FakeOptions fake_options = {.has_nodes = true};

DeviceSnapshot fake_device(const FakePort *p)
{
	DeviceSnapshot d = {};
	bool iwarp = streq(p->device, "iwp2");

	d.values.index = p->device_index;
	DEVICE_SUPPLY_TEXT(&d, name, p->device);
	DEVICE_SUPPLY(&d, node_type, iwarp ? 4 : 1);
	DEVICE_SUPPLY(&d, port_count, p->number);
	DEVICE_SUPPLY(&d, node_guid, 0x0002c90300000000 + p->device_index);
	DEVICE_SUPPLY(&d, sys_image_guid, 0x0002c90300000000 + p->device_index);
	DEVICE_SUPPLY_TEXT(&d, fw_ver, "28.39.1002");
	DEVICE_SUPPLY(&d, dev_protocol, iwarp ? PROTOCOL_IWARP : PROTOCOL_INFINIBAND);
	DEVICE_SUPPLY(&d, dev_type, 0);
	DEVICE_SUPPLY_TEXT(&d, parent, "");
	DEVICE_SUPPLY(&d, vendor_id, 0x2c9);
	DEVICE_SUPPLY(&d, cap_flags, UINT64_C(0x1025321c36));
	if (startswith(p->device, "mlx5")) {
		DEVICE_SUPPLY(&d, events, EVENTS_VERBS);
		DEVICE_SUPPLY_TEXT(&d, events_reason, "");
	} else {
		DEVICE_SUPPLY(&d, events, EVENTS_POLLED);
		DEVICE_SUPPLY_TEXT(&d, events_reason, "kernel-not-held");
	}
	d.is_read = true;
	d.values.stale = fake_options.is_stale;
	d.tables[DEVICE_TABLE_CHARDEVS] =
		!fake_options.has_nodes
			? NULL
			: table_new(
				  &(ChardevEntry){"verbs", "/dev/infiniband/uverbs0", 231, 192, 0},
				  1, sizeof(ChardevEntry));
	mask_set(&d.supplied, DEVICE_ATTR_chardevs, true);
	d.values.last_query = UINT64_C(1800000000123456);
	device_derive(&d);
	return d;
}

void fake_derive(FakePort *p)
{
	DeviceSnapshot d = fake_device(p);

	p->s.parts = READ_ALL;
	port_derive(&p->s, &d);
	device_snapshot_done(&d);
}

void fake_set(FakePort *p, const char *setting)
{
	char field[64] = "", value[64] = "", *blank;
	PortAttr a;

	if (sscanf(setting, "%63[^=]=%63[^\n]", field, value) < 1)
		exit(2);
	while ((blank = strstr(value, "\\s"))) {
		*blank = ' ';
		memmove(blank + 1, blank + 2, strlen(blank + 2) + 1);
	}
	if (streq(field, "netdevs")) {
		NetdevEntry e = {.ifindex = 7};

		text_copy(e.name, sizeof(e.name), value);
		p->s.tables[PORT_TABLE_NETDEVS] = table_new(&e, 1, sizeof(e));
		mask_set(&p->s.supplied, PORT_ATTR_netdevs, true);
		return;
	}
	if (streq(field, "addresses")) {
		AddressEntry entries[4] = {};
		char *rest = value, *word;
		uint32_t n = 0;

		for (; n < 4 && (word = strsep(&rest, ",")); n++) {
			entries[n].ifindex = 7;
			if (gid_parse(word, entries[n].address) < 0)
				exit(2);
		}
		p->s.tables[PORT_TABLE_ADDRESSES] = table_new(entries, n, sizeof(*entries));
		mask_set(&p->s.supplied, PORT_ATTR_addresses, true);
		return;
	}
	if (streq(field, "open_error")) {
		p->s.open_error = -atoi(value);
		return;
	}
	if (port_attr_from_field(field, &a) == 0 && !*value) {
		mask_set(&p->s.supplied, a, false);
		return;
	}
	if (port_attr_from_field(field, &a) < 0 ||
	    attr_parse(&port_attributes[a], &p->s.values, value) < 0) {
		fprintf(stderr, "fake-rdmad: bad setting %s\n", setting);
		exit(2);
	}
	mask_set(&p->s.supplied, a, true);
}

static void parse_gid(const char *text, uint8_t ret[16])
{
	for (unsigned int i = 0; i < 16; i++) {
		unsigned int byte = 0;

		sscanf(text + 2 * i, "%2x", &byte);
		ret[i] = (uint8_t)byte;
	}
}

void fake_add_gid(FakePort *p, const char *gid, GidType type, const char *netdev)
{
	Table *old = p->s.tables[PORT_TABLE_GIDS];
	GidEntry entries[16] = {};
	uint32_t n = old ? old->n : 0;
	const char *vlan = strchr(netdev, '.');

	if (n > 0)
		memcpy(entries, old->entries, n * sizeof(*entries));
	entries[n] = (GidEntry){.index = n, .type = type};
	parse_gid(gid, entries[n].gid);
	if (streq(netdev, "other")) {
		entries[n].namespace = GID_NAMESPACE_OTHER;
	} else if (!streq(netdev, "-")) {
		text_copy(entries[n].netdev, sizeof(entries[n].netdev), netdev);
		entries[n].ifindex = vlan ? 9 : 4;
		entries[n].vlan_id = vlan ? (uint32_t)strtoul(vlan + 1, NULL, 10) : 0;
	}
	table_free(old);
	p->s.tables[PORT_TABLE_GIDS] = table_new(entries, n + 1, sizeof(*entries));
	mask_set(&p->s.supplied, PORT_ATTR_gids, true);
}

void fake_set_up(FakePort *p)
{
	_cleanup_free_ char *settings = strdup(p->settings), *pkeys = strdup(p->pkeys);
	char *rest = settings, *word, gid[33], type[4], netdev[16];
	PkeyEntry entries[4];
	size_t n = 0;
	int used;

	while ((word = strsep(&rest, " ")))
		if (*word)
			fake_set(p, word);
	for (const char *g = p->gids; sscanf(g, "%32s %3s %15s%n", gid, type, netdev, &used) == 3;
	     g += used)
		fake_add_gid(p, gid,
			     streq(type, "ib")	 ? GID_TYPE_IB
			     : streq(type, "v1") ? GID_TYPE_ROCE_V1
						 : GID_TYPE_ROCE_V2,
			     netdev);
	mask_set(&p->s.supplied, PORT_ATTR_gids, true);
	for (rest = pkeys; (word = strsep(&rest, " ")) && *word; n++)
		entries[n] = (PkeyEntry){(uint32_t)n, (uint32_t)strtoul(word, NULL, 16)};
	if (n > 0) {
		p->s.tables[PORT_TABLE_PKEYS] = table_new(entries, n, sizeof(*entries));
		mask_set(&p->s.supplied, PORT_ATTR_pkeys, true);
	}
	attr_set_text(&port_attributes[PORT_ATTR_device_name], &p->s.values, p->device);
	p->s.values.device_index = p->device_index;
	p->s.values.port_num = p->number;
	p->s.values.last_query = UINT64_C(1800000000123456);
	p->s.values.state_change = UINT64_C(1799990000123456);
	p->s.values.link_downs = 2;
	fake_derive(p);
}

FakePort *fake_find(const char *name)
{
	for (size_t i = 0; i < N_FAKE_PORTS; i++)
		if (fake_ports[i].present && streq(fake_ports[i].name, name))
			return &fake_ports[i];
	return NULL;
}

const char *fake_path(const FakePort *p)
{
	static char path[RDMAD_PATH_MAX];

	snprintf(path, sizeof(path), RDMAD_DEVICE_PREFIX "/%u/port/%u", p->device_index, p->number);
	return path;
}
