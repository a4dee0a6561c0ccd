/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A subnet manager that configures a port again and again while it stays active: several of them
 * compete, or the one finds the subnet changed all the time. Each time clients register again, and
 * connections may wait.
 */

#include <stdlib.h>

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

/* What was before that does not count. */
static uint64_t storm_since(const CheckRun *r)
{
	return r->now_usec - STORM_USEC;
}

/* The P_Key that E says has gone; 0: it says something else, or that was long ago. */
static unsigned int lost_key(const CheckRun *r, const Seen *e)
{
	return streq(e->what, port_attributes[PORT_ATTR_pkeys].name) && *e->from && !*e->to &&
			       e->realtime_usec >= storm_since(r)
		       ? (unsigned int)strtoul(e->from, NULL, 16) & UINT16_MAX
		       : 0;
}

/* Finds a P_Key that has gone so often: programs in that partition lose their connections each
 * time. Those of virtual functions come and go with what uses them. */
static void look_for_lost_keys(CheckRun *r, const SeenSource *evidence)
{
	uint64_t last = 0;
	_cleanup_free_ char *when = NULL;
	unsigned int key = 0;
	size_t n = 0;
	Seen e, other;

	if (object_number(r->port, PORT_ATTR_pkey_generation) < MANAGERS_LEAST ||
	    check_has_functions(r->port) || check_may_be_idle(r, r->port))
		return;
	for (size_t i = 0; n < MANAGERS_LEAST && seen_read(evidence, i, &e); i++) {
		key = lost_key(r, &e);
		n = 0;
		for (size_t k = 0; key && seen_read(evidence, k, &other); k++)
			if (lost_key(r, &other) == key) {
				last = other.realtime_usec;
				n++;
			}
	}
	if (n < MANAGERS_LEAST)
		return;
	when = format_time(last);
	check_find(r, &port_attributes[PORT_ATTR_pkeys],
		   "the P_Key 0x%04x has gone %zu times in " STORM_TEXT
		   ", the last time at %s: connections end each time",
		   key, n, when ? when : "");
}

void look_for_storms(CheckRun *r)
{
	const Attribute *manager = &port_attributes[PORT_ATTR_sm_lid];
	const Attribute *lid = &port_attributes[PORT_ATTR_lid];
	const uint64_t since = storm_since(r);
	_cleanup_free_ char *when = NULL;
	size_t managers, lids, changes, reregistered;
	SeenSource evidence;
	uint64_t last = 0;

	if ((object_number(r->port, PORT_ATTR_sm_generation) < MANAGERS_LEAST &&
	     object_number(r->port, PORT_ATTR_pkey_generation) < MANAGERS_LEAST) ||
	    check_is_ignored(r, r->check->name))
		return;
	evidence = check_evidence(r, r->port);
	look_for_lost_keys(r, &evidence);
	managers = check_count_seen(&evidence, manager->name, NULL, since, &last);
	lids = check_count_seen(&evidence, lid->name, NULL, since, &last);
	changes = check_count_seen(&evidence, "Event", "sm-change", since, &last);
	reregistered = check_count_seen(&evidence, "Event", "client-reregister", since, &last);
	when = format_time(last);
	if (managers >= MANAGERS_LEAST)
		check_find(r, manager,
			   "its subnet manager has changed %zu times in " STORM_TEXT
			   ", the last time at %s: several of them compete",
			   managers, when ? when : "");
	else if (lids >= MANAGERS_LEAST)
		check_find(
			r, lid,
			"the subnet manager has given the port another LID %zu times in " STORM_TEXT
			", the last time at %s: connections end each time",
			lids, when ? when : "");
	else if (MAX(changes, reregistered) >= CONFIGURED_LEAST)
		check_find(
			r, manager,
			"the subnet manager has configured the port again %zu times in " STORM_TEXT
			", the last time at %s",
			MAX(changes, reregistered), when ? when : "");
}
