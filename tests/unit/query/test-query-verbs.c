/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How answers of libibverbs are translated: GID tables and async events. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "query-events.h"
#include "query-verbs.h"

static struct ibv_gid_entry gid(uint32_t port, uint32_t index, uint8_t last, uint32_t ifindex)
{
	struct ibv_gid_entry e = {.gid_index = index,
				  .port_num = port,
				  .gid_type = IBV_GID_TYPE_ROCE_V2,
				  .ndev_ifindex = ifindex};

	e.gid.raw[0] = last ? 0xfe : 0;
	e.gid.raw[15] = last;
	return e;
}

static void test_gid_table(_unused_ void **state)
{
	uint32_t lo = 1;
	struct ibv_gid_entry entries[] = {
		gid(1, 7, 7, lo), gid(2, 0, 9, 0),	    gid(1, 0, 1, lo),
		gid(1, 3, 0, lo), gid(1, 2, 2, 2000000000),
	};
	const VerbsGids gids = {entries, ARRAY_SIZE(entries)};
	_cleanup_(table_free_pointer) Table *t = NULL;
	GidEntry expected = {.index = 0, .type = GID_TYPE_ROCE_V2, .ifindex = lo};
	const GidEntry *e;

	assert_int_equal(verbs_gid_table(&gids, 1, &t), 0);
	assert_non_null(t);
	assert_int_equal(t->n, 3); /* not the empty one, not the other port's */
	e = (const GidEntry *)(const void *)t->entries;
	expected.gid[0] = 0xfe;
	expected.gid[15] = 1;
	assert_memory_equal(&e[0], &expected, sizeof(expected)); /* unused bytes too */
	assert_int_equal(e[1].index, 2);
	assert_int_equal(e[1].ifindex, 2000000000);
	assert_int_equal(e[2].index, 7);
}

static void test_gid_table_empty(void **state)
{
	struct ibv_gid_entry entries[] = {gid(2, 0, 9, 0)};
	const VerbsGids gids = {entries, 1}, none = {};
	Table *t = (Table *)state;

	assert_int_equal(verbs_gid_table(&gids, 1, &t), 0);
	assert_null(t);
	assert_int_equal(verbs_gid_table(&none, 1, &t), 0);
	assert_null(t);
}

static void test_events(_unused_ void **state)
{
	static const struct {
		unsigned int type;
		EventReason reason;
		uint32_t port;
	} known[] = {
		{IBV_EVENT_PORT_ACTIVE, REASON_PORT_ACTIVE, 2},
		{IBV_EVENT_PORT_ERR, REASON_PORT_ERROR, 2},
		{IBV_EVENT_LID_CHANGE, REASON_LID_CHANGE, 2},
		{IBV_EVENT_SM_CHANGE, REASON_SM_CHANGE, 2},
		{IBV_EVENT_CLIENT_REREGISTER, REASON_CLIENT_REREGISTER, 2},
		{IBV_EVENT_PKEY_CHANGE, REASON_PKEY_CHANGE, 2},
		{IBV_EVENT_GID_CHANGE, REASON_GID_CHANGE, 2},
		{IBV_EVENT_DEVICE_FATAL, REASON_DEVICE_FATAL, EVENT_ALL_PORTS},
		{20, REASON_SPEED_CHANGE, EVENT_ALL_PORTS}, /* IBV_EVENT_DEVICE_SPEED_CHANGE */
	};
	Event e = {};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		assert_true(event_translate(known[i].type, 2, 5, &e));
		assert_int_equal(e.device, 5);
		assert_int_equal(e.reason, known[i].reason);
		assert_int_equal(e.port, known[i].port);
	}
	/* a port that cannot exist: the core checks that */
	assert_true(event_translate(IBV_EVENT_SM_CHANGE, 0x10002, 5, &e));
	assert_int_equal(e.port, 0x10002);
	assert_false(event_translate(IBV_EVENT_QP_FATAL, 1, 5, &e));
	assert_false(event_translate(IBV_EVENT_CQ_ERR, 1, 5, &e));
	assert_false(event_translate(IBV_EVENT_SRQ_LIMIT_REACHED, 1, 5, &e));
	assert_false(event_translate(99, 1, 5, &e));
}

/* No such device, whether or not the machine has RDMA at all. */
static void test_contexts(_unused_ void **state)
{
	_cleanup_(contexts_free_pointer) Contexts *c = contexts_free(NULL);
	struct ibv_context *context = NULL;

	assert_int_equal(contexts_new(&c), 0);
	assert_int_equal(contexts_get(c, 4000000000U, "none", true, &context), -ENODEV);
	assert_int_equal(contexts_get(c, 4000000000U, "none", true, &context), -ENODEV);
	assert_false(contexts_holds(c, 4000000000U));
	contexts_forget(c, 4000000000U);
	events_drain(c, NULL, NULL);
	assert_true(contexts_fd(c) >= 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gid_table),
		cmocka_unit_test(test_gid_table_empty),
		cmocka_unit_test(test_events),
		cmocka_unit_test(test_contexts),
	};

	return cmocka_run_group_tests_name("query-verbs", tests, NULL, NULL);
}
