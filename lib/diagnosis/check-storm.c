/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A subnet manager that configures a port again and again while it stays active: several of them
 * compete, or the one finds the subnet changed all the time. Each time clients register again, and
 * connections may wait.
 */

#include "check-parts.h"
#include "checks.h"

#define STORM_USEC (3600 * USEC_PER_SEC)
#define STORM_TEXT "1h"
/* Both numbers are ours: nobody has published how often is too often. OpenSM gives a master up
 * after four polls of 10 s (its sminfo_polling_timeout and polling_retry_number), so two that
 * compete can take turns 90 times in an hour: four are far from what they do, and more than one
 * take-over and its end. */

/* One manager takes over from another, and perhaps that takes the subnet back; who does that twice
 * is not alone. */
#define MANAGERS_LEAST 4U
/* A subnet that is brought up is configured several times. */
#define CONFIGURED_LEAST 10U

/* How often the port has shown lately what a subnet manager does, and when it did last. */
typedef struct Storm {
	size_t managers, changes, reregistered;
	uint64_t last_usec;
} Storm;

static Storm count(const CheckRun *r)
{
	const char *manager = port_attributes[PORT_ATTR_sm_lid].name;
	SeenSource evidence = check_evidence(r, r->port);
	Storm s = {};
	Seen e;

	for (size_t i = 0; seen_read(&evidence, i, &e); i++) {
		size_t *n = streq(e.what, manager)	       ? &s.managers
			    : !streq(e.what, "Event")	       ? NULL
			    : streq(e.to, "sm-change")	       ? &s.changes
			    : streq(e.to, "client-reregister") ? &s.reregistered
							       : NULL;

		if (!n || e.realtime_usec + STORM_USEC < r->now_usec)
			continue;
		++*n;
		s.last_usec = MAX(s.last_usec, e.realtime_usec);
	}
	return s;
}

void look_for_storms(CheckRun *r)
{
	const Attribute *row = &port_attributes[PORT_ATTR_sm_lid];
	Value last = {.type = VALUE_UNSIGNED};
	_cleanup_free_ char *when = NULL;
	size_t configured;
	Storm s;

	if (object_number(r->port, PORT_ATTR_sm_generation) < MANAGERS_LEAST ||
	    check_is_ignored(r, r->check->name))
		return;
	s = count(r);
	configured = MAX(s.changes, s.reregistered);
	if (s.managers < MANAGERS_LEAST && configured < CONFIGURED_LEAST)
		return;
	last.number = s.last_usec;
	when = format_value(&port_attributes[PORT_ATTR_state_change], &last);
	if (s.managers >= MANAGERS_LEAST)
		check_find(r, row,
			   "its subnet manager has changed %zu times in " STORM_TEXT
			   ", the last time at %s: several of them compete",
			   s.managers, when ? when : "");
	else
		check_find(
			r, row,
			"the subnet manager has configured the port again %zu times in " STORM_TEXT
			", the last time at %s",
			configured, when ? when : "");
}
