/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "flaps.h"

#include "attribute.h"

/* The members of an entry of GetEvidence() that are looked at */
enum { EVIDENCE_TIME = 0, EVIDENCE_WHAT = 2, EVIDENCE_TO = 4, _EVIDENCE_MAX };

bool flaps_are_at_once(uint64_t a, uint64_t b)
{
	return MAX(a, b) - MIN(a, b) <= SLACK_USEC;
}

/* Whether E says that the interface was set down at USEC. */
static bool is_set_down(const Value *e, uint64_t usec)
{
	if (e->type != VALUE_STRUCT || e->n < _EVIDENCE_MAX ||
	    e->items[EVIDENCE_TIME].type != VALUE_UNSIGNED ||
	    !streq(value_text(&e->items[EVIDENCE_WHAT]),
		   port_attributes[PORT_ATTR_netdev_up].name) ||
	    !streq(value_text(&e->items[EVIDENCE_TO]), "no"))
		return false;
	return flaps_are_at_once(e->items[EVIDENCE_TIME].number, usec);
}

static bool is_administrative(const Value *evidence, uint64_t usec)
{
	for (size_t i = 0; evidence && evidence->type == VALUE_ARRAY && i < evidence->n; i++)
		if (is_set_down(&evidence->items[i], usec))
			return true;
	return false;
}

size_t flaps_count(const Value *downs, const Value *evidence, const Value **ret_last)
{
	size_t n = 0;

	for (size_t i = 0; downs && downs->type == VALUE_ARRAY && i < downs->n; i++) {
		const Value *down = &downs->items[i];

		if (down->type != VALUE_UNSIGNED || is_administrative(evidence, down->number))
			continue;
		if (ret_last)
			*ret_last = down;
		n++;
	}
	return n;
}
