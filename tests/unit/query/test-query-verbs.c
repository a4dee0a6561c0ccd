/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How answers of libibverbs are translated: ports, GID tables and async events. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "query-events.h"
#include "query-ioctl.h"
#include "query-limits.h"
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

/* A context of a provider that answers what the test says. */

static struct ibv_port_attr answer;
static int answer_error;
static uint64_t port_speed; /* 100 Mbit/s */
static uint32_t kernel_speed;
static unsigned int n_ioctls;

static int on_query_port(_unused_ struct ibv_context *context, uint8_t port,
			 struct ibv_port_attr *ret, size_t size)
{
	assert_int_equal(port, 2);
	assert_true(size <= sizeof(answer));
	if (answer_error)
		return answer_error;
	memcpy(ret, &answer, size);
	return 0;
}

/* rdma-core 62 has this function, and the worker looks for it by its name. */
__attribute__((visibility("default"))) int ibv_query_port_speed(struct ibv_context *context,
								uint32_t port, uint64_t *ret);
int ibv_query_port_speed(_unused_ struct ibv_context *context, uint32_t port, uint64_t *ret)
{
	assert_int_equal(port, 2);
	*ret = port_speed;
	return port_speed ? 0 : EOPNOTSUPP;
}

int __wrap_ioctl_query_active_speed_ex(struct ibv_context *context, uint32_t port,
				       uint32_t driver_id, uint32_t *ret);
int __wrap_ioctl_query_active_speed_ex(_unused_ struct ibv_context *context, uint32_t port,
				       uint32_t driver_id, uint32_t *ret)
{
	assert_int_equal(port, 2);
	assert_int_equal(driver_id, n_ioctls == 0 ? 0 : 7);
	n_ioctls++;
	*ret = kernel_speed;
	return 0;
}

static struct verbs_context provider = {
	.sz = sizeof(provider),
	.query_port = on_query_port,
};

static int query(VerbsDevice *d, PortSnapshot *s)
{
	provider.context.abi_compat = __VERBS_ABI_IS_EXTENDED;
	return verbs_query_port(&provider.context, 2, d, s);
}

static bool supplied(const PortSnapshot *s, PortAttr a)
{
	return mask_has(&s->supplied, a);
}

/* Each value goes to its own row. */
static void test_port(_unused_ void **state)
{
	VerbsDevice d = {.driver_id = 7};
	PortSnapshot s = {};

	answer = (struct ibv_port_attr){.state = IBV_PORT_ACTIVE,
					.max_mtu = IBV_MTU_4096,
					.active_mtu = IBV_MTU_1024,
					.gid_tbl_len = 8,
					.port_cap_flags = 9,
					.max_msg_sz = 10,
					.bad_pkey_cntr = 11,
					.qkey_viol_cntr = 12,
					.pkey_tbl_len = 13,
					.lid = 14,
					.sm_lid = 15,
					.lmc = 3,
					.max_vl_num = 17,
					.sm_sl = 18,
					.subnet_timeout = 19,
					.init_type_reply = 20,
					.active_width = 21,
					.active_speed = 22,
					.phys_state = 5,
					.link_layer = IBV_LINK_LAYER_INFINIBAND,
					.flags = 25,
					.port_cap_flags2 = 26};
	port_speed = 4000;
	assert_int_equal(query(&d, &s), 0);
	port_speed = 0;
	assert_int_equal(s.values.state, IBV_PORT_ACTIVE);
	assert_int_equal(s.values.max_mtu, IBV_MTU_4096);
	assert_int_equal(s.values.active_mtu, IBV_MTU_1024);
	assert_int_equal(s.values.gid_tbl_len, 8);
	assert_int_equal(s.values.port_cap_flags, 9);
	assert_int_equal(s.values.max_msg_sz, 10);
	assert_int_equal(s.values.pkey_tbl_len, 13);
	assert_int_equal(s.values.lid, 14);
	assert_int_equal(s.values.sm_lid, 15);
	assert_int_equal(s.values.lmc, 3);
	assert_int_equal(s.values.max_vl_num, 17);
	assert_int_equal(s.values.sm_sl, 18);
	assert_int_equal(s.values.subnet_timeout, 19);
	assert_int_equal(s.values.active_width, 21);
	assert_int_equal(s.values.active_speed, 22);
	assert_int_equal(s.values.phys_state, 5);
	assert_int_equal(s.values.link_layer, IBV_LINK_LAYER_INFINIBAND);
	assert_int_equal(s.values.flags, 25);
	assert_int_equal(s.values.port_cap_flags2, 26);
	assert_true(s.values.port_speed == UINT64_C(400000000000));
	for (PortAttr a = 0; a < _PORT_ATTR_MAX; a++)
		if (supplied(&s, a))
			assert_true(port_attributes[a].size > 0);
	/* the device says that it has none of these */
	assert_false(supplied(&s, PORT_ATTR_init_type_reply));
	assert_false(supplied(&s, PORT_ATTR_bad_pkey_cntr));
	assert_false(supplied(&s, PORT_ATTR_qkey_viol_cntr));
	assert_false(supplied(&s, PORT_ATTR_active_speed_ex));
	assert_int_equal(n_ioctls, 0);
}

/* Values that a device has only if it says so */
static void test_port_optional(_unused_ void **state)
{
	VerbsDevice d = {.driver_id = 7, .cap_flags = IBV_DEVICE_INIT_TYPE};
	PortSnapshot s = {};

	answer = (struct ibv_port_attr){
		.bad_pkey_cntr = 11, .qkey_viol_cntr = 12, .init_type_reply = 20};
	assert_int_equal(query(&d, &s), 0);
	assert_int_equal(s.values.init_type_reply, 20);
	assert_true(supplied(&s, PORT_ATTR_init_type_reply));
	assert_false(supplied(&s, PORT_ATTR_bad_pkey_cntr) ||
		     supplied(&s, PORT_ATTR_qkey_viol_cntr));
	d.cap_flags = IBV_DEVICE_BAD_PKEY_CNTR;
	assert_int_equal(query(&d, &s), 0);
	assert_int_equal(s.values.bad_pkey_cntr, 11);
	assert_false(supplied(&s, PORT_ATTR_qkey_viol_cntr));
	d.cap_flags = IBV_DEVICE_BAD_QKEY_CNTR;
	assert_int_equal(query(&d, &s), 0);
	assert_int_equal(s.values.qkey_viol_cntr, 12);
	assert_true(supplied(&s, PORT_ATTR_bad_pkey_cntr) &&
		    supplied(&s, PORT_ATTR_qkey_viol_cntr));
}

/* LIDs of Omni-Path do not fit; a table of no length is none. */
static void test_port_of_other_kinds(_unused_ void **state)
{
	VerbsDevice opa = {.driver_id = 7, .opa = true};
	PortSnapshot s = {};

	answer = (struct ibv_port_attr){.lid = 14, .sm_lid = 15, .lmc = 1, .gid_tbl_len = -1};
	assert_int_equal(query(&opa, &s), 0);
	assert_false(supplied(&s, PORT_ATTR_lid) || supplied(&s, PORT_ATTR_sm_lid));
	assert_true(supplied(&s, PORT_ATTR_lmc));
	assert_int_equal(s.values.gid_tbl_len, 0);
	assert_false(supplied(&s, PORT_ATTR_port_speed)); /* nobody knows it */
}

/* The older call has no room for these flags, and nldev may have said them before. */
static void test_port_cap_flags2(_unused_ void **state)
{
	static const struct {
		bool said;
		uint32_t nldev, verbs, is;
		bool incomplete;
	} cases[] = {
		{false, 0, 0, 0, false}, {false, 0, 5, 5, false}, {true, 0, 0, 0, false},
		{true, 3, 0, 3, true},	 {true, 3, 5, 5, false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		VerbsDevice d = {.driver_id = 7};
		PortSnapshot s = {};

		if (cases[i].said)
			PORT_SUPPLY(&s, port_cap_flags2, cases[i].nldev);
		answer = (struct ibv_port_attr){.port_cap_flags2 = (uint16_t)cases[i].verbs};
		assert_int_equal(query(&d, &s), 0);
		assert_true(supplied(&s, PORT_ATTR_port_cap_flags2));
		assert_int_equal(s.values.port_cap_flags2, cases[i].is);
		assert_int_equal(d.incomplete, cases[i].incomplete);
	}
}

/* Speeds above NDR do not fit eight bits: the kernel is asked then, if it is known whose ioctl it
 * is. */
static void test_port_speeds(_unused_ void **state)
{
	VerbsDevice d = {.driver_id = -1};
	PortSnapshot s = {};

	answer = (struct ibv_port_attr){.active_speed = 128};
	n_ioctls = 0;
	kernel_speed = 256;
	assert_int_equal(query(&d, &s), 0);
	assert_int_equal(n_ioctls, 0);
	assert_false(supplied(&s, PORT_ATTR_active_speed_ex));
	for (d.driver_id = 0; d.driver_id <= 7; d.driver_id += 7)
		assert_int_equal(query(&d, &s), 0);
	d.driver_id = 7;
	assert_int_equal(n_ioctls, 2);
	assert_int_equal(s.values.active_speed_ex, 256);
	port_speed = 8000;
	assert_int_equal(query(&d, &s), 0);
	assert_true(s.values.port_speed == UINT64_C(800000000000));
	/* a number that no bit rate has */
	port_snapshot_done(&s);
	port_speed = UINT64_MAX / 100000000;
	assert_int_equal(query(&d, &s), 0);
	assert_false(supplied(&s, PORT_ATTR_port_speed));
	port_speed = 0;
}

/* Providers return errno, negative or not, or -1 and errno. */
static void test_port_errors(_unused_ void **state)
{
	static const int cases[][3] = {{EIO, 0, -EIO}, {-1, ENODEV, -ENODEV}, {-1, 0, -EIO}};
	VerbsDevice d = {};
	PortSnapshot s = {};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		answer_error = cases[i][0];
		errno = cases[i][1];
		assert_int_equal(query(&d, &s), cases[i][2]);
	}
	answer_error = 0;
	assert_false(supplied(&s, PORT_ATTR_state));
}

/* The device */

static int on_query_device(_unused_ struct ibv_context *context,
			   _unused_ const struct ibv_query_device_ex_input *input,
			   struct ibv_device_attr_ex *ret, _unused_ size_t size)
{
	ret->orig_attr.vendor_id = 0x2c9;
	ret->orig_attr.vendor_part_id = 4123;
	ret->orig_attr.max_qp = 99;
	ret->orig_attr.device_cap_flags = IBV_DEVICE_BAD_PKEY_CNTR;
	return answer_error;
}

void __wrap_limits_supply(struct ibv_context *context, const struct ibv_device_attr_ex *a,
			  DeviceSnapshot *s);
void __wrap_limits_supply(struct ibv_context *context, const struct ibv_device_attr_ex *a,
			  DeviceSnapshot *s)
{
	assert_ptr_equal(context, &provider.context);
	DEVICE_SUPPLY(s, max_qp, (uint32_t)a->orig_attr.max_qp);
}

static void test_device(_unused_ void **state)
{
	DeviceSnapshot s = {};
	unsigned int flags = 7;

	provider.context.abi_compat = __VERBS_ABI_IS_EXTENDED;
	provider.query_device_ex = on_query_device;
	answer_error = EBUSY;
	assert_int_equal(verbs_query_device(&provider.context, &s, &flags), -EBUSY);
	assert_int_equal(flags, 7);
	assert_false(mask_has(&s.supplied, DEVICE_ATTR_vendor_id));
	answer_error = 0;
	assert_int_equal(verbs_query_device(&provider.context, &s, &flags), 0);
	assert_int_equal(flags, IBV_DEVICE_BAD_PKEY_CNTR);
	assert_int_equal(s.values.vendor_id, 0x2c9);
	assert_int_equal(s.values.vendor_part_id, 4123);
	assert_int_equal(s.values.max_qp, 99);
}

/* The GIDs that the kernel has: number I is that of port 1 + I % 2. */

static size_t n_gids;
static size_t rooms[4]; /* for which it was asked */
static unsigned int n_asked;
static uint32_t bad_index = UINT32_MAX, empty_index = UINT32_MAX;

static struct ibv_gid_entry kernel_gid(size_t i)
{
	return gid(1 + (uint32_t)(i % 2), (uint32_t)i, (uint8_t)(1 + i % 200), 0);
}

ssize_t __wrap__ibv_query_gid_table(struct ibv_context *context, struct ibv_gid_entry *entries,
				    size_t room, uint32_t flags, size_t size);
ssize_t __wrap__ibv_query_gid_table(_unused_ struct ibv_context *context,
				    struct ibv_gid_entry *entries, size_t room, uint32_t flags,
				    size_t size)
{
	assert_int_equal(flags, 0);
	assert_int_equal(size, sizeof(*entries));
	assert_true(n_asked < ARRAY_SIZE(rooms));
	rooms[n_asked++] = room;
	if (n_gids > room)
		return -EINVAL;
	for (size_t i = 0; i < n_gids; i++)
		entries[i] = kernel_gid(i);
	return (ssize_t)n_gids;
}

int __wrap__ibv_query_gid_ex(struct ibv_context *context, uint32_t port, uint32_t index,
			     struct ibv_gid_entry *entry, uint32_t flags, size_t size);
int __wrap__ibv_query_gid_ex(_unused_ struct ibv_context *context, uint32_t port, uint32_t index,
			     struct ibv_gid_entry *entry, uint32_t flags, size_t size)
{
	assert_int_equal(flags, 0);
	assert_int_equal(size, sizeof(*entry));
	assert_int_equal(port, 2);
	n_asked++;
	if (index == bad_index)
		return EIO;
	if (index == empty_index)
		return ENODATA;
	*entry = kernel_gid(2 * index + 1);
	return 0;
}

/* At once, with room for as many as there were and some more; if there are more, for as many as one
 * question can have. */
static void test_read_gids(_unused_ void **state)
{
	static const struct {
		size_t n, expected, first, second; /* 0: it was not asked again */
		int error;
	} cases[] = {
		{0, 0, 16, 0, 0},
		{16, 0, 16, 0, 0},
		{17, 0, 16, 2047, 0},
		{40, 24, 40, 0, 0},
		{2047, 2000, 2016, 2047, 0},
		{2048, 5000, 2047, 0, -EINVAL},
		{3000, 1, 17, 2047, -EINVAL},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		VerbsGids gids = {};

		n_gids = cases[i].n;
		n_asked = 0;
		assert_int_equal(verbs_read_gids(&provider.context, cases[i].expected, &gids),
				 cases[i].error);
		assert_int_equal(n_asked, cases[i].second ? 2 : 1);
		assert_int_equal(rooms[0], cases[i].first);
		if (cases[i].second)
			assert_int_equal(rooms[1], cases[i].second);
		assert_int_equal(gids.n, cases[i].error ? 0 : n_gids);
		assert_int_equal(gids.entries != NULL, cases[i].error == 0);
		for (size_t k = 0; k < gids.n; k++)
			assert_int_equal(gids.entries[k].gid_index, k);
		verbs_gids_done(&gids);
	}
}

/* One after the other; an empty place is none, and what cannot be read is not left out. */
static void test_read_port_gids(_unused_ void **state)
{
	VerbsGids gids = {}, none = {};

	n_asked = 0;
	empty_index = 1;
	assert_int_equal(verbs_read_port_gids(&provider.context, 2, 4, &gids), 0);
	assert_int_equal(n_asked, 4);
	assert_int_equal(gids.n, 3);
	assert_int_equal(gids.entries[0].gid_index, 1);
	assert_int_equal(gids.entries[1].gid_index, 5);
	assert_int_equal(gids.entries[2].gid_index, 7);
	verbs_gids_done(&gids);
	bad_index = 3;
	assert_int_equal(verbs_read_port_gids(&provider.context, 2, 4, &gids), -EIO);
	assert_null(gids.entries);
	bad_index = empty_index = UINT32_MAX;
	assert_int_equal(verbs_read_port_gids(&provider.context, 2, 0, &none), 0);
	assert_int_equal(none.n, 0);
	assert_non_null(none.entries);
	verbs_gids_done(&none);
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

/* A context that is retired, and how many events it has */
static struct ibv_context retired;
static unsigned int n_left;
static bool is_retired;

int __wrap_ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event);
int __wrap_ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
	assert_ptr_equal(context, &retired);
	if (n_left == 0) {
		errno = EAGAIN;
		return -1;
	}
	n_left--;
	*event =
		(struct ibv_async_event){.event_type = IBV_EVENT_LID_CHANGE, .element.port_num = 2};
	return 0;
}

void __wrap_ibv_ack_async_event(_unused_ struct ibv_async_event *event);
void __wrap_ibv_ack_async_event(_unused_ struct ibv_async_event *event)
{
}

struct ibv_context *__wrap_contexts_retired(_unused_ const Contexts *c, uint32_t *ret_device);
struct ibv_context *__wrap_contexts_retired(_unused_ const Contexts *c, uint32_t *ret_device)
{
	*ret_device = 7;
	return is_retired ? &retired : NULL;
}

void __wrap_contexts_close_retired(_unused_ Contexts *c);
void __wrap_contexts_close_retired(_unused_ Contexts *c)
{
	is_retired = false;
}

static struct {
	unsigned int lid_changes, overruns;
} heard;

static void on_retired(const Event *event, _unused_ void *userdata)
{
	assert_int_equal(event->device, 7);
	if (event->reason == REASON_OVERRUN) {
		assert_int_equal(event->port, EVENT_ALL_PORTS);
		heard.overruns++;
		return;
	}
	assert_int_equal(event->reason, REASON_LID_CHANGE);
	assert_int_equal(event->port, 2);
	heard.lid_changes++;
}

/* All events of a context that is retired are reported; if there are 1024 or more, something may
 * be lost. */
static void test_retired(_unused_ void **state)
{
	static const unsigned int n[] = {0, 1, 1023, 1024, 5000};
	_cleanup_(contexts_free_pointer) Contexts *c = NULL;

	assert_int_equal(contexts_new(&c), 0);
	for (size_t i = 0; i < ARRAY_SIZE(n); i++) {
		memset(&heard, 0, sizeof(heard));
		n_left = n[i];
		is_retired = true;
		events_drain(c, on_retired, NULL);
		assert_false(is_retired);
		assert_int_equal(heard.lid_changes, MIN(n[i], 1024U));
		assert_int_equal(heard.overruns, n[i] >= 1024);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gid_table),	cmocka_unit_test(test_gid_table_empty),
		cmocka_unit_test(test_events),		cmocka_unit_test(test_port),
		cmocka_unit_test(test_port_optional),	cmocka_unit_test(test_port_of_other_kinds),
		cmocka_unit_test(test_port_cap_flags2), cmocka_unit_test(test_port_speeds),
		cmocka_unit_test(test_port_errors),	cmocka_unit_test(test_device),
		cmocka_unit_test(test_read_gids),	cmocka_unit_test(test_read_port_gids),
		cmocka_unit_test(test_contexts),	cmocka_unit_test(test_retired),
	};

	return cmocka_run_group_tests_name("query-verbs", tests, NULL, NULL);
}
