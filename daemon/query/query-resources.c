/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "query-resources.h"

#include <rdma/rdma_netlink.h>

#include "netlink-value.h"

static struct nl_msg *request(int command, int flags, uint32_t index)
{
	struct nl_msg *m = nlmsg_alloc_simple(RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command), flags);

	if (m)
		nla_put_u32(m, RDMA_NLDEV_ATTR_DEV_INDEX, index);
	return m;
}

/* The summary */

/* What the kernel calls a kind of resource: fill_res_info() in drivers/infiniband/core/nldev.c. It
 * says srq since Linux 5.14. Kinds of later kernels are passed over. */
static void supply_count(DeviceSnapshot *s, const char *kind, uint32_t n)
{
	if (streq(kind, "qp"))
		DEVICE_SUPPLY(s, qp_count, n);
	else if (streq(kind, "cq"))
		DEVICE_SUPPLY(s, cq_count, n);
	else if (streq(kind, "srq"))
		DEVICE_SUPPLY(s, srq_count, n);
	else if (streq(kind, "mr"))
		DEVICE_SUPPLY(s, mr_count, n);
	else if (streq(kind, "pd"))
		DEVICE_SUPPLY(s, pd_count, n);
	else if (streq(kind, "ctx"))
		DEVICE_SUPPLY(s, ctx_count, n);
	else if (streq(kind, "cm_id"))
		DEVICE_SUPPLY(s, cm_id_count, n);
}

static void parse_summary_entry(struct nlattr *entry, DeviceSnapshot *s)
{
	struct nlattr *name, *count;
	AttrText kind;
	uint64_t n;

	name = nla_find(nla_data(entry), nla_len(entry), RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME);
	count = nla_find(nla_data(entry), nla_len(entry), RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR);
	/* The greatest number of the type stands for no value. */
	if (netlink_text(name, kind, sizeof(kind)) && netlink_number(count, &n) && n < UINT32_MAX)
		supply_count(s, kind, (uint32_t)n);
}

int resources_parse_summary(const struct nlmsghdr *message, DeviceSnapshot *s)
{
	NldevAttributes a;
	struct nlattr *entry;
	int r = nldev_parse_attributes(message, a), left;

	if (r < 0)
		return r;
	if (!a[RDMA_NLDEV_ATTR_RES_SUMMARY])
		return -EBADMSG;
	nla_for_each_nested(entry, a[RDMA_NLDEV_ATTR_RES_SUMMARY], left)
		if (nla_type(entry) == RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY)
			parse_summary_entry(entry, s);
	return 0;
}

static int on_summary(const struct nlmsghdr *message, void *userdata)
{
	return resources_parse_summary(message, userdata);
}

int resources_get_summary(Netlink *n, uint32_t index, DeviceSnapshot *s)
{
	struct nl_msg *m = request(RDMA_NLDEV_CMD_RES_GET, 0, index);

	return m ? netlink_ask(n, m, on_summary, s) : -ENOMEM;
}
