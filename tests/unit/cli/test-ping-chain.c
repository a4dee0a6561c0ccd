/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the events of the connection manager mean for the chain of a ping, and what follows from the
 * priorities of a port. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "names.h"
#include "ping-chain.h"

#define END (-1)

/* Events that come one after the other, with their status. */
typedef struct Story {
	struct {
		int event, status;
	} events[5];
	PingStage stage;
	const char *broken; /* if the stage is BROKEN */
	const char *reason; /* the beginning */
} Story;

static Object port = {.is_port = true, .path = "/org/rdma/port/0/1"};

static PingState play(const Story *s, const PingWay *way)
{
	PingState state = {};

	for (size_t i = 0; s->events[i].event != END; i++)
		state = ping_next(state, (enum rdma_cm_event_type)s->events[i].event,
				  s->events[i].status, way);
	return state;
}

static void assert_story(const Story *s, const PingWay *way)
{
	PingState state = play(s, way);
	char reason[PING_REASON_MAX];

	assert_int_equal(state.stage, s->stage);
	if (s->stage != PING_STAGE_BROKEN)
		return;
	assert_string_equal(ping_link_name(state.broken), s->broken);
	ping_reason(&state, way, reason);
	if (!startswith(reason, s->reason))
		fail_msg("%s: %s", s->broken, reason);
}

#define RESOLVED                                                                                   \
	{                                                                                          \
		RDMA_CM_EVENT_ADDR_RESOLVED, 0                                                     \
	}
#define PATH                                                                                       \
	{                                                                                          \
		RDMA_CM_EVENT_ROUTE_RESOLVED, 0                                                    \
	}

static const Story stories[] = {
	{{{END, 0}}, PING_STAGE_ADDRESS, NULL, NULL},
	{{RESOLVED, {END, 0}}, PING_STAGE_PATH, NULL, NULL},
	{{RESOLVED, PATH, {END, 0}}, PING_STAGE_ANSWER, NULL, NULL},
	/* each answer of the peer */
	{{RESOLVED, PATH, {RDMA_CM_EVENT_REJECTED, 8}, {END, 0}}, PING_STAGE_DONE, NULL, NULL},
	{{RESOLVED, PATH, {RDMA_CM_EVENT_REJECTED, 28}, {END, 0}}, PING_STAGE_DONE, NULL, NULL},
	{{RESOLVED, PATH, {RDMA_CM_EVENT_CONNECT_RESPONSE, 0}, {END, 0}},
	 PING_STAGE_DONE,
	 NULL,
	 NULL},
	{{RESOLVED, PATH, {RDMA_CM_EVENT_UNREACHABLE, 1}, {END, 0}}, PING_STAGE_DONE, NULL, NULL},
	/* what comes too early or too late says nothing */
	{{{RDMA_CM_EVENT_REJECTED, 8}, {END, 0}}, PING_STAGE_ADDRESS, NULL, NULL},
	{{RESOLVED, {RDMA_CM_EVENT_ADDR_CHANGE, 0}, PATH, {END, 0}}, PING_STAGE_ANSWER, NULL, NULL},
	{{RESOLVED, PATH, {RDMA_CM_EVENT_REJECTED, 8}, {RDMA_CM_EVENT_DEVICE_REMOVAL, 0}, {END, 0}},
	 PING_STAGE_DONE,
	 NULL,
	 NULL},
	/* each link */
	{{{RDMA_CM_EVENT_ADDR_ERROR, -ENETUNREACH}, {END, 0}},
	 PING_STAGE_BROKEN,
	 "route",
	 "there is no route to 192.0.2.2 (Network is unreachable)"},
	{{{RDMA_CM_EVENT_ADDR_ERROR, -ETIMEDOUT}, {END, 0}},
	 PING_STAGE_BROKEN,
	 "neighbour",
	 "the next hop, 192.0.2.254, does not answer"},
	{{{RDMA_CM_EVENT_ADDR_ERROR, -EACCES}, {END, 0}},
	 PING_STAGE_BROKEN,
	 "verbs",
	 "the verbs device of eth2 cannot be opened"},
	{{RESOLVED, {RDMA_CM_EVENT_DEVICE_REMOVAL, 0}, {END, 0}},
	 PING_STAGE_BROKEN,
	 "port",
	 "the route goes through eth2, which has no RDMA port"},
	{{RESOLVED, {RDMA_CM_EVENT_ROUTE_ERROR, -ETIMEDOUT}, {END, 0}},
	 PING_STAGE_BROKEN,
	 "path",
	 "there is no path to 192.0.2.2"},
	{{RESOLVED, PATH, {RDMA_CM_EVENT_CONNECT_ERROR, -EINVAL}, {END, 0}},
	 PING_STAGE_BROKEN,
	 "request",
	 "the request to 192.0.2.2 is not sent (Invalid argument)"},
	{{RESOLVED, PATH, {RDMA_CM_EVENT_CONNECT_ERROR, 0}, {END, 0}},
	 PING_STAGE_BROKEN,
	 "request",
	 "the request to 192.0.2.2 is not sent (Input/output error)"},
	{{RESOLVED, PATH, {RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT}, {END, 0}},
	 PING_STAGE_BROKEN,
	 "answer",
	 "192.0.2.2 does not answer: UDP port 4791 is filtered"},
};

static void test_events(_unused_ void **state)
{
	const PingWay way = {.peer = "node17",
			     .address = "192.0.2.2",
			     .source = "192.0.2.1",
			     .hop = "192.0.2.254",
			     .netdev = "eth2"};

	for (size_t i = 0; i < ARRAY_SIZE(stories); i++)
		assert_story(&stories[i], &way);
}

/* The kernel has one error for two links. What rdmad knows of the interface decides. */
static void test_port_or_gid(_unused_ void **state)
{
	static const Story none = {{{RDMA_CM_EVENT_ADDR_ERROR, -ENODEV}, {END, 0}},
				   PING_STAGE_BROKEN,
				   "port",
				   "the route goes through eth0, which has no RDMA port"};
	static const Story one = {{{RDMA_CM_EVENT_ADDR_ERROR, -ENODEV}, {END, 0}},
				  PING_STAGE_BROKEN,
				  "gid",
				  "the port has no GID for 192.0.2.1, with which"};
	PingWay way = {.source = "192.0.2.1", .netdev = "eth0"};

	assert_story(&none, &way);
	way.port = &port;
	assert_story(&one, &way);
}

/* A neighbour that does not answer may be in no VLAN, or in another one. */
static void test_vlan(_unused_ void **state)
{
	static const Story story = {{{RDMA_CM_EVENT_ADDR_ERROR, -ETIMEDOUT}, {END, 0}},
				    PING_STAGE_BROKEN,
				    "neighbour",
				    "the next hop does not answer in VLAN 10: "};
	const PingWay way = {.hop = "192.0.2.2", .vlan = 10};

	assert_story(&story, &way);
}

/* Packets are lost only if that is known. */
static void test_mtu(_unused_ void **state)
{
	char reason[PING_REASON_MAX];

	assert_false(ping_mtu_fails(&(PingWay){.mtu = 4096}));
	assert_false(ping_mtu_fails(&(PingWay){.mtu_known = true, .mtu_arrives = true}));
	assert_true(ping_mtu_fails(&(PingWay){.mtu_known = true}));
	assert_string_equal(
		ping_reason(&ping_mtu_broken, &(PingWay){.mtu = 4096}, reason),
		"packets with 4096 bytes of data are lost, and smaller ones arrive: the "
		"MTU of the peer or of a switch is smaller (Message too long)");
	assert_string_equal(ping_link_name(ping_mtu_broken.broken), "mtu");
}

/* A name that is as long as the buffer for the reason, or longer, is cut. */
static void test_long_name(_unused_ void **state)
{
	char name[2 * PING_REASON_MAX], reason[PING_REASON_MAX];
	const PingState s = {PING_STAGE_BROKEN, PING_LINK_NAME, -2, 0};
	const PingWay way = {.peer = name};

	for (size_t n = PING_REASON_MAX - 40; n < sizeof(name); n++) {
		memset(name, 'x', n);
		name[n] = '\0';
		assert_ptr_equal(ping_reason(&s, &way, reason), reason);
		assert_int_equal(strlen(reason), PING_REASON_MAX - 1);
	}
}

static Value texts[_PORT_ATTR_MAX];

static void set_text(size_t row, const char *text)
{
	texts[row] = (Value){.type = VALUE_TEXT, .text = CONST_CAST(char *, text)};
}

static void assert_priority(uint8_t traffic_class, uint8_t level, uint32_t priority, bool pfc)
{
	const PingWay way = {.port = &port,
			     .has_path = true,
			     .service_level = level,
			     .traffic_class = traffic_class};
	uint32_t is;
	bool has;

	assert_true(ping_priority(&way, &is, &has));
	assert_int_equal(is, priority);
	assert_int_equal(has, pfc);
}

static void test_priority(_unused_ void **state)
{
	const PingWay unknown = {.port = &port}, nowhere = {.has_path = true};
	uint32_t priority;
	bool pfc;

	port.rows = port_attributes;
	port.n_rows = _PORT_ATTR_MAX;
	port.values = texts;
	port.interfaces = UINT32_MAX;
	assert_false(ping_priority(&(PingWay){.port = &port, .has_path = true}, &priority, &pfc));
	set_text(PORT_ATTR_pfc_enabled, "3,5");
	assert_false(ping_priority(&unknown, &priority, &pfc));
	assert_false(ping_priority(&nowhere, &priority, &pfc));
	/* the tag of a VLAN: it is the service level that says it */
	assert_priority(106, 0, 0, false);
	assert_priority(106, 5, 5, true);
	set_text(PORT_ATTR_priority_trust, "pcp,dscp");
	assert_priority(106, 5, 5, true);
	/* the traffic class: DSCP 26, which is mapped, or DSCP 48, which is not */
	set_text(PORT_ATTR_priority_trust, "dscp,pcp");
	assert_priority(106, 5, 3, true);
	set_text(PORT_ATTR_dscp_to_priority, "24-25:4,26:5,27:1");
	assert_priority(106, 0, 5, true);
	assert_priority(108, 0, 1, false);
	assert_priority(192, 0, 6, false);
	set_text(PORT_ATTR_pfc_enabled, "none");
	assert_priority(106, 0, 5, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_events),	  cmocka_unit_test(test_port_or_gid),
		cmocka_unit_test(test_vlan),	  cmocka_unit_test(test_mtu),
		cmocka_unit_test(test_long_name), cmocka_unit_test(test_priority),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
