/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "priority.h"

bool priority_trusts(const Object *port, const char *what)
{
	ListReader r = list_reader(ATTR_WORDS, object_text(port, PORT_ATTR_priority_trust));
	ListItem first;

	return list_next(&r, &first) && streq(first.word, what);
}

uint32_t priority_of_dscp(const Object *port, uint32_t dscp)
{
	ListReader r = list_reader(ATTR_PAIRS, object_text(port, PORT_ATTR_dscp_to_priority));
	uint32_t priority = dscp >> 3; /* what an adapter does with a DSCP that is not mapped */
	ListItem item;

	while (list_next(&r, &item))
		priority = item.number == dscp ? item.second : priority;
	return priority;
}

bool priority_has_pfc(const Object *port, uint32_t priority)
{
	ListReader r = list_reader(ATTR_NUMBERS, object_text(port, PORT_ATTR_pfc_enabled));
	ListItem item;

	while (list_next(&r, &item))
		if (item.number == priority)
			return true;
	return false;
}

bool priority_lacks_pfc(const Object *port, uint32_t priority)
{
	ListReader r = list_reader(ATTR_NUMBERS, object_text(port, PORT_ATTR_pfc_enabled));
	ListItem item;

	return list_next(&r, &item) && !priority_has_pfc(port, priority);
}
