/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What is found of devices and of ports that are not used as others are: accelerators without a
 * port near them, nodes, verbs, speeds, second ports, cables, what a device has shown in a day, and
 * what somebody has acknowledged.
 */

#include "clock.h"
#include "machine.h"

/* The accelerators 0, 1, ... are so far from the device of a new port, a word of four letters each;
 * of "-" no way is known. The last N_OTHER are of another model. */
static void add_gpus(Machine *m, const char *distances, size_t n_other)
{
	Value *all = &device_of(m, add(m))->values[DEVICE_ATTR_accelerators];
	size_t n = (strlen(distances) + 1) / 4;

	all->type = VALUE_ARRAY;
	for (size_t i = 0; i < n; i++) {
		char address[] = "0000:c0:00.0", distance[4] = "";
		Value *entry;

		memcpy(distance, distances + 4 * i, 3);
		address[6] = (char)('0' + i);
		if (streq(distance, "---"))
			continue;
		entry = append(all);
		entry->type = VALUE_STRUCT;
		append_text(entry, address);
		append_text(entry, distance);
		append_number(entry, 2);
		append_text(entry, i + n_other < n ? "10de:2330" : "1002:74a1");
		append(entry)->type = VALUE_DICT;
	}
}

/* How many of the accelerators of a machine with one or two devices are far from all. */
static size_t far(const char *one, const char *other, size_t n_other)
{
	_cleanup_machine_ Machine m = {};

	add_gpus(&m, one, n_other);
	if (*other)
		add_gpus(&m, other, n_other);
	return found(&m, "far-gpu");
}

static bool hides;

static bool hides_devices(_unused_ void *userdata)
{
	return hides;
}

static void test_far_gpus(_unused_ void **state)
{
	_cleanup_machine_ Machine m = {};
	char *name = "d0";

	assert_int_equal(far("PIX PXB LOC PHB", "", 0), 1);
	assert_int_equal(far("PIX PXB LOC PXB", "", 0), 0);
	assert_int_equal(far("PHB PXB LOC PIX", "", 0), 1);
	/* three that are near, and more than half */
	assert_int_equal(far("PIX PIX SYS", "", 0), 0);
	assert_int_equal(far("PIX PIX PIX SYS SYS", "", 0), 2);
	assert_int_equal(far("PIX PIX PIX SYS SYS SYS", "", 0), 0);
	assert_int_equal(far("SYS SYS SYS SYS", "", 0), 0);
	/* another device may be nearer */
	assert_int_equal(far("PIX PIX PIX SYS", "SYS SYS SYS PIX", 0), 0);
	assert_int_equal(far("SYS SYS SYS NOD", "PIX PIX PIX SYS", 0), 1);
	/* only its like count */
	assert_int_equal(far("PIX PIX PIX SYS", "", 1), 0);
	assert_int_equal(far("PIX PIX PIX SYS SYS", "", 1), 1);
	assert_int_equal(far("SYS PIX PIX PIX PIX", "", 3), 0);
	add_gpus(&m, "PIX PIX PIX PHB", 0);
	assert_int_equal(found(&m, "far-gpu"), 1);
	assert_says(&m, 0,
		    "the nearest port of accelerator 3 (0000:c3:00.0) is at PHB, but 3 of 4 "
		    "of its model");
	m.run.ask.hides_devices = hides_devices;
	assert_int_equal(found(&m, "far-gpu"), 1);
	/* the adapter is perhaps in a container */
	hides = true;
	assert_int_equal(found(&m, "far-gpu"), 0);
	hides = false;
	m.run.names = &name;
	m.run.n_names = 1;
	assert_int_equal(found(&m, "far-gpu"), 0);
}

static void test_acs(_unused_ void **state)
{
	_cleanup_machine_ Machine m = {};
	Object *device = device_of(&m, add(&m));

	assert_int_equal(found(&m, "acs-redirects"), 0);
	set_text(device, DEVICE_ATTR_acs_redirects, "none");
	assert_int_equal(found(&m, "acs-redirects"), 0);
	set_text(device, DEVICE_ATTR_acs_redirects, "0000:03:00.0,0000:03:01.0");
	set_text(device, DEVICE_ATTR_iommu, "identity");
	assert_int_equal(found(&m, "acs-redirects"), 1);
	assert_says(&m, 0, "ACS redirects it at 0000:03:00.0,0000:03:01.0");
	assert_null(strstr(m.run.findings[0].sentence, "IOMMU"));
	set_text(device, DEVICE_ATTR_iommu, "DMA-FQ");
	assert_int_equal(found(&m, "acs-redirects"), 1);
	assert_says(&m, 0, "and the IOMMU translates its addresses: Iommu is DMA-FQ");
	/* what is expected of all ports is expected of their device */
	assert_int_equal(expect_add(&m.expect, "AcsRedirects=0000:03:00.0,0000:03:01.0"), 0);
	assert_int_equal(found(&m, "acs-redirects"), 0);
}

static void add_node(Object *device, const char *class, const char *path)
{
	Value *nodes = &device->values[DEVICE_ATTR_chardevs], *node;

	nodes->type = VALUE_ARRAY;
	node = append(nodes);
	node->type = VALUE_STRUCT;
	append_text(node, class);
	append_text(node, path);
}

static int use_node(_unused_ void *userdata, const char *node)
{
	return streq(node, "/dev/infiniband/uverbs1") ? -ENOENT : 0;
}

static void test_nodes(_unused_ void **state)
{
	_cleanup_machine_ Machine m = {};
	Object *device = device_of(&m, add(&m));

	assert_int_equal(found(&m, "no-uverbs"), 1);
	assert_says(&m, 0, "the device has no uverbs node: is the module ib_uverbs loaded?");
	assert_ptr_equal(m.run.findings[0].device, device);
	assert_null(m.run.findings[0].port);
	/* a plane of another device has none */
	set_text(device, DEVICE_ATTR_dev_type, "smi");
	assert_int_equal(found(&m, "no-uverbs"), 0);
	set_text(device, DEVICE_ATTR_dev_type, "");
	add_node(device, "mad", "/dev/infiniband/umad0");
	assert_int_equal(found(&m, "no-uverbs"), 1);
	add_node(device, "verbs", "/dev/infiniband/uverbs0");
	assert_int_equal(found(&m, "no-uverbs"), 0);
	set_reason(device, DEVICE_ATTR_chardevs, "query-failed");
	assert_int_equal(found(&m, "no-uverbs"), 1);
	assert_says(&m, 0, "are not known: it could not be read");
	value_done(&device->values[DEVICE_ATTR_unavailable]);
	m.run.ask.access = use_node;
	add_node(device, "verbs", "/dev/infiniband/uverbs0");
	assert_int_equal(found(&m, "access"), 0);
	value_done(&device->values[DEVICE_ATTR_chardevs]);
	assert_int_equal(found(&m, "access"), 0);
	add_node(device, "verbs", "/dev/infiniband/uverbs1");
	assert_int_equal(found(&m, "access"), 1);
	assert_says(&m, 0, "/dev/infiniband/uverbs1 cannot be used: No such file or directory");
}

/* The module ib_umad makes umad nodes for all adapters, or for none; issm nodes are not everywhere.
 */
static void test_umad(_unused_ void **state)
{
	_cleanup_machine_ Machine m = {};
	Object *one = device_of(&m, add(&m)), *other = device_of(&m, add(&m));

	add_node(one, "verbs", "/dev/infiniband/uverbs0");
	add_node(other, "verbs", "/dev/infiniband/uverbs1");
	set_text(one, DEVICE_ATTR_dev_protocol, "infiniband");
	set_text(other, DEVICE_ATTR_dev_protocol, "infiniband");
	assert_int_equal(found(&m, "access"), 0);
	add_node(one, "mad", "/dev/infiniband/umad0");
	add_node(one, "issm", "/dev/infiniband/issm0");
	assert_int_equal(found(&m, "access"), 1);
	assert_says(&m, 0, "the device has no umad node, and others have");
	assert_ptr_equal(m.run.findings[0].device, other);
	set_text(other, DEVICE_ATTR_function, "vf");
	assert_int_equal(found(&m, "access"), 0);
	set_text(other, DEVICE_ATTR_function, "pf");
	set_text(other, DEVICE_ATTR_dev_protocol, "roce");
	assert_int_equal(found(&m, "access"), 0);
	set_text(other, DEVICE_ATTR_dev_protocol, "infiniband");
	assert_int_equal(found(&m, "access"), 1);
	/* an adapter of another driver may have none */
	set_text(other, DEVICE_ATTR_driver, "efa");
	assert_int_equal(found(&m, "access"), 0);
	set_text(other, DEVICE_ATTR_driver, object_text(one, DEVICE_ATTR_driver));
	add_node(other, "mad", "/dev/infiniband/umad1");
	assert_int_equal(found(&m, "access"), 0);
}

/* The first two lack what the third has. */
static void test_umad_of_later_one(_unused_ void **state)
{
	_cleanup_machine_ Machine m = {};
	Object *device = NULL;

	for (unsigned int i = 0; i < 3; i++) {
		device = device_of(&m, add(&m));
		add_node(device, "verbs", "/dev/infiniband/uverbs0");
		set_text(device, DEVICE_ATTR_dev_protocol, "infiniband");
	}
	add_node(device, "mad", "/dev/infiniband/umad0");
	assert_int_equal(found(&m, "access"), 2);
}

static void test_full(_unused_ void **state)
{
	static const struct {
		uint64_t in_use, most;
		size_t n;
	} cases[] = {{0, 1, 0},	  {1, 1, 1},	 {15, 16, 0},	{16, 16, 1}, {18, 20, 0},
		     {19, 20, 1}, {243, 256, 0}, {244, 256, 1}, {7, 0, 0},   {9, UINT64_MAX, 0}};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_machine_ Machine m = {};
		Object *device = device_of(&m, add(&m));

		set_number(device, DEVICE_ATTR_srq_count, cases[i].in_use);
		set_number(device, DEVICE_ATTR_max_srq, cases[i].most);
		assert_int_equal(found(&m, "exhausted"), cases[i].n);
	}
}

/* Whether it is found that rdmad cannot use verbs, for the reason CODE. */
static size_t without_verbs(const char *code, const char *driver, bool is_stale)
{
	_cleanup_machine_ Machine m = {};
	Object *port = add(&m);

	set_text(device_of(&m, port), DEVICE_ATTR_driver, driver);
	port->values[PORT_ATTR_stale] = (Value){.type = VALUE_BOOL, .boolean = is_stale};
	if (code)
		set_reason(port, PORT_ATTR_max_mtu, code);
	return found(&m, "no-verbs");
}

static void test_verbs(_unused_ void **state)
{
	assert_int_equal(without_verbs("no-permission", "mlx5_core", false), 1);
	assert_int_equal(without_verbs("in-use", "mlx5_core", false), 1);
	assert_int_equal(without_verbs(NULL, "mlx5_core", false), 0);
	assert_int_equal(without_verbs("no-permission", "mlx5_core", true), 0);
	/* it is meant so, or another check says it */
	assert_int_equal(without_verbs("kept-closed", "mlx5_core", false), 0);
	assert_int_equal(without_verbs("too-many-ports", "mlx5_core", false), 0);
	assert_int_equal(without_verbs("no-verbs", "mlx5_core", false), 0);
	assert_int_equal(without_verbs("unknown-code", "mlx5_core", false), 0);
	assert_int_equal(without_verbs("one-user", "habanalabs_ib", false), 0);
	assert_int_equal(without_verbs("one-user", "habana", false), 1);
}

/* What is found of a link at SPEED of a port that announces these, as far as they have '+'; "":
 * nothing. */
static void assert_speed(const char *speed, const char *announced, const char *says)
{
	static const char *const names[] = {"link-speed-hdr", "link-speed-ndr", "link-speed-xdr"};
	_cleanup_machine_ Machine m = {};
	Object *port = add(&m);

	if (*speed)
		set_text(port, PORT_ATTR_link_speed, speed);
	port->values[PORT_ATTR_capabilities].type = VALUE_ARRAY;
	port->values[PORT_ATTR_port_cap_flags2].type = VALUE_ARRAY;
	append_text(&port->values[PORT_ATTR_capabilities], "sm");
	if (announced[0] == '+')
		append_text(&port->values[PORT_ATTR_capabilities], "extended-speeds");
	append_text(&port->values[PORT_ATTR_port_cap_flags2], "set-node-desc");
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (announced[i + 1] == '+')
			append_text(&port->values[PORT_ATTR_port_cap_flags2], names[i]);
	assert_int_equal(found(&m, "slow"), *says ? 1 : 0);
	if (*says)
		assert_says(&m, 0, says);
	set_text(port, PORT_ATTR_protocol, "roce");
	assert_int_equal(found(&m, "slow"), 0);
	set_text(port, PORT_ATTR_protocol, "infiniband");
	assert_int_equal(expect_add(&m.expect, "Rate=1G"), 0);
	assert_int_equal(found(&m, "slow"), 0);
}

static void test_speed(_unused_ void **state)
{
	/* FDR, HDR, NDR, XDR: the fastest that is announced counts */
	assert_speed("QDR", "+---", "the link runs at QDR, the port can do FDR");
	assert_speed("FDR10", "+---", "the port can do FDR");
	assert_speed("FDR", "+---", "");
	assert_speed("EDR", "+---", "");
	assert_speed("EDR", "++--", "the link runs at EDR, the port can do HDR");
	assert_speed("HDR", "++--", "");
	assert_speed("HDR", "+++-", "the port can do NDR");
	assert_speed("NDR", "+++-", "");
	assert_speed("NDR", "++++", "the port can do XDR");
	assert_speed("XDR", "++++", "");
	assert_speed("HDR", "---+", "the port can do XDR");
	assert_speed("SDR", "----", "");
	assert_speed("", "++++", "");
	assert_speed("unheard-of", "++++", "");
}

/* Adapters with two ports often have one cable. */
static void test_never_used(_unused_ void **state)
{
	_cleanup_machine_ Machine m = {}, one = {};
	Object *first[2], *second[2];

	for (size_t i = 0; i < 2; i++) {
		first[i] = add(&m);
		set_number(first[i], PORT_ATTR_link_downs, 0);
		second[i] = add_second(&m, first[i]);
		set_text(second[i], PORT_ATTR_state, "down");
	}
	assert_int_equal(found(&m, "not-active"), 0);
	/* that port was in use once, or is, on either adapter */
	set_number(second[1], PORT_ATTR_link_downs, 1);
	assert_int_equal(found(&m, "not-active"), 2);
	set_number(second[1], PORT_ATTR_link_downs, 0);
	set_text(second[1], PORT_ATTR_state, "active");
	assert_int_equal(found(&m, "not-active"), 1);
	assert_ptr_equal(m.run.findings[0].port, second[0]);
	/* a link that trains has a cable */
	set_text(second[1], PORT_ATTR_state, "init");
	assert_int_equal(found(&m, "not-active"), 2);
	set_text(second[1], PORT_ATTR_state, "down");
	assert_int_equal(found(&m, "not-active"), 0);
	/* nobody knows since when it counts */
	value_done(&second[0]->values[PORT_ATTR_link_downs]);
	assert_int_equal(found(&m, "not-active"), 2);
	set_number(second[0], PORT_ATTR_link_downs, 0);
	/* the first port is meant to be used */
	set_text(first[0], PORT_ATTR_state, "down");
	assert_int_equal(found(&m, "not-active"), 2);
	assert_ptr_equal(m.run.findings[0].port, first[0]);
	assert_ptr_equal(m.run.findings[1].port, second[0]);
	set_text(first[1], PORT_ATTR_state, "down");
	assert_int_equal(found(&m, "not-active"), 4);
	/* an adapter with one port that was never active */
	set_number(add(&one), PORT_ATTR_link_downs, 0);
	set_text(one.run.ports[0], PORT_ATTR_state, "down");
	add(&one);
	assert_int_equal(found(&one, "not-active"), 1);
}

static void test_interface(_unused_ void **state)
{
	_cleanup_machine_ Machine m = {};
	Object *port = add(&m);

	set_text(port, PORT_ATTR_netdev, "eth0");
	set_text(port, PORT_ATTR_netdev_operstate, "up");
	assert_int_equal(found(&m, "netdev-up"), 0);
	set_text(port, PORT_ATTR_state, "down");
	assert_int_equal(found(&m, "netdev-up"), 1);
	assert_says(&m, 0, "the network interface eth0 is up, but the port is down");
	set_text(port, PORT_ATTR_netdev_operstate, "down");
	assert_int_equal(found(&m, "netdev-up"), 0);
	set_text(port, PORT_ATTR_netdev_operstate, "up");
	set_text(device_of(&m, port), DEVICE_ATTR_function, "sf");
	assert_int_equal(found(&m, "netdev-up"), 0);
	set_text(device_of(&m, port), DEVICE_ATTR_function, "pf");
	set_text(port, PORT_ATTR_protocol, "raw-packet");
	assert_int_equal(found(&m, "netdev-up"), 0);
	set_text(port, PORT_ATTR_protocol, "roce");
	value_done(&port->values[PORT_ATTR_state]);
	assert_int_equal(found(&m, "netdev-up"), 0);
}

/* Publishes a finding of O, with what was said when it was acknowledged, NULL: nobody has. */
static void publish(Object *o, const char *check, const char *attribute, const char *acknowledged)
{
	Value *all =
		&o->values[o->is_port ? (size_t)PORT_ATTR_findings : (size_t)DEVICE_ATTR_findings];
	Value *f, *tail;

	all->type = VALUE_ARRAY;
	f = append(all);
	f->type = VALUE_STRUCT;
	append_text(f, check);
	append_text(f, "warning");
	append_text(f, "text");
	tail = append(f);
	tail->type = VALUE_DICT;
	append_text(tail, "Attribute");
	append_text(tail, attribute);
	if (!acknowledged)
		return;
	append_text(tail, "Acknowledged");
	append_number(tail, 1);
	if (*acknowledged) {
		append_text(tail, "AcknowledgedText");
		append_text(tail, acknowledged);
	}
}

static const Finding *find(const Machine *m, const char *check)
{
	for (size_t i = 0; i < m->run.n_findings; i++)
		if (streq(m->run.findings[i].check->name, check))
			return &m->run.findings[i];
	fail_msg("%s finds nothing", check);
	return NULL;
}

/* What was acknowledged to rdmad is acknowledged here: of the check, the port and the attribute. */
static void test_acknowledged(_unused_ void **state)
{
	_cleanup_machine_ Machine m = {};
	Object *port = add(&m), *other = add(&m), *device = device_of(&m, port);

	for (size_t i = 0; i < 2; i++)
		set_text(m.run.ports[i], PORT_ATTR_state, "down");
	publish(port, "not-active", "Lid", "another row");
	publish(port, "no-lid", "State", "another check");
	append(&port->values[PORT_ATTR_findings]);
	publish(port, "not-active", "State", "no cable");
	publish(other, "not-active", "State", NULL);
	publish(device, "no-uverbs", "CharDevices", "");
	assert_true(found_in_all(&m) > 0);
	checks_take_acknowledged(&m.run);
	assert_string_equal(find(&m, "no-uverbs")->acknowledged, "");
	assert_int_equal(finding_severity(&m.run, find(&m, "no-uverbs")), SEVERITY_OK);
	for (size_t i = 0; i < m.run.n_findings; i++) {
		const Finding *f = &m.run.findings[i];

		if (f->port == port && streq(f->check->name, "not-active"))
			assert_string_equal(f->acknowledged, "no cable");
		else if (f->device != device || f->port)
			assert_null(f->acknowledged);
	}
	/* the first in the list too */
	value_done(&port->values[PORT_ATTR_findings]);
	publish(port, "not-active", "State", "first");
	assert_int_equal(found(&m, "not-active"), 2);
	checks_take_acknowledged(&m.run);
	assert_string_equal(m.run.findings[0].acknowledged, "first");
	assert_null(m.run.findings[1].acknowledged);
	/* the machine's own are nobody's */
	assert_int_equal(expect_add(&m.expect, "Ports=7"), 0);
	assert_int_equal(found(&m, "count"), 1);
	checks_take_acknowledged(&m.run);
	assert_null(m.run.findings[0].acknowledged);
}

/* A plane of a device is left alone, unless somebody asks for it by its name. */
static void test_planes(_unused_ void **state)
{
	_cleanup_machine_ Machine m = {};
	Object *port = add(&m);
	char *names[] = {"d1", "d?", "d0:1", "d0/1", "d0"};

	set_text(port, PORT_ATTR_state, "down");
	set_text(device_of(&m, port), DEVICE_ATTR_dev_type, "smi");
	assert_int_equal(found(&m, "not-active"), 0);
	m.run.names = names;
	m.run.n_names = 2;
	assert_int_equal(found(&m, "not-active"), 0);
	for (size_t i = 2; i < ARRAY_SIZE(names); i++) {
		m.run.names = &names[i];
		m.run.n_names = 1;
		assert_int_equal(found(&m, "not-active"), 1);
	}
}

/* A value of another kind, as a later rdmad may publish it, is not known, and no check trips. */
static void test_other_kinds(_unused_ void **state)
{
	static const Value other = {.type = VALUE_DOUBLE};
	_cleanup_machine_ Machine m = {};
	Object *port = add(&m), *device = device_of(&m, port);

	for (size_t i = 0; i < port->n_rows; i++)
		if (port->rows[i].unit != UNIT_NONE && i != PORT_ATTR_port_num &&
		    port->values[i].type != VALUE_TEXT)
			port->values[i] = other;
	for (size_t i = 0; i < device->n_rows; i++)
		if (device->rows[i].unit != UNIT_NONE && device->values[i].type != VALUE_TEXT)
			device->values[i] = other;
	set_number(device, DEVICE_ATTR_pcie_max_rate, 8);
	set_number(port, PORT_ATTR_netdev_mtu, 9000);
	set_number(port, PORT_ATTR_adapter_temperature, 60);
	add_node(device, "verbs", "/dev/infiniband/uverbs0");
	assert_int_equal(found_in_all(&m), 0);
}

/* A letter of CABLES was in the cage for HOURS each, the last one until now. STATE is that of the
 * port now. */
static size_t cables_of(const char *cables, uint64_t hours, const char *state)
{
	_cleanup_machine_ Machine m = {};
	Object *port = add(&m);
	Value *all = history_of(&m, port, "Cables");
	size_t n = strlen(cables);
	uint64_t time = realtime_now_usec() - n * hours * HOUR;

	for (size_t i = 0; i < n; i++, time += hours * HOUR) {
		Value *cable = value_append(all);

		assert_non_null(cable);
		cable->type = VALUE_STRUCT;
		append_text(cable, (char[]){cables[i], '\0'});
		append_number(cable, time);
		append_number(cable, i + 1 < n ? time + hours * HOUR : 0);
	}
	set_text(port, PORT_ATTR_state, state);
	set_text(port, PORT_ATTR_cable_serial, (char[]){cables[n - 1], '\0'});
	return found(&m, "other-cable");
}

static size_t other_cable(const char *cables, uint64_t hours)
{
	return cables_of(cables, hours, "down");
}

static void test_other_cable(_unused_ void **state)
{
	assert_int_equal(other_cable("A", 1), 0);
	assert_int_equal(other_cable("AB", 1), 1);
	assert_int_equal(other_cable("AB", 23), 1);
	assert_int_equal(other_cable("AB", 25), 0);
	/* what was there a day ago counts, and what was before that does not */
	assert_int_equal(other_cable("ABA", 1), 0);
	assert_int_equal(other_cable("ABAB", 1), 1);
	assert_int_equal(other_cable("ABBA", 13), 1);
	assert_int_equal(other_cable("ABBB", 13), 0);
	/* it works */
	assert_int_equal(cables_of("AB", 1, "active"), 0);
}

/* Adapters that have gone */
static LostDevice gone[2];
static size_t n_gone;

static bool next_lost(_unused_ void *userdata, size_t i, LostDevice *ret)
{
	if (i < n_gone)
		*ret = gone[i];
	return i < n_gone;
}

static void test_lost(_unused_ void **state)
{
	_cleanup_machine_ Machine m = {};
	Object *device = device_of(&m, add(&m));
	char *name = "d0";

	set_text(device, DEVICE_ATTR_driver, "mlx5_core");
	set_text(device, DEVICE_ATTR_hca_type, "MT4129");
	set_text(device, DEVICE_ATTR_sysfs_path, "/sys/devices/pci0000:00/0000:0b:00.0");
	gone[0] = (LostDevice){"mlx5_7",
			       "mlx5_core",
			       "MT4129",
			       "0002:c903:0000:0701",
			       "0002:c903:0000:0700",
			       "/sys/devices/pci0000:10/0000:1b:00.1",
			       realtime_now_usec() - 2 * 60 * USEC_PER_SEC};
	gone[1] = gone[0];
	gone[1].path = "/sys/devices/pci0000:10/0000:1b:00.0";
	n_gone = 1;
	assert_int_equal(found(&m, "missing"), 0);
	m.run.ask.lost = next_lost;
	assert_int_equal(found(&m, "missing"), 1);
	assert_says(&m, 0, "the hardware of mlx5_7 has gone at 20");
	/* both functions of an adapter are told once */
	n_gone = 2;
	assert_int_equal(found(&m, "missing"), 1);
	/* so are those in two slots, if the driver tells adapters */
	gone[1].path = "/sys/devices/pci0000:20/0000:2b:00.0";
	assert_int_equal(found(&m, "missing"), 1);
	gone[0].driver = gone[1].driver = "hfi1";
	set_text(device, DEVICE_ATTR_driver, "hfi1");
	assert_int_equal(found(&m, "missing"), 2);
	gone[0].driver = gone[1].driver = "mlx5_core";
	set_text(device, DEVICE_ATTR_driver, "mlx5_core");
	gone[1].adapter = "0002:c903:0000:0800";
	assert_int_equal(found(&m, "missing"), 2);
	n_gone = 1;
	/* it is in another slot now */
	set_text(device, DEVICE_ATTR_node_guid, "0002:c903:0000:0701");
	assert_int_equal(found(&m, "missing"), 0);
	set_text(device, DEVICE_ATTR_node_guid, "0002:c903:0000:0702");
	assert_int_equal(found(&m, "missing"), 1);
	/* its driver may have reset it */
	m.run.settle_usec = 3 * 60 * USEC_PER_SEC;
	assert_int_equal(found(&m, "missing"), 0);
	m.run.settle_usec = 60 * USEC_PER_SEC;
	assert_int_equal(found(&m, "missing"), 1);
	/* nobody expects it, if it was the only one of its model */
	set_text(device, DEVICE_ATTR_hca_type, "MT4123");
	assert_int_equal(found(&m, "missing"), 0);
	set_text(device, DEVICE_ATTR_hca_type, "MT4129");
	set_text(device, DEVICE_ATTR_function, "vf");
	assert_int_equal(found(&m, "missing"), 0);
	set_text(device, DEVICE_ATTR_function, "pf");
	/* another one is in its place */
	set_text(device, DEVICE_ATTR_sysfs_path, gone[0].path);
	assert_int_equal(found(&m, "missing"), 0);
	set_text(device, DEVICE_ATTR_sysfs_path, "/sys/devices/pci0000:00/0000:0b:00.0");
	assert_int_equal(found(&m, "missing"), 1);
	m.run.names = &name;
	m.run.n_names = 1;
	assert_int_equal(found(&m, "missing"), 0);
}

static void test_full_fec(_unused_ void **state)
{
	_cleanup_machine_ Machine m = {};
	Object *port = add(&m);

	set_number(port, PORT_ATTR_bit_error_margin, 0);
	set_number(port, PORT_ATTR_bit_error_ratio_lower, UINT64_C(90000000000000));
	set_number(port, PORT_ATTR_bit_error_ratio_upper, UINT64_C(110000000000000));
	assert_int_equal(found(&m, "uncorrectable"), 0);
	set_number(port, PORT_ATTR_bit_error_ratio, UINT64_C(100000000000000));
	assert_int_equal(found(&m, "uncorrectable"), 1);
	assert_says(&m, 0, "FEC corrects as many errors as it is made for: BitErrorRatio is");
	/* too few were counted */
	set_number(port, PORT_ATTR_bit_error_ratio_lower, UINT64_C(49000000000000));
	assert_int_equal(found(&m, "uncorrectable"), 0);
	set_number(port, PORT_ATTR_bit_error_ratio_lower, UINT64_C(90000000000000));
	set_number(port, PORT_ATTR_bit_error_margin, 1);
	assert_int_equal(found(&m, "uncorrectable"), 0);
	set_number(port, PORT_ATTR_bit_error_margin, 0);
	assert_int_equal(expect_add(&m.expect, "BitErrorMargin>=0"), 0);
	assert_int_equal(found(&m, "uncorrectable"), 0);
}

/* What the PHY has counted counts since the port is active, as far as it has settled. */
static void test_phy(_unused_ void **state)
{
	_cleanup_machine_ Machine m = {};
	Object *port = add(&m);
	uint64_t now = realtime_now_usec();

	set_number(port, PORT_ATTR_phy_link_downs, 9);
	add_evidence(&m, "PhyLinkDowns", 2 * HOUR, "7", "8");
	assert_int_equal(found(&m, "retraining"), 0);
	add_evidence(&m, "PhyLinkDowns", HOUR, "8", "9");
	assert_int_equal(found(&m, "retraining"), 1);
	assert_says(&m, 0, "while the port was active, its PHY has lost the link 2 times in 24 h");
	set_number(port, PORT_ATTR_state_change, now - 90 * 60 * USEC_PER_SEC);
	assert_int_equal(found(&m, "retraining"), 0);
	add_evidence(&m, "PhyLinkDowns", HOUR / 3, "9", "11");
	assert_int_equal(found(&m, "retraining"), 1);
	m.run.settle_usec = HOUR;
	assert_int_equal(found(&m, "retraining"), 1);
	m.run.settle_usec = 2 * HOUR;
	assert_int_equal(found(&m, "retraining"), 0);
	m.run.settle_usec = 0;
	set_text(port, PORT_ATTR_state, "down");
	assert_int_equal(found(&m, "retraining"), 0);
}

static void test_hangs(_unused_ void **state)
{
	_cleanup_machine_ Machine m = {};

	add(&m);
	add_evidence(&m, "LastErrorCode", 25 * HOUR, "", "timeout");
	for (unsigned int i = 0; i < 3; i++)
		add_evidence(&m, "LastErrorCode", (9 - i) * HOUR, "", "timeout");
	add_evidence(&m, "LastErrorCode", 2 * HOUR, "", "device-error");
	assert_int_equal(found(&m, "health-recovered"), 0);
	add_evidence(&m, "LastErrorCode", HOUR, "", "timeout");
	assert_int_equal(found(&m, "health-recovered"), 1);
	assert_says(&m, 0, "the device has not answered 4 times in 24 h, the last time at");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_other_cable),
		cmocka_unit_test(test_far_gpus),
		cmocka_unit_test(test_nodes),
		cmocka_unit_test(test_umad),
		cmocka_unit_test(test_umad_of_later_one),
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_full_fec),
		cmocka_unit_test(test_phy),
		cmocka_unit_test(test_hangs),
		cmocka_unit_test(test_verbs),
		cmocka_unit_test(test_speed),
		cmocka_unit_test(test_never_used),
		cmocka_unit_test(test_interface),
		cmocka_unit_test(test_planes),
		cmocka_unit_test(test_acknowledged),
		cmocka_unit_test(test_other_kinds),
		cmocka_unit_test(test_acs),
		cmocka_unit_test(test_lost),
	};

	return cmocka_run_group_tests_name("devices", tests, NULL, NULL);
}
