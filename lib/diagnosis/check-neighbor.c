/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Ends of a link that disagree, and flow control that no packet gets. What nobody says is not
 * judged. */

#include <inttypes.h>

#include "check-parts.h"
#include "checks.h"
#include "gids.h"
#include "priority.h"

const char *check_other_end(const Object *port, char buffer[OTHER_END_MAX])
{
	const char *system = object_text(port, PORT_ATTR_neighbor);
	const char *name = object_text(port, PORT_ATTR_neighbor_port);

	system = *system ? system : object_text(port, PORT_ATTR_neighbor_chassis);
	snprintf(buffer, OTHER_END_MAX, "%s%s%s", system, *name ? " " : "", name);
	return *system ? buffer : "the other end";
}

/* Whether each priority that has flow control here has it there too. What others have there does
 * not matter, as nothing is sent that they would keep from being lost; but who has none does not
 * heed any. */
static bool is_pfc_heeded(const Object *port)
{
	const char *at_other_end = object_text(port, PORT_ATTR_neighbor_pfc);
	ListReader here = list_reader(ATTR_NUMBERS, object_text(port, PORT_ATTR_pfc_enabled));
	ListReader there = list_reader(ATTR_NUMBERS, at_other_end);
	ListItem mine, other;
	bool is;

	if (!list_next(&here, &mine))
		return !list_next(&there, &other);
	do {
		there = list_reader(ATTR_NUMBERS, at_other_end);
		while ((is = list_next(&there, &other)) && other.number != mine.number)
			;
	} while (is && list_next(&here, &mine));
	return is;
}

void look_at_neighbor_pfc(CheckRun *r)
{
	const Attribute *row = &port_attributes[PORT_ATTR_neighbor_pfc];
	_cleanup_free_ char *here = NULL, *there = NULL;
	char name[OTHER_END_MAX];

	if (!object_value(r->port, PORT_ATTR_pfc_enabled) ||
	    !object_value(r->port, PORT_ATTR_neighbor_pfc) || is_pfc_heeded(r->port) ||
	    check_is_expected(r, row))
		return;
	here = format_row(r->port, PORT_ATTR_pfc_enabled);
	there = format_row(r->port, PORT_ATTR_neighbor_pfc);
	if (!here || !there)
		r->error = -ENOMEM;
	else
		check_find(r, row, "PFC is enabled for the priorities %s here, and %s at %s", here,
			   there, check_other_end(r->port, name));
}

/* Some systems say the largest frame without its header and check sum: then it is the MTU. */
void look_at_neighbor_mtu(CheckRun *r)
{
	const Attribute *row = &port_attributes[PORT_ATTR_neighbor_frame];
	uint64_t mtu, frame;
	char name[OTHER_END_MAX];

	if (!check_number(r->port, PORT_ATTR_netdev_mtu, &mtu) ||
	    !check_number(r->port, PORT_ATTR_neighbor_frame, &frame) || check_is_expected(r, row) ||
	    mtu <= frame)
		return;
	check_find(r, row, "the MTU is %" PRIu64 ", and %s takes frames of %" PRIu64 " bytes", mtu,
		   check_other_end(r->port, name), frame);
}

#define DSCPS 64U

/* Whether a packet of PORT can have a VLAN tag: one of its GIDs is of a VLAN, or is in a container,
 * whose interfaces are not known here; or its virtual functions have VLANs. */
static bool may_have_vlan(const Object *port)
{
	GidWalk w = gid_walk(port);

	for (const GidEntry *e; (e = gid_next(&w));)
		if (e->vlan_id > 0 || e->namespace != GID_NAMESPACE_OWN)
			return true;
	return check_has_functions(port);
}

/* Whether no DSCP gets a priority of PORT that has flow control. Of those that are not listed the
 * driver decides. */
static bool spares_each_dscp(const Object *port)
{
	ListReader map = list_reader(ATTR_PAIRS, object_text(port, PORT_ATTR_dscp_to_priority));
	ListItem item;
	size_t n = 0;

	for (; list_next(&map, &item); n++)
		if (priority_has_pfc(port, item.second))
			return false;
	return n == DSCPS;
}

/* Only the VLAN tag is trusted, and RoCE packets have none; or DSCP is, and none is mapped. */
void look_for_unused_pfc(CheckRun *r)
{
	const Attribute *row = &port_attributes[PORT_ATTR_priority_trust];
	const char *trust = object_text(r->port, PORT_ATTR_priority_trust);
	bool by_tag = streq(trust, "pcp");

	if ((!by_tag && !streq(trust, "dscp")) || !check_is_in_use(r) ||
	    !streq(object_text(r->port, PORT_ATTR_protocol), "roce") ||
	    !priority_lacks_pfc(r->port, 0) ||
	    !(by_tag ? !may_have_vlan(r->port) : spares_each_dscp(r->port)) ||
	    check_is_expected(r, row) ||
	    check_is_expected(r, &port_attributes[PORT_ATTR_dscp_to_priority]) ||
	    check_is_expected(r, &port_attributes[PORT_ATTR_pfc_enabled]))
		return;
	check_find(r, row, "PFC is enabled for the priorities %s, but %s",
		   object_text(r->port, PORT_ATTR_pfc_enabled),
		   by_tag ? "the port takes the priority from the VLAN tag, and has no GID of a "
			    "VLAN"
			  : "no DSCP gets one of them");
}
