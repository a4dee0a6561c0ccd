/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "checks.h"

#include <assert.h>

#include "check-parts.h"
#include "decode.h"
#include "port.h"

/* The common part of the checks */

static bool is_expected(const CheckRun *r, PortAttr a)
{
	return check_is_expected(r, &port_attributes[a]);
}

static bool has_name(const Value *v, const char *name)
{
	VALUE_FOREACH(item, v)
		if (streq(value_text(item), name))
			return true;
	return false;
}

/* To how many of the checked ports E applies. */
static size_t count_ports(const CheckRun *r, const Expectation *e)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n_ports; i++)
		n += check_applies(r, e, r->ports[i]);
	return n;
}

/* The checks */

static void look_for_ports(CheckRun *r)
{
	if (r->n_ports == 0 && !r->expect->given && r->n_names == 0)
		check_find(r, NULL, "there is no RDMA port");
}

/* Whether X is a heading that says that there is such a port, and there is none. */
static bool is_missing(const CheckRun *r, const Expectation *x)
{
	const Expectation *end = r->expect->items + r->expect->n;

	/* If ports were named, only these are checked: nothing else can be missing. */
	if (x->kind != EXPECT_SECTION || r->n_names > 0)
		return false;
	/* a heading with attributes says what such ports are, and not that there are any */
	for (const Expectation *k = x + 1; k < end && k->kind != EXPECT_SECTION; k++)
		if (k->kind == EXPECT_PORTS || k->kind == EXPECT_CONDITION)
			return false;
	return count_ports(r, x) == 0;
}

static void look_for_missing(CheckRun *r)
{
	const Expectations *e = r->expect;

	for (size_t i = 0; i < r->n_missing; i++)
		check_find(r, NULL, "%s", r->missing[i]);
	for (size_t i = 0; i < e->n; i++)
		if (is_missing(r, &e->items[i]))
			check_find(r, NULL, "there is no port %s, which %s expects",
				   e->items[i].text, e->items[i].place);
	look_for_lost_devices(r);
}

/* Ports that are found missing by their names are not told again as a number. */
static void look_at_count(CheckRun *r)
{
	const Expectations *e = r->expect;
	size_t missing = r->n_missing;

	for (size_t i = 0; i < e->n; i++)
		missing += is_missing(r, &e->items[i]);
	if (check_is_ignored(r, "missing"))
		missing = 0;
	for (size_t i = 0; i < e->n; i++) {
		const Expectation *x = &e->items[i];
		size_t n = x->kind == EXPECT_PORTS ? count_ports(r, x) : 0;
		const char *heading = expectation_heading(e, x);

		if (x->kind == EXPECT_PORTS && (n > x->number || n + missing < x->number))
			check_find(r, NULL, "%zu %s%s%s, expected %s", n, n == 1 ? "port" : "ports",
				   heading ? " " : "", heading ? heading : "", x->text);
	}
}

/* What a file with an error expects is not known. */
static void look_at_expect_files(CheckRun *r)
{
	if (r->expect->error)
		check_find(r, NULL, "%s", r->expect->error);
}

static void look_at_device_staleness(CheckRun *r)
{
	const char *error = object_text(r->device, DEVICE_ATTR_last_error);

	if (value_is_true(object_value(r->device, DEVICE_ATTR_stale)))
		check_find(r, &device_attributes[DEVICE_ATTR_stale], "the device is stale%s%s",
			   *error ? ": " : "", error);
}

static void look_at_staleness(CheckRun *r)
{
	const char *error = object_text(r->port, PORT_ATTR_last_error);

	if (object_is_stale(r->port))
		check_find(r, &port_attributes[PORT_ATTR_stale], "the port is stale%s%s",
			   *error ? ": " : "", error);
}

static void look_at_state(CheckRun *r)
{
	const char *physical = object_text(r->port, PORT_ATTR_phys_state);

	/* Without a state the port is stale, which is found by another check, or its driver does
	 * not measure the state, and then nothing can be said. */
	if (object_value(r->port, PORT_ATTR_state) && !object_is_active(r->port) &&
	    !is_expected(r, PORT_ATTR_state) && !check_is_unused(r, r->port))
		check_find(r, &port_attributes[PORT_ATTR_state], "the port is %s%s%s, not active",
			   object_text(r->port, PORT_ATTR_state), *physical ? ", physically " : "",
			   physical);
}

static void look_at_interface(CheckRun *r)
{
	const char *netdev = object_text(r->port, PORT_ATTR_netdev);

	if (object_value(r->port, PORT_ATTR_state) && !object_is_active(r->port) &&
	    !check_is_unused(r, r->port) &&
	    streq(object_text(r->port, PORT_ATTR_netdev_operstate), "up"))
		check_find(r, &port_attributes[PORT_ATTR_state],
			   "the network interface%s%s is up, but the port is %s",
			   *netdev ? " " : "", netdev, object_text(r->port, PORT_ATTR_state));
}

/* Whether LID is that of no port: 0; 0xffff, the permissive LID; or, on InfiniBand, a LID of
 * multicast. Omni-Path has longer ones. */
static bool is_of_no_port(const CheckRun *r, uint64_t lid)
{
	return lid == 0 || lid == 0xffff ||
	       (lid >= 0xc000 && streq(object_text(r->port, PORT_ATTR_protocol), "infiniband"));
}

static void look_at_lid(CheckRun *r)
{
	uint64_t lid;

	if (check_is_in_use(r) && check_number(r->port, PORT_ATTR_lid, &lid) &&
	    is_of_no_port(r, lid))
		check_find(r, &port_attributes[PORT_ATTR_lid],
			   "the port is active, but has no LID%s",
			   lid && lid != 0xffff ? ": it has one of multicast" : "");
}

static void look_at_sm(CheckRun *r)
{
	uint64_t lid;

	if (check_is_in_use(r) && check_number(r->port, PORT_ATTR_sm_lid, &lid) &&
	    is_of_no_port(r, lid))
		check_find(r, &port_attributes[PORT_ATTR_sm_lid],
			   "the port is active, but knows no subnet manager");
}

/* The MTU that the kernel chooses for a port whose network interface has NETDEV_MTU: it subtracts
 * the largest size of all RoCE headers and takes the largest InfiniBand MTU that fits into the
 * rest. See iboe_get_mtu() in rdma/ib_addr.h of the kernel. */
static uint64_t roce_mtu(uint64_t netdev_mtu)
{
	const uint64_t headers = 40 + 8 + 12 + 4 + 28 + 4;

	for (uint32_t code = 5; code > 0; code--)
		if (netdev_mtu >= decode_number(ATTR_MTU, code) + headers)
			return decode_number(ATTR_MTU, code);
	return 0;
}

/* Whether PORT is that of a virtual function or a subfunction of the port that the run looks at. */
static bool is_function_of_port(const CheckRun *r, const Object *port)
{
	const Object *device = object_list_device(r->objects, port);
	const char *above = object_text(device, DEVICE_ATTR_physical_function);

	return *above && streq(above, object_text(r->device, DEVICE_ATTR_pci_address)) &&
	       object_number(port, PORT_ATTR_port_num) ==
		       object_number(r->port, PORT_ATTR_port_num);
}

/* What the interface of a function sends goes out by the physical one, whose MTU its driver does
 * not look at. A smaller one is a matter of who has the function. */
static void look_at_function_mtu(CheckRun *r)
{
	const Attribute *row = &port_attributes[PORT_ATTR_netdev_mtu];
	uint64_t own, mtu;
	char name[96];

	if (!check_has_functions(r->port) || !check_number(r->port, PORT_ATTR_netdev_mtu, &own) ||
	    !object_is_active(r->port) || check_is_expected(r, row))
		return;
	for (size_t i = 0; i < r->objects->n; i++) {
		const Object *o = r->objects->items[i];

		if (!o->is_port || !check_number(o, PORT_ATTR_netdev_mtu, &mtu) || mtu <= own ||
		    !object_is_active(o) || !is_function_of_port(r, o))
			continue;
		check_find(r, row,
			   "the MTU of its network interface is %u, and that of its function %s %u",
			   (unsigned int)own, object_name(o, name), (unsigned int)mtu);
		return;
	}
}

static void look_at_mtu(CheckRun *r)
{
	const char *netdev = object_text(r->port, PORT_ATTR_netdev);
	uint64_t mtu, most, netdev_mtu;

	look_at_function_mtu(r);
	if (!streq(object_text(r->port, PORT_ATTR_protocol), "roce") ||
	    check_may_be_idle(r, r->port) || is_expected(r, PORT_ATTR_active_mtu) ||
	    !check_number(r->port, PORT_ATTR_active_mtu, &mtu) ||
	    !check_number(r->port, PORT_ATTR_max_mtu, &most) ||
	    !check_number(r->port, PORT_ATTR_netdev_mtu, &netdev_mtu))
		return;
	most = MIN(most, roce_mtu(netdev_mtu));
	if (mtu < most)
		check_find(r, &port_attributes[PORT_ATTR_active_mtu],
			   "the MTU is %u, %s (%u) has room for %u", (unsigned int)mtu,
			   *netdev ? netdev : "the network interface", (unsigned int)netdev_mtu,
			   (unsigned int)most);
}

/* Whether the other end of the link says nothing of its speeds, and many links of this kind are as
 * slow: newer adapters are at older switches, perhaps those of another fabric, and nobody can do
 * anything about that. */
static bool is_speed_of_fabric(const CheckRun *r)
{
	return !*object_text(r->port, PORT_ATTR_neighbor_speeds) &&
	       !*object_text(r->port, PORT_ATTR_partner_speeds) &&
	       check_is_like_many(r, &port_attributes[PORT_ATTR_rate]);
}

/* Finds a link of Ethernet that is slower than a speed which both ends offer, as far as the other
 * end is heard. Who has set a speed has left only that to be offered. */
static void look_at_offered_speed(CheckRun *r)
{
	uint64_t is, fastest;

	if (!check_is_in_use(r) || is_expected(r, PORT_ATTR_netdev_speed) ||
	    !check_number(r->port, PORT_ATTR_netdev_speed, &is))
		return;
	fastest = check_offered_speed(r->port);
	if (is < fastest && !is_speed_of_fabric(r))
		check_find(r, &port_attributes[PORT_ATTR_rate],
			   "the link runs at %.6g Gb/s, the port offers %.6g Gb/s%s",
			   (double)is / 1e9, (double)fastest / 1e9,
			   *object_text(r->port, PORT_ATTR_partner_speeds)
				   ? ", and so does the other end"
				   : "");
}

/* An InfiniBand port announces which speeds from FDR upwards it supports. The port does not
 * announce its widths, except 2x, so there is no such check for the width. */
static void look_at_speed(CheckRun *r)
{
	static const struct {
		PortAttr mask;
		const char *capability, *speed;
	} announced[] = {
		{PORT_ATTR_port_cap_flags2, "link-speed-xdr", "XDR"},
		{PORT_ATTR_port_cap_flags2, "link-speed-ndr", "NDR"},
		{PORT_ATTR_port_cap_flags2, "link-speed-hdr", "HDR"},
		{PORT_ATTR_capabilities, "extended-speeds", "FDR"},
	};
	const char *speed = object_text(r->port, PORT_ATTR_link_speed);
	uint32_t is, could_be;

	if (check_may_be_idle(r, r->port) || is_expected(r, PORT_ATTR_link_speed) ||
	    is_expected(r, PORT_ATTR_rate))
		return;
	look_at_offered_speed(r);
	if (!streq(object_text(r->port, PORT_ATTR_protocol), "infiniband") ||
	    decode_value(ATTR_SPEED, speed, &is) < 0)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(announced); i++) {
		if (!has_name(object_value(r->port, announced[i].mask), announced[i].capability) ||
		    !check_other_end_can(r->port, PORT_ATTR_neighbor_speeds, announced[i].speed))
			continue;
		if (decode_value(ATTR_SPEED, announced[i].speed, &could_be) == 0 && is < could_be &&
		    !is_speed_of_fabric(r))
			check_find(r, &port_attributes[PORT_ATTR_link_speed],
				   "the link runs at %s, the port can do %s", speed,
				   announced[i].speed);
		return;
	}
}

/* Whether the device can be one that programs use: a plane of another device cannot. */
static bool offers_verbs(const Object *device)
{
	return !streq(object_text(device, DEVICE_ATTR_dev_type),
		      decode_name(ATTR_DEVICE_TYPE, DEVICE_TYPE_SMI));
}

static void look_for_uverbs(CheckRun *r)
{
	const Attribute *row = &device_attributes[DEVICE_ATTR_chardevs];
	const char *reason = object_unavailable(r->device, DEVICE_ATTR_chardevs);

	if (reason)
		check_find(r, row, "the character devices of the device are not known: %s", reason);
	else if (!*object_uverbs_node(r->device) && offers_verbs(r->device))
		check_find(r, row,
			   "the device has no uverbs node: is the module ib_uverbs loaded?");
}

static bool has_umad(const Object *device)
{
	return *object_node(device, "mad");
}

/* No machine has more adapters: of each no more others are looked at. */
#define OTHERS_MAX 64U

/* Finds an adapter of InfiniBand without umad nodes, while another one of its driver has some: the
 * module ib_umad makes them for all. Of issm nodes nothing can be said: not all platforms have
 * them. */
static void look_for_umad(CheckRun *r)
{
	const char *protocol = object_text(r->device, DEVICE_ATTR_dev_protocol);
	const char *driver = object_text(r->device, DEVICE_ATTR_driver);
	size_t n = 0;

	if (has_umad(r->device) || !*object_uverbs_node(r->device) || !offers_verbs(r->device) ||
	    object_is_function(r->device) ||
	    (!streq(protocol, "infiniband") && !streq(protocol, "opa")))
		return;
	for (size_t i = 0; i < r->objects->n && n < OTHERS_MAX; i++) {
		const Object *o = r->objects->items[i];

		n += !o->is_port;
		if (o->is_port || !has_umad(o) ||
		    !streq(object_text(o, DEVICE_ATTR_driver), driver) ||
		    !streq(object_text(o, DEVICE_ATTR_dev_protocol), protocol))
			continue;
		check_find(r, &device_attributes[DEVICE_ATTR_chardevs],
			   "the device has no umad node, and others have");
		return;
	}
}

static void look_at_access(CheckRun *r)
{
	const char *node = object_uverbs_node(r->device);
	int k = r->ask.access && *node ? r->ask.access(r->ask.userdata, node) : 0;

	if (k < 0)
		check_find(r, &device_attributes[DEVICE_ATTR_chardevs], "%s cannot be used: %s",
			   node, strerror(-k));
	look_for_umad(r);
}

/* Whether it is known why rdmad does not open the device, and nobody has to do anything about that:
 * the configuration says so; it is a Gaudi device, which rdmad opens only if rdmad.conf says so;
 * the device has no uverbs node, which another check finds; or verbs has no number for the port. */
static bool is_left_closed(const CheckRun *r, const char *code)
{
	return streq(code, unavailable_rows[UNAVAILABLE_KEPT_CLOSED].code) ||
	       streq(code, unavailable_rows[UNAVAILABLE_TOO_MANY_PORTS].code) ||
	       streq(code, unavailable_rows[UNAVAILABLE_NO_VERBS].code) ||
	       startswith(object_text(r->device, DEVICE_ATTR_driver), "habanalabs");
}

static void look_at_verbs(CheckRun *r)
{
	const char *code = object_verbs_obstacle(r->port);

	if (code && !is_left_closed(r, code) && !object_is_stale(r->port))
		check_find(r, &port_attributes[PORT_ATTR_max_mtu],
			   "rdmad cannot use verbs on the port: MaxMtu is unavailable (%s)",
			   unavailable_text(code));
}

/* Whether the row is a set of names or a table. */
static bool is_many(const Attribute *row)
{
	return attr_signature(row->type)[0] == 'a' && !attr_is_list(row->type);
}

/* Whether a later expectation for the same attribute of this port replaces expectation I. For a
 * set or a table none does: all of them must hold. */
static bool is_overridden(const CheckRun *r, size_t i)
{
	const Expectations *e = r->expect;

	if (is_many(e->items[i].row))
		return false;
	for (size_t k = i + 1; k < e->n; k++)
		if (e->items[k].row == e->items[i].row && check_applies(r, &e->items[k], r->port))
			return true;
	return false;
}

static void look_at_expectations(CheckRun *r)
{
	const Expectations *e = r->expect;

	for (size_t i = 0; i < e->n; i++) {
		const Expectation *x = &e->items[i];
		const Object *o = x->of_device ? r->device : r->port;
		_cleanup_free_ char *is = NULL, *expected = NULL;

		if (x->kind != EXPECT_ATTRIBUTE || !check_applies(r, x, r->port) || !o ||
		    is_overridden(r, i) || expectation_holds(x, o))
			continue;
		if (is_many(x->row) && object_value(o, (size_t)(x->row - o->rows))) {
			check_find(r, x->row, "%s does not have %s", x->row->name, x->text);
			continue;
		}
		is = format_row(o, (size_t)(x->row - o->rows));
		expected = expectation_format(x);
		check_find(r, x->row, "%s is %s, expected %s", x->row->name, is ? is : "",
			   expected ? expected : "");
	}
}

#define MINUTES(n) ((n)*60 * USEC_PER_SEC)

#define CHECK(name_, ...)                                                                          \
	static_assert(sizeof(name_) <= sizeof(checks->name), name_ ": is longer than its place");
#include "checks.def"

const Check checks[] = {
#define CHECK(name, severity, condition, scope, clear_usec, look, sentence)                        \
	{name, severity, condition, scope, clear_usec},
#include "checks.def"
};

/* Of each check the function. It is not in the row: the dynamic linker writes to each page that has
 * a pointer, in each process. */
static void (*const looks[])(CheckRun *r) = {
#define CHECK(name, severity, condition, scope, clear_usec, look, sentence) look,
#include "checks.def"
};

const size_t n_checks = ARRAY_SIZE(checks);

bool check_exists(const char *name)
{
	return array_find(checks, n_checks, name, name);
}

void check_look(CheckRun *r, const Check *check, const Object *device, const Object *port)
{
	r->check = check;
	r->device = device;
	r->port = port;
	looks[check - checks](r);
}

static void look(CheckRun *r, CheckScope scope, const Object *device, const Object *port)
{
	for (size_t i = 0; i < n_checks; i++)
		if (checks[i].scope == scope)
			check_look(r, &checks[i], device, port);
}

/* Adds a device to those that were looked at; false if it is one of them. */
static bool add_device(CheckRun *r, const Object *device)
{
	for (size_t i = r->n_devices; i-- > 0;)
		if (r->devices[i] == device)
			return false;
	r->devices[r->n_devices++] = device;
	return true;
}

int checks_run(CheckRun *r)
{
	r->devices = calloc(r->objects->n + 1, sizeof(*r->devices));
	if (!r->devices)
		return -ENOMEM;
	look(r, SCOPE_MACHINE, NULL, NULL);
	for (size_t i = 0; i < r->n_ports; i++) {
		const Object *port = r->ports[i];
		const Object *device = object_list_device(r->objects, port);

		if (device && add_device(r, device))
			look(r, SCOPE_DEVICE, device, NULL);
		look(r, SCOPE_PORT, device, port);
	}
	findings_fold(r);
	return r->error;
}
