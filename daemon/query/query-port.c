/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "query-port.h"

#include <fcntl.h>

#include "decode.h"
#include "log.h"
#include "query-bond.h"
#include "query-dcb.h"
#include "query-driver-stats.h"
#include "query-ethtool.h"
#include "query-function.h"
#include "query-hwmon.h"
#include "query-interfaces.h"
#include "query-sysfs.h"
#include "query-unmeasured.h"
#include "query-vfs.h"

/* Where configfs has a directory for each device that somebody has made one for. */
#define RDMA_CM "/sys/kernel/config/rdma_cm"

static bool is_ethernet(const PortSnapshot *s)
{
	return mask_has(&s->supplied, PORT_ATTR_link_layer) &&
	       s->values.link_layer == IBV_LINK_LAYER_ETHERNET;
}

/* R is what reading TABLE, a table of PART, has returned. */
static void supply_table(PortSnapshot *s, unsigned int part, PortTable table, int r, Table *t)
{
	if (r < 0 && sysfs_may_pass(r))
		s->failed |= part;
	if (r < 0)
		return;
	s->tables[table] = t;
	mask_set(&s->supplied, port_table_attr(table), true);
}

/* Reads the GIDs of all ports of the device at once, if that is possible and was not done. */
static bool has_device_gids(Target *t)
{
	if (t->context && !t->gids.entries)
		(void)verbs_read_gids(t->context, t->known->n_gids, &t->gids);
	return t->gids.entries != NULL;
}

/* The GIDs as verbs or sysfs has them. */
static int read_raw_gids(Target *t, uint32_t port, const PortSnapshot *s, Table **ret)
{
	_cleanup_(verbs_gids_done) VerbsGids own = {};
	/* GIDs of iWARP have no other type. */
	bool roce = is_ethernet(s) && t->nldev.values.node_type != NODE_TYPE_RNIC;
	int r = -EOPNOTSUPP;

	if (has_device_gids(t)) {
		t->known->n_gids = t->gids.n;
		return verbs_gid_table(&t->gids, port, ret);
	}
	if (t->context && mask_has(&s->supplied, PORT_ATTR_gid_tbl_len))
		r = verbs_read_port_gids(t->context, port, s->values.gid_tbl_len, &own);
	return r == 0 ? verbs_gid_table(&own, port, ret)
		      : sysfs_read_gids(target_sysfs(t), port, roce, ret);
}

static bool has_interfaces(const Table *gids)
{
	TABLE_FOREACH(GidEntry, e, gids)
		if (e->ifindex || e->netdev[0])
			return true;
	return false;
}

static uint32_t vlan_of(void *userdata, uint32_t ifindex)
{
	Querier *querier = userdata;

	return netlink_open(&querier->rtnl, NETLINK_ROUTE) < 0
		       ? 0
		       : netdev_vlan_id(&querier->rtnl, ifindex);
}

static int read_gids(Target *t, uint32_t port, const PortSnapshot *s, Table **ret)
{
	DeviceGids *known = &t->known->gids;
	uint32_t generation = t->query->links_generation;
	_cleanup_(table_free_pointer) Table *raw = NULL;
	GidPlace place = {.net = t->querier->net,
			  .ifindex = s->values.ifindex,
			  .vlan_of = vlan_of,
			  .userdata = t->querier};
	Table *done;
	int r = read_raw_gids(t, port, s, &raw);

	if (r < 0)
		return r;
	if (!has_interfaces(raw)) {
		*ret = steal_pointer(&raw);
		return 0;
	}
	if (!t->query->attributes && gids_recall(known, port, raw, generation, ret))
		return 0;
	done = table_copy(raw);
	if (!done)
		return -ENOMEM;
	place.device = target_sysfs(t);
	gids_complete(done, port, &place);
	gids_remember(known, port, raw, generation, done);
	*ret = done;
	return 0;
}

/* Supplies the values of the vendor's library. If it fails, only these attributes are missing. It
 * is not asked again before the next look: nobody waits for them, and the device may be in use. */
static void query_direct_verbs(Target *t, uint32_t port, PortSnapshot *s)
{
	const DvProvider *dv = t->known->dv;
	AttrMask rows;
	int r = 0;

	if (!(s->parts & READ_DIRECT))
		return;
	if (t->is_isolated)
		r = isolated_query(&t->isolated, dv, t->device, port, s);
	else if (t->context && dv && dv->query_port)
		r = dv->query_port(t->context, port, s);
	if (!dv_has_failed(r))
		return;
	log_debug("%s/%u: %s direct verbs: %s", t->name, port, dv->name, strerror(-r));
	rows = dv_port_rows(dv);
	if (t->is_isolated)
		rows = mask_or(rows, port_rows_of(READ_VERBS));
	s->unanswered = mask_without(rows, s->supplied);
}

int port_judge_without_verbs(PortSnapshot *s, int files_error)
{
	/* rdmad lacks something, and the hardware has not been asked */
	bool is_own = files_error == -ENOMEM || files_error == -EMFILE || files_error == -ENFILE;

	if (!mask_has(&s->supplied, PORT_ATTR_state))
		return files_error < 0 ? files_error : s->open_error < 0 ? s->open_error : -EIO;
	/* Each of these files asks the hardware as verbs does: nobody is told that the port has
	 * lost a value. */
	if (files_error < 0 && !is_own)
		return files_error;
	if (files_error < 0 || s->open_error == 0 || !open_error_find(s->open_error)->lasts)
		s->failed |= READ_VERBS;
	return 0;
}

/* How often the files of a port are read at most while it changes. */
#define FILES_READ_MAX 4U

bool port_take_again(PortSnapshot *s, const PortSnapshot *again)
{
	bool differs = false;

	/* those of the links belong together with what rtnetlink has said */
	MASK_FOREACH(a, mask_and(again->supplied, port_rows_of(READ_VERBS)))
	{
		const Attribute *row = &port_attributes[a];

		if (mask_has(&s->supplied, a) && attr_is_equal(row, &s->values, &again->values))
			continue;
		mask_set(&s->supplied, a, attr_copy(row, &s->values, &again->values) == 0);
		differs = true;
	}
	return differs;
}

/* Supplies a port from sysfs, without verbs. nldev supplied some values before, such as the LID of
 * the subnet manager, and sysfs has a file for each of the others, such as its service level. If
 * nldev has other values now, the values are of two moments, and are read again. */
static int supply_files(Target *t, uint32_t port, PortSnapshot *s)
{
	PortSnapshot said = *s;
	int r = 0;

	for (unsigned int i = 0; i < FILES_READ_MAX; i++) {
		_cleanup_(port_snapshot_done) PortSnapshot again = {};

		if (i > 0)
			texts_release(s->values.texts);
		*s = said;
		texts_hold(s->values.texts);
		r = sysfs_supply_port(target_sysfs(t), port, s);
		if (r < 0 || nldev_get_port(&t->querier->nldev, t->device, port, &again) < 0 ||
		    !port_take_again(&said, &again))
			break;
	}
	texts_release(said.values.texts);
	return r;
}

/* Why verbs was not asked about PORT, as PortSnapshot.open_error; 0 if it was, and has failed. Of a
 * device that a process of its own opens, isolated_query() says it instead. */
static int reason_without_verbs(const Target *t, uint32_t port)
{
	return t->context && port > VERBS_PORT_MAX ? -ERANGE : target_obstacle(t);
}

/* Asks verbs about PORT. After an error that may be the context's, another context is asked. */
static int ask_verbs(Target *t, uint32_t port, PortSnapshot *s)
{
	int r = verbs_query_port(t->context, port, &t->known->verbs, s);

	if ((r != -EIO && r != -ENODEV) || target_is_gone(t))
		return r;
	target_reopen(t);
	return t->context ? verbs_query_port(t->context, port, &t->known->verbs, s) : r;
}

/* Supplies the values of verbs and sysfs, in this order: sysfs supplies the values that verbs has
 * not. If verbs does not answer, the values of netlink and sysfs are published, the state among
 * them. */
static int query_values(Target *t, uint32_t port, PortSnapshot *s)
{
	bool has_verbs = t->context && port <= VERBS_PORT_MAX;
	int r = 0;

	if (!(s->parts & READ_VERBS))
		return 0;
	if (has_verbs)
		r = ask_verbs(t, port, s);
	/* If the hardware has failed, and not the way to it, netlink has no answer either. */
	if (r < 0 && nldev_get_port(&t->querier->nldev, t->device, port, s) < 0)
		return r;
	has_verbs &= r == 0;
	t->known->link_layers |= 1U << MIN(s->values.link_layer, 31U);
	r = 0;
	if (sysfs_may_supply_port(s))
		r = has_verbs ? sysfs_supply_port(target_sysfs(t), port, s)
			      : supply_files(t, port, s);
	if (has_verbs)
		return 0;
	s->open_error = reason_without_verbs(t, port);
	return port_judge_without_verbs(s, r);
}

/* The GIDs of an InfiniBand port say which IPoIB interfaces are on it, and where addresses are: a
 * table that is made of one that could not be read would say that there is nothing any more. */
static void query_gids(Target *t, uint32_t port, PortSnapshot *s)
{
	Table *table = NULL;
	int r = read_gids(t, port, s, &table);

	supply_table(s, READ_GIDS, PORT_TABLE_GIDS, r, table);
	if (s->failed & READ_GIDS && !is_ethernet(s))
		return;
	r = interfaces_read_netdevs(t, s, &table);
	supply_table(s, READ_GIDS, PORT_TABLE_NETDEVS, r, table);
	if (!(s->failed & READ_GIDS)) {
		r = interfaces_read_addresses(t, s, &table);
		supply_table(s, READ_GIDS, PORT_TABLE_ADDRESSES, r, table);
	}
	r = interfaces_read_altnames(t, s, &table);
	supply_table(s, READ_GIDS, PORT_TABLE_ALTNAMES, r, table);
}

static int query_pkeys(Target *t, uint32_t port, PortSnapshot *s)
{
	bool is_change =
		t->query->parts == READ_PKEYS && contexts_holds(t->querier->contexts, t->device);
	Table *table = NULL;
	int r = pkeys_read(&t->known->pkeys, port, &table);

	if (r < 0)
		r = sysfs_read_pkeys(target_sysfs(t), port, &table);
	supply_table(s, READ_PKEYS, PORT_TABLE_PKEYS, r, table);
	/* The kernel tells when the table changes. A table that has changed will change again. */
	if (is_change && r == 0)
		pkeys_keep(&t->known->pkeys, target_sysfs(t), port);
	return r;
}

/* PARTS, of a device whose library is asked in a process of its own. That process asks verbs as
 * well, and opens the device for both. */
static unsigned int with_isolated(const Target *t, unsigned int parts)
{
	const unsigned int both = READ_VERBS | READ_DIRECT;

	return t->is_isolated && parts & both ? parts | both : parts;
}

/* The parts of the port to read: those that were asked for, and those without which they would not
 * be complete. */
static unsigned int parts_to_read(Target *t, uint32_t port)
{
	const Known *k = t->known;
	unsigned int parts = t->query->parts;
	bool has_verbs = t->context && port <= VERBS_PORT_MAX;

	/* Netlink says what the event of an interface is about. The rest costs little unless the
	 * device must be opened for it. */
	if (parts == READ_LINKS && contexts_holds(t->querier->contexts, t->device))
		parts |= READ_VERBS | READ_GIDS;
	/* the interfaces of the port are found with them */
	if (parts & READ_VFS)
		parts |= READ_GIDS;
	/* Without these GIDs, what the others mean depends on the link layer. */
	if (parts & READ_GIDS && !(parts & READ_VERBS) && !has_device_gids(t))
		parts |= READ_VERBS;
	if (parts & (READ_GIDS | READ_DCB | READ_VFS | READ_SIGNAL))
		parts |= READ_LINKS;
	parts = with_isolated(t, parts);
	/* Netlink is asked where verbs does not say everything. On Ethernet the speed of the
	 * interface is the rate of a port that becomes active. A device that this process has not
	 * read before may be of either kind. */
	if (parts & READ_VERBS && (!has_verbs || k->verbs.incomplete ||
				   k->link_layers != 1U << IBV_LINK_LAYER_INFINIBAND))
		parts |= READ_LINKS;
	return parts;
}

void port_keep_links(PortSnapshot *s)
{
	/* nldev says LIDs of InfiniBand ports only: fill_port_info() in the kernel's
	 * drivers/infiniband/core/nldev.c */
	if (mask_has(&s->supplied, PORT_ATTR_lid))
		s->supplied = mask_and(s->supplied, port_rows_of(READ_LINKS));
}

/* Gets the interface IFINDEX from rtnetlink. */
static int get_netdev(Querier *querier, uint32_t ifindex, Netdev *ret)
{
	int r = ifindex ? netdev_open(&querier->rtnl) : -ENOENT;

	*ret = (Netdev){};
	return r < 0 ? r : netdev_get(&querier->rtnl, ifindex, ret);
}

/* Supplies the rows about the interface of the port. */
static void supply_netdev(Target *t, PortSnapshot *s)
{
	const Netdev *d = &t->netdev;
	bool is_change = t->query->parts == READ_LINKS;
	uint64_t speed;

	netdev_supply(d, s);
	if (bond_supply(&t->querier->rtnl, t->querier->net, d, s) < 0)
		s->failed |= READ_LINKS;
	/* The kernel says none of an interface that is down. */
	if (d->up && link_read_speed(&t->known->link, t->querier->net, d->name, d->ifindex,
				     is_change, &speed) == 0)
		PORT_SUPPLY(s, netdev_speed, speed);
}

/*
 * Asks netlink about the port, and rtnetlink about its interface. rtnetlink answers when the kernel
 * has told everybody of a change of the interface, the driver of the port too. So rtnetlink is
 * asked first, about the interface that the port had last. If the port has another one, rtnetlink
 * is asked about that one, and then netlink about the port again.
 */
static int query_links(Target *t, uint32_t port, PortSnapshot *s)
{
	const KnownLink *known = &t->known->link;
	uint32_t guess = known->port == port ? known->ifindex : 0;
	bool has_netdev = get_netdev(t->querier, guess, &t->netdev) == 0;
	/* Without an answer of nldev the port would seem to have lost its interface. So the query
	 * fails then as it does without an answer of verbs: both ask the same hardware. */
	int r = nldev_get_port(&t->querier->nldev, t->device, port, s);

	if (r == 0 && s->values.ifindex != guess) {
		has_netdev = get_netdev(t->querier, s->values.ifindex, &t->netdev) == 0;
		if (has_netdev && !(s->parts & READ_VERBS))
			r = nldev_get_port(&t->querier->nldev, t->device, port, s);
	}
	if (r < 0)
		return r;
	if (has_netdev && s->values.ifindex == t->netdev.ifindex)
		supply_netdev(t, s);
	/* ActiveMtu follows the MTU of the interface. */
	if (link_note(&t->known->link, port, s->values.ifindex, s->values.netdev_mtu) &&
	    !(s->parts & READ_VERBS)) {
		target_open_context(t);
		s->parts = with_isolated(t, s->parts | READ_VERBS);
	}
	if (!(s->parts & READ_VERBS))
		port_keep_links(s);
	return 0;
}

/* Supplies the priorities of the interface of the port. An interface without DCB is no failure. */
static void query_dcb(Target *t, uint32_t port, PortSnapshot *s)
{
	_cleanup_close_ int rdma_cm = -EBADF;
	const Netdev *d = &t->netdev;
	Dcb dcb;
	int r;

	if (!s->values.ifindex || s->values.ifindex != d->ifindex)
		return;
	r = netdev_open(&t->querier->rtnl);
	if (r == 0)
		r = dcb_get(&t->querier->rtnl, d->name, &dcb);
	if (r == 0)
		dcb_supply(&dcb, s);
	else if (r != -EOPNOTSUPP)
		s->failed |= READ_DCB;
	dcb_supply_trust(t->querier->net, d, s);
	dcb_supply_ecn(t->querier->net, d, s);
	rdma_cm = open(RDMA_CM, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (rdma_cm >= 0)
		dcb_supply_gid_type(rdma_cm, t->name, port, s);
}

/* The virtual functions. A port with some and without an interface that tells of them, or with more
 * than it can tell of, is as one whose driver does not: the row is not there. */
static void query_vfs(Target *t, PortSnapshot *s)
{
	Table *table = NULL;
	int r = vfs_read(&t->querier->rtnl, target_sysfs(t), s->tables[PORT_TABLE_NETDEVS], &table);

	if (r != -ENODATA && r != -EMSGSIZE)
		supply_table(s, READ_VFS, PORT_TABLE_VFS, r, table);
}

/* Of the IPoIB interfaces on a port so many are asked: the first one is mostly the one that says
 * something, and those on it, for other P_Keys, do not. */
#define IPOIB_ASKED_MAX 8U

/* What the driver counts of the PHY of an InfiniBand port, by an IPoIB interface on it. */
static int supply_driver_stats(Target *t, uint32_t port, PortSnapshot *s)
{
	int64_t driver = t->known->verbs.driver_id;
	uint32_t interfaces[IPOIB_ASKED_MAX];
	size_t n = 0;
	int r = -EOPNOTSUPP;

	if (driver_stats_knows(driver))
		n = interfaces_find_ipoib(t, port, interfaces, ARRAY_SIZE(interfaces));
	for (size_t i = 0; i < n && r < 0; i++)
		r = driver_stats_supply(driver, interfaces[i], s);
	return r;
}

/* The PHY of the interface of the port, and the sensors of its function. A PHY that does not answer
 * now is as one that says nothing: nobody waits for it, and a later look asks again. */
static void query_signal(Target *t, uint32_t port, PortSnapshot *s)
{
	_cleanup_close_ int function = -EBADF;
	uint32_t ifindex = s->values.ifindex;
	AttrPath parent;
	int r = ifindex ? ethtool_supply(&t->querier->ethtool, ifindex, s)
			: supply_driver_stats(t, port, s);

	if (r < 0 && r != -EOPNOTSUPP)
		log_debug_errno(r, "%s: ethtool: %m", t->name);
	if (function_find(target_sysfs(t), t->name, parent) == 0)
		function = function_open(t->sysfs, parent);
	if (function >= 0)
		hwmon_supply(function, s);
}

int port_query(Target *t, uint32_t port, PortSnapshot *s)
{
	int r;

	s->parts = parts_to_read(t, port);
	r = s->parts & READ_LINKS ? query_links(t, port, s) : 0;
	if (r < 0)
		return r;
	r = query_values(t, port, s);
	if (r < 0)
		return r;
	query_direct_verbs(t, port, s);
	unmeasured_drop(&t->known->unmeasured, s);
	if (s->parts & READ_GIDS)
		query_gids(t, port, s);
	if (s->parts & READ_DCB)
		query_dcb(t, port, s);
	if (s->parts & READ_VFS)
		query_vfs(t, s);
	if (s->parts & READ_SIGNAL)
		query_signal(t, port, s);
	if (s->parts & READ_PKEYS)
		r = query_pkeys(t, port, s);
	/* nothing else has asked the device whether it is there */
	return s->parts == READ_PKEYS && r < 0 && target_is_gone(t) ? -ENODEV : 0;
}
