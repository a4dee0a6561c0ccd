/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Bonds that work with fewer members than they have, or with unequal ones: programs see nothing of
 * it but the rate. */

#include <inttypes.h>

#include "bond.h"
#include "check-parts.h"
#include "checks.h"

/* The most members in a sentence, and room for them. If there are more, it ends in "...". */
#define MEMBERS_MAX 4U
typedef char MemberList[MEMBERS_MAX * 40U];

static const char *member(const Value *entry, const char *name)
{
	return format_member_text(ATTR_BOND_MEMBERS, name, entry);
}

static uint64_t speed_of(const Value *entry)
{
	return format_member_number(ATTR_BOND_MEMBERS, "speed", entry);
}

/* Adds NAME to the list, of which it is number N, from 0. */
static void add_to_list(MemberList list, size_t n, const char *name, const char *why)
{
	size_t used = strlen(list);

	if (n < MEMBERS_MAX)
		snprintf(list + used, sizeof(MemberList) - used, "%s%s (%s)", n ? ", " : "", name,
			 why);
	else if (n == MEMBERS_MAX)
		snprintf(list + used, sizeof(MemberList) - used, ", ...");
}

/* Whether ENTRY, a member, is the interface of another port in the same bond: it is told there. */
static bool is_of_another(const CheckRun *r, const Value *entry)
{
	const char *bond = object_text(r->port, PORT_ATTR_bond);

	for (size_t i = 0; i < r->objects->n; i++) {
		const Object *o = r->objects->items[i];

		if (o->is_port && o != r->port && *bond &&
		    streq(object_text(o, PORT_ATTR_bond), bond) &&
		    streq(object_text(o, PORT_ATTR_netdev), member(entry, "name")) &&
		    !streq(object_text(r->port, PORT_ATTR_netdev), member(entry, "name")))
			return true;
	}
	return false;
}

/* Those of MEMBERS that the bond lacks; returns how many, and in *RET_ALL those of other ports too.
 */
static size_t find_lost(const CheckRun *r, const Value *members, const char *mode, MemberList ret,
			size_t *ret_all)
{
	size_t n = 0;

	for (size_t i = 0; i < members->n; i++) {
		const Value *m = &members->items[i];

		if (!bond_lacks_member(member(m, "state"), mode))
			continue;
		++*ret_all;
		if (!is_of_another(r, m))
			add_to_list(ret, n++, member(m, "name"), member(m, "state"));
	}
	return n;
}

/* Those of MEMBERS that have less speed than another, and get as much to carry. A link without a
 * speed can be one of a driver that has none to say; but LACP needs the speed. */
static size_t find_slower(const CheckRun *r, const Value *members, const char *mode, MemberList ret)
{
	uint64_t fastest = 0;
	size_t n = 0;

	for (size_t i = 0; i < members->n && bond_spreads_evenly(mode); i++)
		fastest = MAX(fastest, speed_of(&members->items[i]));
	for (size_t i = 0; i < members->n; i++) {
		const Value *m = &members->items[i];
		uint64_t speed = speed_of(m);
		char why[32];

		if (speed >= fastest || (speed == 0 && !streq(mode, "802.3ad")) ||
		    is_of_another(r, m))
			continue;
		if (speed > 0)
			snprintf(why, sizeof(why), "%.6g Gb/s", (double)speed / 1e9);
		else
			snprintf(why, sizeof(why), "no speed");
		add_to_list(ret, n++, member(m, "name"), why);
	}
	return n;
}

/* How often the rate has fallen since SINCE_USEC, and in *RET_LAST when it did last. */
static size_t count_rate_falls(const CheckRun *r, uint64_t since_usec, uint64_t *ret_last)
{
	const SeenSource evidence = check_evidence(r, r->port);
	uint64_t from, to;
	size_t n = 0;
	Seen e;

	for (size_t i = 0; seen_read(&evidence, i, &e); i++) {
		if (e.realtime_usec < since_usec ||
		    !seen_numbers(&e, port_attributes[PORT_ATTR_rate].name, &from, &to) ||
		    to >= from)
			continue;
		*ret_last = e.realtime_usec;
		n++;
	}
	return n;
}

/* Finds members that come and go: the port stays active while another member carries. A port that
 * went down may come back with fewer members; the check flap finds that. */
static void look_for_returns(CheckRun *r, const char *bond)
{
	const uint64_t since = r->now_usec - r->flap.usec;
	size_t downs = check_count_downs(r, since), n;
	uint64_t last = 0;
	_cleanup_free_ char *when = NULL;

	if (downs == SIZE_MAX || !object_is_active(r->port))
		return;
	n = count_rate_falls(r, since, &last);
	if (n < downs + r->flap.n)
		return;
	when = format_time(last);
	check_find(
		r, &port_attributes[PORT_ATTR_bond_members],
		"members of %s come and go: the rate has fallen %zu %s in %s, the last time at %s",
		bond, n - downs, n - downs == 1 ? "time" : "times", r->flap.text, when ? when : "");
}

/* Whether the adapter of the port has another one of Ethernet that no bond or bridge has, and that
 * has no address: it can be the member that a bond with one member lacks. An adapter with one port
 * has nothing to add. */
static bool has_free_port(const CheckRun *r)
{
	const Object *mine = object_list_device(r->objects, r->port);

	for (size_t i = 0; i < r->objects->n; i++) {
		const Object *o = r->objects->items[i], *device;

		if (!o->is_port || o == r->port || !*object_text(o, PORT_ATTR_netdev) ||
		    !streq(object_text(o, PORT_ATTR_protocol), "roce") ||
		    *object_text(o, PORT_ATTR_netdev_master) || check_is_reachable(o) == 1)
			continue;
		device = object_list_device(r->objects, o);
		if (device && !object_is_function(device) && check_same_adapter(device, mine))
			return true;
	}
	return false;
}

void look_at_bond(CheckRun *r)
{
	const Value *members = object_value(r->port, PORT_ATTR_bond_members);
	_cleanup_free_ char *all = NULL, *active = NULL;
	const char *mode = object_text(r->port, PORT_ATTR_bond_mode), *says;
	const char *name = object_text(r->port, PORT_ATTR_bond);
	const char *bond = *name ? name : "the bond";
	MemberList list = "";
	size_t all_lost = 0, n;

	if (!members || members->type != VALUE_ARRAY ||
	    check_is_expected(r, &port_attributes[PORT_ATTR_bond_members]) ||
	    check_is_expected(r, &port_attributes[PORT_ATTR_bond_active_rate]))
		return;
	n = find_lost(r, members, mode, list, &all_lost);
	/* a port that is down because no member carries says so itself */
	if (all_lost == members->n && !object_is_active(r->port))
		return;
	if (members->n == 1 && all_lost == 0 && has_free_port(r)) {
		check_find(r, &port_attributes[PORT_ATTR_bond_members],
			   "%s has one member only, %s, and the adapter has another port", bond,
			   member(&members->items[0], "name"));
		return;
	}
	if (n > 0)
		says = n == 1 ? "carries nothing" : "carry nothing";
	else if ((n = find_slower(r, members, mode, list)) > 0)
		says = n == 1 ? "is slower" : "are slower";
	else
		return look_for_returns(r, bond);
	all = format_row(r->port, PORT_ATTR_bond_rate);
	active = format_row(r->port, PORT_ATTR_bond_active_rate);
	if (!all || !active) {
		r->error = -ENOMEM;
		return;
	}
	check_find(r, &port_attributes[PORT_ATTR_bond_members],
		   "%zu of %zu members of %s %s: %s; BondActiveRate is %s, BondRate %s", n,
		   members->n, bond, says, list, active, all);
}
