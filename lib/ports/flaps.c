/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "flaps.h"

#include "attribute.h"

bool flaps_are_at_once(uint64_t a, uint64_t b)
{
	return MAX(a, b) - MIN(a, b) <= SLACK_USEC;
}

/* Whether EVIDENCE says that at USEC the interface was set down, or moved into a container or out
 * of one: Linux sets it down for that. Or the machine had been suspended until then. */
static bool is_administrative(const SeenSource *evidence, uint64_t usec)
{
	Seen e;

	for (size_t i = 0; seen_read(evidence, i, &e); i++)
		if (((streq(e.what, port_attributes[PORT_ATTR_netdev_up].name) &&
		      streq(e.to, "no")) ||
		     streq(e.what, port_attributes[PORT_ATTR_netdev].name) ||
		     (streq(e.what, "Event") && streq(e.to, "resume"))) &&
		    flaps_are_at_once(e.realtime_usec, usec))
			return true;
	return false;
}

size_t flaps_count(const Value *downs, uint64_t since, uint64_t until, const SeenSource *evidence,
		   const Value **ret_last)
{
	size_t n = 0;

	VALUE_FOREACH(down, downs) {
		if (down->type != VALUE_UNSIGNED || down->number < since || down->number > until ||
		    is_administrative(evidence, down->number))
			continue;
		if (ret_last)
			*ret_last = down;
		n++;
	}
	return n;
}
