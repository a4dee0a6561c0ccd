/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Ends of a link that disagree. What the other end does not say is not judged. */

#include <inttypes.h>

#include "check-parts.h"
#include "checks.h"

const char *check_other_end(const Object *port, char buffer[OTHER_END_MAX])
{
	const char *system = object_text(port, PORT_ATTR_neighbor);

	system = *system ? system : object_text(port, PORT_ATTR_neighbor_chassis);
	snprintf(buffer, OTHER_END_MAX, "%s %s", system,
		 object_text(port, PORT_ATTR_neighbor_port));
	return *system ? buffer : "the other end";
}

void look_at_neighbor_pfc(CheckRun *r)
{
	const Attribute *row = &port_attributes[PORT_ATTR_neighbor_pfc];
	_cleanup_free_ char *here = NULL, *there = NULL;
	char name[OTHER_END_MAX];

	if (!object_value(r->port, PORT_ATTR_pfc_enabled) ||
	    !object_value(r->port, PORT_ATTR_neighbor_pfc) || check_is_expected(r, row))
		return;
	here = format_row(r->port, PORT_ATTR_pfc_enabled);
	there = format_row(r->port, PORT_ATTR_neighbor_pfc);
	if (!here || !there)
		r->error = -ENOMEM;
	else if (!streq(here, there))
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
