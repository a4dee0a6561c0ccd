/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A stand-in for rdmad that always has the same ports, does what org.rdma.Test on /org/rdma tells
 * it, and fails on demand:
 *
 *   Set(sss)          port, "FIELD=VALUE", reason: changes a value and signals it as rdmad does
 *   Flap(ss)          port, reason: StateChanged away from the state and back, without another
 * signal AddGid(ss)        port, GID in 32 hexadecimal digits: a new last entry Reconfigure(ss)
 * port, reason: SubnetReconfigured Add(s) Remove(s)  device Fail(ss)          error name, message:
 * of the next call that is not for org.rdma.Test
 *
 * Each argument on the command line is "PORT FIELD=VALUE", set before the start; "real" says that
 * the devices are not simulated. Prints "ready" when it has its name, and the member of each call
 * that it has answered.
 */

#include <systemd/sd-bus.h>

#include "names.h"
#include "port.h"

typedef struct FakePort {
	const char *name;
	const char *device;
	unsigned int device_index, number;
	const char *settings; /* FIELD=VALUE, separated by blanks */
	const char *gids;     /* GID, type, netdev; separated by blanks */
	const char *pkeys;
	bool present;
	PortSnapshot s;
} FakePort;

#define IB                                                                                         \
	"link_layer=infiniband phys_state=link-up max_mtu=4096 gid_tbl_len=8 pkey_tbl_len=128 "    \
	"max_msg_sz=1073741824 port_cap_flags2=raw:0 init_type_reply=0 max_vl_num=4 "              \
	"bad_pkey_cntr=0 qkey_viol_cntr=0 flags=no "
#define ETHERNET                                                                                   \
	"link_layer=ethernet phys_state=link-up max_mtu=4096 gid_tbl_len=255 "                     \
	"pkey_tbl_len=1 max_msg_sz=1073741824 port_cap_flags=raw:0x04010000 "                      \
	"port_cap_flags2=raw:0 flags=no netdev_carrier=yes netdev_operstate=up "

static FakePort ports[] = {
	{"mlx5_0/1",
	 "mlx5_0",
	 1,
	 1,
	 IB "state=active active_mtu=4096 active_width=4 active_speed=NDR lid=17 lmc=0 sm_lid=1 "
	    "sm_sl=0 subnet_timeout=18 subnet_prefix=fe80:0000:0000:0000 "
	    "port_cap_flags=raw:0x2659e848 cap_mask=0x2651e848 "
	    "netdevs=ib0",
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
	 "ens1f0np0",
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

static sd_bus *bus;
static char *fail_name, *fail_message;
static bool simulated = true, has_nodes = true, is_stale;

static DeviceSnapshot fake_device(const FakePort *p)
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
	DEVICE_SUPPLY_TEXT(&d, dev_protocol, iwarp ? "iw" : "ib");
	DEVICE_SUPPLY(&d, vendor_id, 0x2c9);
	DEVICE_SUPPLY(&d, cap_flags, UINT64_C(0x1025321c36));
	d.values.stale = is_stale;
	d.chardevs =
		!has_nodes
			? NULL
			: table_new(&(ChardevEntry){231, 192, "verbs", "/dev/infiniband/uverbs0"},
				    1, sizeof(ChardevEntry));
	mask_set(&d.supplied, DEVICE_ATTR_chardevs, true);
	d.values.last_query = UINT64_C(1800000000123456);
	device_derive(&d);
	return d;
}

static void derive(FakePort *p)
{
	DeviceSnapshot d = fake_device(p);

	port_derive(&p->s, &d);
	device_snapshot_done(&d);
}

/* FIELD=VALUE; "\s" in a value stands for a blank, and none at all for what the driver does not
 * report. */
static void set_field(FakePort *p, const char *setting)
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

static void add_gid(FakePort *p, const char *gid, GidType type, const char *netdev)
{
	Table *old = p->s.tables[PORT_TABLE_GIDS];
	GidEntry entries[16] = {};
	uint32_t n = old ? old->n : 0;

	if (n > 0)
		memcpy(entries, old->entries, n * sizeof(*entries));
	entries[n] = (GidEntry){.index = n, .type = type};
	parse_gid(gid, entries[n].gid);
	text_copy(entries[n].netdev, sizeof(entries[n].netdev), streq(netdev, "-") ? "" : netdev);
	table_free(old);
	p->s.tables[PORT_TABLE_GIDS] = table_new(entries, n + 1, sizeof(*entries));
	mask_set(&p->s.supplied, PORT_ATTR_gids, true);
}

static void set_up(FakePort *p)
{
	_cleanup_free_ char *settings = strdup(p->settings), *pkeys = strdup(p->pkeys);
	char *rest = settings, *word, gid[33], type[4], netdev[16];
	PkeyEntry entries[4];
	size_t n = 0;
	int used;

	while ((word = strsep(&rest, " ")))
		if (*word)
			set_field(p, word);
	for (const char *g = p->gids; sscanf(g, "%32s %3s %15s%n", gid, type, netdev, &used) == 3;
	     g += used)
		add_gid(p, gid,
			streq(type, "ib")   ? GID_TYPE_IB
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
	text_copy(p->s.values.device_name, sizeof(p->s.values.device_name), p->device);
	p->s.values.device_index = p->device_index;
	p->s.values.port_num = p->number;
	p->s.values.last_query = UINT64_C(1800000000123456);
	p->s.values.state_change = UINT64_C(1799990000123456);
	p->s.values.link_downs = 2;
	derive(p);
}

static FakePort *find_port(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(ports); i++)
		if (ports[i].present && streq(ports[i].name, name))
			return &ports[i];
	return NULL;
}

static const char *port_path(const FakePort *p)
{
	static char path[RDMAD_PATH_MAX];

	snprintf(path, sizeof(path), RDMAD_DEVICE_PREFIX "/%u/port/%u", p->device_index, p->number);
	return path;
}

/* What port and device have in common. */
typedef struct View {
	const Attribute *rows;
	unsigned int n_rows;
	unsigned int interfaces;
	const void *values;
	const AttrMask *valid;
	Table *const *port_tables;
	const Table *chardevs;
	const PortSnapshot *port;
	const DeviceSnapshot *device;
} View;

static View port_view(const FakePort *p)
{
	return (View){
		.rows = port_attributes,
		.n_rows = _PORT_ATTR_MAX,
		.interfaces = port_interfaces(&p->s),
		.values = &p->s.values,
		.valid = &p->s.valid,
		.port_tables = p->s.tables,
		.port = &p->s,
	};
}

static View device_view(const DeviceSnapshot *d)
{
	return (View){
		.rows = device_attributes,
		.n_rows = _DEVICE_ATTR_MAX,
		.interfaces = 1U << INTERFACE_DEVICE,
		.values = &d->values,
		.valid = &d->valid,
		.chardevs = d->chardevs,
		.device = d,
	};
}

static void append_unavailable(sd_bus_message *m, const View *v)
{
	sd_bus_message_open_container(m, 'a', "{ss}");
	for (unsigned int i = 0; i < v->n_rows; i++) {
		const char *why = v->port ? port_unavailable(v->port, (PortAttr)i)
					  : device_unavailable(v->device, (DeviceAttr)i);

		if (why && (v->interfaces >> v->rows[i].interface & 1))
			sd_bus_message_append(m, "{ss}", v->rows[i].name, why);
	}
	sd_bus_message_close_container(m);
}

static void append_table(sd_bus_message *m, const View *v, AttrType type)
{
	const Table *t = v->port ? v->port_tables[attr_port_table(type)] : v->chardevs;
	char gid[40], address[46], name[24];

	sd_bus_message_open_container(m, 'a', attr_signature(type) + 1);
	if (type == ATTR_GIDS)
		TABLE_FOREACH(GidEntry, e, t)
		{
			gid_format(e->gid, gid);
			gid_format_address(e->gid, e->type, address);
			sd_bus_message_append(m, "(ussss)", e->index, gid,
					      gid_type_name(e->type, name), e->netdev, address);
		}
	if (type == ATTR_PKEYS)
		TABLE_FOREACH(PkeyEntry, e, t)
	sd_bus_message_append(m, "(uus)", e->index, e->pkey, pkey_membership(e->pkey));
	if (type == ATTR_NETDEVS)
		TABLE_FOREACH(NetdevEntry, e, t)
	sd_bus_message_append(m, "(us)", e->ifindex, e->name);
	if (type == ATTR_CHARDEVS)
		TABLE_FOREACH(ChardevEntry, e, t)
	sd_bus_message_append(m, "(ssuu)", e->class, e->path, e->major, e->minor);
	sd_bus_message_close_container(m);
}

static void append_scalar(sd_bus_message *m, const View *v, unsigned int row)
{
	static const char zeros[sizeof(PortValues) + sizeof(DeviceValues)];
	bool valid = mask_has(v->valid, row);
	const Attribute *a = &v->rows[row];
	AttrValue value;

	(void)attr_publish(a, valid ? v->values : zeros, &value);
	switch (value.kind) {
	case ATTR_VALUE_BOOL:
		sd_bus_message_append(m, "b", value.boolean);
		break;
	case ATTR_VALUE_U32:
		sd_bus_message_append(m, "u", value.u32);
		break;
	case ATTR_VALUE_U64:
		sd_bus_message_append(m, "t", value.u64);
		break;
	case ATTR_VALUE_TEXT:
		if (a->type == ATTR_DEVICE_PATH)
			sd_bus_message_append(m, "o", value.text);
		else
			sd_bus_message_append(m, "s", valid ? value.text : "");
		break;
	case ATTR_VALUE_NAMES:
		sd_bus_message_append_strv(m, CONST_CAST(char **, value.names));
		break;
	}
}

static void append_property(sd_bus_message *m, const View *v, unsigned int row)
{
	const Attribute *a = &v->rows[row];

	sd_bus_message_open_container(m, 'e', "sv");
	sd_bus_message_append(m, "s", a->name);
	sd_bus_message_open_container(m, 'v', attr_signature(a->type));
	if (a->type == ATTR_UNAVAILABLE)
		append_unavailable(m, v);
	else if (a->size == 0)
		append_table(m, v, a->type);
	else
		append_scalar(m, v, row);
	sd_bus_message_close_container(m);
	sd_bus_message_close_container(m);
}

/* a{sv} of INTERFACE: the rows in ONLY, or all. */
static void append_properties(sd_bus_message *m, const View *v, AttrInterface interface,
			      const AttrMask *only)
{
	sd_bus_message_open_container(m, 'a', "{sv}");
	for (unsigned int i = 0; i < v->n_rows; i++)
		if (v->rows[i].interface == interface && (!only || mask_has(only, i)))
			append_property(m, v, i);
	/* what rdmactl has never heard of */
	if (!only)
		sd_bus_message_append(m, "{sv}", "FromTheFuture", "(dx)", 1.5, INT64_C(-1));
	sd_bus_message_close_container(m);
}

static void append_interfaces(sd_bus_message *m, const View *v)
{
	sd_bus_message_open_container(m, 'a', "{sa{sv}}");
	for (AttrInterface i = 0; i < INTERFACE_RAW; i++) {
		if (!(v->interfaces >> i & 1))
			continue;
		sd_bus_message_open_container(m, 'e', "sa{sv}");
		sd_bus_message_append(m, "s", attr_interface_name(i));
		append_properties(m, v, i, NULL);
		sd_bus_message_close_container(m);
	}
	sd_bus_message_close_container(m);
}

static void append_object(sd_bus_message *m, const char *path, const View *v)
{
	sd_bus_message_append(m, "o", path);
	append_interfaces(m, v);
}

static int get_managed_objects(sd_bus_message *call)
{
	sd_bus_message *reply;
	char path[RDMAD_PATH_MAX];

	sd_bus_message_new_method_return(call, &reply);
	sd_bus_message_open_container(reply, 'a', "{oa{sa{sv}}}");
	for (size_t i = ARRAY_SIZE(ports); i-- > 0;) {
		DeviceSnapshot d = fake_device(&ports[i]);
		View port = port_view(&ports[i]), device = device_view(&d);
		bool last = i + 1 == ARRAY_SIZE(ports) ||
			    ports[i + 1].device_index != ports[i].device_index;

		if (ports[i].present) {
			sd_bus_message_open_container(reply, 'e', "oa{sa{sv}}");
			append_object(reply, port_path(&ports[i]), &port);
			sd_bus_message_close_container(reply);
		}
		if (ports[i].present && last) {
			snprintf(path, sizeof(path), RDMAD_DEVICE_PREFIX "/%u",
				 ports[i].device_index);
			sd_bus_message_open_container(reply, 'e', "oa{sa{sv}}");
			append_object(reply, path, &device);
			sd_bus_message_close_container(reply);
		}
		device_snapshot_done(&d);
	}
	sd_bus_message_close_container(reply);
	sd_bus_send(bus, reply, NULL);
	sd_bus_message_unref(reply);
	return 1;
}

static int get_port(sd_bus_message *call)
{
	const char *name;
	FakePort *p;

	sd_bus_message_read(call, "s", &name);
	p = find_port(streq(name, "mlx5_0") || streq(name, "ib0") ||
				      streq(name, "0002:c903:00ab:cdef")
			      ? "mlx5_0/1"
			      : name);
	if (p)
		return sd_bus_reply_method_return(call, "o", port_path(p));
	if (streq(name, "mlx5_1"))
		return sd_bus_reply_method_errorf(call, RDMAD_ERROR_AMBIGUOUS,
						  "device mlx5_1 has 2 ports: name one");
	return sd_bus_reply_method_errorf(call, RDMAD_ERROR_NOT_FOUND, "no such port");
}

static FakePort *port_of(sd_bus_message *call)
{
	for (size_t i = 0; i < ARRAY_SIZE(ports); i++)
		if (ports[i].present && streq(port_path(&ports[i]), sd_bus_message_get_path(call)))
			return &ports[i];
	return NULL;
}

static int get_all(sd_bus_message *call)
{
	const FakePort *p = port_of(call);
	const char *interface;
	sd_bus_message *reply;
	View v;

	sd_bus_message_read(call, "s", &interface);
	if (!p)
		return sd_bus_reply_method_errorf(call, SD_BUS_ERROR_UNKNOWN_OBJECT, "no object");
	v = port_view(p);
	sd_bus_message_new_method_return(call, &reply);
	for (AttrInterface i = 0; i < INTERFACE_RAW; i++)
		if (streq(attr_interface_name(i), interface))
			append_properties(reply, &v, i, NULL);
	sd_bus_send(bus, reply, NULL);
	sd_bus_message_unref(reply);
	return 1;
}

static int query(sd_bus_message *call)
{
	const FakePort *p = port_of(call);
	sd_bus_message *reply;

	sd_bus_message_new_method_return(call, &reply);
	sd_bus_message_open_container(reply, 'a', "{sv}");
	sd_bus_message_append(reply, "{sv}", "from_the_future", "t", UINT64_MAX);
	for (PortAttr i = 0; i < _PORT_ATTR_MAX; i++) {
		const Attribute *a = &port_attributes[i];
		uint64_t raw;

		if (!mask_has(&p->s.supplied, i) || a->size == 0)
			continue;
		raw = a->type == ATTR_TEXT ? 0 : attr_get_raw(a, &p->s.values);
		switch (attr_raw_signature(a->type)[0]) {
		case 'u':
			sd_bus_message_append(reply, "{sv}", a->field, "u", (uint32_t)raw);
			break;
		case 't':
			sd_bus_message_append(reply, "{sv}", a->field, "t", raw);
			break;
		case 'b':
			sd_bus_message_append(reply, "{sv}", a->field, "b", raw != 0);
			break;
		case 's':
			sd_bus_message_append(reply, "{sv}", a->field, "s",
					      attr_get_text(a, &p->s.values));
			break;
		}
	}
	sd_bus_message_close_container(reply);
	sd_bus_send(bus, reply, NULL);
	sd_bus_message_unref(reply);
	return 1;
}

static bool unavailable_differs(const PortSnapshot *a, const PortSnapshot *b)
{
	for (PortAttr i = 0; i < _PORT_ATTR_MAX; i++)
		if (port_attributes[i].interface != INTERFACE_RAW &&
		    mask_has(&a->valid, i) != mask_has(&b->valid, i))
			return true;
	return false;
}

/* Scalars with their values, tables invalidated; then the transition. */
static void signal_changes(const FakePort *p, const PortSnapshot *was, const char *reason)
{
	const Attribute *state = &port_attributes[PORT_ATTR_state];
	AttrMask changed = port_diff(was, &p->s);
	AttrValue old_state, new_state;
	sd_bus_message *m;
	View v = port_view(p);

	mask_set(&changed, PORT_ATTR_unavailable, unavailable_differs(was, &p->s));
	for (AttrInterface i = 0; i < INTERFACE_RAW; i++) {
		AttrMask scalars = {};
		const char *invalidated[8] = {};
		size_t n = 0;
		bool any = false;

		for (PortAttr a = 0; a < _PORT_ATTR_MAX; a++) {
			if (port_attributes[a].interface != i || !mask_has(&changed, a))
				continue;
			any = true;
			if (attr_port_table(port_attributes[a].type) < _PORT_TABLE_MAX)
				invalidated[n++] = port_attributes[a].name;
			else
				mask_set(&scalars, a, true);
		}
		if (!any)
			continue;
		sd_bus_message_new_signal(bus, &m, port_path(p), "org.freedesktop.DBus.Properties",
					  "PropertiesChanged");
		sd_bus_message_append(m, "s", attr_interface_name(i));
		append_properties(m, &v, i, &scalars);
		sd_bus_message_append_strv(m, CONST_CAST(char **, invalidated));
		sd_bus_send(bus, m, NULL);
		sd_bus_message_unref(m);
	}
	if (!mask_has(&changed, PORT_ATTR_state))
		return;
	(void)attr_publish(state, &was->values, &old_state);
	(void)attr_publish(state, &p->s.values, &new_state);
	sd_bus_emit_signal(bus, port_path(p), RDMAD_INTERFACE_PORT, "StateChanged", "sss",
			   new_state.text, old_state.text, reason);
}

static void announce(const char *device, bool added)
{
	for (size_t i = 0; i < ARRAY_SIZE(ports); i++) {
		View v = port_view(&ports[i]);
		sd_bus_message *m;

		if (!streq(ports[i].device, device) || ports[i].present == added)
			continue;
		sd_bus_message_new_signal(bus, &m, RDMAD_ROOT_PATH,
					  "org.freedesktop.DBus.ObjectManager",
					  added ? "InterfacesAdded" : "InterfacesRemoved");
		if (added)
			append_object(m, port_path(&ports[i]), &v);
		else
			sd_bus_message_append(m, "oas", port_path(&ports[i]), 4,
					      "org.freedesktop.DBus.Properties",
					      RDMAD_INTERFACE_PORT, RDMAD_INTERFACE_INFINIBAND,
					      RDMAD_INTERFACE_ETHERNET);
		sd_bus_send(bus, m, NULL);
		sd_bus_message_unref(m);
		ports[i].present = added;
	}
}

static int control(sd_bus_message *call)
{
	const char *member = sd_bus_message_get_member(call);
	const char *a, *b = NULL, *c = NULL;
	PortSnapshot was;
	Table *gids;
	FakePort *p;

	sd_bus_message_read(call, "s", &a);
	if (sd_bus_message_at_end(call, true) == 0)
		sd_bus_message_read(call, "s", &b);
	if (sd_bus_message_at_end(call, true) == 0)
		sd_bus_message_read(call, "s", &c);
	p = find_port(a);
	if (streq(member, "Fail")) {
		fail_name = strdup(a);
		fail_message = strdup(b);
	} else if (streq(member, "Add") || streq(member, "Remove")) {
		announce(a, streq(member, "Add"));
	} else if (!p || !b) {
		return sd_bus_reply_method_errorf(call, SD_BUS_ERROR_INVALID_ARGS, "bad call");
	} else if (streq(member, "Set")) {
		was = p->s;
		set_field(p, b);
		derive(p);
		signal_changes(p, &was, c);
	} else if (streq(member, "AddGid")) {
		was = p->s;
		/* port_diff() looks at the old table after add_gid() has replaced it */
		gids = was.tables[PORT_TABLE_GIDS];
		was.tables[PORT_TABLE_GIDS] =
			gids ? table_new(gids->entries, gids->n, gids->entry_size) : NULL;
		add_gid(p, b, GID_TYPE_ROCE_V2, "ens1f0np0");
		derive(p);
		signal_changes(p, &was, "");
		table_free(was.tables[PORT_TABLE_GIDS]);
	} else if (streq(member, "Flap")) {
		sd_bus_emit_signal(bus, port_path(p), RDMAD_INTERFACE_PORT, "StateChanged", "sss",
				   "down", "active", b);
		sd_bus_emit_signal(bus, port_path(p), RDMAD_INTERFACE_PORT, "StateChanged", "sss",
				   "active", "down", b);
	} else if (streq(member, "Reconfigure")) {
		sd_bus_emit_signal(bus, port_path(p), RDMAD_INTERFACE_PORT, "SubnetReconfigured",
				   "s", b);
	} else {
		return 0;
	}
	return sd_bus_reply_method_return(call, NULL);
}

static int answer(sd_bus_message *call)
{
	const char *member = sd_bus_message_get_member(call);

	if (sd_bus_message_is_method_call(call, "org.rdma.Test", NULL))
		return control(call);
	if (fail_name) {
		_cleanup_free_ char *name = steal_pointer(&fail_name);
		_cleanup_free_ char *message = steal_pointer(&fail_message);

		return sd_bus_reply_method_errorf(call, name, "%s", message);
	}
	return streq(member, "GetManagedObjects") ? get_managed_objects(call)
	       : streq(member, "GetPort")	  ? get_port(call)
	       : streq(member, "Get")	 ? sd_bus_reply_method_return(call, "v", "b", simulated)
	       : streq(member, "GetAll") ? get_all(call)
	       : streq(member, "Query")	 ? query(call)
					 : 0;
}

static int on_call(sd_bus_message *call, void *userdata _unused_, sd_bus_error *error _unused_)
{
	int r;

	if (!sd_bus_message_is_method_call(call, NULL, NULL))
		return 0;
	r = answer(call);
	sd_bus_flush(bus);
	puts(sd_bus_message_get_member(call));
	fflush(stdout);
	return r;
}

int main(int argc, char **argv)
{
	int r;

	for (size_t i = 0; i < ARRAY_SIZE(ports); i++)
		set_up(&ports[i]);
	for (int i = 1; i < argc; i++) {
		char *setting = strchr(argv[i], ' ');
		FakePort *p;

		if (!setting) {
			simulated = simulated && !streq(argv[i], "real");
			has_nodes = has_nodes && !streq(argv[i], "no-nodes");
			is_stale = is_stale || streq(argv[i], "stale");
			continue;
		}
		*setting++ = '\0';
		p = find_port(argv[i]);
		if (!p)
			return 2;
		set_field(p, setting);
		derive(p);
	}
	if (sd_bus_open_system(&bus) < 0 ||
	    sd_bus_add_fallback(bus, NULL, RDMAD_ROOT_PATH, on_call, NULL) < 0 ||
	    sd_bus_request_name(bus, RDMAD_BUS_NAME, 0) < 0)
		return 1;
	puts("ready");
	fflush(stdout);
	while ((r = sd_bus_process(bus, NULL)) >= 0)
		if (r == 0)
			r = sd_bus_wait(bus, UINT64_MAX);
	return 0;
}
