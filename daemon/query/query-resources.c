/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "query-resources.h"

#include <linux/netlink.h>
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

/* The kernel's names of the kinds of resources: fill_res_info() in drivers/infiniband/core/nldev.c.
 * The name srq is there since Linux 5.13, and how many there can be of five of them since 7.3: that
 * is also what verbs says. Kinds of later kernels are passed over. */
static const struct {
	const char *kind;
	DeviceAttr count, limit;
} kinds[] = {
	{"qp", DEVICE_ATTR_qp_count, DEVICE_ATTR_max_qp},
	{"cq", DEVICE_ATTR_cq_count, DEVICE_ATTR_max_cq},
	{"srq", DEVICE_ATTR_srq_count, DEVICE_ATTR_max_srq},
	{"mr", DEVICE_ATTR_mr_count, DEVICE_ATTR_max_mr},
	{"pd", DEVICE_ATTR_pd_count, DEVICE_ATTR_max_pd},
	{"ctx", DEVICE_ATTR_ctx_count, _DEVICE_ATTR_MAX},
	{"cm_id", DEVICE_ATTR_cm_id_count, _DEVICE_ATTR_MAX},
};

/* The number that ENTRY has as TYPE, if it has one. */
static void supply_number(DeviceSnapshot *s, DeviceAttr attr, struct nlattr *entry, int type)
{
	uint64_t n;

	/* The greatest number of the rows stands for no value. */
	if (!netlink_number(nla_find(nla_data(entry), nla_len(entry), type), &n) || n >= UINT32_MAX)
		return;
	attr_set_raw(&device_attributes[attr], &s->values, n);
	mask_set(&s->supplied, attr, true);
}

static void parse_summary_entry(struct nlattr *entry, DeviceSnapshot *s)
{
	struct nlattr *name =
		nla_find(nla_data(entry), nla_len(entry), RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME);
	AttrText kind;

	if (!netlink_text(name, kind, sizeof(kind)))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (!streq(kind, kinds[i].kind))
			continue;
		supply_number(s, kinds[i].count, entry, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR);
		if (kinds[i].limit != _DEVICE_ATTR_MAX)
			supply_number(s, kinds[i].limit, entry, NLDEV_ATTR_SUMMARY_MAX);
	}
}

int resources_parse_summary(const struct nlmsghdr *message, void *device)
{
	DeviceSnapshot *s = device;
	NldevAttributes a;
	struct nlattr *entry;
	int r = nldev_parse_attributes(message, a), left;

	if (r < 0)
		return r;
	if (!a[RDMA_NLDEV_ATTR_RES_SUMMARY])
		return -EBADMSG;
	nla_for_each_nested(entry, a[RDMA_NLDEV_ATTR_RES_SUMMARY],
			    left) if (nla_type(entry) == RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY)
		parse_summary_entry(entry, s);
	return 0;
}

int resources_get_summary(Netlink *n, uint32_t index, DeviceSnapshot *s)
{
	struct nl_msg *m = request(RDMA_NLDEV_CMD_RES_GET, 0, index);

	return m ? netlink_ask(n, m, resources_parse_summary, s) : -ENOMEM;
}

/* The users */

void holders_done(Holders *h)
{
	free(h->entries);
	*h = (Holders){};
}

static bool is_same(const HolderEntry *a, const HolderEntry *b)
{
	return a->kind == b->kind && a->pid == b->pid && streq(a->name, b->name);
}

static HolderEntry *find(Holders *h, const HolderEntry *e)
{
	/* often those of one process come one after the other */
	if (h->last < h->n && is_same(&h->entries[h->last], e))
		return &h->entries[h->last];
	for (size_t i = 0; i < h->n; i++)
		if (is_same(&h->entries[i], e))
			return &h->entries[i];
	return NULL;
}

static int count_qp(Holders *h, const HolderEntry *e)
{
	static const HolderEntry unknown = {.kind = USER_UNKNOWN, .uid = USER_NO_UID};
	HolderEntry *at = find(h, e);

	/* the last place is for those that are not known */
	if (!at && h->n >= TABLE_ENTRIES_MAX - 1 && e->kind != USER_UNKNOWN)
		return count_qp(h, &unknown);
	if (!at) {
		if (!array_grow(h->entries, h->n))
			return -ENOMEM;
		at = &h->entries[h->n++];
		*at = *e;
	}
	at->qps++;
	h->last = (size_t)(at - h->entries);
	return 0;
}

static int parse_qp(struct nlattr *qp, Holders *h)
{
	struct nlattr *pid = nla_find(nla_data(qp), nla_len(qp), RDMA_NLDEV_ATTR_RES_PID);
	struct nlattr *name = nla_find(nla_data(qp), nla_len(qp), RDMA_NLDEV_ATTR_RES_KERN_NAME);
	HolderEntry e = {.kind = USER_UNKNOWN, .uid = USER_NO_UID};
	uint64_t number;

	if (netlink_text(name, e.name, sizeof(e.name))) {
		e.kind = USER_KERNEL;
	} else if (netlink_number(pid, &number) && number > 0 && number <= INT32_MAX) {
		e.kind = USER_PROCESS;
		e.pid = (uint32_t)number;
	}
	return count_qp(h, &e);
}

int resources_parse_users(const struct nlmsghdr *message, void *holders)
{
	NldevAttributes a;
	struct nlattr *qp;
	int r = nldev_parse_attributes(message, a), left;

	if (r < 0 || !a[RDMA_NLDEV_ATTR_RES_QP])
		return r;
	nla_for_each_nested(qp, a[RDMA_NLDEV_ATTR_RES_QP],
			    left) if (r == 0 && nla_type(qp) == RDMA_NLDEV_ATTR_RES_QP_ENTRY) r =
		parse_qp(qp, holders);
	return r;
}

int resources_get_users(Netlink *n, uint32_t index, uint32_t port, Table **ret)
{
	_cleanup_(holders_done) Holders h = {};
	int r = -EINTR;

	for (unsigned int i = 0; i < NETLINK_DUMPS && r == -EINTR; i++) {
		struct nl_msg *m = request(RDMA_NLDEV_CMD_RES_QP_GET, NLM_F_DUMP, index);

		if (!m)
			return -ENOMEM;
		nla_put_u32(m, RDMA_NLDEV_ATTR_PORT_INDEX, port);
		h.n = 0;
		r = netlink_ask(n, m, resources_parse_users, &h);
	}
	if (r < 0 && r != -ETIME)
		return r;
	return table_make(h.entries, h.n, sizeof(*h.entries), ret) < 0 ? -ENOMEM : r;
}
