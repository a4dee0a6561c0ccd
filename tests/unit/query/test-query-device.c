/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Why a device has no values of verbs: whoever is asked for them is replaced. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "query-device.h"

/* What verbs and the vendor's library answer. */
static int verbs_answer, library_answer, resources_answer;

int __wrap_verbs_query_device(struct ibv_context *context, DeviceSnapshot *s,
			      unsigned int *ret_cap_flags);
int __wrap_verbs_query_device(_unused_ struct ibv_context *context, DeviceSnapshot *s,
			      _unused_ unsigned int *ret_cap_flags)
{
	if (verbs_answer == 0)
		DEVICE_SUPPLY(s, vendor_id, 0x2c9);
	return verbs_answer;
}

static int ask_library(_unused_ struct ibv_context *context, DeviceSnapshot *s)
{
	if (library_answer == 0)
		DEVICE_SUPPLY(s, num_lag_ports, 2);
	return library_answer;
}

static const DvProvider library = {
	.name = "mlx5", .device_interface = INTERFACE_DEVICE_MLX5, .query_device = ask_library};

int __wrap_target_sysfs(Target *t);
int __wrap_target_sysfs(_unused_ Target *t)
{
	return -EBADF;
}

bool __wrap_contexts_holds(const Contexts *c, uint32_t device);
bool __wrap_contexts_holds(_unused_ const Contexts *c, _unused_ uint32_t device)
{
	return true;
}

void __wrap_accelerators_refresh(Accelerators *a);
void __wrap_accelerators_refresh(_unused_ Accelerators *a)
{
}

int __wrap_resources_get_summary(Netlink *n, uint32_t index, DeviceSnapshot *s);
int __wrap_resources_get_summary(_unused_ Netlink *n, _unused_ uint32_t index, DeviceSnapshot *s)
{
	if (resources_answer == 0)
		DEVICE_SUPPLY(s, qp_count, 3);
	return resources_answer;
}

void __wrap_gpudirect_supply_dma_buf(struct ibv_context *context, DmaBuf *known, DeviceSnapshot *s);
void __wrap_gpudirect_supply_dma_buf(_unused_ struct ibv_context *context, _unused_ DmaBuf *known,
				     _unused_ DeviceSnapshot *s)
{
}

typedef struct Case {
	bool has_context, is_isolated;
	int open_error, verbs, library, resources;
	const char *vendor, *limit, *lag, *efa,
		*qps; /* why there is no such value; "": there is one */
} Case;

static const char *why(const DeviceSnapshot *s, DeviceAttr a)
{
	const Unavailable *u = device_unavailable(s, a);

	return u ? u->code : "";
}

static void query(const Case *c, DeviceSnapshot *ret)
{
	static struct ibv_context context;
	Querier querier = {.net = -EBADF, .classes = -EBADF};
	const Query q = {.attributes = true};
	Known known = {.dv = &library, .policy = POLICY_HOLD, .verbs.driver_id = -1};
	Target t = {.querier = &querier,
		    .query = &q,
		    .device = 7,
		    .known = &known,
		    .context = c->has_context ? &context : NULL,
		    .open_error = c->open_error,
		    .is_isolated = c->is_isolated};

	verbs_answer = c->verbs;
	library_answer = c->library;
	resources_answer = c->resources;
	DEVICE_SUPPLY_TEXT(&t.nldev, parent, "mlx5_0");
	*ret = (DeviceSnapshot){};
	device_query(&t, ret);
	/* what netlink has said, also after the target has gone */
	assert_int_equal(t.nldev.values.texts->holders,
			 1 + (ret->values.texts == t.nldev.values.texts));
	device_snapshot_done(&t.nldev);
	assert_string_equal(TEXT_OF(&ret->values, parent), "mlx5_0");
	device_derive(ret);
	ret->is_read = true;
}

static void test_why(_unused_ void **state)
{
	static const char none[] = "not-reported", failed[] = "query-failed";
	const Case cases[] = {
		{true, false, 0, 0, 0, 0, "", none, "", none, ""},
		{true, false, 0, -EIO, 0, 0, failed, failed, "", none, ""},
		{true, false, 0, 0, -EIO, 0, "", none, failed, none, ""},
		{true, false, 0, 0, 0, -ETIME, "", none, "", none, failed},
		/* the kernel or the library cannot tell */
		{true, false, 0, -EOPNOTSUPP, -EPROTONOSUPPORT, -EPROTONOSUPPORT, none, none, none,
		 none, none},
		{false, false, -EACCES, 0, 0, 0, "no-permission", "no-permission", "no-permission",
		 "no-permission", ""},
		{false, false, -ENOMEM, 0, 0, 0, "cannot-open", "cannot-open", "cannot-open",
		 "cannot-open", ""},
		{false, false, 0, 0, 0, 0, "kept-closed", "kept-closed", "kept-closed",
		 "kept-closed", ""},
		/* nobody asks it for values of the device */
		{false, true, 0, 0, 0, 0, none, none, none, none, ""},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const Case *c = &cases[i];
		_cleanup_(device_snapshot_done) DeviceSnapshot s = {};

		query(c, &s);
		assert_string_equal(why(&s, DEVICE_ATTR_vendor_id), c->vendor);
		assert_string_equal(why(&s, DEVICE_ATTR_max_qp), c->limit);
		assert_string_equal(why(&s, DEVICE_ATTR_num_lag_ports), c->lag);
		assert_string_equal(why(&s, DEVICE_ATTR_efa_caps), c->efa);
		assert_string_equal(why(&s, DEVICE_ATTR_qp_count), c->qps);
		/* what is counted by no kernel here */
		assert_string_equal(why(&s, DEVICE_ATTR_srq_count), *c->qps ? c->qps : none);
		/* what no part of this has */
		assert_string_equal(why(&s, DEVICE_ATTR_fw_ver), none);
		assert_string_equal(why(&s, DEVICE_ATTR_aer_fatal), none);
		assert_string_equal(why(&s, DEVICE_ATTR_board_id), none);
		device_snapshot_done(&s);
	}
}

/* What has failed keeps its interface, where the reason is said. */
static void test_interfaces(_unused_ void **state)
{
	const Case c = {.has_context = true, .verbs = -EIO, .library = -EIO};
	_cleanup_(device_snapshot_done) DeviceSnapshot s = {};

	query(&c, &s);
	assert_int_equal(device_interfaces(&s) &
				 (1U << INTERFACE_DEVICE_LIMITS | 1U << INTERFACE_DEVICE_MLX5 |
				  1U << INTERFACE_DEVICE_EFA),
			 1U << INTERFACE_DEVICE_LIMITS | 1U << INTERFACE_DEVICE_MLX5);
	device_snapshot_done(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_why),
		cmocka_unit_test(test_interfaces),
	};

	return cmocka_run_group_tests_name("query-device", tests, NULL, NULL);
}
