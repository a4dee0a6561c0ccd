/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Every row of the tables, and every enumeration. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */
#include <ctype.h>

#include "decode.h"
#include "port.h"

static void check_rows(const Attribute *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const Attribute *row = &rows[i];
		const char *help = attr_help(row);

		for (size_t k = 0; k < i; k++) {
			assert_string_not_equal(row->field, rows[k].field);
			assert_string_not_equal(row->name, rows[k].name);
		}
		/* a D-Bus member: letters and digits, not longer than the bus allows */
		assert_true(isupper((unsigned char)row->name[0]) && strlen(row->name) <= 255);
		for (const char *c = row->name; *c; c++)
			assert_true(isalnum((unsigned char)*c));
		assert_true(isupper((unsigned char)help[0]) && help[strlen(help) - 1] == '.');
		assert_true(strnlen(row->field, sizeof(row->field)) < sizeof(row->field));
		assert_true(strnlen(row->name, sizeof(row->name)) < sizeof(row->name));
		assert_true(row->size == 0 || row->size == 4 || row->size == 8 ||
			    (attr_is_text(row->type) && row->size >= 64));
		assert_non_null(unit_rows[row->unit].name);
		assert_non_null(attr_interface_name(row->interface));
		assert_non_null(attr_class_name(row->class));
		assert_non_null(attr_validity_name(row->valid));
		assert_non_null(attr_validity_text(row->valid));
		assert_non_null(attr_source_name(row->source));
		/* the greatest number is for numbers, and only where 0 is a value */
		if (row->absent == ABSENT_MAX) {
			assert_non_null(strchr("uti", attr_signature(row->type)[0]));
			assert_int_not_equal(row->valid, VALID_NONZERO);
			assert_int_not_equal(row->source, SOURCE_CORE);
		}
		/* what is computed has no rule, and identity is the core's */
		if (row->class == CLASS_IDENTITY)
			assert_int_equal(row->source, SOURCE_CORE);
	}
}

static void test_rows(void **state)
{
	PortAttr p;
	DeviceAttr d;

	(void)state;
	check_rows(port_attributes, _PORT_ATTR_MAX);
	check_rows(device_attributes, _DEVICE_ATTR_MAX);
	assert_int_equal(port_attr_from_field("active_mtu", &p), 0);
	assert_int_equal(p, PORT_ATTR_active_mtu);
	assert_int_equal(port_attr_from_field("ActiveMtu", &p), -ENOENT);
	assert_int_equal(device_attr_from_field("fw_ver", &d), 0);
	assert_int_equal(d, DEVICE_ATTR_fw_ver);
	assert_int_equal(device_attr_from_field("no_such", &d), -ENOENT);
}

/* What is signalled, and what of it says more than that something else changed. */
static void test_signalled(void **state)
{
	static const PortAttr bookkeeping[] = {
		PORT_ATTR_state_change,
		PORT_ATTR_link_downs,
		PORT_ATTR_fit_since,
		PORT_ATTR_counters,
		PORT_ATTR_users,
		PORT_ATTR_last_query,
		PORT_ATTR_unavailable,
		PORT_ATTR_generation,
		PORT_ATTR_gid_generation,
		PORT_ATTR_bad_pkey_cntr,
		PORT_ATTR_qkey_viol_cntr,
		PORT_ATTR_sm_generation,
		PORT_ATTR_pkey_generation,
		PORT_ATTR_phy_link_downs,
		PORT_ATTR_signal_quality,
		PORT_ATTR_fec_corrected,
		PORT_ATTR_fec_uncorrectable,
		PORT_ATTR_fec_corrected_bits,
		PORT_ATTR_bit_error_ratio,
		PORT_ATTR_bit_error_ratio_lower,
		PORT_ATTR_bit_error_ratio_upper,
		PORT_ATTR_bit_error_interval,
		PORT_ATTR_bit_error_margin,
		PORT_ATTR_adapter_temperature,
		PORT_ATTR_adapter_temperature_highest,
		PORT_ATTR_adapter_temperature_margin,
		PORT_ATTR_module_temperature,
		PORT_ATTR_module_temperature_highest,
		PORT_ATTR_module_temperature_margin,
		PORT_ATTR_cable_temperature,
		PORT_ATTR_cable_temperature_margin,
		PORT_ATTR_cable_voltage,
		PORT_ATTR_cable_rx_power,
		PORT_ATTR_cable_rx_power_margin,
		PORT_ATTR_cable_tx_power,
		PORT_ATTR_cable_tx_power_margin,
		PORT_ATTR_cable_bias,
		PORT_ATTR_num_allocated_qps,
		PORT_ATTR_max_allocated_qp_num,
	};
	AttrMask expected = {};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bookkeeping); i++)
		mask_set(&expected, bookkeeping[i], true);
	for (PortAttr a = 0; a < _PORT_ATTR_MAX; a++)
		if (attr_is_bookkeeping(&port_attributes[a]) != mask_has(&expected, a))
			fail_msg("%s", port_attributes[a].field);
	assert_true(attr_is_bookkeeping(&device_attributes[DEVICE_ATTR_last_query]));
	assert_false(attr_is_bookkeeping(&device_attributes[DEVICE_ATTR_cap_flags]));

	assert_true(attr_is_signalled(&port_attributes[PORT_ATTR_state]));
	assert_true(attr_is_signalled(&port_attributes[PORT_ATTR_max_mtu]));
	assert_false(attr_is_signalled(&port_attributes[PORT_ATTR_generation]));
	assert_true(attr_is_in_signals(&port_attributes[PORT_ATTR_generation]));
	assert_true(attr_is_signalled(&port_attributes[PORT_ATTR_unavailable]));
	assert_true(attr_is_signalled(&port_attributes[PORT_ATTR_gids]));
	assert_false(attr_is_signalled(&port_attributes[PORT_ATTR_port_num]));
	assert_false(attr_is_signalled(&port_attributes[PORT_ATTR_last_query]));
	assert_false(attr_is_signalled(&port_attributes[PORT_ATTR_active_speed]));
	assert_false(attr_is_signalled(&device_attributes[DEVICE_ATTR_index]));
	assert_true(attr_is_signalled(&device_attributes[DEVICE_ATTR_name]));
}

/* Every name of every enumeration is parsed back to the number that it is published for. */
static void test_enumerations(void **state)
{
	(void)state;
	for (AttrType t = 0; t < _ATTR_TYPE_MAX; t++) {
		const char *const *names = attr_type_names(t);

		for (; names && *names; names++) {
			uint32_t value;

			assert_int_equal(decode_value(t, *names, &value), 0);
			assert_string_equal(decode_name(t, value), *names);
		}
	}
}

static const char *published(PortAttr a, uint64_t raw)
{
	static AttrValue v;
	PortValues values = {};

	attr_set_raw(&port_attributes[a], &values, raw);
	assert_int_equal(attr_publish(&port_attributes[a], &values, &v), 0);
	assert_int_equal(v.kind, ATTR_VALUE_TEXT);
	return v.text;
}

static uint64_t published_number(PortAttr a, uint64_t raw, int expected)
{
	AttrValue v;
	PortValues values = {};

	attr_set_raw(&port_attributes[a], &values, raw);
	assert_int_equal(attr_publish(&port_attributes[a], &values, &v), expected);
	return v.kind == ATTR_VALUE_U64 ? v.u64 : v.u32;
}

static void test_unknown_is_said(void **state)
{
	AttrValue v;

	(void)state;
	assert_string_equal(published(PORT_ATTR_state, 4), "active");
	assert_string_equal(published(PORT_ATTR_state, 5), "active-defer");
	assert_string_equal(published(PORT_ATTR_state, 9), "unknown(9)");
	assert_string_equal(published(PORT_ATTR_phys_state, 4), "port-configuration-training");
	assert_string_equal(published(PORT_ATTR_phys_state, 9), "offline");
	assert_string_equal(published(PORT_ATTR_phys_state, 8), "unknown(8)");
	assert_string_equal(published(PORT_ATTR_phys_state, UINT32_MAX), "unknown(4294967295)");
	assert_string_equal(published(PORT_ATTR_link_speed, 256), "XDR");
	assert_string_equal(published(PORT_ATTR_link_speed, 512), "unknown(512)");
	assert_string_equal(published(PORT_ATTR_link_speed, 3), "unknown(3)");
	/* that is no speed */
	assert_int_equal(attr_publish(&port_attributes[PORT_ATTR_link_speed], &(PortValues){}, &v),
			 -ERANGE);
	assert_string_equal(v.text, "");
}

static const AttrValue *absent(const Attribute *row)
{
	static AttrValue v;

	assert_int_equal(attr_publish_absent(row, &v), 0);
	return &v;
}

/* What the rows read as that have no value: nothing that could be one. */
static void test_absent(void **state)
{
	const Attribute *numa = &device_attributes[DEVICE_ATTR_numa_node];
	DeviceValues d = {};
	AttrValue v;

	(void)state;
	assert_int_equal(absent(&port_attributes[PORT_ATTR_lid])->u32, 0);
	assert_int_equal(absent(&port_attributes[PORT_ATTR_lmc])->u32, UINT32_MAX);
	assert_int_equal(absent(&port_attributes[PORT_ATTR_cap_mask])->u64, UINT64_MAX);
	assert_int_equal(absent(&port_attributes[PORT_ATTR_rate])->u64, 0);
	assert_false(absent(&port_attributes[PORT_ATTR_netdev_carrier])->boolean);
	assert_string_equal(absent(&port_attributes[PORT_ATTR_netdev])->text, "");
	assert_string_equal(absent(&port_attributes[PORT_ATTR_state])->text, "unknown");
	assert_null(absent(&port_attributes[PORT_ATTR_capabilities])->names[0]);
	assert_int_equal(attr_publish_absent(&port_attributes[PORT_ATTR_gids], &v), -EOPNOTSUPP);
	assert_int_equal(absent(numa)->kind, ATTR_VALUE_S32);
	assert_int_equal(absent(numa)->s32, -1);
	assert_string_equal(attr_absent_text(numa), "-1");
	assert_string_equal(attr_absent_text(&port_attributes[PORT_ATTR_lmc]), "4294967295");
	assert_string_equal(attr_absent_text(&port_attributes[PORT_ATTR_gids]), "an empty list");
	assert_null(attr_absent_text(&port_attributes[PORT_ATTR_stale]));
	/* node 0 is a node, and -1 cannot be set */
	assert_int_equal(attr_publish(numa, &d, &v), 0);
	assert_int_equal(v.s32, 0);
	assert_int_equal(attr_parse(numa, &d, "2147483648"), -EINVAL);
	assert_int_equal(attr_parse(numa, &d, "3"), 0);
	assert_int_equal(attr_publish(numa, &d, &v), 0);
	assert_int_equal(v.s32, 3);
}

static void test_codes(void **state)
{
	(void)state;
	assert_int_equal(published_number(PORT_ATTR_active_mtu, 5, 0), 4096);
	/* what hbl says for 8192 is no code of the architecture */
	assert_int_equal(published_number(PORT_ATTR_active_mtu, 6, -ERANGE), 0);
	assert_int_equal(published_number(PORT_ATTR_active_width, 16, 0), 2);
	assert_int_equal(published_number(PORT_ATTR_active_width, 2, 0), 4);
	assert_int_equal(published_number(PORT_ATTR_active_width, 8, 0), 12);
	assert_int_equal(published_number(PORT_ATTR_active_width, 3, -ERANGE), 0);
	assert_int_equal(published_number(PORT_ATTR_max_vl_num, 5, 0), 15);
	assert_int_equal(published_number(PORT_ATTR_max_vl_num, 0, -ERANGE), 0);
	/* 4.096 us << 18 = 1.0737 s */
	assert_int_equal(published_number(PORT_ATTR_subnet_timeout, 18, 0), 1073742);
	assert_int_equal(published_number(PORT_ATTR_subnet_timeout, 0, 0), 5);
	assert_int_equal(published_number(PORT_ATTR_subnet_timeout, 32, -ERANGE), 0);
}

/* 8b/10b leaves 80 % for data, 64b/66b of FDR 97 %. The others have the nominal rate for data. */
static void test_speeds(void **state)
{
	uint64_t signalling = 1, data = 1;

	(void)state;
	assert_true(decode_speed(4, &signalling, &data));
	assert_int_equal(signalling, UINT64_C(10000000000));
	assert_int_equal(data, UINT64_C(8000000000));
	assert_true(decode_speed(16, &signalling, &data));
	assert_int_equal(signalling, UINT64_C(14000000000));
	assert_int_equal(data, UINT64_C(13636000000));
	assert_true(decode_speed(256, &signalling, &data));
	assert_int_equal(signalling, UINT64_C(200000000000));
	assert_int_equal(data, signalling);
	assert_false(decode_speed(0, &signalling, &data));
	assert_false(decode_speed(3, &signalling, &data));
	assert_false(decode_speed(512, &signalling, &data));
	assert_int_equal(signalling, UINT64_C(200000000000));
}

/* Each capability bit has its own name, and a mask is parsed back. */
static void test_capabilities(void **state)
{
	const Attribute *row = &port_attributes[PORT_ATTR_capabilities];
	PortValues values = {};
	AttrValue v;

	(void)state;
	for (unsigned int i = 0; i < 33; i++)
		for (unsigned int k = 0; k < i; k++)
			assert_string_not_equal(decode_capability(ATTR_CAP_NAMES, i),
						decode_capability(ATTR_CAP_NAMES, k));
	/* from enum ib_port_capability_mask2_bits of the kernel */
	assert_string_equal(decode_capability(ATTR_CAP_FLAGS2, 11), "extended-speeds2");
	values.capabilities = UINT64_MAX;
	assert_int_equal(attr_publish(row, &values, &v), 0);
	assert_int_equal(v.kind, ATTR_VALUE_NAMES);
	for (unsigned int i = 0; i < 33; i++)
		assert_non_null(v.names[i]);
	assert_null(v.names[33]);
	assert_int_equal(attr_parse(row, &values, "sm,client-reregistration,ip-based-gids"), 0);
	assert_int_equal(values.capabilities, 1U << 1 | 1U << 25 | 1U << 26);
	assert_int_equal(attr_parse(row, &values, "sm,nonsense"), -EINVAL);
	assert_int_equal(attr_parse(row, &values, "sm,,notice"), -EINVAL);
	assert_int_equal(values.capabilities, 1U << 1 | 1U << 25 | 1U << 26);
	assert_int_equal(attr_parse(row, &values, ""), 0);
	assert_int_equal(values.capabilities, 0);
}

/* What has no field among the values has no scalar to publish. */
static void test_no_scalar(void **state)
{
	const DeviceValues device = {};
	const PortValues port = {};
	AttrValue v;

	(void)state;
	for (PortAttr a = 0; a < _PORT_ATTR_MAX; a++)
		if (port_attributes[a].size == 0)
			assert_int_equal(attr_publish(&port_attributes[a], &port, &v), -EOPNOTSUPP);
	for (DeviceAttr a = 0; a < _DEVICE_ATTR_MAX; a++)
		if (device_attributes[a].size == 0)
			assert_int_equal(attr_publish(&device_attributes[a], &device, &v),
					 -EOPNOTSUPP);
}

static int parse(PortValues *v, PortAttr a, const char *text)
{
	return attr_parse(&port_attributes[a], v, text);
}

static void test_parse(void **state)
{
	PortValues v = {};

	(void)state;
	assert_int_equal(parse(&v, PORT_ATTR_state, "Armed"), 0);
	assert_int_equal(v.state, 3);
	assert_int_equal(parse(&v, PORT_ATTR_state, "raw:9"), 0);
	assert_int_equal(v.state, 9);
	assert_int_equal(parse(&v, PORT_ATTR_state, "9"), -EINVAL);
	assert_int_equal(parse(&v, PORT_ATTR_state, "raw:4294967296"), -EINVAL);
	assert_int_equal(parse(&v, PORT_ATTR_active_mtu, "2048"), 0);
	assert_int_equal(v.active_mtu, 4);
	assert_int_equal(parse(&v, PORT_ATTR_active_mtu, "1500"), -EINVAL);
	assert_int_equal(parse(&v, PORT_ATTR_active_width, "2"), 0);
	assert_int_equal(v.active_width, 16);
	assert_int_equal(parse(&v, PORT_ATTR_active_speed, "ndr"), 0);
	assert_int_equal(v.active_speed, 128);
	assert_int_equal(parse(&v, PORT_ATTR_lid, "0xffff"), 0);
	assert_int_equal(v.lid, 0xffff);
	assert_int_equal(parse(&v, PORT_ATTR_lid, "-1"), -EINVAL);
	assert_int_equal(parse(&v, PORT_ATTR_lid, "12x"), -EINVAL);
	assert_int_equal(parse(&v, PORT_ATTR_lid, ""), -EINVAL);
	assert_int_equal(parse(&v, PORT_ATTR_lid, "0x"), -EINVAL);
	assert_int_equal(parse(&v, PORT_ATTR_flags, "yes"), 0);
	assert_int_equal(v.flags, 1);
	assert_int_equal(parse(&v, PORT_ATTR_subnet_timeout, "31"), 0);
	assert_int_equal(parse(&v, PORT_ATTR_subnet_timeout, "32"), -EINVAL);
	assert_int_equal(parse(&v, PORT_ATTR_subnet_prefix, "fe80:0000:0000:0000"), 0);
	assert_int_equal(v.subnet_prefix, UINT64_C(0xfe80000000000000));
	assert_int_equal(parse(&v, PORT_ATTR_subnet_prefix, "fe80:0:0:0"), -EINVAL);
	assert_int_equal(parse(&v, PORT_ATTR_netdev, "eth0"), 0);
	assert_string_equal(TEXT_OF(&v, netdev), "eth0");
	assert_int_equal(parse(&v, PORT_ATTR_gids, "x"), -EOPNOTSUPP);
	assert_int_equal(parse(&v, PORT_ATTR_unavailable, "x"), -EOPNOTSUPP);
	texts_release(v.texts);
}

static void test_guids(void **state)
{
	char text[40], address[46], type[24];
	uint64_t guid;
	uint8_t v4[16] = {[10] = 0xff, [11] = 0xff, 10, 1, 2, 3};
	const uint8_t local[16] = {0xfe, 0x80, [8] = 0, 2, 0xc9, 3, 0, 0xab, 0xcd, 0xef};

	(void)state;
	assert_int_equal(guid_parse("0002:c903:00ab:cdef", &guid), 0);
	assert_int_equal(guid, UINT64_C(0x0002c90300abcdef));
	guid_format(guid, text);
	assert_string_equal(text, "0002:c903:00ab:cdef");
	assert_int_equal(guid_parse("0x0002c90300abcdef", &guid), 0);
	assert_int_equal(guid_parse("2c90300ABCDEF", &guid), 0);
	assert_int_equal(guid_parse("00:02:c9:03:00:ab:cd:ee", &guid), 0);
	assert_int_equal(guid, 0x2c90300abcdee);
	assert_int_equal(guid_parse("00:02:c9:03:00:ab:cd", &guid), -EINVAL);
	assert_int_equal(guid_parse("00:02:c9:03:00:ab:cdee", &guid), -EINVAL);
	assert_int_equal(guid_parse("00:02:c9:03:00:ab:cd:e", &guid), -EINVAL);
	assert_int_equal(guid_parse("00:02:c903:00ab:cdee", &guid), -EINVAL);
	assert_int_equal(guid_parse("0002:c903:00:ab:cd:ee", &guid), -EINVAL);
	assert_int_equal(guid_parse("000:2c9:030:0ab", &guid), -EINVAL);
	assert_int_equal(guid_parse("0002:c903:00ab", &guid), -EINVAL);
	assert_int_equal(guid_parse("0002:c903:00ab:", &guid), -EINVAL);
	assert_int_equal(guid_parse("0002:c903:00ab:cdef:0000", &guid), -EINVAL);
	assert_int_equal(guid_parse("00002c90300abcdef", &guid), -EINVAL);
	assert_int_equal(guid_parse(":", &guid), -EINVAL);
	assert_int_equal(guid_parse("", &guid), -EINVAL);
	gid_format(local, text);
	assert_string_equal(text, "fe80:0000:0000:0000:0002:c903:00ab:cdef");
	gid_format_address(v4, GID_TYPE_ROCE_V2, address);
	assert_string_equal(address, "10.1.2.3");
	memcpy(v4 + 12, (const uint8_t[]){0, 99, 100, 255}, 4);
	gid_format_address(v4, GID_TYPE_ROCE_V2, address);
	assert_string_equal(address, "0.99.100.255");
	gid_format_address(local, GID_TYPE_ROCE_V1, address);
	assert_string_equal(address, "fe80::2:c903:ab:cdef");
	gid_format_address(local, GID_TYPE_IB, address);
	assert_string_equal(address, "");
	assert_string_equal(gid_type_name(2, type), "RoCE v2");
	assert_string_equal(gid_type_name(7, type), "unknown(7)");
	assert_string_equal(pkey_membership(0xffff), "full");
	assert_string_equal(pkey_membership(0x7fff), "limited");
}

static void test_text(void **state)
{
	char bad[16] = "a\xff\x01z\xc3";
	char good[16] = "h\xc3\xb6st";
	char full[4];

	(void)state;
	text_sanitize(bad, sizeof(bad));
	assert_string_equal(bad, "a??z?");
	text_sanitize(good, sizeof(good));
	assert_string_equal(good, "h\xc3\xb6st");
	/* not terminated at all; overlong and surrogate forms */
	memcpy(full, "abcd", 4);
	text_sanitize(full, sizeof(full));
	assert_string_equal(full, "abc");
	strcpy(bad, "\xc0\x80\xed\xa0\x80");
	text_sanitize(bad, sizeof(bad));
	assert_string_equal(bad, "?????");
	text_copy(full, sizeof(full), "longer");
	assert_string_equal(full, "lon");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),	     cmocka_unit_test(test_signalled),
		cmocka_unit_test(test_enumerations), cmocka_unit_test(test_unknown_is_said),
		cmocka_unit_test(test_codes),	     cmocka_unit_test(test_speeds),
		cmocka_unit_test(test_absent),	     cmocka_unit_test(test_capabilities),
		cmocka_unit_test(test_no_scalar),    cmocka_unit_test(test_parse),
		cmocka_unit_test(test_guids),	     cmocka_unit_test(test_text),
	};

	return cmocka_run_group_tests_name("attribute", tests, NULL, NULL);
}
