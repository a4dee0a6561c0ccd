/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "event.h"

#include "util.h"

static const char names[_REASON_MAX][32] = {
#define R(reason, name, meaning, at_once, later) [REASON_##reason] = name,
	EVENT_REASONS(R)
#undef R
};

/* The parts of a port that a reason concerns */
static const struct {
	unsigned int at_once, later;
} parts[_REASON_MAX] = {
#define R(reason, name, meaning, at_once_, later_)                                                 \
	[REASON_##reason] = {.at_once = at_once_, .later = later_},
	EVENT_REASONS(R)
#undef R
};

unsigned int event_parts_at_once(uint32_t reasons)
{
	unsigned int all = 0;

	for (EventReason r = 0; r < _REASON_MAX; r++)
		if (reasons & REASON_BIT(r))
			all |= parts[r].at_once;
	return all;
}

unsigned int event_parts_later(uint32_t reasons, unsigned int read)
{
	unsigned int all = 0;

	for (EventReason r = 0; r < _REASON_MAX; r++)
		if (reasons & REASON_BIT(r))
			all |= parts[r].later;
	return all & ~read;
}

const char *event_reason_name(EventReason reason)
{
	return reason >= 0 && reason < _REASON_MAX ? names[reason] : "unknown";
}

EventReason event_reason_to_publish(uint32_t reasons)
{
	return reasons ? (EventReason)(31 - __builtin_clz(reasons)) : REASON_RECONCILE;
}

EventReason event_reason_of_state(uint32_t reasons, bool is_active)
{
	EventReason own = is_active ? REASON_PORT_ACTIVE : REASON_PORT_ERROR;
	EventReason opposite = is_active ? REASON_PORT_ERROR : REASON_PORT_ACTIVE;

	return reasons == REASON_BIT(opposite)
		       ? own
		       : event_reason_to_publish(reasons & ~REASON_BIT(opposite));
}

EventReason event_reason_from_name(const char *name)
{
	for (EventReason r = 0; r < _REASON_MAX; r++)
		if (streq(names[r], name))
			return r;
	return _REASON_INVALID;
}
