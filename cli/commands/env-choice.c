/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Which of its GIDs, P_Keys and priorities a port is used with. */

#include "env-rails.h"

#include <net/if.h>
#include <sys/socket.h>

#include "gids.h"
#include "port.h"
#include "priority.h"

/* The GIDs of a rail */

/* An entry of a GID table. */
typedef struct Entry {
	GidChoice choice;
	char netdev[IF_NAMESIZE];
} Entry;

/* The next entry of the walk W over the GIDs of R; false: there is none. */
static bool next_entry(const Rail *r, GidWalk *w, Entry *ret)
{
	const GidEntry *e = gid_next(w);

	if (!e)
		return false;
	ret->choice = gid_choice_of(e, object_text(r->port, PORT_ATTR_netdev),
				    object_text(r->port, PORT_ATTR_netdev_master));
	memcpy(ret->netdev, e->netdev, sizeof(ret->netdev));
	return true;
}

static void choose_entry(Rail *r, const Entry *e)
{
	r->gid = e->choice;
	memcpy(r->netdev, e->netdev, sizeof(r->netdev));
}

/* Whether one of the GIDs of R belongs to NETDEV. */
static bool has_gid_on(const Rail *r, const char *netdev)
{
	GidWalk w = gid_walk(r->port);
	Entry e;

	while (next_entry(r, &w, &e))
		if (streq(e.netdev, netdev))
			return true;
	return false;
}

/* The interface to which the GIDs of R must belong; NULL: any. The interface of the port itself
 * has none if they are all on its bond. */
static const char *wanted_netdev(const Rail *r)
{
	if (!*r->named_netdev || r->named_index != UINT32_MAX ||
	    (streq(r->named_netdev, object_text(r->port, PORT_ATTR_netdev)) &&
	     !has_gid_on(r, r->named_netdev)))
		return NULL;
	return r->named_netdev;
}

/* Whether a program may use E of R. */
static bool is_allowed(const Rail *r, const char *netdev, const Entry *e)
{
	if (r->named_index != UINT32_MAX && e->choice.index != r->named_index)
		return false;
	return e->choice.where != GID_WHERE_NAMESPACE && (!netdev || streq(netdev, e->netdev));
}

const char *rail_find_gid(Rail *r, char buffer[256])
{
	const char *netdev = wanted_netdev(r);
	GidWalk w = gid_walk(r->port);
	bool elsewhere = false;
	Entry e;

	while (next_entry(r, &w, &e)) {
		elsewhere |=
			e.choice.index == r->named_index && e.choice.where == GID_WHERE_NAMESPACE;
		if (!is_allowed(r, netdev, &e) ||
		    (r->has_index && gid_compare(&r->gid, &e.choice) < 0))
			continue;
		choose_entry(r, &e);
		r->has_index = true;
	}
	if (r->has_index)
		return NULL;
	if (elsewhere)
		return "the address is in another network namespace: run env there";
	if (!netdev)
		return "it has no GID";
	snprintf(buffer, 256, "it has no GID on %s", netdev);
	return buffer;
}

/* Whether R has a GID with INDEX that is as good as its best one; then it is in *RET. */
static bool has_equal(const Rail *r, uint32_t index, Entry *ret)
{
	const char *netdev = wanted_netdev(r);
	GidWalk w = gid_walk(r->port);
	Entry e;

	while (next_entry(r, &w, &e))
		if (e.choice.index == index && is_allowed(r, netdev, &e) &&
		    gid_compare_kind(&e.choice, &r->gid) == 0) {
			*ret = e;
			return true;
		}
	return false;
}

static bool uses_index(const Rail *r)
{
	return !r->reason && r->has_index;
}

/* Whether all rails that are used and have a GID have the index that is in its entry. */
static bool agree_on_index(const Rails *r)
{
	const Rail *first = NULL;

	for (size_t i = 0; i < r->n; i++) {
		if (!uses_index(&r->items[i]))
			continue;
		if (first && first->gid.index != r->items[i].gid.index)
			return false;
		first = first ? first : &r->items[i];
	}
	return true;
}

static int family_of(const Entry *e)
{
	return gid_is_ipv4(e->choice.gid) ? AF_INET : AF_INET6;
}

/* The index of the first GID of RoCE v2 of R that has an address of FAMILY; UINT32_MAX: there is
 * none. Of the link-local ones libraries leave out those of IPv6 only. */
static uint32_t first_of(const Rail *r, int family)
{
	GidWalk w = gid_walk(r->port);
	Entry e;

	while (next_entry(r, &w, &e))
		if (e.choice.where != GID_WHERE_NAMESPACE && e.choice.type == GID_TYPE_ROCE_V2 &&
		    family_of(&e) == family &&
		    (family == AF_INET || !gid_is_link_local(e.choice.gid)))
			return e.choice.index;
	return UINT32_MAX;
}

bool rails_have(const Rails *r, int family)
{
	for (size_t i = 0; i < r->n; i++)
		if (uses_index(&r->items[i]) && first_of(&r->items[i], family) != UINT32_MAX)
			return true;
	return false;
}

int rails_index_family(const Rails *r)
{
	static const int families[] = {AF_INET, AF_INET6};

	if (agree_on_index(r))
		return AF_UNSPEC;
	for (size_t k = 0; k < ARRAY_SIZE(families); k++) {
		bool all = true;

		for (size_t i = 0; i < r->n; i++)
			all &= !uses_index(&r->items[i]) ||
			       first_of(&r->items[i], families[k]) == r->items[i].gid.index;
		if (all)
			return families[k];
	}
	return AF_UNSPEC;
}

static bool all_have(const Rails *r, uint32_t index)
{
	Entry e;

	for (size_t i = 0; i < r->n; i++)
		if (uses_index(&r->items[i]) && !has_equal(&r->items[i], index, &e))
			return false;
	return true;
}

void rails_find_common_index(Rails *r)
{
	const Rail *first = NULL;
	uint32_t best = UINT32_MAX;
	GidWalk w;
	Entry e;

	for (size_t i = 0; i < r->n && !first; i++)
		first = uses_index(&r->items[i]) ? &r->items[i] : NULL;
	if (!first || agree_on_index(r))
		return;
	w = gid_walk(first->port);
	while (next_entry(first, &w, &e))
		if (e.choice.index < best && all_have(r, e.choice.index))
			best = e.choice.index;
	for (size_t i = 0; best != UINT32_MAX && i < r->n; i++)
		if (uses_index(&r->items[i]) && has_equal(&r->items[i], best, &e))
			choose_entry(&r->items[i], &e);
}

/* The P_Keys of a rail */

/* Reads the entry I of the P_Keys of R. False: R is no full member, or W wants another one. */
static bool read_pkey(const Rail *r, const RailWish *w, size_t i, uint32_t *ret_index,
		      uint32_t *ret_pkey)
{
	const Value *entry = &object_value(r->port, PORT_ATTR_pkeys)->items[i];
	const Value *m = entry->items;

	if (entry->type != VALUE_STRUCT || entry->n < 2 || m[0].type != VALUE_UNSIGNED ||
	    m[1].type != VALUE_UNSIGNED)
		return false;
	*ret_index = (uint32_t)m[0].number;
	*ret_pkey = (uint32_t)m[1].number;
	return (*ret_pkey & 0x8000) && (!w->has_pkey || (*ret_pkey & 0x7fff) == w->pkey) &&
	       (!r->named_pkey || *ret_pkey == r->named_pkey);
}

static size_t count_pkeys(const Rail *r)
{
	return value_count(object_value(r->port, PORT_ATTR_pkeys));
}

bool rail_find_pkey(Rail *r, const RailWish *w, uint32_t pkey)
{
	uint32_t index, found, lowest = UINT32_MAX;

	for (size_t i = 0; i < count_pkeys(r); i++)
		if (read_pkey(r, w, i, &index, &found) && (!pkey || found == pkey) &&
		    index < lowest) {
			lowest = index;
			r->has_pkey = true;
			r->pkey = found;
			r->pkey_index = index;
		}
	return lowest != UINT32_MAX;
}

void rail_name_pkey(Rail *r, const RailWish *w)
{
	const Value *netdevs = object_value(r->port, PORT_ATTR_netdevs);

	for (size_t i = 0; *r->named_netdev && netdevs && i < netdevs->n; i++) {
		const Value *e = &netdevs->items[i];
		uint32_t pkey;

		if (e->type != VALUE_STRUCT || e->n < 3 ||
		    !streq(value_text(&e->items[1]), r->named_netdev))
			continue;
		pkey = (uint32_t)value_number(value_lookup(&e->items[e->n - 1], "Pkey"));
		if (pkey && rail_find_pkey(r, w, pkey))
			r->named_pkey = pkey;
	}
}

static bool uses_pkey(const Rail *r)
{
	return !r->reason && r->infiniband && r->has_pkey;
}

/* Whether all rails are full members of PKEY, by INDEX if the library is told that. */
static bool all_have_pkey(const Rails *r, const RailWish *w, uint32_t index, uint32_t pkey)
{
	for (size_t i = 0; i < r->n; i++) {
		Rail rail = r->items[i];

		if (uses_pkey(&rail) &&
		    (!rail_find_pkey(&rail, w, pkey) ||
		     (library_has(w->library, VARIABLE_PKEY_INDEX) && rail.pkey_index != index)))
			return false;
	}
	return true;
}

void rails_find_common_pkey(Rails *r, const RailWish *w)
{
	const Rail *first = NULL;
	uint32_t index, pkey;

	for (size_t i = 0; i < r->n && !first; i++)
		first = uses_pkey(&r->items[i]) ? &r->items[i] : NULL;
	for (size_t k = 0; first && k < count_pkeys(first); k++) {
		if (!read_pkey(first, w, k, &index, &pkey) || !all_have_pkey(r, w, index, pkey))
			continue;
		for (size_t i = 0; i < r->n; i++)
			if (uses_pkey(&r->items[i]))
				(void)rail_find_pkey(&r->items[i], w, pkey);
		return;
	}
}

/* The priorities of a rail */

bool rail_find_class(const Rail *r, uint32_t dscp, char buffer[96])
{
	ListReader map = list_reader(ATTR_PAIRS, object_text(r->port, PORT_ATTR_dscp_to_priority));
	AttrText found;
	ListWriter w;
	ListItem item;
	uint32_t only = 0;
	size_t n = 0;

	if (!r->has_index || r->gid.type != GID_TYPE_ROCE_V2 || !priority_trusts(r->port, "dscp") ||
	    !priority_lacks_pfc(r->port, priority_of_dscp(r->port, dscp)))
		return false;
	list_begin(&w, ATTR_PAIRS, found, sizeof(found));
	while (list_next(&map, &item))
		if (priority_has_pfc(r->port, item.second)) {
			list_add_pair(&w, item.number, item.second);
			only = item.number;
			n++;
		}
	list_end(&w);
	if (n == 1)
		snprintf(buffer, 96, "%u", only << 2 | 2); /* ECN: the packet may be marked */
	else
		snprintf(buffer, 96, "DSCP %.80s", found);
	return n > 0;
}

bool rail_find_level(const Rail *r, char buffer[96])
{
	text_copy(buffer, 96, object_text(r->port, PORT_ATTR_pfc_enabled));
	return r->has_index && r->gid.where == GID_WHERE_VLAN && priority_trusts(r->port, "pcp") &&
	       priority_lacks_pfc(r->port, 0);
}
