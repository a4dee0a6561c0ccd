/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Checks between ports: two subnets that cannot be told apart, and one subnet with several ports in
 * it. */

#include <arpa/inet.h>
#include <net/if.h>
#include <stdlib.h>

#include "check-parts.h"
#include "checks.h"
#include "decode.h"
#include "gids.h"

/* Two InfiniBand subnets with the same prefix */

typedef struct SubnetPort {
	const Object *port;
	const char *prefix;
	bool is_opa;
	uint64_t lid, lids, sm_lid;
} SubnetPort;

static bool is_opa(const Object *port)
{
	return streq(object_text(port, PORT_ATTR_protocol),
		     decode_name(ATTR_PROTOCOL, PROTOCOL_OPA));
}

static int compare_lids(const void *a, const void *b)
{
	const SubnetPort *x = a, *y = b;
	int order = strcmp(x->prefix, y->prefix);

	if (order != 0)
		return order;
	if (x->is_opa != y->is_opa)
		return x->is_opa ? 1 : -1;
	if (x->lid != y->lid)
		return x->lid < y->lid ? -1 : 1;
	return strverscmp(x->port->path, y->port->path);
}

/* Ports with a LID of a subnet manager. */
static size_t gather_subnet_ports(CheckRun *r, SubnetPort *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n_ports; i++) {
		const Object *port = r->ports[i];
		const Value *prefix = object_value(port, PORT_ATTR_subnet_prefix);
		SubnetPort p = {.port = port,
				.lid = object_number(port, PORT_ATTR_lid),
				.lids = UINT64_C(1) << MIN(object_number(port, PORT_ATTR_lmc), 7U),
				.sm_lid = object_number(port, PORT_ATTR_sm_lid),
				.is_opa = is_opa(port)};

		r->port = port;
		/* 0xffff is the permissive LID: nobody has told the port another one */
		if (!prefix || !object_is_active(port) || p.lid == 0 || p.lid == 0xffff ||
		    p.sm_lid == 0 || p.sm_lid == 0xffff || check_is_ignored(r, r->check->name))
			continue;
		p.prefix = value_text(prefix);
		ret[n++] = p;
	}
	r->port = NULL;
	return n;
}

/* Whether the port has had its LIDs for so long that they say anything: a subnet manager that takes
 * over tells one port after the other. */
static bool has_settled_lids(const CheckRun *r, const Object *port)
{
	SeenSource evidence = check_evidence(r, port);
	Seen e;

	for (size_t i = 0; seen_read(&evidence, i, &e); i++)
		if ((streq(e.what, port_attributes[PORT_ATTR_sm_lid].name) ||
		     streq(e.what, port_attributes[PORT_ATTR_lid].name)) &&
		    e.realtime_usec + r->settle_usec > r->now_usec)
			return false;
	return true;
}

/* Whether A and B may be of one adapter: each of Omni-Path is a device. */
static bool may_be_one(const CheckRun *r, const SubnetPort *a, const SubnetPort *b)
{
	const Object *x = object_list_device(r->objects, a->port);
	const Object *y = object_list_device(r->objects, b->port);

	return check_same_adapter(x, y) ||
	       (!a->is_opa && !*object_adapter_guid(x) && !*object_adapter_guid(y));
}

/*
 * A subnet has one subnet manager in charge, and each of its LIDs belongs to one port. So two ports
 * with one prefix are in different subnets if the LIDs of their managers differ, or if both ports
 * have one LID. Functions of one adapter may share a LID, which says nothing. Two subnets whose
 * managers have the same LID, and whose LIDs do not meet on this machine, cannot be told from one.
 */
void look_at_prefixes(CheckRun *r)
{
	_cleanup_free_ SubnetPort *p = calloc(r->n_ports + 1, sizeof(*p));
	const Attribute *row = &port_attributes[PORT_ATTR_subnet_prefix];
	const char *found = NULL;
	char name[96];
	size_t n;

	if (!p) {
		r->error = -ENOMEM;
		return;
	}
	n = gather_subnet_ports(r, p);
	sort(p, n, sizeof(*p), compare_lids);
	for (size_t i = 1; i < n; i++) {
		const SubnetPort *a = &p[i - 1], *b = &p[i];

		/* one finding for one prefix; Omni-Path and InfiniBand have nothing in common, and
		 * the managers of both call their first subnet the same */
		if (a->is_opa != b->is_opa || !streq(a->prefix, b->prefix) ||
		    (found && streq(found, b->prefix)))
			continue;
		if (a->sm_lid == b->sm_lid && (b->lid >= a->lid + a->lids || may_be_one(r, a, b)))
			continue;
		if (!has_settled_lids(r, a->port) || !has_settled_lids(r, b->port))
			continue;
		r->port = b->port;
		r->device = object_list_device(r->objects, b->port);
		if (a->sm_lid != b->sm_lid)
			check_find(
				r, row,
				"the subnet has the prefix %s as that of %s, but is another one: "
				"the subnet managers have the LIDs %u and %u",
				b->prefix, object_name(a->port, name), (unsigned int)b->sm_lid,
				(unsigned int)a->sm_lid);
		else
			check_find(
				r, row,
				"the subnet has the prefix %s as that of %s, but is another one: "
				"both ports have the LID %u",
				b->prefix, object_name(a->port, name), (unsigned int)b->lid);
		found = b->prefix;
	}
	r->port = r->device = NULL;
}

/* Several RoCE ports in one IP subnet */

typedef struct Address {
	const Object *port;
	char netdev[IF_NAMESIZE];
	uint32_t address, mask; /* IPv4, in the order of the host */
} Address;

/* Adds the addresses that the GID table of PORT has for RoCE v2. */
static size_t add_addresses(const CheckRun *r, const Object *port, Address *ret, size_t n,
			    size_t most)
{
	GidWalk w = gid_walk(port);

	for (const GidEntry *e; n < most && (e = gid_next(&w));) {
		Address a = {.port = port};
		uint32_t address;

		if (e->type != GID_TYPE_ROCE_V2 || !gid_is_ipv4(e->gid))
			continue;
		memcpy(a.netdev, e->netdev, sizeof(a.netdev));
		memcpy(&address, e->gid + 12, sizeof(address));
		a.address = ntohl(address);
		a.mask = r->ask.subnet_mask(r->ask.userdata, a.netdev, a.address);
		/* a point-to-point address is no subnet */
		if (a.mask == 0 || a.mask == UINT32_MAX || check_is_ignored(r, r->check->name))
			continue;
		ret[n++] = a;
	}
	return n;
}

static int compare_subnets(const void *a, const void *b)
{
	const Address *x = a, *y = b;
	uint32_t p = x->address & x->mask, q = y->address & y->mask;

	if (p != q)
		return p < q ? -1 : 1;
	if (x->mask != y->mask)
		return x->mask < y->mask ? -1 : 1;
	return strverscmp(x->netdev, y->netdev);
}

/* Reports the N addresses of one subnet if they are on several interfaces. */
static void report_subnet(CheckRun *r, const Address *a, size_t n)
{
	struct in_addr subnet = {htonl(a->address & a->mask)};
	char names[256] = "", text[INET_ADDRSTRLEN], name[96];
	size_t interfaces = 0;

	for (size_t i = 0; i < n; i++) {
		size_t used = strlen(names);

		if (i > 0 && streq(a[i].netdev, a[i - 1].netdev))
			continue;
		interfaces++;
		snprintf(names + used, sizeof(names) - used, "%s%s (%s)", used > 0 ? ", " : "",
			 a[i].netdev, object_name(a[i].port, name));
	}
	if (interfaces > 1)
		check_find(r, NULL,
			   "%zu network interfaces are in the IP subnet %s/%d, so packets can take "
			   "the wrong one: %s",
			   interfaces, inet_ntop(AF_INET, &subnet, text, sizeof(text)),
			   __builtin_popcount(a->mask), names);
}

#define ADDRESSES_MAX 4096U

/* Only this machine can say how large the subnet of an address is: GIDs do not have that. */
void look_at_ip_subnets(CheckRun *r)
{
	_cleanup_free_ Address *a = NULL;
	size_t n = 0;

	if (!r->ask.subnet_mask)
		return;
	a = calloc(ADDRESSES_MAX, sizeof(*a));
	if (!a) {
		r->error = -ENOMEM;
		return;
	}
	for (size_t i = 0; i < r->n_ports; i++) {
		r->port = r->ports[i];
		if (object_is_active(r->port) &&
		    !streq(object_text(r->port, PORT_ATTR_protocol), "raw-packet"))
			n = add_addresses(r, r->port, a, n, ADDRESSES_MAX);
	}
	r->port = NULL;
	sort(a, n, sizeof(*a), compare_subnets);
	for (size_t first = 0, end; first < n; first = end) {
		uint32_t subnet = a[first].address & a[first].mask;

		for (end = first + 1; end < n && a[end].mask == a[first].mask &&
				      (a[end].address & a[end].mask) == subnet;
		     end++)
			;
		report_subnet(r, &a[first], end - first);
	}
}
