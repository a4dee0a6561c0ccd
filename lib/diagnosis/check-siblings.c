/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * One port that differs from the others of its kind. A machine does not know what it should be, but
 * eight adapters of one model are mostly meant to be alike. To be no false alarm on a machine that
 * uses some of its ports for something else, the value must be one that no other port of the kind
 * has, or that all the others had, and more than half of the others must agree; with fewer than
 * three others nothing is said.
 */

#include <stdlib.h>

#include "check-parts.h"
#include "checks.h"

/* Ours: of two that differ nobody knows which is the odd one. */
#define SIBLINGS_LEAST 3U

/* The values that are compared. */
static const Attribute *const compared[] = {
	&port_attributes[PORT_ATTR_state],
	&port_attributes[PORT_ATTR_rate],
	&port_attributes[PORT_ATTR_active_mtu],
	&port_attributes[PORT_ATTR_pkeys],
	&port_attributes[PORT_ATTR_gids],
	&port_attributes[PORT_ATTR_addresses],
	&port_attributes[PORT_ATTR_netdevs],
	&port_attributes[PORT_ATTR_pfc_enabled],
	&port_attributes[PORT_ATTR_priority_trust],
	&port_attributes[PORT_ATTR_dscp_to_priority],
	&port_attributes[PORT_ATTR_ets_bandwidth],
	&port_attributes[PORT_ATTR_ets_algorithm],
	&port_attributes[PORT_ATTR_prio_to_tc],
	&port_attributes[PORT_ATTR_ecn_notification],
	&port_attributes[PORT_ATTR_ecn_reaction],
	&port_attributes[PORT_ATTR_roce_gid_type],
	&port_attributes[PORT_ATTR_neighbor_vlan],
	&port_attributes[PORT_ATTR_fec_mode],
	&device_attributes[DEVICE_ATTR_fw_ver],
	&device_attributes[DEVICE_ATTR_max_read_request],
	&device_attributes[DEVICE_ATTR_max_payload],
	&device_attributes[DEVICE_ATTR_relaxed_ordering],
	&device_attributes[DEVICE_ATTR_iommu],
	&device_attributes[DEVICE_ATTR_pcie_max_rate],
};

/* The attributes that ports of one kind have in common. With a port number, because the second port
 * of each adapter may be one that nobody uses. */
static const Attribute *const kind[] = {
	&device_attributes[DEVICE_ATTR_driver],	  &device_attributes[DEVICE_ATTR_hca_type],
	&device_attributes[DEVICE_ATTR_board_id], &device_attributes[DEVICE_ATTR_function],
	&port_attributes[PORT_ATTR_protocol],	  &port_attributes[PORT_ATTR_port_num],
};

/* What peers see of the addresses of a port; which these are is its own. */
static char ipoib_down[] = "IPoIB set down", local[] = "link-local only", none[] = "none",
	    ipv6[] = "with IPv6 addresses that peers reach",
	    ipv4[] = "with an IPv4 address that peers reach";

typedef struct Sibling {
	const Object *port, *device;
	Value pkeys;	 /* a text: those of the table of an active port, in their order */
	Value addresses; /* a text: how peers reach a port that is active */
	Value ipoib;	 /* a text: what the first interface of IPoIB is like */
	bool is_twin;	 /* one before it is of the same adapter, which has one firmware */
} Sibling;

static const Value *published(const Sibling *s, const Attribute *row)
{
	return row->interface < INTERFACE_PORT
		       ? object_value(s->device, (size_t)(row - device_attributes))
		       : object_value(s->port, (size_t)(row - port_attributes));
}

/* GIDs of RoCE are made of addresses. */
static const Attribute *row_of_addresses(const Object *port)
{
	bool is_roce = streq(object_text(port, PORT_ATTR_protocol), "roce");

	return &port_attributes[is_roce ? PORT_ATTR_gids : PORT_ATTR_addresses];
}

/* The value of a row that is compared. While a link is down, drivers say of it what it had before,
 * what is set, or the least that there is. */
static const Value *value_of(const Sibling *s, const Attribute *row)
{
	if (row->interface >= INTERFACE_PORT && row != &port_attributes[PORT_ATTR_state] &&
	    !object_is_active(s->port))
		return NULL;
	if (row == &port_attributes[PORT_ATTR_gids] || row == &port_attributes[PORT_ATTR_addresses])
		return row == row_of_addresses(s->port) && s->addresses.type == VALUE_TEXT
			       ? &s->addresses
			       : NULL;
	if (row == &port_attributes[PORT_ATTR_netdevs])
		return s->ipoib.type == VALUE_TEXT ? &s->ipoib : NULL;
	if (row == &port_attributes[PORT_ATTR_pkeys])
		return s->pkeys.type == VALUE_TEXT ? &s->pkeys : NULL;
	if (row == &device_attributes[DEVICE_ATTR_fw_ver] && s->is_twin)
		return NULL;
	return published(s, row);
}

/* Orders by kind, and within a kind as the ports were given. */
static int compare_kind(const void *a, const void *b)
{
	int order = 0;

	for (size_t i = 0; i < ARRAY_SIZE(kind) && order == 0; i++) {
		const Value *x = published(a, kind[i]), *y = published(b, kind[i]);

		if (!x || !y)
			order = !x - !y;
		else if (x->type == VALUE_UNSIGNED)
			order = (x->number > y->number) - (x->number < y->number);
		else
			order = strcmp(value_text(x), value_text(y));
	}
	return order;
}

bool check_is_like_many(const CheckRun *r, const Attribute *row)
{
	const Sibling own = {.port = r->port, .device = r->device};
	const Value *is = value_of(&own, row);
	size_t n = 0, n_all = 0;

	if (!own.device || !is)
		return false;
	for (size_t i = 0; i < r->objects->n; i++) {
		const Object *o = r->objects->items[i];
		const Sibling s = {.port = o, .device = object_list_device(r->objects, o)};
		const Value *v = NULL;

		if (o->is_port && s.device && compare_kind(&s, &own) == 0)
			v = value_of(&s, row);
		n += v && value_equal(v, is);
		n_all += v != NULL;
	}
	return n > SIBLINGS_LEAST && 2 * n >= n_all;
}

/* The value that more than half of the N ports have, if any has that many: each other one cancels
 * one of it. NULL if no port has a value. */
static const Value *find_common(const Sibling *s, size_t n, const Attribute *row)
{
	const Value *common = NULL;
	size_t lead = 0;

	for (size_t i = 0; i < n; i++) {
		const Value *v = value_of(&s[i], row);

		if (!v)
			continue;
		if (lead == 0)
			common = v;
		lead = value_equal(common, v) ? lead + 1 : lead - 1;
	}
	return common;
}

static size_t count_value(const Sibling *s, size_t n, const Attribute *row, const Value *value)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++) {
		const Value *v = value_of(&s[i], row);

		count += v && (!value || value_equal(v, value));
	}
	return count;
}

/* Whether A and B have links on which error correction is the same: it goes by the speed and by the
 * cable. Most systems do not read the cables, and then they are taken for the same. */
static bool have_alike_links(const Sibling *a, const Sibling *b)
{
	return object_number(a->port, PORT_ATTR_rate) == object_number(b->port, PORT_ATTR_rate) &&
	       streq(object_text(a->port, PORT_ATTR_cable_part),
		     object_text(b->port, PORT_ATTR_cable_part));
}

/* Whether A and B are in one subnet: its manager decides on partitions and the MTU, and another
 * subnet, of storage, may be a slower one. On Ethernet there is none. */
static bool share_subnet(const Sibling *a, const Sibling *b)
{
	return object_number(a->port, PORT_ATTR_sm_lid) ==
		       object_number(b->port, PORT_ATTR_sm_lid) &&
	       streq(object_text(a->port, PORT_ATTR_subnet_prefix),
		     object_text(b->port, PORT_ATTR_subnet_prefix));
}

/* Whether the other ends of A and B are called alike but for numbers: "r7-leaf1" and "r8-leaf2". */
static bool have_alike_neighbors(const Sibling *a, const Sibling *b)
{
	const char *x = object_text(a->port, PORT_ATTR_neighbor);
	const char *y = object_text(b->port, PORT_ATTR_neighbor);

	for (; *x && *y; x++, y++) {
		x += strspn(x, "0123456789");
		y += strspn(y, "0123456789");
		if (*x != *y || !*x)
			break;
	}
	return *x == *y;
}

/* Whether S[I] is in another network than the others, as one of storage: at a switch that is called
 * otherwise, while those of the others are called alike. */
static bool is_elsewhere(const Sibling *s, size_t n, size_t i)
{
	size_t first = n, n_heard = 0;

	if (!*object_text(s[i].port, PORT_ATTR_neighbor) ||
	    !streq(object_text(s[i].port, PORT_ATTR_link_layer), "ethernet"))
		return false;
	for (size_t k = 0; k < n; k++) {
		if (k == i || !*object_text(s[k].port, PORT_ATTR_neighbor))
			continue;
		first = first == n ? k : first;
		if (have_alike_neighbors(&s[k], &s[i]) || !have_alike_neighbors(&s[k], &s[first]))
			return false;
		n_heard++;
	}
	return n_heard >= SIBLINGS_LEAST;
}

/* Whether A and B are at one switch. */
static bool share_switch(const Sibling *a, const Sibling *b)
{
	const char *x = object_text(a->port, PORT_ATTR_neighbor);

	return *x && streq(x, object_text(b->port, PORT_ATTR_neighbor));
}

/* Whether the device of S is worse with the value IS of ROW, a row of devices, than with COMMON. Of
 * what PCI Express can carry only that counts which is less than the link of the port. */
static bool is_worse(const Sibling *s, const Attribute *row, const Value *is, const Value *common)
{
	if (is->type == VALUE_BOOL)
		return !is->boolean;
	if (row == &device_attributes[DEVICE_ATTR_iommu])
		return streq(value_text(common), "identity");
	if (is->type != VALUE_UNSIGNED)
		return true;
	return is->number < common->number &&
	       (row != &device_attributes[DEVICE_ATTR_pcie_max_rate] ||
		is->number < object_number(s->port, PORT_ATTR_data_rate));
}

/* Whether S[I], which does not have the value COMMON of a row, could have it, and lacks it: another
 * port has it that is where it is. */
static bool could_have(const Sibling *s, size_t n, size_t i, const Attribute *row,
		       const Value *common)
{
	bool is_of_link = row == &port_attributes[PORT_ATTR_fec_mode];
	bool is_of_switch = row == &port_attributes[PORT_ATTR_neighbor_vlan];

	if (row->interface >= INTERFACE_PORT && row != &port_attributes[PORT_ATTR_state] &&
	    is_elsewhere(s, n, i))
		return false;
	/* who has IPv4 has the most, and who has none, or link-local ones, the least */
	if (row == row_of_addresses(s[i].port) &&
	    (streq(s[i].addresses.text, ipv4) || streq(common->text, local) ||
	     streq(common->text, none)))
		return false;
	/* who uses IPoIB on few ports has the others set down */
	if (row == &port_attributes[PORT_ATTR_netdevs] && streq(common->text, ipoib_down))
		return false;
	if (row->interface < INTERFACE_PORT)
		return is_worse(&s[i], row, value_of(&s[i], row), common);
	if (row == &port_attributes[PORT_ATTR_state])
		return !object_is_active(s[i].port);
	for (size_t k = 0; k < n; k++) {
		const Value *v = value_of(&s[k], row);

		if (v && value_equal(v, common) && share_subnet(&s[k], &s[i]) &&
		    (!is_of_link || have_alike_links(&s[k], &s[i])) &&
		    (!is_of_switch || share_switch(&s[k], &s[i])))
			return true;
	}
	return false;
}

/* Whether somebody has said what the attribute of the port is to be, or that it does not matter. */
static bool is_settled_otherwise(const CheckRun *r, const Attribute *row)
{
	return check_is_expected(r, row) ||
	       (row == &port_attributes[PORT_ATTR_state] && check_is_ignored(r, "not-active"));
}

/* Whether somebody has taken a P_Key from PORT that is among KEYS. */
static bool has_lost_one_of(const CheckRun *r, const Object *port, const char *keys)
{
	SeenSource evidence = check_evidence(r, port);
	char key[sizeof("0x8000")];
	Seen e;

	for (size_t i = 0; seen_read(&evidence, i, &e); i++) {
		snprintf(key, sizeof(key), "0x%04x",
			 (unsigned int)strtoul(e.from, NULL, 16) & UINT16_MAX);
		if (streq(e.what, port_attributes[PORT_ATTR_pkeys].name) && *e.from && !*e.to &&
		    strstr(keys, key))
			return true;
	}
	return false;
}

/* Whether S[I] is one of fewer than a third, and all ports with COMMON have lost a P_Key that it
 * still has: the machine has gone to another partition, and these were forgotten. */
static bool was_forgotten(const CheckRun *r, const Sibling *s, size_t n, size_t i,
			  const Attribute *row, const Value *common)
{
	if (row != &port_attributes[PORT_ATTR_pkeys] ||
	    3 * count_value(s, n, row, value_of(&s[i], row)) >= n)
		return false;
	for (size_t k = 0; k < n; k++) {
		const Value *v = value_of(&s[k], row);

		if (v && value_equal(v, common) && !has_lost_one_of(r, s[k].port, s[i].pkeys.text))
			return false;
	}
	return true;
}

static void compare(CheckRun *r, const Sibling *s, size_t n, const Attribute *row)
{
	const Value *common = find_common(s, n, row);
	size_t with_value = count_value(s, n, row, NULL), agree;

	if (!common || with_value < SIBLINGS_LEAST + 1)
		return;
	agree = count_value(s, n, row, common);
	if (agree == with_value || 2 * agree <= with_value - 1)
		return;
	for (size_t i = 0; i < n; i++) {
		const Value *v = value_of(&s[i], row);
		_cleanup_free_ char *is = NULL, *others = NULL;

		if (!v || value_equal(v, common) ||
		    (count_value(s, n, row, v) > 1 && !was_forgotten(r, s, n, i, row, common)) ||
		    !could_have(s, n, i, row, common) || !check_has_port(r, s[i].port))
			continue;
		r->port = s[i].port;
		r->device = s[i].device;
		is = format_value(row, v);
		others = format_value(row, common);
		if (is && others && !is_settled_otherwise(r, row))
			check_find(r, row,
				   "%s is %s, but %s on %zu of %zu other ports of this model",
				   row->name, is, others, agree, with_value - 1);
	}
	r->port = r->device = NULL;
}

/* The P_Keys of PORT, whatever their places in its table: "0x8012, 0xffff". NULL: it has none, or
 * those of virtual functions too, is not active, or there was no memory. */
static char *pkeys_text(const Object *port)
{
	const Value *table = object_value(port, PORT_ATTR_pkeys);
	_cleanup_free_ uint64_t *keys = NULL;
	char *text = NULL;
	size_t size = 0;
	FILE *f;

	if (value_count(table) == 0 || !object_is_active(port) || check_has_functions(port))
		return NULL;
	keys = calloc(table->n, sizeof(*keys));
	f = keys ? open_memstream(&text, &size) : NULL;
	if (!f)
		return NULL;
	for (size_t i = 0; i < table->n; i++)
		keys[i] = format_member_number(ATTR_PKEYS, "pkey", &table->items[i]);
	sort(keys, table->n, sizeof(*keys), check_compare_numbers);
	for (size_t i = 0; i < table->n; i++)
		fprintf(f, "%s0x%04x", i > 0 ? ", " : "", (unsigned int)keys[i]);
	fclose(f);
	return text;
}

/* Whether the bridge or the like that the interface of PORT is in can have its addresses: members
 * of bonds have the GIDs of the bond, and on InfiniBand not its addresses. */
static bool is_in_bridge(const Object *port)
{
	const Value *netdevs = object_value(port, PORT_ATTR_netdevs);

	VALUE_FOREACH(e, netdevs) {
		if (*format_member_text(ATTR_NETDEVS, "master", e))
			return true;
	}
	return *object_text(port, PORT_ATTR_netdev_master) && !*object_text(port, PORT_ATTR_bond);
}

/* How peers reach PORT, of RoCE, by its GIDs; NULL: nobody knows. */
static char *reach_by_gids(const Object *port)
{
	int is = check_is_reachable(port);

	return is < 0 ? NULL : !is ? local : check_has_ipv4(port) ? ipv4 : ipv6;
}

/* How peers reach PORT by the addresses of its interfaces; NULL: nobody knows. */
static char *reach_by_addresses(const Object *port)
{
	const Value *all = object_value(port, PORT_ATTR_addresses);
	char *best = !all ? NULL : value_count(all) == 0 ? none : local;

	VALUE_FOREACH(e, all) {
		const char *text = format_member_text(ATTR_ADDRESSES, "address", e);

		if (check_reaches(text) && best != ipv4)
			best = strchr(text, '.') ? ipv4 : ipv6;
	}
	return best;
}

/* How peers reach PORT, which has what IPOIB says. */
static Value addresses_of(const CheckRun *r, const Object *port, const Value *ipoib)
{
	char *text = NULL;

	if (!object_is_active(port) || check_may_be_idle(r, port))
		return (Value){};
	if (row_of_addresses(port) == &port_attributes[PORT_ATTR_gids])
		text = reach_by_gids(port);
	else if (ipoib->type == VALUE_TEXT && !streq(ipoib->text, ipoib_down))
		text = reach_by_addresses(port);
	if ((text == local || text == none) && is_in_bridge(port))
		text = NULL;
	return (Value){.type = text ? VALUE_TEXT : VALUE_NONE, .text = text};
}

/* Takes TEXT; NULL: there is no value. */
static Value value_of_text(char *text)
{
	return (Value){.type = text ? VALUE_TEXT : VALUE_NONE, .text = text};
}

/* What the first interface of IPoIB of PORT is like, which is its own, and not that of a partition;
 * one that is in a container is not here. NULL: there is none, or there was no memory. */
static char *ipoib_text(const Object *port)
{
	const Value *all = object_value(port, PORT_ATTR_netdevs), *first;
	const char *state, *mode;
	char *text = NULL;

	if (value_count(all) == 0 || !object_is_active(port) ||
	    !streq(object_text(port, PORT_ATTR_link_layer), "infiniband"))
		return NULL;
	first = &all->items[0];
	state = format_member_text(ATTR_NETDEVS, "state", first);
	mode = format_member_text(ATTR_NETDEVS, "mode", first);
	if (streq(state, "down"))
		text = strdup(ipoib_down);
	else if (streq(state, "up") &&
		 asprintf(&text, "IPoIB with an MTU of %u%s%s",
			  (unsigned int)format_member_number(ATTR_NETDEVS, "mtu", first),
			  *mode ? ", " : "", mode) < 0)
		text = NULL;
	return text;
}

/* Marks those of the N ports of one kind whose adapter another one before them is of. That is asked
 * for the firmware, and takes long if there are many: mostly all have the same. */
static void find_twins(Sibling *s, size_t n)
{
	const Attribute *row = &device_attributes[DEVICE_ATTR_fw_ver];
	const Value *common = find_common(s, n, row);

	if (!common || count_value(s, n, row, common) == count_value(s, n, row, NULL))
		return;
	for (size_t i = 1; i < n; i++)
		for (size_t k = 0; k < i && !s[i].is_twin; k++)
			s[i].is_twin = s[k].device != s[i].device && !s[k].is_twin &&
				       check_same_adapter(s[k].device, s[i].device);
}

/* Whether the port has been in its state for long enough: what is seen while a link comes up, or
 * while several are changed one after the other, says nothing. If that was later than now, the
 * clock was wrong then. */
static bool is_settled(const CheckRun *r, const Object *port)
{
	const Value *since = object_value(port, PORT_ATTR_state_change);
	const Value *stale = object_value(port, PORT_ATTR_stale);

	return since && since->type == VALUE_UNSIGNED &&
	       (since->number > r->now_usec || r->now_usec - since->number >= r->settle_usec) &&
	       !(stale && stale->boolean);
}

void look_for_odd_ones(CheckRun *r)
{
	const ObjectList *all = r->objects;
	_cleanup_free_ Sibling *s = calloc(all->n + 1, sizeof(*s));
	size_t n = 0;

	if (!s) {
		r->error = -ENOMEM;
		return;
	}
	/* the others are all ports of the machine, not only those that are checked */
	for (size_t i = 0; i < all->n; i++) {
		const Object *o = all->items[i], *device;

		if (!o->is_port || object_list_is_plane(all, o) || !is_settled(r, o) ||
		    check_may_be_idle(r, o) || (!object_is_active(o) && check_is_unused(r, o)))
			continue;
		device = object_list_device(r->objects, o);
		if (!device || !object_value(device, DEVICE_ATTR_driver))
			continue;
		s[n] = (Sibling){.port = o,
				 .device = device,
				 .pkeys = value_of_text(pkeys_text(o)),
				 .ipoib = value_of_text(ipoib_text(o))};
		s[n].addresses = addresses_of(r, o, &s[n].ipoib);
		n++;
	}
	sort(s, n, sizeof(*s), compare_kind);
	for (size_t first = 0, end; first < n; first = end) {
		for (end = first + 1; end < n && compare_kind(&s[first], &s[end]) == 0; end++)
			;
		find_twins(&s[first], end - first);
		for (size_t i = 0; i < ARRAY_SIZE(compared); i++)
			compare(r, &s[first], end - first, compared[i]);
	}
	for (size_t i = 0; i < n; i++) {
		value_done(&s[i].pkeys);
		value_done(&s[i].ipoib);
	}
}
