/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Ports whose state says that all is well while something else says that it is not: programs, or
 * the subnet manager, cannot use them as they are. */

#include "check-parts.h"
#include "checks.h"
#include "list.h"
#include "port.h"

/* Whether another interface may carry what that of PORT does not: it is a member of a bond. A VRF
 * or a bridge that it is in does not help it. */
static bool may_be_carried(const Object *port)
{
	const char *bond = object_text(port, PORT_ATTR_bond);

	return *bond && !streq(bond, object_text(port, PORT_ATTR_netdev));
}

/* A finding if ROW of the network interface is "no". */
static void look_at_netdev(CheckRun *r, PortAttr row, const char *what)
{
	const char *netdev = object_text(r->port, PORT_ATTR_netdev);
	const Value *v = object_value(r->port, row);

	if (v && !value_is_true(v) && !may_be_carried(r->port) && !check_may_be_idle(r, r->port) &&
	    !check_is_expected(r, &port_attributes[row]))
		check_find(r, &port_attributes[row],
			   "the port says that it is %s, and its interface%s%s %s: one of both is "
			   "wrong",
			   object_text(r->port, PORT_ATTR_state), *netdev ? " " : "", netdev, what);
}

/* A link that is up is in none of these. */
void look_at_physical_state(CheckRun *r)
{
	static const char *const names[] = {"sleep", "polling", "disabled"};
	const char *is = object_text(r->port, PORT_ATTR_phys_state);

	if (!object_is_active(r->port))
		return;
	look_at_netdev(r, PORT_ATTR_netdev_up, "is set down");
	look_at_netdev(r, PORT_ATTR_netdev_carrier, "has no carrier");
	if (check_is_expected(r, &port_attributes[PORT_ATTR_phys_state]))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (streq(is, names[i]))
			check_find(
				r, &port_attributes[PORT_ATTR_phys_state],
				"the port says that it is %s, and its link is %s: one of both is "
				"wrong",
				object_text(r->port, PORT_ATTR_state), is);
}

static bool is_infiniband(const Object *port)
{
	const char *protocol = object_text(port, PORT_ATTR_protocol);

	return streq(protocol, "infiniband") || streq(protocol, "opa");
}

/* Whether the link may have LANES, fewer than four: two, where a cable shares the port of a switch
 * between two hosts, which there is from HDR on. Then no more are enabled at the switch. */
static bool is_shared(const Object *port, uint64_t lanes)
{
	static const char *const speeds[] = {"HDR", "NDR", "XDR"};
	const char *speed = object_text(port, PORT_ATTR_link_speed);
	ListReader enabled =
		list_reader(ATTR_NUMBERS, object_text(port, PORT_ATTR_neighbor_widths));
	ListItem item;

	while (list_next(&enabled, &item))
		if (item.number >= 4)
			return false;
	if (!streq(object_text(port, PORT_ATTR_protocol), "infiniband"))
		return false;
	for (size_t i = 0; lanes == 2 && i < ARRAY_SIZE(speeds); i++)
		if (streq(speed, speeds[i]))
			return true;
	return false;
}

/* A link has four lanes or more. Omni-Path says 1 of two and three too. */
void look_at_lanes(CheckRun *r)
{
	bool is_opa = streq(object_text(r->port, PORT_ATTR_protocol), "opa");
	const char *speed = object_text(r->port, PORT_ATTR_link_speed);
	uint64_t lanes;

	if (!check_is_in_use(r) || !is_infiniband(r->port) ||
	    !check_number(r->port, PORT_ATTR_active_width, &lanes) || lanes == 0 || lanes >= 4 ||
	    check_is_expected(r, &port_attributes[PORT_ATTR_active_width]) ||
	    check_is_expected(r, &port_attributes[PORT_ATTR_rate]) || is_shared(r->port, lanes))
		return;
	check_find(r, &port_attributes[PORT_ATTR_active_width],
		   "the link has %u %s%s%s, and should have 4", (unsigned int)lanes,
		   is_opa	? "to 3 lanes"
		   : lanes == 1 ? "lane"
				: "lanes",
		   *speed ? " at " : "", speed);
}

/* Whether row I of O was read, and is zero. */
static bool has_no_guid(const Object *o, size_t i)
{
	const char *code = o ? object_unavailable_code(o, i) : NULL;

	return code && streq(code, unavailable_rows[UNAVAILABLE_NONE].code);
}

void look_for_guid(CheckRun *r)
{
	bool port = has_no_guid(r->port, PORT_ATTR_port_guid);

	if (!check_is_in_use(r) || !is_infiniband(r->port))
		return;
	if (port || has_no_guid(r->device, DEVICE_ATTR_node_guid))
		check_find(
			r,
			port ? &port_attributes[PORT_ATTR_port_guid]
			     : &device_attributes[DEVICE_ATTR_node_guid],
			"the port is active, but the GUID of %s is 0: no subnet manager can tell "
			"it from others",
			port ? "the port" : "its device");
}

typedef struct Guid {
	const Object *port;
	size_t order; /* of the port among those that are checked */
	const Attribute *row;
	const char *text;
} Guid;

static int compare_guids(const void *a, const void *b)
{
	const Guid *x = a, *y = b;
	int r = strcmp(x->text, y->text);

	return r ?: (x->order > y->order) - (x->order < y->order);
}

/* Adds the GUIDs of a port and of its device. */
static size_t add_guids(const CheckRun *r, size_t order, Guid *items, size_t n)
{
	const Object *port = r->ports[order], *device = object_list_device(r->objects, port);
	const Value *guid = object_value(port, PORT_ATTR_port_guid);

	if (!is_infiniband(port) || object_list_is_plane(r->objects, port) ||
	    (check_may_be_idle(r, port) && !object_is_active(port)))
		return n;
	if (guid)
		items[n++] = (Guid){port, order, &port_attributes[PORT_ATTR_port_guid],
				    value_text(guid)};
	guid = object_value(device, DEVICE_ATTR_node_guid);
	if (guid)
		items[n++] = (Guid){port, order, &device_attributes[DEVICE_ATTR_node_guid],
				    value_text(guid)};
	return n;
}

/* Whether the sorted G, of N, have X already, which is the GUID of a device, with another port. */
static bool has_device(const CheckRun *r, const Guid *g, size_t n, const Guid *x)
{
	const Object *device = object_list_device(r->objects, x->port);

	if (x->row != &device_attributes[DEVICE_ATTR_node_guid])
		return false;
	while (n-- > 0 && streq(g[n].text, x->text))
		if (g[n].row == x->row && object_list_device(r->objects, g[n].port) == device)
			return true;
	return false;
}

/* Whether there is a finding of this check about PORT: one is enough. */
static bool was_told(const CheckRun *r, const Object *port)
{
	for (size_t i = 0; i < r->n_findings; i++)
		if (r->findings[i].check == r->check && r->findings[i].port == port)
			return true;
	return false;
}

/* Who has the GUID of G[I], of those before it that are sorted: another port or device. A GUID of a
 * port and that of its own device may be the same, and mostly are. NULL: nobody. */
static const Guid *find_twin(const CheckRun *r, const Guid *g, size_t i)
{
	const Object *device = object_list_device(r->objects, g[i].port);

	for (size_t k = i; k-- > 0 && streq(g[k].text, g[i].text);)
		if (g[k].port != g[i].port &&
		    (g[k].row == g[i].row || object_list_device(r->objects, g[k].port) != device))
			return &g[k];
	return NULL;
}

void look_at_same_guids(CheckRun *r)
{
	_cleanup_free_ Guid *g = calloc(2 * r->n_ports + 1, sizeof(*g));
	char name[96];
	size_t n = 0, all = 0;

	if (!g) {
		r->error = -ENOMEM;
		return;
	}
	for (size_t i = 0; i < r->n_ports; i++)
		all = add_guids(r, i, g, all);
	sort(g, all, sizeof(*g), compare_guids);
	for (size_t i = 0; i < all; i++)
		if (!has_device(r, g, n, &g[i]))
			g[n++] = g[i];
	for (size_t i = 1; i < n; i++) {
		const Guid *twin = find_twin(r, g, i);

		if (!twin || was_told(r, g[i].port))
			continue;
		r->port = g[i].port;
		r->device = object_list_device(r->objects, r->port);
		check_find(r, g[i].row,
			   "it has the GUID %s, as %s has: the subnet manager takes them for one",
			   g[i].text, object_name(twin->port, name));
	}
	look_at_same_vf_guids(r);
	r->port = r->device = NULL;
}
