/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * librdmad against the daemon: open once, read, hear of changes, follow the daemon to a larger
 * memory and over its end; and clients who open without end.
 */

#include <infiniband/verbs.h>
#include <pthread.h>
#include <signal.h>

#include "fixture.h"
#include "rdmad.h"

#define SCENARIO                                                                                   \
	"[device mlx5_0]\nprotocol = infiniband\nsys_image_guid = 0x7700\n"                        \
	"[port mlx5_0/1]\nlid = 7\naddresses = 192.0.2.7\nnetdev = ib1 3\naltnames = ibp193s0\n"   \
	"[device rocep1]\nprotocol = roce\nsys_image_guid = 0x7700\npci_address = 0000:c1:00.1\n"  \
	"[port rocep1/1]\nnetdev = eth0 2\ngid.1 = fe80::9 v1\ngid.2 = fe80::9 v2\n"               \
	"gid.3 = 192.0.2.1 v1\ngid.4 = 192.0.2.1 v2\n"                                             \
	"[device mlx5_1]\nprotocol = infiniband\n[port mlx5_1/1]\nnetdev = ib0 5\n"                \
	"addresses = 192.0.2.9\n"                                                                  \
	"[device more]\nprotocol = roce\nports = 1024\npresent = no\n"

static int setup(void **state)
{
	return fixture_setup_daemon(state, SCENARIO);
}

static struct rdmad *open_snapshot(const Fixture *f)
{
	struct rdmad *r = NULL;
	int e = rdmad_open(f->address, &r);

	if (e < 0)
		fail_msg("rdmad_open(): %s", rdmad_strerror(e));
	return r;
}

static struct rdmad_handle find(const struct rdmad *r, const char *name)
{
	struct rdmad_handle h = {};
	int e = rdmad_find(r, name, &h);

	if (e < 0)
		fail_msg("%s: %s", name, rdmad_strerror(e));
	return h;
}

static void test_read(void **state)
{
	Fixture *f = *state;
	struct rdmad *r = open_snapshot(f);
	struct rdmad_handle ib = find(r, "mlx5_0/1"), roce = find(r, "eth0");
	struct rdmad_port port;
	struct ibv_port_attr attr;

	assert_int_equal(rdmad_read(r, ib, &port), 0);
	assert_int_equal(port.hot.state, IBV_PORT_ACTIVE);
	assert_int_equal(port.hot.link_layer, IBV_LINK_LAYER_INFINIBAND);
	assert_true(RDMAD_VALID(port.hot, LID));
	assert_true(port.hot.last_query > 0);
	assert_string_equal(port.device_name, "mlx5_0");
	assert_int_equal(rdmad_query_port(r, ib, &attr), 0);
	assert_int_equal(attr.lid, port.hot.lid);
	assert_int_equal(rdmad_query_port(r, roce, &attr), 0);
	assert_int_equal(attr.link_layer, IBV_LINK_LAYER_ETHERNET);
	rdmad_close(r);
}

/* The example that says how to use the library. */
static void test_example(void **state)
{
	Fixture *f = *state;
	char line[64] = "";
	FILE *p;

	setenv("DBUS_SYSTEM_BUS_ADDRESS", f->address, 1);
	p = popen(TEST_BUILD_DIR "/docs/examples/port-attr mlx5_0/1 1000", "r");
	assert_non_null(p);
	assert_non_null(fgets(line, sizeof(line), p));
	assert_string_equal(line, "state 4, MTU code 5, LID 7\n");
	assert_non_null(fgets(line, sizeof(line), p));
	assert_int_equal(pclose(p), 0);
	unsetenv("DBUS_SYSTEM_BUS_ADDRESS");
}

static struct rdmad_gid find_gid(const struct rdmad *r, const struct rdmad_handle *port,
				 const char *address, const char *netdev, int type)
{
	struct rdmad_gid g = {};
	int e = rdmad_find_gid(r, port, address, netdev, type, &g);

	if (e < 0)
		fail_msg("%s, %s: %s", address ? address : "any", netdev ? netdev : "any",
			 rdmad_strerror(e));
	return g;
}

/* Not byte by byte: nobody writes what follows the last member. */
static void expect_handle(const struct rdmad_handle *is, const struct rdmad_handle *expected)
{
	assert_int_equal(is->port, expected->port);
	assert_int_equal(is->slot, expected->slot);
}

static void test_find_gid(void **state)
{
	Fixture *f = *state;
	struct rdmad *r = open_snapshot(f);
	struct rdmad_handle roce = find(r, "eth0"), ib;
	struct rdmad_gid g;
	struct rdmad_port p;

	/* RoCE v2 and global, then by address, by type, by interface */
	g = find_gid(r, &roce, NULL, NULL, RDMAD_GID_ANY);
	assert_int_equal(g.index, 4);
	assert_int_equal(g.type, RDMAD_GID_ROCE_V2);
	assert_string_equal(g.netdev, "eth0");
	assert_int_equal(find_gid(r, &roce, NULL, NULL, RDMAD_GID_ROCE_V1).index, 3);
	assert_int_equal(find_gid(r, &roce, "fe80::9", NULL, RDMAD_GID_ANY).index, 2);
	assert_int_equal(find_gid(r, NULL, "192.0.2.1", NULL, RDMAD_GID_ANY).index, 4);
	assert_int_equal(find_gid(r, NULL, "192.0.2.1", "eth0", RDMAD_GID_ROCE_V1).index, 3);
	g = find_gid(r, NULL, NULL, "eth0", RDMAD_GID_ANY);
	assert_int_equal(g.index, 4);
	expect_handle(&g.port, &roce);

	/* the first GID is that of the IPoIB interface, whose address no GID has */
	ib = find(r, "mlx5_1");
	g = find_gid(r, NULL, "192.0.2.9", NULL, RDMAD_GID_ANY);
	expect_handle(&g.port, &ib);
	assert_int_equal(g.type, RDMAD_GID_IB);
	assert_int_equal(find_gid(r, NULL, NULL, "ib0", RDMAD_GID_ANY).index, g.index);
	assert_int_equal(find_gid(r, &ib, "192.0.2.9", NULL, RDMAD_GID_ANY).index, g.index);
	assert_int_equal(find_gid(r, &ib, "192.0.2.9", "ib0", RDMAD_GID_IB).index, g.index);
	assert_int_equal(rdmad_find_gid(r, &roce, "192.0.2.9", NULL, RDMAD_GID_ANY, &g), -ENOENT);

	g = find_gid(r, NULL, NULL, "eth0", RDMAD_GID_ANY);
	assert_int_equal(rdmad_find_gid(r, &roce, "192.0.2.2", NULL, RDMAD_GID_ANY, &g), -ENOENT);
	assert_int_equal(rdmad_find_gid(r, NULL, "192.0.2.2", NULL, RDMAD_GID_ANY, &g), -ENOENT);
	assert_int_equal(rdmad_find_gid(r, &roce, NULL, "eth7", RDMAD_GID_ANY, &g), -ENOENT);
	assert_int_equal(rdmad_find_gid(r, &roce, "192.0.2", NULL, RDMAD_GID_ANY, &g), -EINVAL);
	assert_int_equal(rdmad_find_gid(r, &roce, NULL, NULL, 3, &g), -EINVAL);
	assert_int_equal(rdmad_find_gid(r, NULL, NULL, NULL, RDMAD_GID_ANY, &g), -EINVAL);
	assert_int_equal(g.index, 4);

	/* the generation says when to look again */
	assert_int_equal(rdmad_read(r, roce, &p), 0);
	assert_int_equal(g.generation, p.gid_generation);
	fixture_simulate(f, "set rocep1/1 gid.4= gid.7=192.0.2.1 event=gid-change");
	while (g.generation == p.gid_generation) {
		assert_int_equal(rdmad_wait(r, UINT64_MAX), 1);
		assert_int_equal(rdmad_read(r, roce, &p), 0);
	}
	assert_int_equal(find_gid(r, &roce, "192.0.2.1", NULL, RDMAD_GID_ROCE_V2).index, 7);

	/* an address that two ports have: which is meant has to be said */
	g = find_gid(r, &roce, "192.0.2.1", NULL, RDMAD_GID_ANY);
	fixture_simulate(f, "set rocep1/1 gid.8=192.0.2.9 event=gid-change");
	while (g.generation == p.gid_generation) {
		assert_int_equal(rdmad_wait(r, UINT64_MAX), 1);
		assert_int_equal(rdmad_read(r, roce, &p), 0);
	}
	assert_int_equal(rdmad_find_gid(r, NULL, "192.0.2.9", NULL, RDMAD_GID_ANY, &g), -EEXIST);
	assert_int_equal(find_gid(r, &roce, "192.0.2.9", NULL, RDMAD_GID_ANY).index, 8);
	assert_int_equal(find_gid(r, &ib, "192.0.2.9", NULL, RDMAD_GID_ANY).type, RDMAD_GID_IB);

	fixture_simulate(f, "remove rocep1");
	while (rdmad_read(r, roce, &p) == 0)
		assert_int_equal(rdmad_wait(r, UINT64_MAX), 1);
	assert_int_equal(rdmad_find_gid(r, &roce, NULL, NULL, RDMAD_GID_ANY, &g), -ENODEV);
	rdmad_close(r);
}

static int setup_bond(void **state)
{
	return fixture_setup_daemon(
		state,
		"[device mlx5_0]\nprotocol = roce\n[port mlx5_0/1]\nnetdev = ens1 7\n"
		"netdev_master = bond0\n"
		"gid.0 = fe80::9 v1 bond0 30\ngid.1 = fe80::9 v2 bond0 30\n"
		"gid.2 = 198.51.100.7 v2 bond0.66 31 vlan=66\ngid.3 = 198.51.100.8 v2 macvlan0 32\n"
		"gid.4 = 203.0.113.7 v2 namespace=other\ngid.5 = 192.0.2.7 v2 bond0 30\n"
		"gid.6 = fe80::9 v2 bond0.66 31 vlan=66\n");
}

/* The same table as in test-client-gid and test-env: what rdmad, the libraries and rdmactl say of
 * it is the same. */
static void test_find_gid_of_bond(void **state)
{
	struct rdmad *r = open_snapshot(*state);
	struct rdmad_handle port = find(r, "mlx5_0/1");

	assert_int_equal(find_gid(r, &port, NULL, NULL, RDMAD_GID_ANY).index, 5);
	assert_int_equal(find_gid(r, NULL, NULL, "bond0", RDMAD_GID_ANY).index, 5);
	assert_int_equal(find_gid(r, NULL, NULL, "bond0.66", RDMAD_GID_ANY).index, 2);
	assert_int_equal(find_gid(r, NULL, "fe80::9", NULL, RDMAD_GID_ANY).index, 1);
	assert_int_equal(find_gid(r, NULL, "fe80::9%bond0.66", NULL, RDMAD_GID_ANY).index, 6);
	assert_int_equal(find_gid(r, &port, "fe80::9%31", NULL, RDMAD_GID_ANY).index, 6);
	rdmad_close(r);
}

/* What the memory does not know the daemon does. */
static void test_find_any(void **state)
{
	static const char *const ib[] = {"mlx5_0/1", "mlx5_0:1",  "mlx5_0", "ib1",
					 "ibp193s0", "192.0.2.7", "3"};
	static const char *const roce[] = {"rocep1", "eth0", "c1:00.1", "192.0.2.1", "fe80::9"};
	Fixture *f = *state;
	struct rdmad *r = open_snapshot(f);
	struct rdmad_handle first = find(r, "mlx5_0/1"), second = find(r, "rocep1/1"), h;

	for (size_t i = 0; i < ARRAY_SIZE(ib); i++) {
		h = (struct rdmad_handle){};
		assert_int_equal(rdmad_find_any(r, ib[i], &h), 0);
		expect_handle(&h, &first);
	}
	for (size_t i = 0; i < ARRAY_SIZE(roce); i++) {
		h = (struct rdmad_handle){};
		assert_int_equal(rdmad_find_any(r, roce[i], &h), 0);
		expect_handle(&h, &second);
	}
	assert_int_equal(rdmad_find(r, "c1:00.1", &h), -ENOENT);
	assert_int_equal(rdmad_find_any(r, "c1:00.2", &h), -ENOENT);
	assert_int_equal(rdmad_find_any(r, "0x7700", &h), -EEXIST);
	assert_int_equal(rdmad_find_any(r, "", &h), -EINVAL);
	expect_handle(&h, &second);
	rdmad_close(r);
}

/* What people read of a record. */
static void test_field_text(void **state)
{
	struct rdmad *r = open_snapshot(*state);
	struct rdmad_port p;
	char text[RDMAD_TEXT_MAX], little[4];

	assert_int_equal(rdmad_read(r, find(r, "mlx5_0"), &p), 0);
	assert_string_equal(rdmad_field_name(RDMAD_FIELD_LID), "Lid");
	assert_string_equal(rdmad_field_name(RDMAD_FIELD_NETDEV), "Netdev");
	assert_null(rdmad_field_name(_RDMAD_FIELD_MAX));
	assert_int_equal(rdmad_field_text(&p, RDMAD_FIELD_LID, text, sizeof(text)), 0);
	assert_string_equal(text, "7");
	assert_int_equal(rdmad_field_text(&p, RDMAD_FIELD_STATE, text, sizeof(text)), 0);
	assert_string_equal(text, "active");
	assert_int_equal(rdmad_field_text(&p, RDMAD_FIELD_PROTOCOL, text, sizeof(text)), 0);
	assert_string_equal(text, "infiniband");
	assert_int_equal(rdmad_field_text(&p, RDMAD_FIELD_ACTIVE_MTU, text, sizeof(text)), 0);
	assert_string_equal(text, "4096");
	for (unsigned int field = 0; field < _RDMAD_FIELD_MAX; field++) {
		assert_non_null(rdmad_field_name(field));
		assert_int_equal(rdmad_field_text(&p, field, text, sizeof(text)),
				 p.hot.valid >> field & 1 ? 0 : -ENODATA);
	}
	assert_int_equal(rdmad_field_text(&p, RDMAD_FIELD_IFINDEX, text, sizeof(text)), -ENODATA);
	assert_int_equal(rdmad_field_text(&p, RDMAD_FIELD_STATE, little, sizeof(little)), -ENOSPC);
	p.hot.active_mtu = 9;
	assert_int_equal(rdmad_field_text(&p, RDMAD_FIELD_ACTIVE_MTU, text, sizeof(text)),
			 -ENODATA);
	assert_int_equal(rdmad_field_text(&p, _RDMAD_FIELD_MAX, text, sizeof(text)), -EINVAL);
	assert_int_equal(rdmad_read(r, find(r, "eth0"), &p), 0);
	assert_int_equal(rdmad_field_text(&p, RDMAD_FIELD_NETDEV, text, sizeof(text)), 0);
	assert_string_equal(text, "eth0");
	rdmad_close(r);
}

static void test_changes(void **state)
{
	Fixture *f = *state;
	struct rdmad *r = open_snapshot(f);
	struct rdmad_handle ib = find(r, "mlx5_0");
	struct rdmad_hot hot;

	while (rdmad_wait(r, 0) > 0)
		;
	fixture_simulate(f, "set mlx5_0/1 lid=42 event=lid-change");
	do {
		assert_int_equal(rdmad_wait(r, UINT64_MAX), 1);
		assert_int_equal(rdmad_read_hot(r, ib, &hot), 0);
	} while (hot.lid != 42);

	fixture_simulate(f, "fail mlx5_0/1 EIO");
	fixture_simulate(f, "event mlx5_0/1 lid-change");
	do {
		assert_int_equal(rdmad_wait(r, UINT64_MAX), 1);
		assert_int_equal(rdmad_read_hot(r, ib, &hot), 0);
	} while (!(hot.flags & RDMAD_PORT_STALE));
	assert_int_equal(hot.lid, 42);
	fixture_simulate(f, "fail mlx5_0/1 none");

	fixture_simulate(f, "rename mlx5_0 ibp1");
	while (rdmad_find(r, "ibp1/1", &ib) == -ENOENT)
		assert_int_equal(rdmad_wait(r, UINT64_MAX), 1);
	assert_int_equal(rdmad_find(r, "mlx5_0", &ib), -ENOENT);
	fixture_simulate(f, "remove ibp1");
	while (rdmad_read_hot(r, ib, &hot) == 0)
		assert_int_equal(rdmad_wait(r, UINT64_MAX), 1);
	assert_int_equal(rdmad_read_hot(r, ib, &hot), -ENODEV);
	rdmad_close(r);
}

/* A client that hears of a change on the bus finds it in the memory. */
static void test_memory_before_signal(void **state)
{
	Fixture *f = *state;
	struct rdmad *r = open_snapshot(f);
	struct rdmad_handle ib = find(r, "mlx5_0");
	struct rdmad_hot hot;

	for (unsigned int i = 0; i < 100; i++) {
		fixture_forget(f);
		fixture_simulate(f, i % 2 ? "set mlx5_0/1 state=active event=port-active"
					  : "set mlx5_0/1 state=init event=port-error");
		fixture_wait_signal(f, NULL, "StateChanged");
		assert_int_equal(rdmad_read_hot(r, ib, &hot), 0);
		assert_int_equal(hot.state, i % 2 ? IBV_PORT_ACTIVE : IBV_PORT_INIT);
	}
	rdmad_close(r);
}

static void test_growth(void **state)
{
	Fixture *f = *state;
	struct rdmad *r = open_snapshot(f);
	struct rdmad_handle ib = find(r, "mlx5_0"), last;
	struct rdmad_hot hot;
	int e;

	fixture_simulate(f, "add more");
	while ((e = rdmad_wait(r, UINT64_MAX)) == 1)
		;
	assert_int_equal(e, -ESTALE);
	assert_int_equal(rdmad_read_hot(r, ib, &hot), -ESTALE);
	assert_int_equal(rdmad_reopen(r), 0);
	assert_int_equal(rdmad_read_hot(r, ib, &hot), 0);
	while ((e = rdmad_find(r, "more/1000", &last)) == -ENOENT)
		assert_int_equal(rdmad_wait(r, UINT64_MAX), 1);
	assert_int_equal(e, 0);
	fixture_simulate(f, "set more/1000 state=down event=port-error");
	do
		assert_int_equal(rdmad_read_hot(r, last, &hot), 0);
	while (hot.state != IBV_PORT_DOWN && rdmad_wait(r, UINT64_MAX) == 1);
	assert_int_equal(hot.state, IBV_PORT_DOWN);
	assert_int_equal(hot.port_num, 1000);
	rdmad_close(r);
}

/* Ends with SIGNAL and comes back. */
static void restart(Fixture *f, int signal)
{
	struct rdmad *r = open_snapshot(f);
	struct rdmad_handle ib = find(r, "mlx5_0");
	struct rdmad_hot hot;

	fixture_stop_daemon(f, signal);
	assert_int_equal(rdmad_wait(r, UINT64_MAX), -ENOTCONN);
	assert_int_equal(rdmad_read_hot(r, ib, &hot), signal == SIGKILL ? 0 : -ENOTCONN);
	assert_int_equal(rdmad_reopen(r), -EHOSTUNREACH);
	/* After the failure the old memory is still there. */
	assert_int_equal(rdmad_wait(r, UINT64_MAX), -ENOTCONN);
	fixture_start_daemon(f, SCENARIO, NULL);
	assert_int_equal(rdmad_reopen(r), 0);
	assert_int_equal(rdmad_read_hot(r, find(r, "mlx5_0"), &hot), 0);
	rdmad_close(r);
}

static void test_end(void **state)
{
	restart(*state, SIGTERM);
}

static void test_killed(void **state)
{
	restart(*state, SIGKILL);
}

/* The bus restarts: the memory stays as it is. */
static void test_bus_restarts(void **state)
{
	Fixture *f = *state;
	struct rdmad *r = open_snapshot(f);
	struct rdmad_handle ib = find(r, "mlx5_0"), any;
	struct rdmad_hot hot;

	fixture_stop_bus(f);
	assert_int_equal(rdmad_read_hot(r, ib, &hot), 0);
	assert_int_equal(rdmad_reopen(r), -ECONNREFUSED);
	assert_int_equal(rdmad_find_any(r, "eth0", &any), -ECONNREFUSED);
	fixture_start_bus(f);
	fixture_connect(f);
	fixture_wait_name(f);
	fixture_simulate(f, "set mlx5_0/1 lid=43 event=lid-change");
	do {
		assert_int_equal(rdmad_wait(r, UINT64_MAX), 1);
		assert_int_equal(rdmad_read_hot(r, ib, &hot), 0);
	} while (hot.lid != 43);
	assert_int_equal(rdmad_reopen(r), 0);
	rdmad_close(r);
}

/* The daemon may write to a pipe before it sees that the reader has left. It must not end by that.
 */
static void test_survives_sigpipe(void **state)
{
	Fixture *f = *state;
	unsigned long long ignored = 0;
	char path[64], line[256];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", f->daemon_pid);
	file = fopen(path, "r");
	assert_non_null(file);
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "SigIgn: %llx", &ignored) == 1)
			break;
	fclose(file);
	assert_true(ignored & 1ULL << (SIGPIPE - 1));
}

/* The error of one OpenSnapshot(), whose descriptors stay with the message; NULL. */
static sd_bus_message *call_open(Fixture *f, char **ret_error)
{
	return fixture_call(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "OpenSnapshot", ret_error,
			    "a{sv}", 0);
}

static void test_opens_without_end(void **state)
{
	enum { CALLS = 10000 };
	Fixture *f = *state;
	sd_bus_message **held = calloc(CALLS, sizeof(sd_bus_message *));
	struct rdmad *good = open_snapshot(f), *r = NULL;
	struct rdmad_handle ib = find(good, "mlx5_0");
	struct rdmad_hot hot;
	size_t n_held = 0;
	int e;

	assert_non_null(held);
	for (unsigned int i = 0; i < CALLS; i++) {
		_cleanup_free_ char *error = NULL;

		held[n_held] = call_open(f, &error);
		if (held[n_held])
			n_held++;
		else
			assert_string_equal(error, "org.rdma.Error.LimitsExceeded");
	}
	assert_true(n_held >= 64 && n_held < CALLS);
	assert_int_equal(rdmad_open(f->address, &r), -EUSERS);

	/* the others are served: on the bus, and in the memory */
	fixture_simulate(f, "set mlx5_0/1 lid=44 event=lid-change");
	do {
		assert_int_equal(rdmad_wait(good, UINT64_MAX), 1);
		assert_int_equal(rdmad_read_hot(good, ib, &hot), 0);
	} while (hot.lid != 44);

	/* and there is room again once the daemon has seen that they are closed */
	while (n_held > 0)
		sd_bus_message_unref(held[--n_held]);
	free(held);
	do
		e = rdmad_open(f->address, &r);
	while (e == -EUSERS);
	assert_int_equal(e, 0);
	rdmad_close(r);
	rdmad_close(good);
}

static void test_errors(void **state)
{
	Fixture *f = *state;
	_cleanup_free_ char *error = NULL;
	struct rdmad *r = NULL;

	assert_null(fixture_call(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "OpenSnapshot",
				 &error, "a{sv}", 1, "writable", "b", 1));
	assert_string_equal(error, "org.rdma.Error.InvalidOption");
	assert_int_equal(rdmad_open("unix:path=/nonexistent", &r), -ECONNREFUSED);
	assert_int_equal(rdmad_open("unix:path=/dev/null/bus", &r), -ECONNREFUSED);
	assert_int_equal(rdmad_open("unix:path=/dev/null", &r), -ECONNREFUSED);
	assert_int_equal(setenv("DBUS_SYSTEM_BUS_ADDRESS", "unix:path=/nonexistent", 1), 0);
	assert_int_equal(rdmad_open(NULL, &r), -ECONNREFUSED);
	assert_int_equal(unsetenv("DBUS_SYSTEM_BUS_ADDRESS"), 0);
	assert_null(r);
	assert_null(strstr(rdmad_strerror(-ECONNREFUSED), "port"));
}

/* What OpenSnapshot() answers, and what rdmad_open() makes of it. */
static const struct {
	const char *name;
	int e;
} answers[] = {
	{"org.freedesktop.systemd1.UnitMasked", -EHOSTUNREACH},
	{"org.freedesktop.systemd1.LoadFailed", -EHOSTUNREACH},
	{"org.freedesktop.DBus.Error.Spawn.ChildExited", -EHOSTUNREACH},
	{"org.freedesktop.DBus.Error.NameHasNoOwner", -EHOSTUNREACH},
	{"org.freedesktop.DBus.Error.AccessDenied", -EACCES},
	{"org.freedesktop.DBus.Error.UnknownMethod", -EOPNOTSUPP},
	{"org.freedesktop.DBus.Error.FileNotFound", -ECONNREFUSED},
	{"org.rdma.Error.LimitsExceeded", -EUSERS},
	{"org.rdma.Error.QueryFailed", -EREMOTEIO},
	{"org.example.Unknown", -EREMOTEIO},
};

static void *answer_calls(void *userdata)
{
	sd_bus *bus = userdata;

	for (size_t i = 0; i < ARRAY_SIZE(answers);) {
		_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
		int r = sd_bus_process(bus, &m);

		if (r == 0)
			r = sd_bus_wait(bus, UINT64_MAX);
		if (r < 0)
			break;
		if (!m ||
		    !sd_bus_message_is_method_call(m, RDMAD_INTERFACE_MANAGER, "OpenSnapshot"))
			continue;
		sd_bus_reply_method_errorf(m, answers[i++].name, "of the test");
		sd_bus_flush(bus);
	}
	return NULL;
}

/* No error of the bus has a number that means something about ports here. */
static void test_errors_of_bus(void **state)
{
	Fixture *f = *state;
	_cleanup_(sd_bus_flush_close_unrefp) sd_bus *bus = fixture_client(f);
	struct rdmad *r = NULL;
	pthread_t t;

	assert_true(sd_bus_request_name(bus, RDMAD_BUS_NAME, 0) >= 0);
	assert_int_equal(pthread_create(&t, NULL, answer_calls, bus), 0);
	for (size_t i = 0; i < ARRAY_SIZE(answers); i++) {
		int e = rdmad_open(f->address, &r);

		if (e != answers[i].e)
			fail_msg("%s: %d and not %d", answers[i].name, e, answers[i].e);
	}
	assert_null(r);
	assert_int_equal(pthread_join(t, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_read, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_example, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_find_gid, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_find_gid_of_bond, setup_bond,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(test_find_any, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_field_text, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_changes, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_memory_before_signal, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_growth, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_end, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_killed, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_bus_restarts, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_survives_sigpipe, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_opens_without_end, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_errors, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_errors_of_bus, fixture_setup,
						fixture_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
