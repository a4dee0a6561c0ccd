/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* To which interfaces GIDs belong, with a tree of files in the place of sysfs. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "query-gids.h"
#include "query-sysfs.h"
#include "tree.h"

/* The interfaces of this namespace: eth0 (3) with a VLAN (5) on it and with eth1 (4) in a bond (6),
 * which has a VLAN (7); and mgmt0 (2), which has nothing to do with them. */
static void put_interfaces(const Tree *t)
{
	static const struct {
		const char *name, *ifindex, *lowers[3];
	} interfaces[] = {
		{"mgmt0", "2\n", {}},
		{"eth0", "3\n", {}},
		{"eth1", "4\n", {}},
		{"eth0.10", "5\n", {"eth0"}},
		{"bond0", "6\n", {"eth0", "eth1"}},
		{"bond0.20", "7\n", {"bond0"}},
		{"loop0", "8\n", {"loop0"}},
	};

	for (size_t i = 0; i < ARRAY_SIZE(interfaces); i++) {
		char path[64], target[64];

		snprintf(path, sizeof(path), "net/%s/ifindex", interfaces[i].name);
		tree_put(t, path, interfaces[i].ifindex);
		for (const char *const *l = interfaces[i].lowers; *l; l++) {
			snprintf(path, sizeof(path), "net/%s/lower_%s", interfaces[i].name, *l);
			snprintf(target, sizeof(target), "../%s", *l);
			tree_put_link(t, path, target);
		}
	}
}

/* What the kernel says of an entry, and what it is. */
static const struct {
	uint32_t ifindex;     /* by verbs */
	const char *name;     /* by sysfs; NULL: there is no such file */
	const char *expected; /* "": no interface here */
	uint32_t expected_index;
	uint32_t expected_namespace;
} cases[] = {
	{3, "eth0\n", "eth0", 3, GID_NAMESPACE_OWN},
	{5, "eth0.10\n", "eth0.10", 5, GID_NAMESPACE_OWN},
	{6, "bond0\n", "bond0", 6, GID_NAMESPACE_OWN},
	{7, "bond0.20\n", "bond0.20", 7, GID_NAMESPACE_OWN},
	/* that of a container: 2 is mgmt0 here, and net1 does not exist */
	{2, "net1\n", "", 0, GID_NAMESPACE_OTHER},
	{3, "net1\n", "", 0, GID_NAMESPACE_OTHER},
	/* the same name and index as here, but not on the port */
	{2, "mgmt0\n", "", 0, GID_NAMESPACE_OTHER},
	/* the name is also that of an interface of the port, with another index */
	{9, "eth0\n", "", 0, GID_NAMESPACE_OTHER},
	{8, "loop0\n", "", 0, GID_NAMESPACE_OTHER},
	{4, "eth1\n", "", 0, GID_NAMESPACE_OTHER},
	/* which interface it is, nobody says */
	{3, NULL, "", 0, GID_NAMESPACE_OWN},
	{3, "../net/eth0\n", "", 0, GID_NAMESPACE_OWN},
	{0, NULL, "", 0, GID_NAMESPACE_OWN},
};

/* eth0.10 and bond0.20 are VLANs. Each interface is asked for once while its entries follow one
 * another. */
static uint32_t vlan_of(void *userdata, uint32_t ifindex)
{
	++*(unsigned int *)userdata;
	return ifindex == 5 ? 10 : ifindex == 7 ? 20 : 0;
}

static void test_verbs(void **state)
{
	unsigned int asked = 0;
	Tree *t = *state;
	GidEntry entries[ARRAY_SIZE(cases)] = {};
	_cleanup_(table_free_pointer) Table *table = NULL;
	GidPlace place = {.device = t->fd, .ifindex = 3, .vlan_of = vlan_of, .userdata = &asked};

	put_interfaces(t);
	place.net = sysfs_open_directory(t->fd, "net");
	for (uint32_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char path[64];

		entries[i] = (GidEntry){.index = i, .ifindex = cases[i].ifindex};
		snprintf(path, sizeof(path), "ports/1/gid_attrs/ndevs/%u", i);
		if (cases[i].name)
			tree_put(t, path, cases[i].name);
	}
	table = table_new(entries, ARRAY_SIZE(cases), sizeof(GidEntry));
	gids_complete(table, 1, &place);
	for (uint32_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const GidEntry *e = (const GidEntry *)(const void *)table->entries + i;

		if (!streq(e->netdev, cases[i].expected) || e->ifindex != cases[i].expected_index ||
		    e->namespace != cases[i].expected_namespace)
			fail_msg("entry %u: %s %u %u", i, e->netdev, e->ifindex, e->namespace);
		assert_int_equal(e->vlan_id, e->ifindex == 5 ? 10 : e->ifindex == 7 ? 20 : 0);
	}
	assert_int_equal(asked, 4);
	/* a port whose interface is not here has no GIDs of interfaces here */
	memcpy(table->entries, entries, sizeof(entries));
	place.ifindex = 0;
	gids_complete(table, 1, &place);
	for (uint32_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(((const GidEntry *)(const void *)table->entries)[i].ifindex, 0);
	close(place.net);
	gids_complete(NULL, 1, &place);
}

/* sysfs has the name alone. */
static void test_sysfs(void **state)
{
	Tree *t = *state;
	GidEntry entries[] = {{.netdev = "eth0.10"},
			      {.index = 1, .netdev = "net1"},
			      {.index = 2, .netdev = "mgmt0"}};
	_cleanup_(table_free_pointer) Table *table = table_new(entries, 3, sizeof(GidEntry));
	const GidEntry *e = (const GidEntry *)(const void *)table->entries;
	GidPlace place = {.device = -EBADF, .ifindex = 3};

	put_interfaces(t);
	place.net = sysfs_open_directory(t->fd, "net");
	gids_complete(table, 1, &place);
	assert_string_equal(e[0].netdev, "eth0.10");
	assert_int_equal(e[0].ifindex, 5);
	assert_string_equal(e[1].netdev, "");
	assert_string_equal(e[2].netdev, "");
	assert_int_equal(e[2].ifindex, 0);
	assert_int_equal(e[0].namespace, GID_NAMESPACE_OWN);
	assert_int_equal(e[1].namespace, GID_NAMESPACE_OTHER);
	close(place.net);
}

static void test_memory(void **state)
{
	const GidEntry raw_entry = {.ifindex = 3}, done_entry = {.ifindex = 3, .netdev = "eth0"};
	_cleanup_(table_free_pointer) Table *raw = table_new(&raw_entry, 1, sizeof(raw_entry));
	_cleanup_(table_free_pointer) Table *done = table_new(&done_entry, 1, sizeof(done_entry));
	Table *found = NULL;
	DeviceGids g = {};

	(void)state;
	assert_false(gids_recall(&g, 2, raw, 7, &found));
	gids_remember(&g, 2, raw, 7, done);
	assert_true(gids_recall(&g, 2, raw, 7, &found));
	assert_true(table_equal(found, done));
	table_free(found);
	assert_false(gids_recall(&g, 1, raw, 7, &found));
	assert_false(gids_recall(&g, 3, raw, 7, &found));
	assert_false(gids_recall(&g, 2, raw, 8, &found));
	assert_false(gids_recall(&g, 2, done, 7, &found));
	assert_false(gids_recall(&g, 2, NULL, 7, &found));
	gids_done(&g);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, tree_setup, tree_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_verbs),
		TEST(test_sysfs),
		cmocka_unit_test(test_memory),
	};

	return cmocka_run_group_tests_name("query-gids", tests, NULL, NULL);
}
