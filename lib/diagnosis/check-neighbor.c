/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Ends of a link that disagree. What the other end does not say is not judged. */

#include <inttypes.h>

#include "check-parts.h"
#include "checks.h"

/* How the other end is called in a sentence. */
static const char *other_end(const Object *port, char buffer[160])
{
	const char *system = object_text(port, PORT_ATTR_neighbor);

	snprintf(buffer, 160, "%s %s",
		 *system ? system : object_text(port, PORT_ATTR_neighbor_chassis),
		 object_text(port, PORT_ATTR_neighbor_port));
	return buffer;
}

void look_at_neighbor_pfc(CheckRun *r)
{
	const Attribute *row = &port_attributes[PORT_ATTR_neighbor_pfc];
	_cleanup_free_ char *here = NULL, *there = NULL;
	char name[160];

	if (!object_value(r->port, PORT_ATTR_pfc_enabled) ||
	    !object_value(r->port, PORT_ATTR_neighbor_pfc) || check_is_expected(r, row))
		return;
	here = format_row(r->port, PORT_ATTR_pfc_enabled);
	there = format_row(r->port, PORT_ATTR_neighbor_pfc);
	if (!here || !there)
		r->error = -ENOMEM;
	else if (!streq(here, there))
		check_find(r, row, "PFC is enabled for the priorities %s here, and %s at %s", here,
			   there, other_end(r->port, name));
}

/* Some systems say the largest frame without its header and check sum: then it is the MTU. */
void look_at_neighbor_mtu(CheckRun *r)
{
	const Attribute *row = &port_attributes[PORT_ATTR_neighbor_frame];
	uint64_t mtu, frame;
	char name[160];

	if (!check_number(r->port, PORT_ATTR_netdev_mtu, &mtu) ||
	    !check_number(r->port, PORT_ATTR_neighbor_frame, &frame) || check_is_expected(r, row) ||
	    mtu <= frame)
		return;
	check_find(r, row, "the MTU is %" PRIu64 ", and %s takes frames of %" PRIu64 " bytes", mtu,
		   other_end(r->port, name), frame);
}
