/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "checks.h"

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

/* clang-format off */
const Check checks[] = {
	{"no-port",        SEVERITY_CRITICAL, CONDITION_PORT,   SCOPE_MACHINE,  0,          look_for_ports,           "The machine has no RDMA port, and none was named."},
	{"missing",        SEVERITY_CRITICAL, CONDITION_PORT,   SCOPE_MACHINE,  0,          look_for_missing,         "A port that was named, or that a section expects, is not there; or the hardware of an adapter has gone since rdmad was started, and is nowhere else (NodeGuid), and another one of its model is here. The latter not where containers have devices of their own (NamespaceMode is exclusive)."},
	{"count",          SEVERITY_CRITICAL, CONDITION_PORT,   SCOPE_MACHINE,  0,          look_at_count,            "There are more or fewer ports than Ports expects."},
	{"expect-file",    SEVERITY_WARNING,  CONDITION_CONFIG, SCOPE_MACHINE,  0,          look_at_expect_files,     "A file that says what is expected of the machine has an error, and counts for nothing."},
	{"device-stale",   SEVERITY_CRITICAL, CONDITION_STALE,  SCOPE_DEVICE,   0,          look_at_device_staleness, "The last query of the device failed, or the device does not answer."},
	{"no-uverbs",      SEVERITY_CRITICAL, CONDITION_PORT,   SCOPE_DEVICE,   0,          look_for_uverbs,          "The device has no character device for verbs."},
	{"access",         SEVERITY_WARNING,  CONDITION_CONFIG, SCOPE_DEVICE,   0,          look_at_access,           "The caller may not open that character device, or it is not there; or the device has no umad node, and another one of its driver has (InfiniBand, Omni-Path)."},
	{"pcie-slow",      SEVERITY_WARNING,  CONDITION_DEVICE, SCOPE_DEVICE,   0,          look_at_pcie,             "A PCI Express link between the device and the processor has fewer lanes or a lower speed than both of its ends can do, and that makes it the narrowest."},
	{"pcie-errors",    SEVERITY_WARNING,  CONDITION_DEVICE, SCOPE_DEVICE,   0,          look_for_pcie_errors,     "PCI Express had errors that could not be corrected (AER), since the machine was started or the adapter was put in. An adapter is told once, whichever of its functions count them."},
	{"pcie-burst",     SEVERITY_WARNING,  CONDITION_DEVICE, SCOPE_DEVICE,   MINUTES(10), look_for_pcie_bursts,     "PCI Express has corrected 100 errors or more from one query of the device to the next (AER), in the last 24 hours. An adapter is told once."},
	{"health-error",   SEVERITY_WARNING,  CONDITION_DEVICE, SCOPE_DEVICE,   0,          look_for_health_errors,   "A health reporter of the driver (devlink) says that there was an error from which it has not recovered; or a driver without one has reported that the device has failed (device-fatal), and it was not away since."},
	{"health-recovered", SEVERITY_WARNING, CONDITION_DEVICE, SCOPE_DEVICE,  0,          look_for_recoveries,      "A health reporter of the driver (devlink) had errors since the driver was loaded, and has recovered from them; or the device has not answered four times or more in the last 24 hours."},
	{"exhausted",      SEVERITY_WARNING,  CONDITION_DEVICE, SCOPE_DEVICE,   0,          look_at_resources,        "Of the queue pairs, completion queues, shared receive queues, memory regions or protection domains that the device can have, 95 % or more are in use."},
	{"far-gpu",        SEVERITY_WARNING,  CONDITION_DEVICE, SCOPE_MACHINE,  0,          look_for_far_gpus,        "An accelerator reaches every port through the processor only, while most others of its model, at least three, reach one through PCI switches. Not where containers have devices of their own (NamespaceMode is exclusive): those are not seen."},
	{"acs-redirects",  SEVERITY_WARNING,  CONDITION_CONFIG, SCOPE_DEVICE,   0,          look_at_acs,              "A port of a PCI switch sends what goes between the device and an accelerator below the same switch up to the processor (ACS), and AcsRedirects is not expected."},
	{"no-gpu-memory",  SEVERITY_WARNING,  CONDITION_CONFIG, SCOPE_DEVICE,   0,          look_for_gpu_memory,      "There are accelerators below the same PCI switch as the device, and the kernel cannot register their memory: DmaBuf is no, PeerMemory is empty, and DmaBuf is not expected."},
	{"too-hot",        SEVERITY_CRITICAL, CONDITION_DEVICE, SCOPE_PORT,     0,          look_for_overheating,     "The adapter or the module in the cage is as hot as its driver calls critical, or hotter; or as the module alarms of, where the driver does not know its temperature."},
	{"hot",            SEVERITY_WARNING,  CONDITION_DEVICE, SCOPE_PORT,     0,          look_for_heat,            "The adapter or the module in the cage is 5 K or less below what its driver calls critical. An adapter is told once, whichever of its ports say so."},
	{"low-light",      SEVERITY_WARNING,  CONDITION_LINK,   SCOPE_PORT,     0,          look_for_darkness,        "A lane of the module in the cage receives or sends less light than the module alarms of, while the port is active (Ethernet)."},
	{"weak-light",     SEVERITY_WARNING,  CONDITION_LINK,   SCOPE_PORT,     0,          look_for_little_light,    "The same of 1 dB more light or less."},
	{"module",         SEVERITY_WARNING,  CONDITION_PORT,   SCOPE_PORT,     0,          look_at_module_state,     "The module in the cage has a fault, or its laser has, or it stays in low power while the network interface is set up, as it says; and the port is not active (Ethernet). One that not-active leaves out is left out here, too."},
	{"wrong-cable",    SEVERITY_WARNING,  CONDITION_CONFIG, SCOPE_PORT,     0,          look_for_wrong_cable,     "The module in the cage is made for less, as it says, than the link runs at, or than a speed that both ends of it offer; and CableMaxRate is not expected (Ethernet)."},
	{"other-cable",    SEVERITY_WARNING,  CONDITION_CONFIG, SCOPE_PORT,     0,          look_for_other_cable,     "The port is not active, and the module in its cage is another one than 24 hours ago, by its serial number; CableSerialNumber is not expected (Ethernet)."},
	{"stale",          SEVERITY_CRITICAL, CONDITION_STALE,  SCOPE_PORT,     0,          look_at_staleness,        "The last query of the port failed, or the device does not answer."},
	{"no-verbs",       SEVERITY_WARNING,  CONDITION_STALE,  SCOPE_PORT,     0,          look_at_verbs,            "rdmad could not ask the port by verbs."},
	{"not-active",     SEVERITY_CRITICAL, CONDITION_PORT,   SCOPE_PORT,     0,          look_at_state,            "The port is not active, and no expectation says what State shall be. A virtual function, a subfunction and a port that is none for RDMA, unless it is the link of virtual functions, are left out unless they are named, and so is a port that has never been active, on no adapter of its model, while another port of its adapter has, or, if its network interface is set down or has neither an address nor a master, another port of the machine (Ethernet)."},
	{"netdev-up",      SEVERITY_WARNING,  CONDITION_PORT,   SCOPE_PORT,     0,          look_at_interface,        "The network interface is up, but the port is not active."},
	{"flap",           SEVERITY_WARNING,  CONDITION_LINK,   SCOPE_PORT,     MINUTES(10), look_for_flaps,           "The link went down too often, twice in 24 hours if --flap does not say otherwise; or in the last hour the device has gone and come back four times or more: its driver resets it. The latter not where containers have devices of their own (NamespaceMode is exclusive)."},
	{"no-lid",         SEVERITY_CRITICAL, CONDITION_PORT,   SCOPE_PORT,     0,          look_at_lid,              "The port is active, but has no LID, or one of multicast (InfiniBand)."},
	{"no-sm",          SEVERITY_WARNING,  CONDITION_PORT,   SCOPE_PORT,     0,          look_at_sm,               "The port is active, but the LID of its subnet manager is 0 or that of no port (InfiniBand)."},
	{"sm-storm",       SEVERITY_WARNING,  CONDITION_LINK,   SCOPE_PORT,     MINUTES(10), look_for_storms,          "In the last hour the subnet manager has changed four times, has given the port another LID four times, has taken a P_Key from it four times, or has configured it again ten times (InfiniBand). The P_Keys of physical functions with virtual ones are left out."},
	{"no-gid",         SEVERITY_CRITICAL, CONDITION_PORT,   SCOPE_PORT,     0,          look_for_gids,            "The port is active, but its GID table is empty (RoCE)."},
	{"full-gids",      SEVERITY_WARNING,  CONDITION_CONFIG, SCOPE_PORT,     0,          look_for_full_gids,       "The port is active, and its GID table is full, or of twenty entries one is left, or one in all, while an address mostly needs two; and Gids is not expected (RoCE)."},
	{"no-address",     SEVERITY_WARNING,  CONDITION_PORT,   SCOPE_PORT,     0,          look_for_lost_address,    "The port is active and has lost the last address that peers reach: its GID table has only link-local ones (RoCE). One is left out whose interface was put into a bridge or the like when the address went."},
	{"address-flap",   SEVERITY_WARNING,  CONDITION_CONFIG, SCOPE_PORT,     MINUTES(10), look_for_address_flaps,   "In the last hour an address of the port that peers reach has gone four times or more while the link was up, and is back (RoCE). A port of which flap is not looked for is left out, and so is a member of a bond in the mode active-backup."},
	{"same-address",   SEVERITY_WARNING,  CONDITION_CONFIG, SCOPE_MACHINE,  0,          look_at_addresses,        "Another port has the same IP address on another network interface, or the same MAC address, and is in no bond (RoCE)."},
	{"stale-gid",      SEVERITY_WARNING,  CONDITION_CONFIG, SCOPE_PORT,     0,          look_for_stale_gids,      "The link-local GIDs of the network interface are made of another MAC address than it has, and it is in no bond (RoCE)."},
	{"not-linked",     SEVERITY_CRITICAL, CONDITION_PORT,   SCOPE_PORT,     0,          look_at_physical_state,   "The port is active, but its physical state is one of a link that is down, or its network interface is set down or has no carrier and is in no bond."},
	{"no-guid",        SEVERITY_WARNING,  CONDITION_CONFIG, SCOPE_PORT,     0,          look_for_guid,            "The port is active, but its GUID or that of its device is 0 (InfiniBand, Omni-Path)."},
	{"same-guid",      SEVERITY_WARNING,  CONDITION_CONFIG, SCOPE_MACHINE,  0,          look_at_same_guids,       "Two ports, two devices or two virtual functions have the same GUID (InfiniBand, Omni-Path)."},
	{"bond-member",    SEVERITY_WARNING,  CONDITION_LINK,   SCOPE_PORT,     0,          look_at_bond,             "There is only one member of the bond, and another port of its adapter is in none, and has no address. Or a member carries nothing: its link is down, or the bond does not use it and has no mode with members that stand by. Or all carry alike, and one is slower, or (802.3ad) has no speed. Or members come and go, and so the rate has fallen twice in 24 hours if --flap does not say otherwise. A member that is the interface of another port is found there. The port is active: one that is down is not-active."},
	{"slow",           SEVERITY_WARNING,  CONDITION_LINK,   SCOPE_PORT,     0,          look_at_speed,            "The link is slower than a speed that the port announces (InfiniBand) or offers (Ethernet), and that is enabled at the other end where that is known; and neither LinkSpeed nor Rate nor NetdevSpeed is expected. Where that is not known, four ports or more of a model that have one rate are left out if no more have another: their switches can do no more. So is a port that does not negotiate (Ethernet): its speed was set."},
	{"slower",         SEVERITY_WARNING,  CONDITION_LINK,   SCOPE_PORT,     0,          look_at_former_rate,      "The link is slower than it was at some time in the last 7 days, and neither Rate nor LinkSpeed nor LinkWidth is expected. A port of Ethernet whose speed was set is left out: it does not negotiate, or does not offer what it can."},
	{"few-lanes",      SEVERITY_WARNING,  CONDITION_LINK,   SCOPE_PORT,     0,          look_at_lanes,            "The link has fewer lanes than it should: four, or on InfiniBand two from HDR on unless four are enabled at the other end (InfiniBand, Omni-Path); and neither LinkWidth nor Rate is expected."},
	{"small-mtu",      SEVERITY_WARNING,  CONDITION_CONFIG, SCOPE_PORT,     0,          look_at_mtu,              "The MTU is smaller than the network interface allows (RoCE), and ActiveMtu is not expected; or the interface of a virtual function has a larger MTU than that of the physical one, and NetdevMtu is not expected."},
	{"rail-swapped",   SEVERITY_WARNING,  CONDITION_CONFIG, SCOPE_MACHINE,  0,          look_for_swapped_rails,   "Of four ports or more, each at a switch of its own, two are where each other would be by the order, from either end, in which the names of the other switches and ports agree; or two of different adapters are at one switch and all others each at one of their own, and of the numbers in the names of these one is missing; and Neighbor is not expected."},
	{"neighbor-mtu",   SEVERITY_WARNING,  CONDITION_CONFIG, SCOPE_PORT,     0,          look_at_neighbor_mtu,     "The MTU is greater than the largest frame that the other end of the link takes, as that says (Ethernet), and NeighborMaxFrameSize is not expected."},
	{"neighbor-pfc",   SEVERITY_WARNING,  CONDITION_CONFIG, SCOPE_PORT,     0,          look_at_neighbor_pfc,     "A priority has flow control (PFC) here and not at the other end of the link, as that says, or none has here and one there; and NeighborPfcEnabled is not expected."},
	{"unused-pfc",     SEVERITY_WARNING,  CONDITION_CONFIG, SCOPE_PORT,     0,          look_for_unused_pfc,      "Flow control (PFC) is enabled, but not for priority 0, which all packets get: the port takes the priority from the VLAN tag only, and has no GID of a VLAN or of a container and no virtual functions, or from DSCP only, and none is mapped to such a priority; and neither PriorityTrust nor DscpToPriority nor PfcEnabled is expected (RoCE)."},
	{"vf-no-guid",     SEVERITY_WARNING,  CONDITION_CONFIG, SCOPE_PORT,     0,          look_at_vf_guids,         "A virtual function has no GUID of its node or its port: the host has set none (InfiniBand)."},
	{"vf-disabled",    SEVERITY_WARNING,  CONDITION_CONFIG, SCOPE_PORT,     0,          look_at_vf_policies,      "The host has disabled the link of a virtual function."},
	{"lost-pkey",      SEVERITY_WARNING,  CONDITION_CONFIG, SCOPE_MACHINE,  0,          look_for_lost_pkeys,      "The port is active and has lost a P_Key or its full membership, and a third of the ports of the machine or more are still in that partition, or there is no other port; and Pkeys is not expected (InfiniBand, Omni-Path). The ports of physical functions with virtual ones, whose P_Keys they have too, are left out."},
	{"odd-one-out",    SEVERITY_WARNING,  CONDITION_LINK,   SCOPE_MACHINE,  0,          look_for_odd_ones,        "State, Rate, ActiveMtu, Pkeys, Gids (whether peers reach an address, and one of IPv4), Netdevs (whether IPoIB is set up, its MTU and its mode), PfcEnabled, PriorityTrust, DscpToPriority, EtsBandwidth, EtsAlgorithm, PrioToTc, EcnNotificationPoint, EcnReactionPoint, RoceGidType, NeighborVlan, FecMode or FirmwareVersion of the port is one that no other port of this model has, and most of at least three others agree; of Pkeys also one that some still have, and most others had before. The same of a device whose MaxReadRequest, MaxPayload or PcieMaxRate is less, the latter than DataRate too, whose RelaxedOrdering is off, or whose addresses the IOMMU translates. Virtual functions are left out; so is an Ethernet port, but for its State, whose Neighbor is called otherwise than those of all others, which are called alike, but for numbers; of a port that is down only State and FirmwareVersion are compared, FecMode among ports with the same rate and the same module, and NeighborVlan among ports at one switch."},
	{"same-prefix",    SEVERITY_WARNING,  CONDITION_CONFIG, SCOPE_MACHINE,  0,          look_at_prefixes,         "Two ports are in two subnets that have the same prefix: their subnet managers have different LIDs, or two adapters have the same LID (InfiniBand)."},
	{"same-subnet",    SEVERITY_WARNING,  CONDITION_CONFIG, SCOPE_MACHINE,  0,          look_at_ip_subnets,       "Several network interfaces have addresses in one IP subnet, and answer for each other: arp_ignore is 0, or arp_announce is less than 2 (RoCE, on this machine only)."},
	{"expectation",    SEVERITY_CRITICAL, CONDITION_CONFIG, SCOPE_PORT,     0,          look_at_expectations,     "An attribute is not as expected."},
	{"counter",        SEVERITY_CRITICAL, CONDITION_LOSS,   SCOPE_PORT,     0,          look_at_counters,         "A counter is not as expected, or it cannot be read."},
	{"loss",           SEVERITY_WARNING,  CONDITION_LOSS,   SCOPE_PORT,     MINUTES(10), look_for_loss,            "Packets are sent again, come out of order, are not acknowledged or are discarded: ten in a second, or one that is not acknowledged; or buffers overrun twice in an hour (InfiniBand)."},
	{"congested",      SEVERITY_WARNING,  CONDITION_LOSS,   SCOPE_PORT,     MINUTES(10), look_for_congestion,      "The port had to wait with what it had to send for a fifth of the time (InfiniBand), or congestion is notified a thousand times in a second (RoCE)."},
	{"pause-storm",    SEVERITY_WARNING,  CONDITION_LOSS,   SCOPE_PORT,     MINUTES(10), look_for_pauses,          "A thousand pause frames in a second stop the link, or for a fifth of the time a priority is paused, or twice in an hour the adapter has stalled for so long that it says so (Ethernet)."},
	{"uncorrectable",  SEVERITY_WARNING,  CONDITION_LINK,   SCOPE_PORT,     MINUTES(10), look_for_uncorrectable,   "Forward error correction (FEC) could not correct ten blocks or more from one reading to the next, in the last 24 hours; or corrects as many errors as it is made for (BitErrorMargin is 0) (Ethernet)."},
	{"retraining",     SEVERITY_WARNING,  CONDITION_LINK,   SCOPE_PORT,     MINUTES(10), look_for_retraining,     "Twice in an hour or more often the link has lost its signal and trained again without going down (link_error_recovery), has had too many errors at once (local_link_integrity_errors, but for Omni-Path), or went down without being seen (link_downed, link_down_events, link_down_events_phy); or the PHY has lost it twice in 24 hours while the port was active (PhyLinkDowns)."},
	{"symbol-errors",  SEVERITY_WARNING,  CONDITION_LINK,   SCOPE_PORT,     MINUTES(10), look_for_symbol_errors,   "Of the bits that the link could carry, one in 2e14 is a symbol error, and there were ten or more (InfiniBand, Omni-Path)."},
	{"bad-signal",     SEVERITY_CRITICAL, CONDITION_LINK,   SCOPE_PORT,     MINUTES(10), look_for_many_symbol_errors, "Of the bits that the link could carry, one in 1e14 is a symbol error, or on Ethernet one in 1e12, and there were ten or more."},
	{"far-errors",     SEVERITY_WARNING,  CONDITION_LINK,   SCOPE_PORT,     MINUTES(10), look_for_far_errors,     "At the other end of the link a counter grows as much as loss, retraining or symbol-errors would find here, and here it does not grow (InfiniBand). rdmad knows that if somebody has read the counters of the other end twice since the link came up (rdmactl counters --end=remote)."},
};
/* clang-format on */

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
	check->look(r);
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
