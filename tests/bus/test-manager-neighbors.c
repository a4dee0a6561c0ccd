/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The other ends of links, with a source, an rdmad-neighbors, a NetworkManager and an rdmad-fabric
 * that the test plays: when they are asked, what a port says afterwards, and what it keeps.
 */

#include <fcntl.h>
#include <unistd.h>

#include "fake-source.h"

#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#else
#define CALLGRIND_ZERO_STATS (void)0
#endif

#define NEIGHBORS_NAME "org.rdma.Neighbors"
#define NEIGHBORS_PATH "/org/rdma/neighbors"
#define NETWORKD_NAME  "org.rdma.Networkd"
#define NETWORKD_PATH  "/org/rdma/networkd"
#define NM_NAME	       "org.freedesktop.NetworkManager"
#define NM_PATH	       "/org/freedesktop"
#define FABRIC_NAME    "org.rdma.Fabric"
#define FABRIC_PATH    "/org/rdma/fabric"

static const Config config = {.query_timeout_usec = USEC_PER_SEC,
			      .neighbor_usec = 60 * USEC_PER_SEC};

/* rdmad-neighbors */
static struct {
	sd_bus *bus;
	unsigned int n_calls;
	const char *system; /* at the other end of eth1; NULL: nothing is */
	uint32_t vlan;
	bool fails, is_strange, is_slow;
	uint32_t n_ports; /* of the device; if there are more than two, each has another end */
} neighbors;

/* Of test_many(); test-growth gives others. */
static uint32_t many = 100;

static void append(sd_bus_message *reply, const char *interface, const char *system)
{
	const uint8_t percents[] = {40, 0, 0, 60, 0, 0, 0, 0};
	uint64_t ets;

	memcpy(&ets, percents, sizeof(ets));
	assert_true(sd_bus_message_append(reply, "(ssssssuuitt)", interface, system, "Ethernet12/1",
					  "to node17", "02:00:00:00:00:01", "192.0.2.1",
					  neighbors.vlan, 9216, 0x18, ets, UINT64_C(5)) >= 0);
}

static int on_list(sd_bus_message *m, _unused_ void *userdata, _unused_ sd_bus_error *error)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;

	assert_true(sd_bus_message_get_auto_start(m) > 0);
	neighbors.n_calls++;
	if (neighbors.is_slow)
		return 1;
	if (neighbors.fails)
		return -EIO;
	if (neighbors.is_strange)
		return sd_bus_reply_method_return(m, "as", 1, "leaf");
	assert_true(sd_bus_message_new_method_return(m, &reply) >= 0);
	assert_true(sd_bus_message_open_container(reply, 'a', "(ssssssuuitt)") >= 0);
	if (neighbors.system) {
		append(reply, "lo", "other");
		append(reply, "eth1", neighbors.system);
	}
	for (uint32_t n = 2; neighbors.n_ports > 2 && n <= neighbors.n_ports; n++) {
		char interface[16], system[16];

		snprintf(interface, sizeof(interface), "eth%u", n);
		snprintf(system, sizeof(system), "leaf-%u", n);
		append(reply, interface, system);
	}
	assert_true(sd_bus_message_close_container(reply) >= 0);
	return sd_bus_send(NULL, reply, NULL);
}

/* rdmad-networkd */
static struct {
	unsigned int n_calls;
	const char *port; /* at the other end of eth1; NULL: nothing is heard there */
} networkd;

static int on_heard(sd_bus_message *m, _unused_ void *userdata, _unused_ sd_bus_error *error)
{
	assert_true(sd_bus_message_is_method_call(m, NETWORKD_NAME, "List") > 0);
	assert_true(sd_bus_message_get_auto_start(m) > 0);
	networkd.n_calls++;
	if (!networkd.port)
		return sd_bus_reply_method_return(m, "a(ssssssuuitt)", 0);
	return sd_bus_reply_method_return(m, "a(ssssssuuitt)", 1, "eth1", "leaf-r07-a",
					  networkd.port, "", "02:00:00:00:00:01", "", 7, 0, -1,
					  UINT64_MAX, realtime_now_usec());
}

/* NetworkManager */
static struct {
	unsigned int n_calls;
	const char *port; /* at the other end of eth1; NULL: nothing is heard there */
} network_manager;

static int on_objects(sd_bus_message *m, _unused_ void *userdata, _unused_ sd_bus_error *error)
{
	const char *port = network_manager.port;

	assert_true(sd_bus_message_is_method_call(m, "org.freedesktop.DBus.ObjectManager",
						  "GetManagedObjects") > 0);
	/* it is not started for this */
	assert_int_equal(sd_bus_message_get_auto_start(m), 0);
	network_manager.n_calls++;
	if (!port)
		return sd_bus_reply_method_return(m, "a{oa{sa{sv}}}", 1, NM_PATH "/Devices/2", 1,
						  NM_NAME ".Device", 2, "LldpNeighbors", "aa{sv}",
						  0, "Interface", "s", "eth1");
	return sd_bus_reply_method_return(m, "a{oa{sa{sv}}}", 1, NM_PATH "/Devices/2", 1,
					  NM_NAME ".Device", 2, "LldpNeighbors", "aa{sv}", 1, 2,
					  "chassis-id", "s", "02:00:00:00:00:02", "port-id", "s",
					  port, "Interface", "s", "eth1");
}

/* rdmad-fabric */
static struct {
	unsigned int n_calls, n_ports; /* of the last call */
	char device[64];	       /* the first that it asked for */
	uint32_t port;
	const char *system; /* at the other end of port 1; NULL: nothing is */
	uint8_t number;	    /* of its port */
	const char *why;    /* not NULL: why nothing is known of it */
	bool is_strange;
} fabric;

static int on_fabric(sd_bus_message *m, _unused_ void *userdata, _unused_ sd_bus_error *error)
{
	const char *device;
	uint32_t port;

	assert_true(sd_bus_message_get_auto_start(m) > 0);
	fabric.n_calls++;
	fabric.n_ports = 0;
	assert_true(sd_bus_message_enter_container(m, 'a', "(su)") > 0);
	while (sd_bus_message_read(m, "(su)", &device, &port) > 0)
		if (fabric.n_ports++ == 0) {
			text_copy(fabric.device, sizeof(fabric.device), device);
			fabric.port = port;
		}
	if (fabric.is_strange)
		return sd_bus_reply_method_return(m, "as", 1, "leaf");
	if (fabric.why)
		return sd_bus_reply_method_return(m, "a(suyyttsuu)", 1, fabric.device, 1, 0, 0,
						  UINT64_C(0), UINT64_C(0), fabric.why, 0, 0);
	if (!fabric.system)
		return sd_bus_reply_method_return(m, "a(suyyttsuu)", 0);
	return sd_bus_reply_method_return(
		m, "a(suyyttsuu)", 3, "other", 1, 1, 9, UINT64_C(1), UINT64_C(1), "other", 1, 1,
		fabric.device, 7, 1, 9, UINT64_C(1), UINT64_C(1), "other", 1, 1, fabric.device, 1,
		2, fabric.number, UINT64_C(0x2c9000000000001), UINT64_C(0x2c9000000000000),
		fabric.system, 0x80000013, 0x8000014f);
}

static void answer_ethernet(uint32_t state)
{
	answer_ports(neighbors.n_ports, 2, state);
}

static void answer_infiniband(uint32_t state)
{
	answer_ports(neighbors.n_ports, 1, state);
}

static void make_sign(Test *t, NeighborSource source, bool is_there)
{
	const char *path = t->manager->neighbor_asks[source].path;
	int fd;

	if (!is_there) {
		assert_int_equal(unlink(path), 0);
		return;
	}
	fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	close(fd);
}

static int setup_ports(void **state, uint32_t n_ports, uint32_t layer)
{
	Test *t;

	setup_with(state, &config);
	t = *state;
	neighbors = (__typeof__(neighbors)){.n_ports = n_ports, .system = "leaf-r07-a"};
	fabric = (__typeof__(fabric)){.system = "MF0;leaf-r07-a:MQM9700/U1", .number = 12};
	set_device(0, 1, "mlx5_0", n_ports);
	neighbors.bus = fixture_client(t->f);
	/* no vtable: that would refuse an answer with another signature */
	assert_true(sd_bus_add_object(neighbors.bus, NULL, NEIGHBORS_PATH, on_list, NULL) >= 0);
	assert_true(sd_bus_request_name(neighbors.bus, NEIGHBORS_NAME, 0) >= 0);
	memset(&networkd, 0, sizeof(networkd));
	assert_true(sd_bus_add_object(neighbors.bus, NULL, NETWORKD_PATH, on_heard, NULL) >= 0);
	assert_true(sd_bus_request_name(neighbors.bus, NETWORKD_NAME, 0) >= 0);
	memset(&network_manager, 0, sizeof(network_manager));
	assert_true(sd_bus_add_object(neighbors.bus, NULL, NM_PATH, on_objects, NULL) >= 0);
	assert_true(sd_bus_request_name(neighbors.bus, NM_NAME, 0) >= 0);
	assert_true(sd_bus_add_object(neighbors.bus, NULL, FABRIC_PATH, on_fabric, NULL) >= 0);
	assert_true(sd_bus_request_name(neighbors.bus, FABRIC_NAME, 0) >= 0);
	assert_true(sd_bus_attach_event(neighbors.bus, t->event, 0) >= 0);
	make_sign(t, NEIGHBORS_OF_LLDPD, true);
	make_sign(t, NEIGHBORS_OF_FABRIC, true);
	start(t);
	answer_ports(neighbors.n_ports, layer, 4);
	barrier(t);
	fixture_forget(t->f);
	return 0;
}

static int setup_neighbors(void **state)
{
	return setup_ports(state, 2, 2);
}

static int setup_many(void **state)
{
	return setup_ports(state, many, 2);
}

static int setup_fabric(void **state)
{
	return setup_ports(state, 2, 1);
}

static int teardown_neighbors(void **state)
{
	Test *t = *state;

	for (size_t i = 0; i < _NEIGHBOR_SOURCE_MAX; i++)
		(void)unlink(t->manager->neighbor_asks[i].path);
	neighbors.bus = sd_bus_flush_close_unref(neighbors.bus);
	return teardown(state);
}

/* The time to ask has come, and the answer of SOURCE, whose calls N_CALLS counts, has been taken.
 * Of a kind of ports that there is not, OTHER, nothing is asked. */
static void ask_one(Test *t, NeighborSource source, const unsigned int *n_calls,
		    const unsigned int *other)
{
	unsigned int n = *n_calls;

	assert_true(sd_event_source_set_time(t->manager->neighbors, 0) >= 0);
	RUN_UNTIL(t, *n_calls > n);
	RUN_UNTIL(t, !t->manager->neighbor_asks[source].slot);
	barrier(t);
	assert_int_equal(*other, 0);
}

static void ask(Test *t)
{
	ask_one(t, NEIGHBORS_OF_LLDPD, &neighbors.n_calls, &fabric.n_calls);
}

static void ask_fabric(Test *t)
{
	ask_one(t, NEIGHBORS_OF_FABRIC, &fabric.n_calls, &neighbors.n_calls);
}

static void assert_why(Test *t, uint32_t number, const char *code)
{
	const Port *p = device_port(device(t, 1), number);
	const Unavailable *why = port_unavailable(&p->now, PORT_ATTR_neighbor);

	assert_non_null(why);
	assert_string_equal(why->code, code);
}

static void assert_unknown(Test *t, uint32_t number)
{
	assert_why(t, number, "no-lldp");
}

static void test_neighbor(void **state)
{
	Test *t = *state;
	const PortValues *v = port(t, 1, 1);
	uint64_t last_query_usec = v->last_query, generation = v->generation;

	assert_unknown(t, 1);
	ask(t);
	assert_string_equal(TEXT_OF(v, neighbor), "leaf-r07-a");
	assert_string_equal(TEXT_OF(v, neighbor_port), "Ethernet12/1");
	assert_string_equal(TEXT_OF(v, neighbor_port_text), "to node17");
	assert_string_equal(TEXT_OF(v, neighbor_chassis), "02:00:00:00:00:01");
	assert_string_equal(TEXT_OF(v, neighbor_address), "192.0.2.1");
	assert_int_equal(v->neighbor_frame, 9216);
	assert_string_equal(TEXT_OF(v, neighbor_pfc), "3,4");
	assert_string_equal(TEXT_OF(v, neighbor_ets), "40,0,0,60,0,0,0,0");
	assert_string_equal(TEXT_OF(v, neighbor_source), "lldpd");
	assert_int_equal(v->neighbor_since, 5);
	/* the hardware was not asked */
	assert_int_equal(v->last_query, last_query_usec);
	assert_int_equal(v->generation, generation + 1);
	assert_unknown(t, 2);
	assert_int_equal(fixture_count_signals(t->f, PORT_1, "PropertiesChanged"), 2);
	assert_int_equal(fixture_count_signals(t->f, PORT_2, "PropertiesChanged"), 0);
	/* what has not changed is no news, and an answer of the device keeps it */
	fixture_forget(t->f);
	ask(t);
	tell(1, EVENT_ALL_PORTS, REASON_RECONCILE);
	barrier(t);
	answer_ethernet(4);
	barrier(t);
	assert_int_equal(fixture_count_signals(t->f, PORT_1, "PropertiesChanged"), 0);
	assert_string_equal(TEXT_OF(v, neighbor), "leaf-r07-a");
}

/* The time to ask comes again before the answer: who answers is asked once. */
static void test_slow(void **state)
{
	Test *t = *state;

	neighbors.n_calls = 0;
	neighbors.is_slow = true;
	for (uint64_t n = 0; n < 3; n++) {
		uint64_t before = t->manager->neighbors_usec;

		assert_true(sd_event_source_set_time(t->manager->neighbors, 0) >= 0);
		RUN_UNTIL(t, t->manager->neighbors_usec > before);
		RUN_UNTIL(t, neighbors.n_calls > 0);
		barrier(t);
	}
	assert_int_equal(neighbors.n_calls, 1);
}

/* A link goes down: the last other end stays, and goes when the link is up without it. */
static void test_link_down(void **state)
{
	Test *t = *state;
	uint64_t when, soon;

	ask(t);
	tell(1, EVENT_ALL_PORTS, REASON_RECONCILE);
	barrier(t);
	answer_ethernet(1);
	neighbors.system = NULL;
	ask(t);
	assert_string_equal(TEXT_OF(port(t, 1, 1), neighbor), "leaf-r07-a");
	tell(1, EVENT_ALL_PORTS, REASON_RECONCILE);
	barrier(t);
	answer_ethernet(4);
	/* it is asked soon, and later again */
	assert_true(sd_event_now(t->event, CLOCK_MONOTONIC, &soon) >= 0);
	assert_true(sd_event_source_get_time(t->manager->neighbors, &when) >= 0);
	assert_true(when <= soon + NEIGHBORS_SOON_USEC);
	ask(t);
	assert_unknown(t, 1);
	assert_int_equal(t->manager->neighbors_usec, 2 * NEIGHBORS_SOON_USEC);
	for (unsigned int i = 0; i < 10; i++)
		ask(t);
	assert_int_equal(t->manager->neighbors_usec, config.neighbor_usec);
}

/* Without lldpd nobody is asked, and nothing is known. */
static void test_without_lldpd(void **state)
{
	Test *t = *state;

	ask(t);
	assert_string_equal(TEXT_OF(port(t, 1, 1), neighbor), "leaf-r07-a");
	make_sign(t, NEIGHBORS_OF_LLDPD, false);
	neighbors.n_calls = 0;
	assert_true(sd_event_source_set_time(t->manager->neighbors, 0) >= 0);
	RUN_UNTIL(t, !TEXT_OF(port(t, 1, 1), neighbor)[0]);
	barrier(t);
	assert_unknown(t, 1);
	assert_int_equal(neighbors.n_calls, 0);
}

/* An answer that is none changes nothing. */
static void test_bad_answers(void **state)
{
	Test *t = *state;

	ask(t);
	neighbors.fails = true;
	ask(t);
	assert_string_equal(TEXT_OF(port(t, 1, 1), neighbor), "leaf-r07-a");
	neighbors.fails = false;
	neighbors.is_strange = true;
	ask(t);
	assert_string_equal(TEXT_OF(port(t, 1, 1), neighbor), "leaf-r07-a");
	neighbors.is_strange = false;
	neighbors.system = "leaf-r07-b";
	neighbors.vlan = 4095;
	ask(t);
	assert_int_equal(port(t, 1, 1)->neighbor_vlan, 0);
	neighbors.vlan = 4094;
	ask(t);
	assert_string_equal(TEXT_OF(port(t, 1, 1), neighbor), "leaf-r07-b");
	assert_int_equal(port(t, 1, 1)->neighbor_vlan, 4094);
}

/* Each port of many gets the other end of its own link. */
static void test_many(void **state)
{
	Test *t = *state;

	ask(t);
	/* from here on nothing changes, and nothing depends on what the bus does */
	neighbors.n_calls = 0;
	CALLGRIND_ZERO_STATS;
	for (unsigned int i = 0; i < 4; i++)
		ask(t);
	for (uint32_t n = 2; n <= many; n++) {
		char system[16];

		snprintf(system, sizeof(system), "leaf-%u", n);
		assert_string_equal(TEXT_OF(port(t, 1, n), neighbor), system);
	}
	assert_string_equal(TEXT_OF(port(t, 1, 1), neighbor), "leaf-r07-a");
	print_message("answers: %u\n", neighbors.n_calls);
}

/* It is asked once in an interval, and not at the distances between. */
static void ask_network_manager(Test *t)
{
	t->manager->neighbors_usec = config.neighbor_usec;
	ask_one(t, NEIGHBORS_OF_NETWORK_MANAGER, &network_manager.n_calls, &fabric.n_calls);
}

/* It is asked too where it is; of a port that lldpd knows, lldpd's word counts. */
static void test_network_manager(void **state)
{
	Test *t = *state;
	const PortValues *v = port(t, 1, 1);
	uint64_t since;

	network_manager.port = "swp1";
	ask(t);
	assert_int_equal(network_manager.n_calls, 0);
	make_sign(t, NEIGHBORS_OF_NETWORK_MANAGER, true);
	ask_network_manager(t);
	assert_string_equal(TEXT_OF(v, neighbor_source), "lldpd");
	/* lldpd goes, or hears nothing there */
	neighbors.system = NULL;
	ask(t);
	ask_network_manager(t);
	assert_string_equal(TEXT_OF(v, neighbor_source), "NetworkManager");
	assert_string_equal(TEXT_OF(v, neighbor_port), "swp1");
	assert_string_equal(TEXT_OF(v, neighbor), "");
	since = v->neighbor_since;
	assert_true(since > 5);
	/* the same end is there since then, also while lldpd is asked in vain */
	fixture_forget(t->f);
	ask(t);
	ask_network_manager(t);
	assert_int_equal(v->neighbor_since, since);
	assert_int_equal(fixture_count_signals(t->f, PORT_1, "PropertiesChanged"), 0);
	network_manager.port = "swp2";
	ask_network_manager(t);
	assert_string_equal(TEXT_OF(v, neighbor_port), "swp2");
	assert_true(v->neighbor_since > since);
	network_manager.port = NULL;
	ask_network_manager(t);
	assert_unknown(t, 1);
	/* lldpd hears it again; NetworkManager's silence changes nothing */
	network_manager.port = "swp2";
	ask_network_manager(t);
	neighbors.system = "leaf-r07-a";
	ask(t);
	assert_string_equal(TEXT_OF(v, neighbor_source), "lldpd");
	network_manager.port = NULL;
	ask_network_manager(t);
	assert_string_equal(TEXT_OF(v, neighbor), "leaf-r07-a");
}

static void ask_networkd(Test *t)
{
	ask_one(t, NEIGHBORS_OF_NETWORKD, &networkd.n_calls, &fabric.n_calls);
}

/* It is asked where it is, as often as lldpd, whose word counts first. */
static void test_networkd(void **state)
{
	Test *t = *state;
	const PortValues *v = port(t, 1, 1);
	uint64_t since;

	networkd.port = "Ethernet12/1";
	network_manager.port = "swp1";
	make_sign(t, NEIGHBORS_OF_NETWORK_MANAGER, true);
	ask(t);
	assert_int_equal(networkd.n_calls, 0);
	make_sign(t, NEIGHBORS_OF_NETWORKD, true);
	ask_networkd(t);
	assert_string_equal(TEXT_OF(v, neighbor_source), "lldpd");
	neighbors.system = NULL;
	ask(t);
	ask_networkd(t);
	assert_string_equal(TEXT_OF(v, neighbor_source), "systemd-networkd");
	assert_string_equal(TEXT_OF(v, neighbor), "leaf-r07-a");
	assert_string_equal(TEXT_OF(v, neighbor_port), "Ethernet12/1");
	assert_int_equal(v->neighbor_vlan, 7);
	assert_false(mask_has(&device_port(device(t, 1), 1)->now.valid, PORT_ATTR_neighbor_pfc));
	assert_false(mask_has(&device_port(device(t, 1), 1)->now.valid, PORT_ATTR_neighbor_ets));
	/* the same end is there since then, and NetworkManager's word comes after it */
	since = v->neighbor_since;
	fixture_forget(t->f);
	ask_networkd(t);
	ask_network_manager(t);
	assert_int_equal(v->neighbor_since, since);
	assert_string_equal(TEXT_OF(v, neighbor_source), "systemd-networkd");
	assert_int_equal(fixture_count_signals(t->f, PORT_1, "PropertiesChanged"), 0);
	networkd.port = "Ethernet13/1";
	ask_networkd(t);
	assert_string_equal(TEXT_OF(v, neighbor_port), "Ethernet13/1");
	assert_true(v->neighbor_since > since);
	networkd.port = NULL;
	ask_networkd(t);
	ask_network_manager(t);
	assert_string_equal(TEXT_OF(v, neighbor_source), "NetworkManager");
}

/* It has left the bus, and its directory is there still. */
static void test_network_manager_ends(void **state)
{
	Test *t = *state;

	make_sign(t, NEIGHBORS_OF_LLDPD, false);
	make_sign(t, NEIGHBORS_OF_NETWORK_MANAGER, true);
	network_manager.port = "swp1";
	ask_network_manager(t);
	assert_string_equal(TEXT_OF(port(t, 1, 1), neighbor_port), "swp1");
	assert_true(sd_bus_release_name(neighbors.bus, NM_NAME) >= 0);
	t->manager->neighbors_usec = config.neighbor_usec;
	assert_true(sd_event_source_set_time(t->manager->neighbors, 0) >= 0);
	RUN_UNTIL(t, !TEXT_OF(port(t, 1, 1), neighbor_port)[0]);
	barrier(t);
	assert_unknown(t, 1);
}

static void test_fabric(void **state)
{
	Test *t = *state;
	const PortValues *v = port(t, 1, 1);
	uint64_t since;

	assert_why(t, 1, "not-asked");
	ask_fabric(t);
	assert_int_equal(fabric.n_ports, 2);
	assert_string_equal(fabric.device, TEXT_OF(v, device_name));
	assert_int_equal(fabric.port, 1);
	assert_string_equal(TEXT_OF(v, neighbor), "MF0;leaf-r07-a:MQM9700/U1");
	assert_string_equal(TEXT_OF(v, neighbor_port), "12");
	assert_string_equal(TEXT_OF(v, neighbor_chassis), "02c9:0000:0000:0000");
	assert_int_equal(v->neighbor_guid, UINT64_C(0x2c9000000000001));
	assert_int_equal(v->neighbor_type, 2);
	/* bits without a meaning are left out */
	assert_string_equal(TEXT_OF(v, neighbor_widths), "1,4,2");
	assert_string_equal(TEXT_OF(v, neighbor_speeds), "SDR,DDR,QDR,FDR10,HDR,XDR");
	assert_string_equal(TEXT_OF(v, neighbor_source), "mad");
	since = v->neighbor_since;
	assert_true(since > 0);
	assert_why(t, 2, "not-asked");
	/* the same end is there since then, and another port of it is another end */
	assert_int_equal(fixture_count_signals(t->f, PORT_1, "PropertiesChanged"), 2);
	fixture_forget(t->f);
	t->manager->neighbors_usec = config.neighbor_usec;
	ask_fabric(t);
	assert_int_equal(v->neighbor_since, since);
	assert_int_equal(fixture_count_signals(t->f, PORT_1, "PropertiesChanged"), 0);
	fabric.number = 13;
	ask_fabric(t);
	assert_string_equal(TEXT_OF(v, neighbor_port), "13");
	assert_true(v->neighbor_since > since);
	/* an answer that is none changes nothing */
	fabric.is_strange = true;
	ask_fabric(t);
	assert_string_equal(TEXT_OF(v, neighbor_port), "13");
	fabric.is_strange = false;
	fabric.system = NULL;
	ask_fabric(t);
	assert_why(t, 1, "not-asked");
}

/* Why the other end is not known is said, and is news. */
static void test_fabric_codes(void **state)
{
	static const struct {
		const char *said, *code;
		unsigned int n_signals;
	} cases[] = {
		{"no-answer", "no-answer", 1}, {"no-answer", "no-answer", 0},
		{"refused", "refused", 1},     {"not-asked", "not-asked", 1},
		{"other", "not-asked", 0},     {"no-answer", "no-answer", 1},
		{"not-known", "not-asked", 1}, /* rdmad does not say that */
	};
	Test *t = *state;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		fixture_forget(t->f);
		fabric.why = cases[i].said;
		t->manager->neighbors_usec = config.neighbor_usec;
		ask_fabric(t);
		assert_why(t, 1, cases[i].code);
		assert_int_equal(fixture_count_signals(t->f, PORT_1, "PropertiesChanged"),
				 cases[i].n_signals);
	}
	/* an answer of the device says nothing of it */
	fabric.why = "refused";
	ask_fabric(t);
	tell(1, EVENT_ALL_PORTS, REASON_RECONCILE);
	barrier(t);
	answer_infiniband(4);
	barrier(t);
	assert_why(t, 1, "refused");
	/* the other end is known, and stays while the link is down */
	fabric.why = NULL;
	ask_fabric(t);
	assert_string_equal(TEXT_OF(port(t, 1, 1), neighbor_port), "12");
	fabric.why = "no-answer";
	tell(1, EVENT_ALL_PORTS, REASON_RECONCILE);
	barrier(t);
	answer_infiniband(1);
	barrier(t);
	t->manager->neighbors_usec = config.neighbor_usec;
	ask_fabric(t);
	assert_string_equal(TEXT_OF(port(t, 1, 1), neighbor_port), "12");
}

/* It is asked when a link has come up, and once in an interval: not at the distances between. */
static void test_fabric_times(void **state)
{
	Test *t = *state;
	unsigned int n;

	ask_fabric(t);
	n = fabric.n_calls;
	assert_int_equal(t->manager->neighbors_usec, 2 * NEIGHBORS_SOON_USEC);
	while (t->manager->neighbors_usec < config.neighbor_usec) {
		uint64_t usec = t->manager->neighbors_usec;

		assert_int_equal(fabric.n_calls, n);
		assert_true(sd_event_source_set_time(t->manager->neighbors, 0) >= 0);
		RUN_UNTIL(t, t->manager->neighbors_usec > usec);
		barrier(t);
	}
	RUN_UNTIL(t, fabric.n_calls > n);
	/* the link falls, and comes up again */
	tell(1, EVENT_ALL_PORTS, REASON_RECONCILE);
	barrier(t);
	answer_infiniband(1);
	barrier(t);
	assert_string_equal(TEXT_OF(port(t, 1, 1), neighbor_port), "12");
	tell(1, EVENT_ALL_PORTS, REASON_RECONCILE);
	barrier(t);
	answer_infiniband(4);
	assert_int_equal(t->manager->neighbors_usec, NEIGHBORS_SOON_USEC);
	ask_fabric(t);
	/* without umad */
	make_sign(t, NEIGHBORS_OF_FABRIC, false);
	n = fabric.n_calls;
	t->manager->neighbors_usec = config.neighbor_usec;
	assert_true(sd_event_source_set_time(t->manager->neighbors, 0) >= 0);
	RUN_UNTIL(t, !TEXT_OF(port(t, 1, 1), neighbor)[0]);
	assert_int_equal(fabric.n_calls, n);
}

/* [N]: only test_many(), with N ports; test-growth counts its instructions for each answer. */
int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_neighbor, setup_neighbors, teardown_neighbors),
		cmocka_unit_test_setup_teardown(test_slow, setup_neighbors, teardown_neighbors),
		cmocka_unit_test_setup_teardown(test_link_down, setup_neighbors,
						teardown_neighbors),
		cmocka_unit_test_setup_teardown(test_without_lldpd, setup_neighbors,
						teardown_neighbors),
		cmocka_unit_test_setup_teardown(test_bad_answers, setup_neighbors,
						teardown_neighbors),
		cmocka_unit_test_setup_teardown(test_many, setup_many, teardown_neighbors),
		cmocka_unit_test_setup_teardown(test_networkd, setup_neighbors, teardown_neighbors),
		cmocka_unit_test_setup_teardown(test_network_manager, setup_neighbors,
						teardown_neighbors),
		cmocka_unit_test_setup_teardown(test_network_manager_ends, setup_neighbors,
						teardown_neighbors),
		cmocka_unit_test_setup_teardown(test_fabric, setup_fabric, teardown_neighbors),
		cmocka_unit_test_setup_teardown(test_fabric_codes, setup_fabric,
						teardown_neighbors),
		cmocka_unit_test_setup_teardown(test_fabric_times, setup_fabric,
						teardown_neighbors),
	};

	if (argc > 1) {
		many = (uint32_t)atoi(argv[1]);
		cmocka_set_test_filter("test_many");
	}
	return cmocka_run_group_tests_name("manager-neighbors", tests, NULL, NULL);
}
