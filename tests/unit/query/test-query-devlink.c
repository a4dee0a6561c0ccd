/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the worker reads of the health of a function: from messages of devlink, which are made
 * here. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */
#include <linux/genetlink.h>

#include "nest.h"
#include "query-devlink.h"
#include "tree.h"

#define FAMILY 21

static const DevlinkHandle function = {.bus = "pci", .device = "0000:c1:00.0"};

static struct nl_msg *begin_command(uint8_t command, const char *bus, const char *device)
{
	struct genlmsghdr g = {.cmd = command, .version = 1};
	struct nl_msg *m = nlmsg_alloc_simple(FAMILY, 0);

	nlmsg_append(m, &g, sizeof(g), NLMSG_ALIGNTO);
	if (bus)
		nla_put_string(m, DEVLINK_ATTR_BUS_NAME, bus);
	if (device)
		nla_put_string(m, DEVLINK_ATTR_DEV_NAME, device);
	return m;
}

static struct nl_msg *begin(void)
{
	return begin_command(DEVLINK_CMD_HEALTH_REPORTER_GET, "pci", "0000:c1:00.0");
}

static int end(struct nl_msg *m, HealthEntry *ret)
{
	int r = devlink_parse_reporter(nlmsg_hdr(m), &function, ret);

	nlmsg_free(m);
	return r;
}

/* What every reporter has, but for the attribute WITHOUT, and a dump, if WITHOUT is not 0. */
static void put_reporter(struct nl_msg *m, int without)
{
	struct nlattr *reporter = nla_nest_start(m, DEVLINK_ATTR_HEALTH_REPORTER);

	if (without != DEVLINK_ATTR_HEALTH_REPORTER_NAME)
		nla_put_string(m, DEVLINK_ATTR_HEALTH_REPORTER_NAME, "fw_fatal");
	if (without != DEVLINK_ATTR_HEALTH_REPORTER_STATE)
		nla_put_u8(m, DEVLINK_ATTR_HEALTH_REPORTER_STATE, 1);
	if (without != DEVLINK_ATTR_HEALTH_REPORTER_ERR_COUNT)
		nla_put_u64(m, DEVLINK_ATTR_HEALTH_REPORTER_ERR_COUNT, UINT64_C(1) << 40);
	if (without != DEVLINK_ATTR_HEALTH_REPORTER_RECOVER_COUNT)
		nla_put_u64(m, DEVLINK_ATTR_HEALTH_REPORTER_RECOVER_COUNT, 2);
	if (without)
		nla_put_u64(m, DEVLINK_ATTR_HEALTH_REPORTER_DUMP_TS_NS,
			    UINT64_C(1800000000123456789));
	nest_end(m, reporter);
}

static void test_whole(_unused_ void **state)
{
	struct nl_msg *m = begin();
	HealthEntry e;

	put_reporter(m, -1);
	nla_put_u32(m, 5000, 1); /* of a later kernel */
	assert_int_equal(end(m, &e), 0);
	assert_string_equal(e.name, "fw_fatal");
	assert_int_equal(e.state, HEALTH_ERROR);
	assert_true(e.errors == UINT64_C(1) << 40);
	assert_int_equal(e.recoveries, 2);
	assert_true(e.last_dump == UINT64_C(1800000000123456));
	assert_string_equal(e.port, "");

	/* of a port, and no dump */
	m = begin();
	nla_put_u32(m, DEVLINK_ATTR_PORT_INDEX, UINT32_MAX);
	put_reporter(m, 0);
	assert_int_equal(end(m, &e), 0);
	assert_string_equal(e.port, "4294967295");
	assert_int_equal(e.last_dump, 0);
}

static void test_others(_unused_ void **state)
{
	HealthEntry e = {.errors = 77};
	struct nl_msg *m = begin_command(DEVLINK_CMD_HEALTH_REPORTER_GET, "pci", "0000:c1:00.1");

	put_reporter(m, 0);
	assert_int_equal(end(m, &e), -ENOENT);
	m = begin_command(DEVLINK_CMD_HEALTH_REPORTER_GET, "auxiliary", "0000:c1:00.0");
	put_reporter(m, 0);
	assert_int_equal(end(m, &e), -ENOENT);
	m = begin_command(DEVLINK_CMD_GET, "pci", "0000:c1:00.0");
	put_reporter(m, 0);
	assert_int_equal(end(m, &e), -EBADMSG);
	assert_int_equal(e.errors, 77);
}

static void test_malformed(_unused_ void **state)
{
	static const int needed[] = {
		DEVLINK_ATTR_HEALTH_REPORTER_NAME,
		DEVLINK_ATTR_HEALTH_REPORTER_STATE,
		DEVLINK_ATTR_HEALTH_REPORTER_ERR_COUNT,
		DEVLINK_ATTR_HEALTH_REPORTER_RECOVER_COUNT,
	};
	HealthEntry e = {.errors = 77};
	struct nlattr *reporter;
	struct nl_msg *m;
	char name[200];

	for (size_t i = 0; i < ARRAY_SIZE(needed); i++) {
		m = begin();
		put_reporter(m, needed[i]);
		assert_int_equal(end(m, &e), -EBADMSG);
	}
	/* a number of three bytes, a state of 64 bits */
	m = begin();
	reporter = nla_nest_start(m, DEVLINK_ATTR_HEALTH_REPORTER);
	nla_put_string(m, DEVLINK_ATTR_HEALTH_REPORTER_NAME, "fw");
	nla_put(m, DEVLINK_ATTR_HEALTH_REPORTER_STATE, 3, "\0\0");
	nest_end(m, reporter);
	assert_int_equal(end(m, &e), -EBADMSG);
	m = begin();
	reporter = nla_nest_start(m, DEVLINK_ATTR_HEALTH_REPORTER);
	nla_put_string(m, DEVLINK_ATTR_HEALTH_REPORTER_NAME, "fw");
	nla_put_u64(m, DEVLINK_ATTR_HEALTH_REPORTER_STATE, UINT64_MAX);
	nla_put_u64(m, DEVLINK_ATTR_HEALTH_REPORTER_ERR_COUNT, 0);
	nla_put_u64(m, DEVLINK_ATTR_HEALTH_REPORTER_RECOVER_COUNT, 0);
	nest_end(m, reporter);
	assert_int_equal(end(m, &e), -EBADMSG);
	/* no reporter, no instance, no header */
	assert_int_equal(end(begin(), &e), -EBADMSG);
	m = begin_command(DEVLINK_CMD_HEALTH_REPORTER_GET, "pci", NULL);
	put_reporter(m, 0);
	assert_int_equal(end(m, &e), -EBADMSG);
	m = begin_command(DEVLINK_CMD_HEALTH_REPORTER_GET, NULL, "0000:c1:00.0");
	put_reporter(m, 0);
	assert_int_equal(end(m, &e), -EBADMSG);
	assert_int_equal(end(nlmsg_alloc_simple(FAMILY, 0), &e), -EBADMSG);
	assert_int_equal(e.errors, 77);

	/* a name without an end, and longer than its room: it is cut */
	memset(name, 'x', sizeof(name));
	m = begin();
	reporter = nla_nest_start(m, DEVLINK_ATTR_HEALTH_REPORTER);
	nla_put(m, DEVLINK_ATTR_HEALTH_REPORTER_NAME, sizeof(name), name);
	nla_put_u8(m, DEVLINK_ATTR_HEALTH_REPORTER_STATE, 9);
	nla_put_u64(m, DEVLINK_ATTR_HEALTH_REPORTER_ERR_COUNT, 0);
	nla_put_u64(m, DEVLINK_ATTR_HEALTH_REPORTER_RECOVER_COUNT, 0);
	nest_end(m, reporter);
	assert_int_equal(end(m, &e), 0);
	assert_int_equal(strlen(e.name), sizeof(e.name) - 1);
	assert_int_equal(e.state, 9);
}

static struct nl_msg *begin_family(void)
{
	struct genlmsghdr g = {.cmd = CTRL_CMD_NEWFAMILY, .version = 2};
	struct nl_msg *m = nlmsg_alloc_simple(GENL_ID_CTRL, 0);

	nlmsg_append(m, &g, sizeof(g), NLMSG_ALIGNTO);
	return m;
}

static int end_family(struct nl_msg *m, GenlFamily *ret)
{
	int r = genl_parse_family(nlmsg_hdr(m), "config", ret);

	nlmsg_free(m);
	return r;
}

static void put_group(struct nl_msg *m, int nth, const char *name, uint32_t id)
{
	struct nlattr *group = nla_nest_start(m, nth);

	nla_put_string(m, CTRL_ATTR_MCAST_GRP_NAME, name);
	nla_put_u32(m, CTRL_ATTR_MCAST_GRP_ID, id);
	nla_nest_end(m, group);
}

static void test_family(_unused_ void **state)
{
	static const uint32_t bad[] = {0, 15, 65536};
	GenlFamily f = {};
	struct nl_msg *m = begin_family();
	struct nlattr *groups;

	nla_put_u16(m, CTRL_ATTR_FAMILY_ID, FAMILY);
	groups = nla_nest_start(m, CTRL_ATTR_MCAST_GROUPS);
	put_group(m, 1, "other", 3);
	put_group(m, 2, "config", UINT32_MAX); /* no number of a group */
	put_group(m, 3, "config", 5);
	nla_nest_end(m, groups);
	assert_int_equal(end_family(m, &f), 0);
	assert_int_equal(f.id, FAMILY);
	assert_int_equal(f.group, 5);

	m = begin_family();
	nla_put_u16(m, CTRL_ATTR_FAMILY_ID, FAMILY);
	assert_int_equal(end_family(m, &f), 0);
	assert_int_equal(f.group, 0);

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		m = begin_family();
		nla_put_u32(m, CTRL_ATTR_FAMILY_ID, bad[i]);
		assert_int_equal(end_family(m, &f), -EBADMSG);
	}
	assert_int_equal(end_family(begin_family(), &f), -EBADMSG);
	assert_int_equal(end_family(nlmsg_alloc_simple(FAMILY, 0), &f), -EBADMSG);
}

static void test_handle(void **state)
{
	static const char path[] = "/sys/devices/pci0000:c0/0000:c1:00.0/mlx5_core.sf.4";
	Tree *t = *state;
	DevlinkHandle h = {};
	char name[3 + sizeof(h.device) + 1];

	assert_false(devlink_handle(t->fd, path, &h));
	tree_put_link(t, "device/subsystem", "../../../../bus/auxiliary");
	assert_true(devlink_handle(t->fd, path, &h));
	assert_string_equal(h.bus, "auxiliary");
	assert_string_equal(h.device, "mlx5_core.sf.4");
	assert_false(devlink_handle(t->fd, "", &h));
	assert_false(devlink_handle(t->fd, "/sys/", &h));
	/* a name that the handle has just room for, behind another directory of one letter */
	memset(name, 'x', sizeof(name));
	memcpy(name, "/a/", 3);
	name[3 + sizeof(h.device) - 1] = '\0';
	assert_true(devlink_handle(t->fd, name, &h));
	assert_string_equal(h.device, name + 3);
	name[3 + sizeof(h.device) - 1] = 'x';
	name[3 + sizeof(h.device)] = '\0';
	assert_false(devlink_handle(t->fd, name, &h));
}

/* The devlink of this machine: it has no such instance, or there is none. */
static void test_kernel(_unused_ void **state)
{
	static const DevlinkHandle nothing = {.bus = "pci", .device = "ffff:ff:1f.7"};
	Genl d = GENL_CLOSED;
	Table *t = NULL;

	for (unsigned int i = 0; i < 2; i++) {
		int r = devlink_read_health(&d, &nothing, &t);

		assert_true(r == -ENODEV || r == -EOPNOTSUPP);
		assert_true(d.is_known);
		assert_int_equal(r == -ENODEV, d.family.id != 0);
		assert_null(t);
	}
	genl_done(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_malformed),
		cmocka_unit_test(test_family),
		cmocka_unit_test_setup_teardown(test_handle, tree_setup, tree_teardown),
		cmocka_unit_test(test_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
