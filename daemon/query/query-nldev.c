/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "query-nldev.h"

#include <rdma/rdma_netlink.h>
#include <sys/sysmacros.h>

#include "netlink-value.h"

static struct nl_msg *request(int command, int flags)
{
	return nlmsg_alloc_simple(RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command), flags);
}

int nldev_parse_port(const struct nlmsghdr *message, void *port)
{
	PortSnapshot *s = port;
	NldevAttributes a;
	AttrText name;
	uint64_t v;
	int r = nldev_parse_attributes(message, a);

	if (r < 0)
		return r;
	if (!a[RDMA_NLDEV_ATTR_PORT_INDEX])
		return -EBADMSG;
	if (netlink_number(a[RDMA_NLDEV_ATTR_PORT_STATE], &v))
		PORT_SUPPLY(s, state, (uint32_t)v);
	if (netlink_number(a[RDMA_NLDEV_ATTR_PORT_PHYS_STATE], &v))
		PORT_SUPPLY(s, phys_state, (uint32_t)v);
	if (netlink_number(a[RDMA_NLDEV_ATTR_CAP_FLAGS], &v)) {
		PORT_SUPPLY(s, cap_mask, v);
		PORT_SUPPLY(s, port_cap_flags2, (uint32_t)(v >> 32));
	}
	if (netlink_number(a[RDMA_NLDEV_ATTR_SUBNET_PREFIX], &v))
		PORT_SUPPLY(s, subnet_prefix, v);
	if (netlink_number(a[RDMA_NLDEV_ATTR_LID], &v))
		PORT_SUPPLY(s, lid, (uint32_t)v);
	if (netlink_number(a[RDMA_NLDEV_ATTR_SM_LID], &v))
		PORT_SUPPLY(s, sm_lid, (uint32_t)v);
	if (netlink_number(a[RDMA_NLDEV_ATTR_LMC], &v))
		PORT_SUPPLY(s, lmc, (uint32_t)v);
	/* A port without a netdev here has neither attribute: that is an answer too. */
	if (!netlink_number(a[RDMA_NLDEV_ATTR_NDEV_INDEX], &v) ||
	    !netlink_text(a[RDMA_NLDEV_ATTR_NDEV_NAME], name, sizeof(name))) {
		v = 0;
		name[0] = '\0';
	}
	PORT_SUPPLY(s, ifindex, (uint32_t)v);
	PORT_SUPPLY_TEXT(s, netdev, name);
	return 0;
}

int nldev_parse_chardev(const struct nlmsghdr *message, void *ret)
{
	NldevAttributes a;
	NldevChardev c = {};
	uint64_t id, number;
	int r = nldev_parse_attributes(message, a);

	if (r < 0)
		return r;
	/* The kernel's header says u64 of the driver's id, the kernel sends u32. The number is
	 * encoded as in struct stat. */
	if (!netlink_number(a[RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID], &id) || id > UINT32_MAX ||
	    !netlink_number(a[RDMA_NLDEV_ATTR_CHARDEV], &number) ||
	    !netlink_text(a[RDMA_NLDEV_ATTR_CHARDEV_NAME], c.name, sizeof(c.name)) ||
	    !startswith(c.name, "uverbs") || strchr(c.name, '/'))
		return -EBADMSG;
	c.driver_id = (uint32_t)id;
	c.major = major(number);
	c.minor = minor(number);
	*(NldevChardev *)ret = c;
	return 0;
}

static void read_counter(struct nlattr *entry, NldevCounters *c)
{
	CounterEntry e = {.group = COUNTER_GROUP_HARDWARE, .error = -ENODATA};
	NldevAttributes a;
	uint64_t v;

	if (nla_parse_nested(a, NLDEV_ATTR_LAST, entry, NULL) < 0 ||
	    !netlink_text(a[RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME], e.file, sizeof(e.file)))
		return;
	if (netlink_number(a[NLDEV_ATTR_STAT_HWCOUNTER_DYNAMIC], &v) && v && c->n < c->room)
		c->entries[c->n++] = e;
	for (size_t i = 0; i < c->n; i++)
		if (streq(c->entries[i].file, e.file) &&
		    netlink_number(a[RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE],
				   &c->entries[i].value))
			c->entries[i].error = 0;
}

int nldev_parse_counters(const struct nlmsghdr *message, void *counters)
{
	struct nlattr *entry;
	NldevAttributes a;
	int r = nldev_parse_attributes(message, a), left;

	if (r < 0 || !a[RDMA_NLDEV_ATTR_STAT_HWCOUNTERS])
		return r;
	nla_for_each_nested(entry, a[RDMA_NLDEV_ATTR_STAT_HWCOUNTERS], left)
		read_counter(entry, counters);
	return 0;
}

static int on_device(const struct nlmsghdr *message, void *userdata)
{
	DeviceSnapshot d, *ret = userdata;
	int r = nldev_parse_device(message, &d);

	if (r < 0)
		return r;
	device_snapshot_done(ret);
	*ret = d;
	return 0;
}

int nldev_get_device(Netlink *n, uint32_t index, DeviceSnapshot *s)
{
	struct nl_msg *m = request(RDMA_NLDEV_CMD_GET, 0);
	int r;

	if (!m)
		return -ENOMEM;
	nla_put_u32(m, RDMA_NLDEV_ATTR_DEV_INDEX, index);
	r = netlink_ask(n, m, on_device, s);
	/* With -EINVAL nldev says that there is no such device. */
	return r == -EINVAL ? -ENODEV : r;
}

typedef struct Search {
	const char *name;
	uint32_t index;
	bool found;
} Search;

static int on_candidate(const struct nlmsghdr *message, void *userdata)
{
	_cleanup_(device_snapshot_done) DeviceSnapshot s = {};
	Search *search = userdata;
	int r = nldev_parse_device(message, &s);

	if (r < 0)
		return r == -EILSEQ ? 0 : r;
	if (streq(TEXT_OF(&s.values, name), search->name)) {
		search->index = s.values.index;
		search->found = true;
	}
	return 0;
}

int nldev_find_device(Netlink *n, const char *name, uint32_t *ret)
{
	Search search = {.name = name};
	int r = -EINTR;

	for (unsigned int i = 0; i < NETLINK_DUMPS && r == -EINTR; i++) {
		struct nl_msg *m = request(RDMA_NLDEV_CMD_GET, NLM_F_DUMP);

		if (!m)
			return -ENOMEM;
		search.found = false;
		r = netlink_ask(n, m, on_candidate, &search);
	}
	if (r < 0)
		return r;
	if (!search.found)
		return -ENODEV;
	*ret = search.index;
	return 0;
}

static int ask_about_port(Netlink *n, int command, uint32_t index, uint32_t port,
			  NetlinkHandler handler, void *userdata)
{
	struct nl_msg *m = request(command, 0);

	if (!m)
		return -ENOMEM;
	nla_put_u32(m, RDMA_NLDEV_ATTR_DEV_INDEX, index);
	nla_put_u32(m, RDMA_NLDEV_ATTR_PORT_INDEX, port);
	return netlink_ask(n, m, handler, userdata);
}

void nldev_get_optional_counters(Netlink *n, uint32_t index, uint32_t port, NldevCounters *c)
{
	/* kernels before 5.16 know no such question, and have no such counters */
	if (ask_about_port(n, NLDEV_CMD_STAT_GET_STATUS, index, port, nldev_parse_counters, c) ==
		    0 &&
	    c->n > 0)
		(void)ask_about_port(n, RDMA_NLDEV_CMD_STAT_GET, index, port, nldev_parse_counters,
				     c);
}

int nldev_get_port(Netlink *n, uint32_t index, uint32_t port, PortSnapshot *s)
{
	return ask_about_port(n, RDMA_NLDEV_CMD_PORT_GET, index, port, nldev_parse_port, s);
}

int nldev_get_chardev(Netlink *n, uint32_t index, NldevChardev *ret)
{
	struct nl_msg *m = request(RDMA_NLDEV_CMD_GET_CHARDEV, 0);

	if (!m)
		return -ENOMEM;
	nla_put_u32(m, RDMA_NLDEV_ATTR_DEV_INDEX, index);
	nla_put_string(m, RDMA_NLDEV_ATTR_CHARDEV_TYPE, "uverbs");
	return netlink_ask(n, m, nldev_parse_chardev, ret);
}
