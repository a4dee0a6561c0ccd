/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the pages of modules say, and what they do not. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */
#include <inttypes.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>

#include "module-image.h"
#include "module-read.h"

/* It is there until the next one. */
static PortSnapshot decode(const ModulePages *p)
{
	static PortSnapshot s;

	port_snapshot_done(&s);
	module_decode(p, &s);
	return s;
}

static bool has(const PortSnapshot *s, PortAttr a)
{
	return mask_has(&s->supplied, a);
}

#define ASSERT_TEXT(s, field, text)                                                                \
	do {                                                                                       \
		assert_true(has(s, PORT_ATTR_##field));                                            \
		assert_string_equal(TEXT_OF(&(s)->values, field), text);                           \
	} while (false)
#define ASSERT_NUMBER(s, field, number)                                                            \
	do {                                                                                       \
		assert_true(has(s, PORT_ATTR_##field));                                            \
		assert_int_equal((s)->values.field, number);                                       \
	} while (false)
#define ASSERT_UNKNOWN(s, field) assert_false(has(s, PORT_ATTR_##field))

static void test_cmis(_unused_ void **state)
{
	ModulePages p;
	PortSnapshot s;

	module_image(KIND_CMIS_OPTIC, &p);
	/* 41.75 degrees */
	module_image_set_number(&p, PAGE_LOWER, 14, 0x29c0);
	module_image_set_number(&p, PAGE_CMIS_LANES, 190, 250);
	s = decode(&p);
	ASSERT_NUMBER(&s, cable_present, 1);
	ASSERT_TEXT(&s, cable_type, "optic");
	ASSERT_TEXT(&s, cable_state, "ready");
	ASSERT_TEXT(&s, cable_vendor, "NVIDIA");
	ASSERT_TEXT(&s, cable_part, "MFS1S00-H000E");
	ASSERT_TEXT(&s, cable_serial, "MT2000FT00000");
	ASSERT_UNKNOWN(&s, cable_length);
	ASSERT_NUMBER(&s, cable_temperature, 42);
	ASSERT_NUMBER(&s, cable_temperature_critical, 70);
	ASSERT_NUMBER(&s, cable_temperature_margin, 28);
	ASSERT_NUMBER(&s, cable_voltage, 3200000);
	ASSERT_TEXT(&s, cable_tx_power, "900000,913700,927400,941100,954800,968500,982200,995900");
	ASSERT_TEXT(&s, cable_rx_power, "700000,713700,25000,741100,754800,768500,782200,795900");
	ASSERT_TEXT(&s, cable_bias, "6000,6274,6548,6822,7096,7370,7644,7918");
	ASSERT_NUMBER(&s, cable_tx_power_critical, 100000);
	ASSERT_NUMBER(&s, cable_rx_power_critical, 50000);
	ASSERT_NUMBER(&s, cable_tx_power_margin, 954); /* 10 lg 9 */
	ASSERT_NUMBER(&s, cable_rx_power_margin, 0);
	ASSERT_TEXT(&s, cable_flags, "none");
	/* four lanes, four times the bias, below 0 degrees and too hot, and flags */
	module_image_set(&p, PAGE_UPPER, 210, 0xf0);
	module_image_set(&p, PAGE_CMIS_SAYS, 160, 0x17);
	module_image_set_number(&p, PAGE_LOWER, 14, 0xff00);
	module_image_set(&p, PAGE_LOWER, 9, 0xff);
	module_image_set(&p, PAGE_CMIS_LANES, 147, 0x80);
	module_image_set(&p, PAGE_CMIS_LANES, 150, 0x04);
	s = decode(&p);
	ASSERT_TEXT(&s, cable_rx_power, "700000,713700,25000,741100");
	ASSERT_TEXT(&s, cable_bias, "24000,25096,26192,27288");
	ASSERT_NUMBER(&s, cable_temperature, 0);
	ASSERT_TEXT(&s, cable_flags, "hot,rx-los,low-rx");
	module_image_set_number(&p, PAGE_LOWER, 14, 80 << 8);
	s = decode(&p);
	ASSERT_NUMBER(&s, cable_temperature_margin, 0);
}

/* What the module does not say that it has is not known. */
static void test_cmis_without(_unused_ void **state)
{
	ModulePages p;
	PortSnapshot s;

	module_image(KIND_CMIS_AOC, &p);
	module_image_set(&p, PAGE_CMIS_SAYS, 157, 0);
	module_image_set(&p, PAGE_CMIS_SAYS, 158, 0x02);
	module_image_set(&p, PAGE_CMIS_SAYS, 159, 0x02);
	module_image_set(&p, PAGE_CMIS_SAYS, 160, 0x01);
	module_image_set(&p, PAGE_CMIS_LANES, 135, 0xff);
	module_image_set(&p, PAGE_CMIS_LANES, 147, 0x01);
	s = decode(&p);
	ASSERT_TEXT(&s, cable_type, "aoc");
	ASSERT_NUMBER(&s, cable_length, 400); /* 4 times 1 m */
	ASSERT_UNKNOWN(&s, cable_temperature);
	ASSERT_UNKNOWN(&s, cable_temperature_margin);
	assert_true(has(&s, PORT_ATTR_cable_voltage));
	ASSERT_UNKNOWN(&s, cable_rx_power);
	ASSERT_UNKNOWN(&s, cable_rx_power_margin);
	assert_true(has(&s, PORT_ATTR_cable_bias));
	ASSERT_TEXT(&s, cable_flags, "rx-los");
	/* a factor that is reserved; a state; a length of more than there is */
	module_image_set(&p, PAGE_CMIS_SAYS, 160, 0x19);
	module_image_set(&p, PAGE_LOWER, 3, 6 << 1);
	module_image_set(&p, PAGE_UPPER, 202, 0xff);
	s = decode(&p);
	ASSERT_UNKNOWN(&s, cable_bias);
	ASSERT_UNKNOWN(&s, cable_state);
	ASSERT_UNKNOWN(&s, cable_length);
	/* nothing times 1 m */
	module_image_set(&p, PAGE_UPPER, 202, 0x40);
	s = decode(&p);
	ASSERT_UNKNOWN(&s, cable_length);
	/* without power, with a page that could not be read */
	module_image_set(&p, PAGE_LOWER, 3, 1 << 1);
	p.is_read[PAGE_CMIS_LANES] = false;
	s = decode(&p);
	ASSERT_TEXT(&s, cable_state, "low-power");
	ASSERT_UNKNOWN(&s, cable_bias);
	ASSERT_UNKNOWN(&s, cable_flags);
}

static void test_qsfp(_unused_ void **state)
{
	ModulePages p;
	PortSnapshot s;

	module_image(KIND_QSFP_OPTIC, &p);
	module_image_set(&p, PAGE_LOWER, 3, 0x21);  /* no signal: RX 1, TX 2 */
	module_image_set(&p, PAGE_LOWER, 10, 0x40); /* RX 3 */
	s = decode(&p);
	ASSERT_TEXT(&s, cable_type, "optic");
	ASSERT_TEXT(&s, cable_vendor, "0123456789ABCDEF");
	ASSERT_TEXT(&s, cable_serial, "MT2003FT02931");
	ASSERT_UNKNOWN(&s, cable_state);
	ASSERT_NUMBER(&s, cable_temperature, 50);
	ASSERT_NUMBER(&s, cable_temperature_critical, 73);
	ASSERT_TEXT(&s, cable_rx_power, "600300,614000,627700,641400");
	ASSERT_TEXT(&s, cable_tx_power, "800300,814000,827700,841400");
	ASSERT_TEXT(&s, cable_bias, "7006,7280,7554,7828");
	ASSERT_NUMBER(&s, cable_rx_power_critical, 40300);
	ASSERT_NUMBER(&s, cable_rx_power_margin, 1173);
	ASSERT_TEXT(&s, cable_flags, "tx-los,rx-los,low-rx");
	/* it does not say that it measures what it sends, and nothing has been measured yet */
	module_image_set(&p, PAGE_UPPER, 220, 0x08);
	s = decode(&p);
	ASSERT_UNKNOWN(&s, cable_tx_power);
	assert_true(has(&s, PORT_ATTR_cable_rx_power));
	module_image_set(&p, PAGE_LOWER, 2, 0x01);
	s = decode(&p);
	ASSERT_UNKNOWN(&s, cable_rx_power);
	ASSERT_UNKNOWN(&s, cable_temperature);
	ASSERT_TEXT(&s, cable_vendor, "0123456789ABCDEF");
	/* a measurement without a limit */
	module_image_set(&p, PAGE_LOWER, 2, 0);
	p.is_read[PAGE_QSFP_LIMITS] = false;
	s = decode(&p);
	ASSERT_TEXT(&s, cable_rx_power, "600300,614000,627700,641400");
	ASSERT_UNKNOWN(&s, cable_rx_power_margin);
	p.is_read[PAGE_QSFP_LIMITS] = true;
	/* zeros without a limit are no measurement, and with one they are the dark */
	module_image_set(&p, PAGE_LOWER, 2, 0);
	for (unsigned int i = 34; i < 42; i++)
		module_image_set(&p, PAGE_LOWER, i, 0);
	s = decode(&p);
	ASSERT_TEXT(&s, cable_rx_power, "0,0,0,0");
	ASSERT_NUMBER(&s, cable_rx_power_margin, 0);
	p.is_read[PAGE_QSFP_LIMITS] = false;
	s = decode(&p);
	ASSERT_UNKNOWN(&s, cable_rx_power);
	ASSERT_UNKNOWN(&s, cable_rx_power_margin);
}

static void test_qsfp_cables(_unused_ void **state)
{
	ModulePages p;
	PortSnapshot s;

	module_image(KIND_QSFP_DAC, &p);
	s = decode(&p);
	ASSERT_TEXT(&s, cable_type, "dac");
	ASSERT_NUMBER(&s, cable_length, 500);
	ASSERT_UNKNOWN(&s, cable_temperature);
	ASSERT_UNKNOWN(&s, cable_rx_power);
	ASSERT_UNKNOWN(&s, cable_flags);
	/* a cable with amplifiers has sensors, and no light */
	module_image_set(&p, PAGE_UPPER, 147, 0xd0);
	module_image_set_number(&p, PAGE_LOWER, 26, 33000);
	module_image_set_number(&p, PAGE_LOWER, 34, 5000);
	s = decode(&p);
	ASSERT_TEXT(&s, cable_type, "acc");
	ASSERT_NUMBER(&s, cable_voltage, 3300000);
	ASSERT_UNKNOWN(&s, cable_rx_power);
	/* another kind of transmitter; a plug that nobody knows */
	module_image_set(&p, PAGE_UPPER, 147, 0x80);
	s = decode(&p);
	ASSERT_UNKNOWN(&s, cable_type);
	ASSERT_UNKNOWN(&s, cable_length);
	module_image_set(&p, PAGE_UPPER, 147, 0x00);
	module_image_set(&p, PAGE_UPPER, 130, 0xfe);
	s = decode(&p);
	ASSERT_UNKNOWN(&s, cable_type);
	module_image_set(&p, PAGE_UPPER, 147, 0xa0);
	p.is_read[PAGE_UPPER] = false;
	s = decode(&p);
	ASSERT_UNKNOWN(&s, cable_type);
	p.is_read[PAGE_UPPER] = true;
	/* a text that is none */
	module_image_set(&p, PAGE_UPPER, 150, 0x1b);
	s = decode(&p);
	ASSERT_UNKNOWN(&s, cable_vendor);
	assert_true(has(&s, PORT_ATTR_cable_serial));
}

static void test_sfp(_unused_ void **state)
{
	static const struct {
		uint8_t kind;
		const char *type;
	} active[] = {{0x01, "aoc"}, {0x08, "acc"}, {0x19, "acc"}, {0x18, "aoc"}};
	ModulePages p;
	PortSnapshot s;

	module_image(KIND_SFP_OPTIC, &p);
	module_image_set(&p, PAGE_LOWER, 18, 7); /* of the longest fibre */
	module_image_set(&p, PAGE_SFP_MONITORS, 110, 0x06);
	module_image_set(&p, PAGE_SFP_MONITORS, 112, 0x81);
	module_image_set(&p, PAGE_SFP_MONITORS, 113, 0x40);
	s = decode(&p);
	ASSERT_TEXT(&s, cable_type, "optic");
	ASSERT_UNKNOWN(&s, cable_length);
	ASSERT_TEXT(&s, cable_part, "MFS1S00-H042E");
	ASSERT_NUMBER(&s, cable_temperature, 10);
	ASSERT_NUMBER(&s, cable_voltage, 3218600);
	ASSERT_TEXT(&s, cable_rx_power, "400600");
	ASSERT_TEXT(&s, cable_tx_power, "500600");
	ASSERT_TEXT(&s, cable_bias, "6012");
	ASSERT_NUMBER(&s, cable_tx_power_critical, 120600);
	ASSERT_NUMBER(&s, cable_rx_power_margin, 1117);
	ASSERT_TEXT(&s, cable_flags, "hot,tx-fault,low-tx,rx-los,low-rx");
	/* the host would have to calibrate it */
	module_image_set(&p, PAGE_LOWER, 92, 0x58);
	s = decode(&p);
	ASSERT_UNKNOWN(&s, cable_temperature);
	ASSERT_UNKNOWN(&s, cable_rx_power);
	module_image(KIND_SFP_DAC, &p);
	s = decode(&p);
	ASSERT_TEXT(&s, cable_type, "dac");
	ASSERT_NUMBER(&s, cable_length, 300);
	module_image_set(&p, PAGE_LOWER, 8, 0x08);
	s = decode(&p);
	ASSERT_UNKNOWN(&s, cable_type);
	for (size_t i = 0; i < ARRAY_SIZE(active); i++) {
		module_image_set(&p, PAGE_LOWER, 36, active[i].kind);
		s = decode(&p);
		ASSERT_TEXT(&s, cable_type, active[i].type);
	}
	module_image_set(&p, PAGE_LOWER, 8, 0);
	module_image_set(&p, PAGE_LOWER, 2, 0x22);
	s = decode(&p);
	ASSERT_TEXT(&s, cable_type, "base-t");
}

static void test_max_rate(_unused_ void **state)
{
	static const struct {
		ModuleKind kind;
		ModulePage page;
		uint8_t offset[2], byte[2];
		uint64_t rate; /* Gb/s; 0: not known */
	} cases[] = {
		{KIND_SFP_DAC, PAGE_LOWER, {3, 36}, {0, 0}, 0},
		{KIND_SFP_OPTIC, PAGE_LOWER, {3, 36}, {0x10, 0}, 10},
		{KIND_SFP_OPTIC, PAGE_LOWER, {3, 36}, {0x10, 0x02}, 25},
		{KIND_SFP_DAC, PAGE_LOWER, {3, 36}, {0, 0x40}, 50},
		{KIND_SFP_OPTIC, PAGE_LOWER, {3, 36}, {0x10, 0xee}, 0},
		{KIND_SFP_OPTIC, PAGE_LOWER, {3, 36}, {0x11, 0x02}, 0}, /* a bit of InfiniBand */
		{KIND_QSFP_DAC, PAGE_UPPER, {131, 192}, {0x08, 0}, 40},
		{KIND_QSFP_DAC, PAGE_UPPER, {164, 192}, {0x1f, 0x0b}, 100},
		{KIND_QSFP_AOC, PAGE_UPPER, {164, 192}, {0x3f, 0x01}, 200},
		{KIND_QSFP_AOC, PAGE_UPPER, {164, 192}, {0x40, 0x01}, 0},
		{KIND_QSFP_DAC, PAGE_UPPER, {131, 192}, {0x88, 0}, 0},
		{KIND_QSFP_DAC, PAGE_UPPER, {131, 192}, {0x88, 0x0d}, 0},
		{KIND_QSFP_OPTIC, PAGE_UPPER, {131, 192}, {0x80, 0x40}, 200},
		/* an interface and the end; 4 lanes of NDR, and 8 */
		{KIND_CMIS_DAC, PAGE_LOWER, {86, 90}, {0x4f, 0xff}, 400},
		{KIND_CMIS_DAC, PAGE_LOWER, {86, 90}, {0x0b, 0xff}, 100},
		{KIND_CMIS_DAC, PAGE_LOWER, {86, 90}, {0xee, 0xff}, 0},
		{KIND_CMIS_DAC, PAGE_LOWER, {86, 90}, {0xff, 0xff}, 0},
		{KIND_CMIS_DAC, PAGE_LOWER, {86, 90}, {0x11, 0x0f}, 0},
		{KIND_CMIS_DAC, PAGE_LOWER, {86, 90}, {0x32, 0xff}, 400},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		ModulePages p;
		PortSnapshot s;

		module_image(cases[i].kind, &p);
		module_image_set(&p, PAGE_LOWER, 88, 0x44);
		for (size_t k = 0; k < 2; k++)
			module_image_set(&p, cases[i].page, cases[i].offset[k], cases[i].byte[k]);
		s = decode(&p);
		if (has(&s, PORT_ATTR_cable_max_rate) != (cases[i].rate > 0) ||
		    s.values.cable_max_rate != cases[i].rate * UINT64_C(1000000000))
			fail_msg("case %zu: %" PRIu64, i, s.values.cable_max_rate);
		p.is_read[cases[i].page] = false;
		s = decode(&p);
		ASSERT_UNKNOWN(&s, cable_max_rate);
	}
}

/* Of what nobody knows only that it is there. */
static void test_unknown(_unused_ void **state)
{
	static const struct {
		uint8_t id, version;
	} cases[] = {{0x00, 0x50}, {0x05, 0x50}, {0x18, 0x30}, {0x18, 0x60}, {0xff, 0xff}};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		ModulePages p;
		PortSnapshot s;

		module_image(KIND_CMIS_OPTIC, &p);
		module_image_set(&p, PAGE_LOWER, 0, cases[i].id);
		module_image_set(&p, PAGE_LOWER, 1, cases[i].version);
		s = decode(&p);
		ASSERT_NUMBER(&s, cable_present, 1);
		mask_set(&s.supplied, PORT_ATTR_cable_present, false);
		assert_true(mask_is_empty(&s.supplied));
	}
}

/* Which pages are read, in hexadecimal: those that a module with these has. */
static unsigned int pages_of(const ModulePages *p)
{
	unsigned int pages = 0;
	ModulePlace place;

	for (ModulePage i = 0; i < _PAGE_MAX; i++)
		pages |= (unsigned int)module_has_page(p, i, &place) << i;
	return pages;
}

static void test_pages(_unused_ void **state)
{
	static const unsigned int expected[MODULE_KINDS] = {
		[KIND_CMIS_OPTIC] = 1 << PAGE_LOWER | 1 << PAGE_UPPER | 1 << PAGE_CMIS_SAYS |
				    1 << PAGE_CMIS_LIMITS | 1 << PAGE_CMIS_LANES,
		[KIND_CMIS_AOC] = 1 << PAGE_LOWER | 1 << PAGE_UPPER | 1 << PAGE_CMIS_SAYS |
				  1 << PAGE_CMIS_LIMITS | 1 << PAGE_CMIS_LANES,
		[KIND_CMIS_DAC] = 1 << PAGE_LOWER | 1 << PAGE_UPPER,
		[KIND_QSFP_OPTIC] = 1 << PAGE_LOWER | 1 << PAGE_UPPER | 1 << PAGE_QSFP_LIMITS,
		[KIND_QSFP_DAC] = 1 << PAGE_LOWER | 1 << PAGE_UPPER,
		[KIND_QSFP_AOC] = 1 << PAGE_LOWER | 1 << PAGE_UPPER | 1 << PAGE_QSFP_LIMITS,
		[KIND_SFP_OPTIC] = 1 << PAGE_LOWER | 1 << PAGE_SFP_MONITORS,
		[KIND_SFP_DAC] = 1 << PAGE_LOWER,
	};
	ModulePages p;

	for (unsigned int i = 0; i < MODULE_KINDS; i++) {
		module_image(i, &p);
		assert_int_equal(pages_of(&p), expected[i]);
	}
	/* the other address only after a change of it */
	module_image(KIND_SFP_OPTIC, &p);
	module_image_set(&p, PAGE_LOWER, 92, 0x6c);
	assert_int_equal(pages_of(&p), 1 << PAGE_LOWER);
	assert_int_equal(pages_of(&(ModulePages){}), 1 << PAGE_LOWER);
}

#define EEPROM_GET	 31
#define EEPROM_GET_REPLY 32
#define EEPROM_DATA	 7

static int parse(uint8_t command, size_t size, uint8_t ret[MODULE_PAGE_SIZE])
{
	struct genlmsghdr g = {.cmd = command, .version = 1};
	struct nl_msg *m = nlmsg_alloc_simple(21, 0);
	uint8_t bytes[2 * MODULE_PAGE_SIZE];
	int r;

	memset(bytes, 0x5a, sizeof(bytes));
	nlmsg_append(m, &g, sizeof(g), NLMSG_ALIGNTO);
	nla_put(m, EEPROM_DATA, (int)size, bytes);
	r = module_parse_page(nlmsg_hdr(m), ret);
	nlmsg_free(m);
	return r;
}

static void test_answers(_unused_ void **state)
{
	uint8_t page[MODULE_PAGE_SIZE] = {};

	assert_int_equal(parse(EEPROM_GET_REPLY, MODULE_PAGE_SIZE - 1, page), -EBADMSG);
	assert_int_equal(parse(EEPROM_GET_REPLY + 1, MODULE_PAGE_SIZE, page), -EBADMSG);
	assert_int_equal(page[0], 0);
	assert_int_equal(parse(EEPROM_GET_REPLY, MODULE_PAGE_SIZE, page), 0);
	assert_int_equal(page[MODULE_PAGE_SIZE - 1], 0x5a);
}

/* The technologies of SFF-8024 between one kind of cable and the next */
static void test_technologies(_unused_ void **state)
{
	static const struct {
		uint8_t technology;
		const char *type; /* NULL: not known */
	} cases[] = {{0x00, "aoc"}, {0x07, "aoc"}, {0x08, NULL},  {0x09, "aoc"},
		     {0x0a, "dac"}, {0x0b, "dac"}, {0x0c, "acc"}, {0x0f, "acc"},
		     {0x10, "aoc"}, {0x11, "aoc"}, {0x12, NULL},  {0x20, NULL}};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		ModulePages p;
		PortSnapshot s;

		module_image(KIND_CMIS_AOC, &p);
		module_image_set(&p, PAGE_UPPER, 212, cases[i].technology);
		s = decode(&p);
		if (cases[i].type)
			ASSERT_TEXT(&s, cable_type, cases[i].type);
		else
			ASSERT_UNKNOWN(&s, cable_type);
	}
}

/* The kernel, which has a module of CMIS, while it is set: what it answers each time. */
static struct {
	bool is_set, is_down; /* it is down: not even the link is said */
	int errors[_PAGE_MAX];
	unsigned int n_pages, n_links;
} kernel;

int __real_netlink_ask(Netlink *n, struct nl_msg *request, NetlinkHandler handler, void *userdata);
int __wrap_netlink_ask(Netlink *n, struct nl_msg *request, NetlinkHandler handler, void *userdata);
int __wrap_netlink_ask(Netlink *n, struct nl_msg *request, NetlinkHandler handler, void *userdata)
{
	/* the halves of a module of CMIS, as module-pages.def has them */
	static const struct {
		ModulePage page;
		uint8_t number, offset;
	} halves[] = {{PAGE_LOWER, 0, 0},
		      {PAGE_UPPER, 0, 128},
		      {PAGE_CMIS_SAYS, 1, 128},
		      {PAGE_CMIS_LIMITS, 2, 128},
		      {PAGE_CMIS_LANES, 0x11, 128}};
	struct genlmsghdr *g = nlmsg_data(nlmsg_hdr(request)), reply = {.cmd = EEPROM_GET_REPLY};
	struct nlattr *a[EEPROM_DATA + 1];
	struct nl_msg *m;
	ModulePages p;
	int r;

	if (!kernel.is_set)
		return __real_netlink_ask(n, request, handler, userdata);
	if (g->cmd == ETHTOOL_MSG_LINKSTATE_GET) {
		kernel.n_links++;
		nlmsg_free(request);
		return kernel.is_down ? -ENODEV : 0;
	}
	assert_in_range(kernel.n_pages, 0, ARRAY_SIZE(halves) - 1);
	assert_int_equal(genl_parse(nlmsg_hdr(request), EEPROM_GET, a, EEPROM_DATA), 0);
	assert_int_equal(nla_get_u32(nla_data(a[1])), 4); /* of the interface */
	assert_int_equal(nla_get_u32(a[2]), halves[kernel.n_pages].offset);
	assert_int_equal(nla_get_u32(a[3]), MODULE_PAGE_SIZE);
	assert_int_equal(nla_get_u8(a[4]), halves[kernel.n_pages].number);
	assert_int_equal(nla_get_u8(a[5]), 0);
	assert_int_equal(nla_get_u8(a[6]), 0x50);
	nlmsg_free(request);
	module_image(KIND_CMIS_OPTIC, &p);
	m = nlmsg_alloc_simple(21, 0);
	nlmsg_append(m, &reply, sizeof(reply), NLMSG_ALIGNTO);
	nla_put(m, EEPROM_DATA, MODULE_PAGE_SIZE, p.bytes[halves[kernel.n_pages].page]);
	r = kernel.errors[kernel.n_pages++];
	if (r == 0)
		r = handler(nlmsg_hdr(m), userdata);
	nlmsg_free(m);
	return r;
}

/* Reads that module. */
static int read_module(ModulePages *ret)
{
	Genl g = {.netlink = NETLINK_CLOSED, .family.id = 21, .is_known = true};
	int r;

	kernel.is_set = true;
	kernel.n_pages = kernel.n_links = 0;
	r = module_read(&g, 4, ret);
	kernel.is_set = false;
	genl_done(&g);
	return r;
}

static void test_read(_unused_ void **state)
{
	Genl without = {.netlink = NETLINK_CLOSED, .is_known = true};
	ModulePages p = {}, expected;

	/* a kernel without the family */
	kernel.is_set = true;
	assert_int_equal(module_read(&without, 4, &p), -EOPNOTSUPP);
	assert_int_equal(kernel.n_pages, 0);
	genl_done(&without);
	assert_int_equal(read_module(&p), 0);
	assert_int_equal(kernel.n_pages, 5);
	module_image(KIND_CMIS_OPTIC, &expected);
	assert_memory_equal(p.bytes, expected.bytes, sizeof(p.bytes));
	assert_memory_equal(p.is_read, expected.is_read, sizeof(p.is_read));
	/* a page behind the first is left out, and the others are there */
	kernel.errors[2] = -EIO;
	assert_int_equal(read_module(&p), 0);
	assert_int_equal(kernel.n_pages, 5);
	assert_false(p.is_read[PAGE_CMIS_SAYS]);
	assert_true(p.is_read[PAGE_CMIS_LIMITS]);
	/* without the first there is nothing */
	kernel.errors[0] = -EIO;
	assert_int_equal(read_module(&p), -EIO);
	assert_int_equal(kernel.n_pages, 1);
	assert_int_equal(kernel.n_links, 0);
	/* a driver says so of an empty cage, and of an interface that it has no more */
	kernel.errors[0] = -ENODEV;
	assert_int_equal(read_module(&p), -ENOMEDIUM);
	kernel.is_down = true;
	assert_int_equal(read_module(&p), -ENODEV);
	assert_int_equal(kernel.n_links, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cmis),	     cmocka_unit_test(test_cmis_without),
		cmocka_unit_test(test_qsfp),	     cmocka_unit_test(test_qsfp_cables),
		cmocka_unit_test(test_sfp),	     cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_pages),	     cmocka_unit_test(test_answers),
		cmocka_unit_test(test_technologies), cmocka_unit_test(test_read),
		cmocka_unit_test(test_max_rate),
	};

	return cmocka_run_group_tests_name("module", tests, NULL, NULL);
}
