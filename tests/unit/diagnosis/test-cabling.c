/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * What the judge finds at the other ends of links, on a machine with four rails of InfiniBand and
 * four of Ethernet for each of which a plan says the switch and its port: 30 miscablings, 10
 * disagreements of the ends of a link, and 40 machines that are as they should be. Found is each,
 * on its own ports, and nothing else.
 */

#include "machine.h"

#include <unistd.h>

#define RAILS	    8U
#define CHANGES_MAX 8U

static const char plan[] =
	"Ignore = no-uverbs\n[d0]\nNeighbor = MF0;ib-leaf-0:*\nNeighborPort = 17\nNeighborNodeType "
	"= switch\n"
	"[d1]\nNeighbor = MF0;ib-leaf-1:*\nNeighborPort = 17\nNeighborNodeType = switch\n"
	"[d2]\nNeighbor = MF0;ib-leaf-2:*\nNeighborPort = 17\nNeighborNodeType = switch\n"
	"[d3]\nNeighbor = MF0;ib-leaf-3:*\nNeighborPort = 17\nNeighborNodeType = switch\n"
	"[d4]\nNeighbor = leaf-r07-?\nNeighborPort = Ethernet12/1\n"
	"[d5]\nNeighbor = leaf-r07-?\nNeighborPort = Ethernet12/2\n"
	"[d6]\nNeighbor = leaf-r08-?\nNeighborPort = Ethernet12/1\n"
	"[d7]\nNeighbor = leaf-r08-?\nNeighborPort = Ethernet12/2\n";

typedef struct Change {
	unsigned int rail;
	PortAttr row;
	const char *text; /* a number if the row is one; "": it has no value */
} Change;

typedef struct Case {
	const char *title;
	const char *check;	     /* NULL: nothing is found */
	unsigned int rails;	     /* on these, as a mask */
	Change changes[CHANGES_MAX]; /* up to the first without a text */
} Case;

/* Names of the changes, so that a case is a line */
#define SWITCH(rail, text)                                                                         \
	{                                                                                          \
		rail, PORT_ATTR_neighbor, text                                                     \
	}
#define AT(rail, text)                                                                             \
	{                                                                                          \
		rail, PORT_ATTR_neighbor_port, text                                                \
	}
#define TYPE(rail, text)                                                                           \
	{                                                                                          \
		rail, PORT_ATTR_neighbor_type, text                                                \
	}
#define ROW(rail, row, text)                                                                       \
	{                                                                                          \
		rail, PORT_ATTR_##row, text                                                        \
	}
#define ON(rail) (1U << (rail))
/* The rails of Ethernet are alike: one that is not is another finding. */
#define EACH(row, text) ROW(4, row, text), ROW(5, row, text), ROW(6, row, text), ROW(7, row, text)
#define MISCABLED(title, rails, ...)                                                               \
	{                                                                                          \
		title, "expectation", rails,                                                       \
		{                                                                                  \
			__VA_ARGS__                                                                \
		}                                                                                  \
	}
#define DISAGREE(title, check, rail, ...)                                                          \
	{                                                                                          \
		title, check, ON(rail),                                                            \
		{                                                                                  \
			__VA_ARGS__                                                                \
		}                                                                                  \
	}
#define HEALTHY(title, ...)                                                                        \
	{                                                                                          \
		title, NULL, 0,                                                                    \
		{                                                                                  \
			__VA_ARGS__                                                                \
		}                                                                                  \
	}
#define IB(n) "MF0;ib-leaf-" #n ":MQM9700/U1"

/* clang-format off */
static const Case miscablings[] = {
	MISCABLED("rails 0 and 1 are exchanged", ON(0) | ON(1), SWITCH(0, IB(1)), SWITCH(1, IB(0))),
	MISCABLED("rails 0 and 3 are exchanged", ON(0) | ON(3), SWITCH(0, IB(3)), SWITCH(3, IB(0))),
	MISCABLED("rails 1 and 2 are exchanged", ON(1) | ON(2), SWITCH(1, IB(2)), SWITCH(2, IB(1))),
	MISCABLED("rails 2 and 3 are exchanged", ON(2) | ON(3), SWITCH(2, IB(3)), SWITCH(3, IB(2))),
	MISCABLED("three rails are turned round", ON(0) | ON(1) | ON(2), SWITCH(0, IB(1)), SWITCH(1, IB(2)), SWITCH(2, IB(0))),
	MISCABLED("two rails are at one switch", ON(1), SWITCH(1, IB(0)), AT(1, "18")),
	MISCABLED("all rails are at one switch", ON(1) | ON(2) | ON(3), SWITCH(1, IB(0)), SWITCH(2, IB(0)), SWITCH(3, IB(0))),
	MISCABLED("rail 0 is at a spine", ON(0), SWITCH(0, "MF0;ib-spine-0:MQM9700/U1")),
	MISCABLED("rail 3 is at the leaf of another pod", ON(3), SWITCH(3, "MF0;ib-leaf-13:MQM9700/U1")),
	MISCABLED("rail 0 is at the port beside", ON(0), AT(0, "18")),
	MISCABLED("rail 1 is at the port beside, on the other side", ON(1), AT(1, "16")),
	MISCABLED("rail 2 is at a port whose number begins as that", ON(2), AT(2, "170")),
	MISCABLED("rail 3 is at a port whose number ends as that", ON(3), AT(3, "7")),
	MISCABLED("two rails are at wrong ports of the right switches", ON(0) | ON(1), AT(0, "18"), AT(1, "18")),
	MISCABLED("rail 0 is at another machine, without a switch", ON(0), SWITCH(0, "node18 HCA-1"), TYPE(0, "ca"), AT(0, "1")),
	MISCABLED("rail 2 is at a router", ON(2), TYPE(2, "router")),
	MISCABLED("the switch of rail 1 has no name yet", ON(1), SWITCH(1, "Quantum Mellanox Technologies")),
	MISCABLED("nobody is known at the end of rail 0", ON(0), SWITCH(0, ""), AT(0, ""), TYPE(0, "")),
	MISCABLED("the port at the end of rail 3 is not known", ON(3), AT(3, "")),
	MISCABLED("rails 4 and 6 are exchanged", ON(4) | ON(6), SWITCH(4, "leaf-r08-a"), SWITCH(6, "leaf-r07-a")),
	MISCABLED("rails 4 and 7 are exchanged", ON(4) | ON(7), SWITCH(4, "leaf-r08-a"), AT(4, "Ethernet12/2"), SWITCH(7, "leaf-r07-a"), AT(7, "Ethernet12/1")),
	MISCABLED("rails 4 and 5 are exchanged at their switch", ON(4) | ON(5), AT(4, "Ethernet12/2"), AT(5, "Ethernet12/1")),
	MISCABLED("rails 6 and 7 are exchanged at their switch", ON(6) | ON(7), AT(6, "Ethernet12/2"), AT(7, "Ethernet12/1")),
	MISCABLED("rail 4 is in the next rack", ON(4), SWITCH(4, "leaf-r08-b")),
	MISCABLED("rail 5 is in another row", ON(5), SWITCH(5, "leaf-r17-a")),
	MISCABLED("rail 6 is at the switch of management", ON(6), SWITCH(6, "mgmt-r08"), AT(6, "swp3")),
	MISCABLED("rail 7 is at a switch with two letters behind", ON(7), SWITCH(7, "leaf-r08-ab")),
	MISCABLED("rail 6 is at the port beside", ON(6), AT(6, "Ethernet13/1")),
	MISCABLED("lldpd is silent about rail 4", ON(4), SWITCH(4, ""), AT(4, "")),
	MISCABLED("a rail of each kind is wrong", ON(2) | ON(7), SWITCH(2, IB(0)), SWITCH(7, "leaf-r07-a")),
};

static const Case disagreements[] = {
	DISAGREE("the switch has flow control for another priority", "neighbor-pfc", 4, ROW(4, neighbor_pfc, "4")),
	DISAGREE("the switch has it for two others", "neighbor-pfc", 5, ROW(5, neighbor_pfc, "4,5")),
	DISAGREE("the switch has it for none", "neighbor-pfc", 6, ROW(6, neighbor_pfc, "none")),
	DISAGREE("the port has it for none", "neighbor-pfc", 7, ROW(7, pfc_enabled, "none")),
	DISAGREE("the port has it for one more", "neighbor-pfc", 4, ROW(4, pfc_enabled, "3,5")),
	DISAGREE("each end has it for one more", "neighbor-pfc", 4, ROW(4, pfc_enabled, "3,5"), ROW(4, neighbor_pfc, "3,4")),
	DISAGREE("the switch takes usual frames only", "neighbor-mtu", 4, ROW(4, neighbor_frame, "1518")),
	DISAGREE("the switch takes smaller ones by a byte", "neighbor-mtu", 5, ROW(5, neighbor_frame, "8999")),
	DISAGREE("the port sends larger ones by a byte", "neighbor-mtu", 6, ROW(6, netdev_mtu, "9217")),
	DISAGREE("the switch takes frames of 4 KiB", "neighbor-mtu", 7, ROW(7, neighbor_frame, "4096")),
	DISAGREE("the port sends the largest packets", "neighbor-mtu", 5, ROW(5, netdev_mtu, "65520")),
};

static const Case healthy[] = {
	HEALTHY("as planned", {}),
	HEALTHY("another model of switch at rail 0", SWITCH(0, "MF0;ib-leaf-0:MQM8700/U1")),
	HEALTHY("another model of switch at rail 3", SWITCH(3, "MF0;ib-leaf-3:MQM8700/U1")),
	HEALTHY("a chassis at rail 1", SWITCH(1, "MF0;ib-leaf-1:CS8500/L12/U1")),
	HEALTHY("a name in other letters at rail 2", SWITCH(2, "mf0;IB-LEAF-2:mqm9700/u1")),
	HEALTHY("the second switch of the rack at rail 4", SWITCH(4, "leaf-r07-b")),
	HEALTHY("the second switch of the rack at rail 5", SWITCH(5, "leaf-r07-b")),
	HEALTHY("the second switch of the rack at rail 6", SWITCH(6, "leaf-r08-b")),
	HEALTHY("the second switch of the rack at rail 7", SWITCH(7, "leaf-r08-b")),
	HEALTHY("rails 4 and 5 are at a switch each", SWITCH(5, "leaf-r07-b")),
	HEALTHY("rails 6 and 7 are at a switch each", SWITCH(7, "leaf-r08-b")),
	HEALTHY("the port has a description", ROW(4, neighbor_port_text, "to node17")),
	HEALTHY("the port has the description of another machine", ROW(4, neighbor_port_text, "to node18")),
	HEALTHY("no address of the switch", ROW(4, neighbor_address, "")),
	HEALTHY("another chassis", ROW(4, neighbor_chassis, "02:00:00:00:00:09")),
	HEALTHY("a VLAN at the switch", ROW(5, neighbor_vlan, "4000")),
	HEALTHY("the switch has been another since a minute", ROW(0, neighbor_since, "1000000")),
	HEALTHY("lldpd does not say the flow control", ROW(4, neighbor_pfc, "")),
	HEALTHY("the port does not say its flow control", ROW(4, pfc_enabled, "")),
	HEALTHY("neither end has flow control", EACH(pfc_enabled, "none"), EACH(neighbor_pfc, "none")),
	HEALTHY("both ends have it for two priorities", EACH(pfc_enabled, "3,4"), EACH(neighbor_pfc, "3,4")),
	HEALTHY("the switch has it for one more", EACH(neighbor_pfc, "3,4")),
	HEALTHY("the switch has it for two more, around that of the port", EACH(neighbor_pfc, "2,3,4")),
	HEALTHY("both ends have it for all", EACH(pfc_enabled, "0,1,2,3,4,5,6,7"), EACH(neighbor_pfc, "0,1,2,3,4,5,6,7")),
	HEALTHY("both ends have it for another", EACH(pfc_enabled, "5"), EACH(neighbor_pfc, "5")),
	HEALTHY("the switch says its largest frame as an MTU", ROW(4, neighbor_frame, "9000")),
	HEALTHY("the switch takes one byte more", ROW(4, neighbor_frame, "9001")),
	HEALTHY("the switch takes the header and the check sum too", ROW(5, neighbor_frame, "9018")),
	HEALTHY("and the tag of a VLAN", ROW(5, neighbor_frame, "9022")),
	HEALTHY("the switch takes as much as can be said", ROW(6, neighbor_frame, "65535")),
	HEALTHY("lldpd does not say the largest frame", ROW(7, neighbor_frame, "")),
	HEALTHY("the port does not say its MTU", ROW(7, netdev_mtu, "")),
	HEALTHY("the ports send usual frames", EACH(netdev_mtu, "1500"), EACH(neighbor_frame, "1518")),
	HEALTHY("and the switch says that as an MTU", EACH(netdev_mtu, "1500"), EACH(neighbor_frame, "1500")),
	HEALTHY("the ports send smaller frames than they could", EACH(netdev_mtu, "4200")),
	HEALTHY("InfiniBand says no flow control", ROW(0, neighbor_pfc, "3")),
	HEALTHY("InfiniBand has no frames", ROW(1, neighbor_frame, "1518")),
	HEALTHY("the GUID of the switch is another", ROW(0, neighbor_guid, "0002:c903:0000:9999")),
	HEALTHY("fewer lanes are enabled at the switch", ROW(2, neighbor_widths, "1,4")),
	HEALTHY("fewer speeds are enabled at the switch", ROW(3, neighbor_speeds, "SDR,NDR")),
	HEALTHY("all rails have descriptions", ROW(4, neighbor_port_text, "a"), ROW(5, neighbor_port_text, "b"), ROW(6, neighbor_port_text, "c")),
	HEALTHY("both switches of a rack at once", SWITCH(4, "leaf-r07-a"), SWITCH(5, "leaf-r07-b"), SWITCH(6, "leaf-r08-a"), SWITCH(7, "leaf-r08-b")),
};
/* clang-format on */

static void set(Object *port, const Change *c)
{
	const Attribute *row = &port_attributes[c->row];

	value_done(&port->values[c->row]);
	port->values[c->row] = (Value){};
	if (*c->text && (row->type == ATTR_U32 || row->type == ATTR_U64))
		set_number(port, c->row, strtoull(c->text, NULL, 10));
	else if (*c->text)
		set_text(port, c->row, streq(c->text, "none") ? "" : c->text);
}

static void add_rails(Machine *m)
{
	char text[64];

	for (unsigned int i = 0; i < RAILS; i++) {
		Object *port = add(m);

		if (i < RAILS / 2) {
			snprintf(text, sizeof(text), "MF0;ib-leaf-%u:MQM9700/U1", i);
			set_text(port, PORT_ATTR_neighbor, text);
			set_text(port, PORT_ATTR_neighbor_port, "17");
			set_text(port, PORT_ATTR_neighbor_type, "switch");
			set_text(port, PORT_ATTR_neighbor_source, "mad");
			continue;
		}
		set_text(port, PORT_ATTR_protocol, "roce");
		set_text(port, PORT_ATTR_neighbor, i < 6 ? "leaf-r07-a" : "leaf-r08-a");
		set_text(port, PORT_ATTR_neighbor_port, i % 2 ? "Ethernet12/2" : "Ethernet12/1");
		set_text(port, PORT_ATTR_neighbor_source, "lldpd");
		set_text(port, PORT_ATTR_pfc_enabled, "3");
		set_text(port, PORT_ATTR_neighbor_pfc, "3");
		set_number(port, PORT_ATTR_netdev_mtu, 9000);
		set_number(port, PORT_ATTR_neighbor_frame, 9216);
	}
}

/* Adds what is planned to the expectations. */
static void add_plan(Machine *m)
{
	char path[] = "/tmp/rdmad-cabling-XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0 && write(fd, plan, strlen(plan)) == (ssize_t)strlen(plan));
	close(fd);
	assert_int_equal(expect_add(&m->expect, path), 0);
	unlink(path);
}

/* Which rails have a finding; any that is not one of CHECK fails. */
static unsigned int find_rails(Machine *m, const Case *c)
{
	const CheckRun *r = &m->run;
	unsigned int rails = 0;

	found_in_all(m);
	for (size_t i = 0; i < r->n_findings; i++) {
		const Finding *f = &r->findings[i];

		if (finding_severity(r, f) <= SEVERITY_OK)
			continue;
		if (!c->check || !streq(f->check->name, c->check))
			fail_msg("%s: found: %s", c->title, f->sentence);
		for (unsigned int rail = 0; rail < RAILS; rail++)
			if (r->ports[rail] == f->port)
				rails |= ON(rail);
	}
	return rails;
}

/* With valgrind, which is for values that were never written, a fourth of them. */
static void assert_cases(const Case *cases, size_t n)
{
	size_t step = getenv("RDMAD_TEST_VALGRIND") ? 4 : 1;

	for (size_t i = 0; i < n; i += step) {
		_cleanup_machine_ Machine m = {};
		const Case *c = &cases[i];
		unsigned int rails;

		add_rails(&m);
		add_plan(&m);
		for (const Change *k = c->changes; k < c->changes + CHANGES_MAX && k->text; k++)
			set(CONST_CAST(Object *, m.run.ports[k->rail]), k);
		rails = find_rails(&m, c);
		if (rails != c->rails)
			fail_msg("%s: found on the rails %#x, expected %#x", c->title, rails,
				 c->rails);
	}
}

static void test_miscablings(_unused_ void **state)
{
	assert_int_equal(ARRAY_SIZE(miscablings), 30);
	assert_cases(miscablings, ARRAY_SIZE(miscablings));
}

static void test_disagreements(_unused_ void **state)
{
	assert_int_equal(ARRAY_SIZE(disagreements), 11);
	assert_cases(disagreements, ARRAY_SIZE(disagreements));
}

static void test_healthy(_unused_ void **state)
{
	assert_int_equal(ARRAY_SIZE(healthy), 42);
	assert_cases(healthy, ARRAY_SIZE(healthy));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_miscablings),
		cmocka_unit_test(test_disagreements),
		cmocka_unit_test(test_healthy),
	};

	return cmocka_run_group_tests_name("cabling", tests, NULL, NULL);
}
