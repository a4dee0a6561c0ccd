/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What an nldev message says of a device: whole messages, odd ones, and one cut off at each byte.
 */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */
#include <rdma/rdma_netlink.h>

#include "decode.h"
#include "event.h"
#include "nldev-parse.h"

#define DEVICE_GET RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_GET)

/* The least that a message about a device has. */
static struct nl_msg *bare_message(void)
{
	struct nl_msg *m = nlmsg_alloc_simple(DEVICE_GET, 0);

	assert_non_null(m);
	nla_put_u32(m, RDMA_NLDEV_ATTR_DEV_INDEX, 5);
	nla_put_string(m, RDMA_NLDEV_ATTR_DEV_NAME, "mlx5_0");
	nla_put_u32(m, RDMA_NLDEV_ATTR_PORT_INDEX, 2);
	return m;
}

static struct nl_msg *full_message(void)
{
	struct nl_msg *m = bare_message();

	nla_put_u64(m, RDMA_NLDEV_ATTR_CAP_FLAGS, UINT64_C(0x1c001223c76));
	nla_put_u64(m, RDMA_NLDEV_ATTR_NODE_GUID, UINT64_C(0x0002c90300abcdef));
	nla_put_u64(m, RDMA_NLDEV_ATTR_SYS_IMAGE_GUID, UINT64_C(0x0002c90300abcdf0));
	nla_put_u8(m, RDMA_NLDEV_ATTR_DEV_NODE_TYPE, 1);
	nla_put_string(m, RDMA_NLDEV_ATTR_FW_VERSION, "22.33.1048");
	nla_put_string(m, RDMA_NLDEV_ATTR_DEV_PROTOCOL, "ib");
	return m;
}

static void test_full(_unused_ void **state)
{
	struct nl_msg *m = full_message();
	_cleanup_(device_snapshot_done) DeviceSnapshot s = {};

	nla_put_u32(m, 4000, 1); /* an attribute of a later kernel */
	assert_int_equal(nldev_parse_device(nlmsg_hdr(m), &s), 0);
	assert_int_equal(s.values.index, 5);
	assert_string_equal(TEXT_OF(&s.values, name), "mlx5_0");
	assert_int_equal(s.values.port_count, 2);
	assert_true(s.values.cap_flags == UINT64_C(0x1c001223c76));
	assert_true(s.values.node_guid == UINT64_C(0x0002c90300abcdef));
	assert_true(s.values.sys_image_guid == UINT64_C(0x0002c90300abcdf0));
	assert_int_equal(s.values.node_type, 1);
	assert_string_equal(TEXT_OF(&s.values, fw_ver), "22.33.1048");
	assert_int_equal(s.values.dev_protocol, PROTOCOL_INFINIBAND);
	assert_int_equal(s.values.dev_type, DEVICE_TYPE_NORMAL);
	assert_string_equal(TEXT_OF(&s.values, parent), "");
	nlmsg_free(m);
}

/* The version of the firmware as drivers write it, and as it is. */
static void test_firmware(_unused_ void **state)
{
	static const char *const cases[][2] = {{"1.0.3\n", "1.0.3"},
					       {"4.1(3a) ", "4.1(3a)"},
					       {" \n", ""},
					       {"10. 2. 1. 0", "10. 2. 1. 0"}};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct nl_msg *m = bare_message();
		_cleanup_(device_snapshot_done) DeviceSnapshot s = {};

		nla_put_string(m, RDMA_NLDEV_ATTR_FW_VERSION, cases[i][0]);
		assert_int_equal(nldev_parse_device(nlmsg_hdr(m), &s), 0);
		device_derive(&s);
		assert_string_equal(TEXT_OF(&s.values, fw_ver), cases[i][1]);
		assert_int_equal(mask_has(&s.valid, DEVICE_ATTR_fw_ver), *cases[i][1] != '\0');
		nlmsg_free(m);
	}
}

/* One plane of another device. The numbers of the attributes are those of Linux 6.11. */
static void test_plane(_unused_ void **state)
{
	struct nl_msg *m = full_message();
	_cleanup_(device_snapshot_done) DeviceSnapshot s = {};

	nla_put_u8(m, 99, 1);
	nla_put_string(m, 100, "mlx5_4");
	assert_int_equal(nldev_parse_device(nlmsg_hdr(m), &s), 0);
	assert_true(mask_has(&s.supplied, DEVICE_ATTR_dev_type));
	assert_int_equal(s.values.dev_type, DEVICE_TYPE_SMI);
	assert_string_equal(TEXT_OF(&s.values, parent), "mlx5_4");
	nlmsg_free(m);
}

/* The kernel leaves the firmware version out where there is no firmware: that is an answer. What
 * else is left out is not known. */
static void test_bare(_unused_ void **state)
{
	struct nl_msg *m = bare_message();
	_cleanup_(device_snapshot_done) DeviceSnapshot s = {};

	assert_int_equal(nldev_parse_device(nlmsg_hdr(m), &s), 0);
	assert_true(mask_has(&s.supplied, DEVICE_ATTR_index));
	assert_true(mask_has(&s.supplied, DEVICE_ATTR_name));
	assert_true(mask_has(&s.supplied, DEVICE_ATTR_port_count));
	assert_true(mask_has(&s.supplied, DEVICE_ATTR_fw_ver));
	assert_string_equal(TEXT_OF(&s.values, fw_ver), "");
	assert_false(mask_has(&s.supplied, DEVICE_ATTR_node_type));
	assert_false(mask_has(&s.supplied, DEVICE_ATTR_node_guid));
	assert_false(mask_has(&s.supplied, DEVICE_ATTR_sys_image_guid));
	assert_false(mask_has(&s.supplied, DEVICE_ATTR_cap_flags));
	assert_false(mask_has(&s.supplied, DEVICE_ATTR_dev_protocol));
	nlmsg_free(m);
}

/* A device says how many ports it has, even if they are more than those that are served. */
static void test_many_ports(_unused_ void **state)
{
	static const uint32_t cases[] = {0, 1, 255, 1024, 5000, UINT32_MAX};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct nl_msg *m = nlmsg_alloc_simple(DEVICE_GET, 0);
		_cleanup_(device_snapshot_done) DeviceSnapshot s = {};

		nla_put_u32(m, RDMA_NLDEV_ATTR_DEV_INDEX, 5);
		nla_put_string(m, RDMA_NLDEV_ATTR_DEV_NAME, "mlx5_0");
		nla_put_u32(m, RDMA_NLDEV_ATTR_PORT_INDEX, cases[i]);
		assert_int_equal(nldev_parse_device(nlmsg_hdr(m), &s), 0);
		assert_int_equal(s.values.port_count, cases[i]);
		nlmsg_free(m);
	}
}

/* A switch has port 0 and no other: the kernel says that its last port is 0. */
static void test_switch(_unused_ void **state)
{
	struct nl_msg *m = nlmsg_alloc_simple(DEVICE_GET, 0);
	_cleanup_(device_snapshot_done) DeviceSnapshot s = {};

	nla_put_u32(m, RDMA_NLDEV_ATTR_DEV_INDEX, 5);
	nla_put_string(m, RDMA_NLDEV_ATTR_DEV_NAME, "sw0");
	nla_put_u32(m, RDMA_NLDEV_ATTR_PORT_INDEX, 0);
	nla_put_u8(m, RDMA_NLDEV_ATTR_DEV_NODE_TYPE, 2);
	assert_int_equal(nldev_parse_device(nlmsg_hdr(m), &s), 0);
	assert_int_equal(s.values.port_count, 1);
	assert_int_equal(device_first_port(&s), 0);
	nlmsg_free(m);
}

/* What identifies a device must be there, and right. Of two attributes of one type the last counts.
 */
static void test_identity(_unused_ void **state)
{
	static const char long_name[65] =
		"nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn";
	static const uint32_t all = EVENT_ALL_DEVICES, small = 7;
	static const uint64_t large = UINT64_C(1) << 32, number = 7;
	static const struct {
		int type;
		const void *value;
		int n;
		int r;
	} cases[] = {
		{RDMA_NLDEV_ATTR_DEV_INDEX, &all, 4, -EBADMSG},
		{RDMA_NLDEV_ATTR_DEV_INDEX, &large, 8, -EBADMSG},
		{RDMA_NLDEV_ATTR_DEV_INDEX, &number, 8, 0},
		{RDMA_NLDEV_ATTR_DEV_INDEX, "abc", 3, -EBADMSG},
		{RDMA_NLDEV_ATTR_DEV_INDEX, "", 0, -EBADMSG},
		{RDMA_NLDEV_ATTR_PORT_INDEX, &small, 4, 0},
		{RDMA_NLDEV_ATTR_PORT_INDEX, "abc", 3, -EBADMSG},
		{RDMA_NLDEV_ATTR_PORT_INDEX, "", 0, -EBADMSG},
		{RDMA_NLDEV_ATTR_DEV_NAME, "", 0, -EBADMSG},
		{RDMA_NLDEV_ATTR_DEV_NAME, "", 1, -EBADMSG},
		/* names that no file can have */
		{RDMA_NLDEV_ATTR_DEV_NAME, "../a", 5, -EILSEQ},
		{RDMA_NLDEV_ATTR_DEV_NAME, "a/b", 4, -EILSEQ},
		{RDMA_NLDEV_ATTR_DEV_NAME, "..", 3, -EILSEQ},
		{RDMA_NLDEV_ATTR_DEV_NAME, ".", 2, -EILSEQ},
		{RDMA_NLDEV_ATTR_DEV_NAME, ".a", 3, 0},
		{RDMA_NLDEV_ATTR_DEV_NAME, "we:ird.na-me_x", 15, 0},
		{RDMA_NLDEV_ATTR_DEV_NAME, "rxe0\0/", 6, 0},
		{RDMA_NLDEV_ATTR_DEV_NAME, "abc", 3, 0}, /* not terminated */
		/* 63 bytes are the longest name; cut, a longer one would be another name */
		{RDMA_NLDEV_ATTR_DEV_NAME, long_name + 1, 64, 0},
		{RDMA_NLDEV_ATTR_DEV_NAME, long_name, 65, -EBADMSG},
		{RDMA_NLDEV_ATTR_DEV_NAME, long_name, 64, -EBADMSG}, /* not terminated */
	};
	static const int required[] = {RDMA_NLDEV_ATTR_DEV_INDEX, RDMA_NLDEV_ATTR_DEV_NAME,
				       RDMA_NLDEV_ATTR_PORT_INDEX};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct nl_msg *m = bare_message();
		_cleanup_(device_snapshot_done) DeviceSnapshot s = {.values.index = 77};

		nla_put(m, cases[i].type, cases[i].n, cases[i].value);
		assert_int_equal(nldev_parse_device(nlmsg_hdr(m), &s), cases[i].r);
		if (cases[i].r < 0)
			assert_int_equal(s.values.index, 77);
		nlmsg_free(m);
	}
	for (size_t i = 0; i < ARRAY_SIZE(required); i++) {
		struct nl_msg *m = bare_message();
		_cleanup_(device_snapshot_done) DeviceSnapshot s = {};

		/* a type that nobody knows, in its place */
		nlmsg_find_attr(nlmsg_hdr(m), 0, required[i])->nla_type = 4000;
		assert_int_equal(nldev_parse_device(nlmsg_hdr(m), &s), -EBADMSG);
		nlmsg_free(m);
	}
}

/* One odd attribute costs itself and not the device: the core would see no device at all if it
 * could not read one of the list. */
static void test_optional(_unused_ void **state)
{
	char text[100];
	struct nl_msg *m = bare_message();
	_cleanup_(device_snapshot_done) DeviceSnapshot s = {};

	memset(text, 'x', sizeof(text));
	nla_put(m, RDMA_NLDEV_ATTR_CAP_FLAGS, 9, text);
	nla_put_u32(m, RDMA_NLDEV_ATTR_NODE_GUID, 0xabcdef); /* of another width */
	nla_put(m, RDMA_NLDEV_ATTR_SYS_IMAGE_GUID, 0, "");
	nla_put_u64(m, RDMA_NLDEV_ATTR_DEV_NODE_TYPE, UINT64_MAX);
	nla_put(m, RDMA_NLDEV_ATTR_FW_VERSION, 7, "1.2\0xyz");
	nla_put(m, RDMA_NLDEV_ATTR_DEV_PROTOCOL, sizeof(text), text);
	assert_int_equal(nldev_parse_device(nlmsg_hdr(m), &s), 0);
	assert_false(mask_has(&s.supplied, DEVICE_ATTR_cap_flags));
	assert_true(s.values.node_guid == 0xabcdef);
	assert_false(mask_has(&s.supplied, DEVICE_ATTR_sys_image_guid));
	assert_false(mask_has(&s.supplied, DEVICE_ATTR_node_type));
	assert_string_equal(TEXT_OF(&s.values, fw_ver), "1.2");
	assert_false(mask_has(&s.supplied, DEVICE_ATTR_dev_protocol));
	nlmsg_free(m);
}

/* However short the message is cut, the result is an error or a snapshot without what was behind
 * the cut. The copy ends where the message ends, so that a sanitizer sees any byte read beyond. */
static void test_truncated(_unused_ void **state)
{
	struct nl_msg *m = full_message();
	uint32_t whole = nlmsg_hdr(m)->nlmsg_len;

	for (uint32_t size = sizeof(struct nlmsghdr); size < whole; size++) {
		struct nlmsghdr *copy = malloc(size);
		_cleanup_(device_snapshot_done) DeviceSnapshot s = {};
		int r;

		memcpy(copy, nlmsg_hdr(m), size);
		copy->nlmsg_len = size;
		r = nldev_parse_device(copy, &s);
		assert_true(r == 0 || r == -EBADMSG);
		/* header, index, name and number of ports */
		if (size < sizeof(*copy) + 8 + 12 + 8)
			assert_int_equal(r, -EBADMSG);
		/* the last byte is padding */
		if (size < whole - 1)
			assert_false(mask_has(&s.supplied, DEVICE_ATTR_dev_protocol));
		free(copy);
	}
	nlmsg_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_full),	   cmocka_unit_test(test_firmware),
		cmocka_unit_test(test_plane),	   cmocka_unit_test(test_bare),
		cmocka_unit_test(test_many_ports), cmocka_unit_test(test_switch),
		cmocka_unit_test(test_identity),   cmocka_unit_test(test_optional),
		cmocka_unit_test(test_truncated),
	};

	return cmocka_run_group_tests_name("nldev-parse", tests, NULL, NULL);
}
