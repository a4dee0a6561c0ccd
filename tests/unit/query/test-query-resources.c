/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the worker reads of the resources of a device. The messages are made here. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */
#include <rdma/rdma_netlink.h>

#include "query-resources.h"

static struct nl_msg *device_message(void)
{
	struct nl_msg *m = nlmsg_alloc_simple(0, 0);

	assert_non_null(m);
	nla_put_u32(m, RDMA_NLDEV_ATTR_DEV_INDEX, 5);
	nla_put_string(m, RDMA_NLDEV_ATTR_DEV_NAME, "mlx5_0");
	return m;
}

static void put_limited(struct nl_msg *m, const char *kind, uint64_t n, uint64_t limit)
{
	struct nlattr *entry = nla_nest_start(m, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY);

	nla_put_string(m, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME, kind);
	nla_put_u64(m, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR, n);
	if (limit)
		nla_put_u64(m, NLDEV_ATTR_SUMMARY_MAX, limit);
	nla_nest_end(m, entry);
}

static void put_count(struct nl_msg *m, const char *kind, uint64_t n)
{
	put_limited(m, kind, n, 0);
}

static void test_summary(_unused_ void **state)
{
	struct nl_msg *m = device_message();
	struct nlattr *table = nla_nest_start(m, RDMA_NLDEV_ATTR_RES_SUMMARY);
	DeviceSnapshot s = {};

	/* the order of the kernel, and a kind of a later one */
	put_count(m, "pd", 3);
	put_count(m, "cq", 0);
	put_count(m, "qp", 131072);
	put_count(m, "cm_id", 4);
	put_count(m, "mr", 5);
	put_count(m, "ctx", 6);
	put_count(m, "dmah", 7);
	nla_nest_end(m, table);
	assert_int_equal(resources_parse_summary(nlmsg_hdr(m), &s), 0);
	assert_int_equal(s.values.pd_count, 3);
	assert_int_equal(s.values.cq_count, 0);
	assert_true(mask_has(&s.supplied, DEVICE_ATTR_cq_count));
	assert_int_equal(s.values.qp_count, 131072);
	assert_int_equal(s.values.cm_id_count, 4);
	assert_int_equal(s.values.mr_count, 5);
	assert_int_equal(s.values.ctx_count, 6);
	/* the kernel did not say that there are none */
	assert_false(mask_has(&s.supplied, DEVICE_ATTR_srq_count));
	nlmsg_free(m);
}

/* Since 7.3: how many there can be, which verbs says too. */
static void test_limits(_unused_ void **state)
{
	struct nl_msg *m = device_message();
	struct nlattr *table = nla_nest_start(m, RDMA_NLDEV_ATTR_RES_SUMMARY);
	DeviceSnapshot s = {};

	put_limited(m, "pd", 1, 32768);
	put_limited(m, "cq", 2, 65536);
	put_limited(m, "qp", 3, 131072);
	put_limited(m, "mr", 4, 1000000);
	put_limited(m, "srq", 5, UINT64_C(1) << 32);
	put_limited(m, "ctx", 6, 7);
	nla_nest_end(m, table);
	assert_int_equal(resources_parse_summary(nlmsg_hdr(m), &s), 0);
	assert_int_equal(s.values.max_pd, 32768);
	assert_int_equal(s.values.max_cq, 65536);
	assert_int_equal(s.values.max_qp, 131072);
	assert_int_equal(s.values.max_mr, 1000000);
	assert_false(mask_has(&s.supplied, DEVICE_ATTR_max_srq));
	assert_int_equal(s.values.srq_count, 5);
	assert_int_equal(s.values.ctx_count, 6);
	nlmsg_free(m);
}

/* An entry that makes no sense leaves the others alone. */
static void test_odd_summary(_unused_ void **state)
{
	struct nl_msg *m = device_message();
	struct nlattr *table, *entry;
	DeviceSnapshot s = {};

	assert_int_equal(resources_parse_summary(nlmsg_hdr(m), &s), -EBADMSG);
	table = nla_nest_start(m, RDMA_NLDEV_ATTR_RES_SUMMARY);
	entry = nla_nest_start(m, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY);
	nla_put_string(m, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME, "cq"); /* no number */
	nla_nest_end(m, entry);
	entry = nla_nest_start(m, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY);
	nla_put_u64(m, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR, 9); /* no name */
	nla_nest_end(m, entry);
	entry = nla_nest_start(m, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY);
	nla_put_string(m, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME, "mr");
	nla_put(m, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR, 3, "abc");
	nla_nest_end(m, entry);
	nla_put(m, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY, 2, "x"); /* not even an attribute in it */
	put_count(m, "pd", UINT64_C(1) << 32);
	put_count(m, "qp", 2);
	nla_nest_end(m, table);
	assert_int_equal(resources_parse_summary(nlmsg_hdr(m), &s), 0);
	assert_false(mask_has(&s.supplied, DEVICE_ATTR_cq_count));
	assert_false(mask_has(&s.supplied, DEVICE_ATTR_mr_count));
	assert_false(mask_has(&s.supplied, DEVICE_ATTR_pd_count));
	assert_int_equal(s.values.qp_count, 2);
	nlmsg_free(m);
}

/* A queue pair with the attributes that are not NULL or 0. */
static void put_qp(struct nl_msg *m, uint32_t pid, const char *kernel)
{
	struct nlattr *entry = nla_nest_start(m, RDMA_NLDEV_ATTR_RES_QP_ENTRY);

	nla_put_u32(m, RDMA_NLDEV_ATTR_RES_LQPN, 17);
	if (pid)
		nla_put_u32(m, RDMA_NLDEV_ATTR_RES_PID, pid);
	if (kernel)
		nla_put_string(m, RDMA_NLDEV_ATTR_RES_KERN_NAME, kernel);
	nla_nest_end(m, entry);
}

static void assert_holder(const Holders *h, size_t i, uint32_t kind, uint32_t pid, const char *name,
			  uint32_t qps)
{
	assert_true(i < h->n);
	assert_int_equal(h->entries[i].kind, kind);
	assert_int_equal(h->entries[i].pid, pid);
	assert_string_equal(h->entries[i].name, name);
	assert_int_equal(h->entries[i].qps, qps);
	assert_int_equal(h->entries[i].uid, USER_NO_UID);
	assert_int_equal(h->entries[i].started, 0);
}

/* A dump has several messages: each has some of the queue pairs. */
static void test_users(_unused_ void **state)
{
	_cleanup_(holders_done) Holders h = {};

	for (unsigned int i = 0; i < 2; i++) {
		struct nl_msg *m = device_message();
		struct nlattr *table = nla_nest_start(m, RDMA_NLDEV_ATTR_RES_QP);

		put_qp(m, 0, "ib_core");
		put_qp(m, 4711, NULL);
		put_qp(m, 4712, NULL);
		put_qp(m, 4711, NULL);
		put_qp(m, 0, NULL);
		put_qp(m, 0, "a_name_that_is_too_long");
		nla_nest_end(m, table);
		assert_int_equal(resources_parse_users(nlmsg_hdr(m), &h), 0);
		nlmsg_free(m);
	}
	assert_int_equal(h.n, 5);
	assert_holder(&h, 0, USER_KERNEL, 0, "ib_core", 2);
	assert_holder(&h, 1, USER_PROCESS, 4711, "", 4);
	assert_holder(&h, 2, USER_PROCESS, 4712, "", 2);
	assert_holder(&h, 3, USER_UNKNOWN, 0, "", 2);
	assert_holder(&h, 4, USER_KERNEL, 0, "a_name_that_is_", 2);
}

/* What makes no sense is a queue pair of which nothing is known, or none. */
static void test_odd_users(_unused_ void **state)
{
	_cleanup_(holders_done) Holders h = {};
	struct nl_msg *m = device_message();
	struct nlattr *table, *entry;

	/* the end of a dump: no table */
	assert_int_equal(resources_parse_users(nlmsg_hdr(m), &h), 0);
	assert_int_equal(h.n, 0);
	table = nla_nest_start(m, RDMA_NLDEV_ATTR_RES_QP);
	put_qp(m, UINT32_MAX, NULL);
	entry = nla_nest_start(m, RDMA_NLDEV_ATTR_RES_QP_ENTRY);
	nla_put(m, RDMA_NLDEV_ATTR_RES_PID, 3, "abc");
	nla_nest_end(m, entry);
	nla_put(m, RDMA_NLDEV_ATTR_RES_QP_ENTRY, 2, "x"); /* no attribute in it */
	nla_put_u32(m, RDMA_NLDEV_ATTR_RES_PID, 5);	  /* no entry */
	nla_nest_end(m, table);
	assert_int_equal(resources_parse_users(nlmsg_hdr(m), &h), 0);
	assert_int_equal(h.n, 1);
	assert_holder(&h, 0, USER_UNKNOWN, 0, "", 3);
	nlmsg_free(m);
}

/* More processes than a table may have: the rest counts as not known, and none is lost. */
static void test_many_users(_unused_ void **state)
{
	enum { PROCESSES = TABLE_ENTRIES_MAX + 50 };
	_cleanup_(holders_done) Holders h = {};
	uint32_t qps = 0;

	for (uint32_t pid = 1; pid <= PROCESSES; pid++) {
		struct nl_msg *m = device_message();
		struct nlattr *table = nla_nest_start(m, RDMA_NLDEV_ATTR_RES_QP);

		put_qp(m, pid, NULL);
		nla_nest_end(m, table);
		assert_int_equal(resources_parse_users(nlmsg_hdr(m), &h), 0);
		nlmsg_free(m);
	}
	assert_int_equal(h.n, TABLE_ENTRIES_MAX);
	for (size_t i = 0; i < h.n; i++)
		qps += h.entries[i].qps;
	assert_int_equal(qps, PROCESSES);
	assert_holder(&h, TABLE_ENTRIES_MAX - 1, USER_UNKNOWN, 0, "", 51);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_summary),	    cmocka_unit_test(test_limits),
		cmocka_unit_test(test_odd_summary), cmocka_unit_test(test_users),
		cmocka_unit_test(test_odd_users),   cmocka_unit_test(test_many_users),
	};

	return cmocka_run_group_tests_name("query-resources", tests, NULL, NULL);
}
