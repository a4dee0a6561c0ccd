/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which tables a port still has if one of those that they are made of cannot be read. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "query-port.h"
#include "query-sysfs.h"

/* Which question has no answer. */
typedef enum Failing {
	NOTHING,
	GIDS,
	IPOIB,
	ADDRESSES,
} Failing;

static Failing failing;
static uint32_t link_layer;
/* Who was asked in turn: "n" netlink about the port, a digit rtnetlink about that interface */
static char asked[16];

static void note(char who)
{
	size_t n = strlen(asked);

	if (n + 1 < sizeof(asked))
		asked[n] = who;
}

static int answer(Failing question)
{
	return failing == question ? -EIO : 0;
}

int __wrap_nldev_get_port(Netlink *n, uint32_t index, uint32_t port, PortSnapshot *s);
int __wrap_nldev_get_port(_unused_ Netlink *n, _unused_ uint32_t index, _unused_ uint32_t port,
			  PortSnapshot *s)
{
	note('n');
	PORT_SUPPLY(s, state, IBV_PORT_ACTIVE);
	PORT_SUPPLY(s, ifindex, link_layer == IBV_LINK_LAYER_ETHERNET ? 2 : 0);
	return 0;
}

int __wrap_sysfs_supply_port(int device, uint32_t port, PortSnapshot *s);
int __wrap_sysfs_supply_port(_unused_ int device, _unused_ uint32_t port, PortSnapshot *s)
{
	PORT_SUPPLY(s, link_layer, link_layer);
	return 0;
}

int __wrap_target_sysfs(Target *t);
int __wrap_target_sysfs(_unused_ Target *t)
{
	return -EBADF;
}

int __wrap_sysfs_read_gids(int device, uint32_t port, bool roce, Table **ret);
int __wrap_sysfs_read_gids(_unused_ int device, _unused_ uint32_t port, _unused_ bool roce,
			   Table **ret)
{
	const GidEntry e = {.gid = {0xfe, 0x80, [15] = 7}, .type = GID_TYPE_IB};

	return answer(GIDS) < 0 ? answer(GIDS) : table_make(&e, 1, sizeof(e), ret);
}

bool __wrap_contexts_holds(const Contexts *c, uint32_t device);
bool __wrap_contexts_holds(_unused_ const Contexts *c, _unused_ uint32_t device)
{
	return false;
}

int __wrap_target_ipoib(Target *t, Ipoib **ret, size_t *ret_n);
int __wrap_target_ipoib(Target *t, Ipoib **ret, size_t *ret_n)
{
	static Ipoib one = {.entry = {.ifindex = 9, .name = "ib0"},
			    .port_guid = {[7] = 7},
			    .altnames = {{.ifindex = 9, .name = "rail0"}},
			    .n_altnames = 1};

	*ret = t->querier->ipoib = &one;
	*ret_n = t->querier->n_ipoib = 1;
	one.has_addresses = false;
	return answer(IPOIB);
}

int __wrap_netdev_open(Netlink *n);
int __wrap_netdev_open(_unused_ Netlink *n)
{
	return 0;
}

int __wrap_netdev_get(Netlink *n, uint32_t ifindex, Netdev *ret);
int __wrap_netdev_get(_unused_ Netlink *n, uint32_t ifindex, Netdev *ret)
{
	note((char)('0' + ifindex));
	*ret = (Netdev){.ifindex = ifindex,
			.altnames = {{.ifindex = ifindex, .name = "rail1"}},
			.n_altnames = 1};
	return 0;
}

int __wrap_netdev_read_addresses(Netlink *n, uint32_t ifindex, Table **ret);
int __wrap_netdev_read_addresses(_unused_ Netlink *n, uint32_t ifindex, Table **ret)
{
	static Table *kept; /* an IPoIB interface keeps its table */
	const AddressEntry e = {.ifindex = ifindex, .address = {[15] = 1}};

	if (answer(ADDRESSES) < 0)
		return answer(ADDRESSES);
	if (ifindex != 9)
		return table_make(&e, 1, sizeof(e), ret);
	*ret = kept ? kept : (kept = table_new(&e, 1, sizeof(e)));
	return 0;
}

int __wrap_isolated_query(Isolated *p, const DvProvider *provider, uint32_t device, uint32_t port,
			  PortSnapshot *s);
int __wrap_isolated_query(_unused_ Isolated *p, _unused_ const DvProvider *provider,
			  _unused_ uint32_t device, _unused_ uint32_t port, PortSnapshot *s)
{
	s->open_error = 0;
	return 0;
}

#define ROWS 4U

static const PortTable tables[ROWS] = {PORT_TABLE_GIDS, PORT_TABLE_NETDEVS, PORT_TABLE_ADDRESSES,
				       PORT_TABLE_ALTNAMES};

/* HAS: which of the tables are there. The others could not be read. */
static void assert_tables(Failing question, uint32_t layer, const char has[ROWS + 1])
{
	Querier querier = {.net = -EBADF};
	Known known = {.link_layers = 1U << layer};
	const Query q = {.parts = READ_GIDS};
	/* another process has the device: no reason why sysfs could not say it */
	Target t = {.querier = &querier, .query = &q, .known = &known, .is_isolated = true};
	_cleanup_(port_snapshot_done) PortSnapshot s = {};

	failing = question;
	link_layer = layer;
	assert_int_equal(port_query(&t, 1, &s), 0);
	for (size_t i = 0; i < ROWS; i++) {
		bool supplied = mask_has(&s.supplied, port_table_attr(tables[i]));

		if (supplied != (has[i] != '-') || (supplied && !s.tables[tables[i]]))
			fail_msg("question %d, layer %u, table %zu: supplied %d", (int)question,
				 layer, i, supplied);
		if (supplied)
			continue;
		assert_null(s.tables[tables[i]]);
		assert_string_equal(port_unavailable(&s, port_table_attr(tables[i]))->code,
				    "query-failed");
	}
	assert_int_equal(s.failed & READ_GIDS, question == NOTHING ? 0 : READ_GIDS);
	gids_done(&known.gids);
}

static void test_tables(_unused_ void **state)
{
	/* x: with entries */
	assert_tables(NOTHING, IBV_LINK_LAYER_INFINIBAND, "xxxx");
	assert_tables(GIDS, IBV_LINK_LAYER_INFINIBAND, "----");
	assert_tables(IPOIB, IBV_LINK_LAYER_INFINIBAND, "x---");
	assert_tables(ADDRESSES, IBV_LINK_LAYER_INFINIBAND, "xx-x");
	assert_tables(NOTHING, IBV_LINK_LAYER_ETHERNET, "xxxx");
	assert_tables(GIDS, IBV_LINK_LAYER_ETHERNET, "-x-x");
	assert_tables(ADDRESSES, IBV_LINK_LAYER_ETHERNET, "xx-x");
}

/* rtnetlink answers when the driver knows of a change, too. So it is asked before netlink, about
 * the interface that this port had the last time. */
static void test_links(_unused_ void **state)
{
	static const struct {
		KnownLink known;
		uint32_t port, layer;
		const char *asked;
	} cases[] = {
		{{}, 1, IBV_LINK_LAYER_INFINIBAND, "n"},
		{{}, 1, IBV_LINK_LAYER_ETHERNET, "n2n"},
		{{.port = 1, .ifindex = 2}, 1, IBV_LINK_LAYER_ETHERNET, "2n"},
		{{.port = 1, .ifindex = 3}, 1, IBV_LINK_LAYER_ETHERNET, "3n2n"},
		{{.port = 1, .ifindex = 2}, 1, IBV_LINK_LAYER_INFINIBAND, "2n"},
		/* that was the other port */
		{{.port = 3, .ifindex = 2}, 1, IBV_LINK_LAYER_ETHERNET, "n2n"},
		{{.port = 1, .ifindex = 3}, 3, IBV_LINK_LAYER_ETHERNET, "n2n"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		Querier querier = {.net = -EBADF};
		Known known = {.link_layers = 1U << cases[i].layer, .link = cases[i].known};
		const Query q = {.parts = READ_LINKS};
		Target t = {.querier = &querier, .query = &q, .known = &known, .is_isolated = true};
		bool is_ethernet = cases[i].layer == IBV_LINK_LAYER_ETHERNET;

		link_layer = cases[i].layer;
		for (size_t turn = 0; turn < 2; turn++) {
			_cleanup_(port_snapshot_done) PortSnapshot s = {};

			memset(asked, 0, sizeof(asked));
			assert_int_equal(port_query(&t, cases[i].port, &s), 0);
			/* what one query was told is the guess of the next one */
			assert_string_equal(asked, turn == 0	 ? cases[i].asked
						   : is_ethernet ? "2n"
								 : "n");
			assert_int_equal(known.link.port, cases[i].port);
			assert_int_equal(known.link.ifindex, is_ethernet ? 2 : 0);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tables),
		cmocka_unit_test(test_links),
	};

	return cmocka_run_group_tests_name("query-interfaces", tests, NULL, NULL);
}
