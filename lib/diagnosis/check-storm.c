/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A subnet manager that configures a port again and again while it stays active: several of them
 * compete, or the one finds the subnet changed all the time. Each time clients register again, and
 * connections may wait.
 */

#include "check-parts.h"
#include "checks.h"
#include "seen.h"

#define STORM_USEC (3600 * USEC_PER_SEC)
#define STORM_TEXT "1h"
/* One manager takes over from another, and perhaps that takes the subnet back; who does that twice
 * is not alone. */
#define MANAGERS_LEAST 4U
/* A subnet that is brought up is configured several times. */
#define CONFIGURED_LEAST 10U

/* How often the port has shown WHAT lately, of events TO; *LAST is when it did last. */
static size_t count(const CheckRun *r, const Value *evidence, const char *what, const char *to,
		    Value *last)
{
	size_t n = 0;
	Seen e;

	for (size_t i = 0; seen_read(evidence, i, &e); i++) {
		if (!streq(e.what, what) || (*to && !streq(e.to, to)) ||
		    e.realtime_usec + STORM_USEC < r->now_usec)
			continue;
		last->number = e.realtime_usec;
		n++;
	}
	return n;
}

void look_for_storms(CheckRun *r)
{
	const Attribute *row = &port_attributes[PORT_ATTR_sm_lid];
	const Value *evidence, *all = object_value(r->port, PORT_ATTR_sm_generation);
	Value last = {.type = VALUE_UNSIGNED};
	size_t managers, changes, reregistered;
	_cleanup_free_ char *when = NULL;

	if (!all || all->type != VALUE_UNSIGNED || all->number < MANAGERS_LEAST ||
	    check_is_ignored(r, r->check->name) || !r->ask.evidence)
		return;
	evidence = r->ask.evidence(r->ask.userdata, r->port);
	reregistered = count(r, evidence, "Event", "client-reregister", &last);
	changes = count(r, evidence, "Event", "sm-change", &last);
	managers = count(r, evidence, row->name, "", &last);
	when = format_value(&port_attributes[PORT_ATTR_state_change], &last);
	if (managers >= MANAGERS_LEAST)
		check_find(r, row,
			   "its subnet manager has changed %zu times in " STORM_TEXT
			   ", the last time at %s: several of them compete",
			   managers, when ? when : "");
	else if (MAX(changes, reregistered) >= CONFIGURED_LEAST)
		check_find(
			r, row,
			"the subnet manager has configured the port again %zu times in " STORM_TEXT
			", the last time at %s",
			MAX(changes, reregistered), when ? when : "");
}
