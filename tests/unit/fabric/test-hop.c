/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is taken of answers to management packets, good and bad, from a umad that the test plays. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */
#include <endian.h>
#include <infiniband/umad.h>
#include <infiniband/umad_sm.h>
#include <infiniband/umad_types.h>

#include "clock.h"
#include "hop.h"
#include "util.h"

/* What is answered to each attribute, in the bytes of the standard */
static struct {
	uint8_t node[64], text[64], port[64], lid[64], class[192], counters[192], extended[192];
	uint32_t port_asked;	    /* PortInfo of this one, at last */
	int status;		    /* of umad: not 0 if no answer came */
	uint16_t refused;	    /* the status in the packet */
	uint16_t refused_attribute; /* of this attribute alone; 0: of each one */
	int length;
	uint16_t other_attribute; /* which the answer says it has; 0: the right one */
	uint8_t method;
	int error; /* of the kernel */
	int deaf;  /* to this attribute no answer comes; 0: to each one */
	bool no_device, no_agent, cannot_send, is_silent, has_address, is_pma, no_pma, is_lid;
	bool again; /* the first answer comes once more, and says something else */
	unsigned int n_open;
	int next; /* the first that was sent and is not answered */
	struct umad_smp sent[8];
	unsigned int n_sent;
	/* An answer takes so long. What was waited for, and how long at most */
	uint64_t now_usec, takes_usec;
	int timeouts[8];
	unsigned int n_timeouts;
} net;

uint64_t __wrap_monotonic_now_usec(void);
uint64_t __wrap_monotonic_now_usec(void)
{
	return net.now_usec;
}

int umad_open_port(const char *name, int port)
{
	/* umad would take another one */
	assert_true(*name != '\0' && port > 0 && port < 256);
	errno = net.error;
	if (net.no_device || strcmp(name, "mlx5_0") != 0 || port != 1)
		return -EIO;
	net.n_open++;
	return 7;
}

int umad_close_port(int fd)
{
	assert_int_equal(fd, 7);
	net.n_open--;
	return 0;
}

int umad_register(_unused_ int fd, int class, int version, _unused_ uint8_t rmpp,
		  _unused_ long methods[16 / sizeof(long)])
{
	assert_true(class == UMAD_CLASS_SUBN_DIRECTED_ROUTE || class == UMAD_CLASS_PERF_MGMT);
	assert_int_equal(version, 1);
	net.is_pma = class == UMAD_CLASS_PERF_MGMT;
	if (net.is_pma && net.no_pma)
		return -EPERM;
	errno = net.error;
	return net.no_agent ? -EPERM : net.is_pma; /* the first one is 0 */
}

size_t umad_size(void)
{
	return sizeof(struct ib_user_mad);
}

void *umad_get_mad(void *umad)
{
	return (uint8_t *)umad + sizeof(struct ib_user_mad);
}

int umad_set_addr(_unused_ void *umad, int lid, int qp, _unused_ int sl, int qkey)
{
	assert_int_equal(lid, net.is_pma ? 0x1234 : 0xffff);
	assert_int_equal(qp, net.is_pma);
	assert_int_equal((uint32_t)qkey, net.is_pma ? 0x80010000 : 0);
	net.has_address = true;
	return 0;
}

int umad_send(_unused_ int fd, int agent, void *umad, int length, int timeout_ms, int retries)
{
	assert_int_equal(agent, net.is_pma);
	assert_true(net.has_address);
	net.has_address = false;
	assert_int_equal(length, 256);
	assert_in_range((retries + 1) * timeout_ms, 1, 1000);
	assert_true(net.n_sent < ARRAY_SIZE(net.sent));
	if (net.cannot_send)
		return -EIO;
	net.sent[net.n_sent++] = *(struct umad_smp *)umad_get_mad(umad);
	return 0;
}

int umad_recv(_unused_ int fd, void *umad, int *length, int timeout_ms)
{
	struct umad_smp *smp = umad_get_mad(umad);
	uint16_t attribute;

	assert_in_range(timeout_ms, 1, 1000);
	if (net.n_timeouts < ARRAY_SIZE(net.timeouts))
		net.timeouts[net.n_timeouts++] = timeout_ms;
	if (net.is_silent || net.next == (int)net.n_sent) {
		net.now_usec += (uint64_t)timeout_ms * USEC_PER_MSEC;
		return -ETIMEDOUT;
	}
	net.now_usec += net.takes_usec;
	if (net.again && net.next == 1) {
		net.again = false;
		net.next = 0;
		net.node[2] = 1;
	}
	*smp = net.sent[net.next++];
	/* nothing is changed there */
	assert_int_equal(smp->method, UMAD_METHOD_GET);
	attribute = be16toh(smp->attr_id);
	if (smp->mgmt_class == UMAD_CLASS_PERF_MGMT) {
		assert_int_equal(smp->data[1], 12);
		memcpy((uint8_t *)smp + 64,
		       attribute == UMAD_ATTR_CLASS_PORT_INFO ? net.class
		       : attribute == 0x12		      ? net.counters
							      : net.extended,
		       192);
	} else {
		assert_int_equal(smp->hop_cnt, 1);
		assert_int_equal(smp->initial_path[1], 1);
		if (attribute == UMAD_SM_ATTR_PORT_INFO)
			net.port_asked = be32toh(smp->attr_mod);
		memcpy(smp->data,
		       attribute == UMAD_SM_ATTR_NODE_INFO   ? net.node
		       : attribute == UMAD_SM_ATTR_NODE_DESC ? net.text
		       : net.is_lid			     ? net.lid
							     : net.port,
		       64);
	}
	smp->method = net.method;
	smp->status = htobe16(
		net.refused_attribute && net.refused_attribute != attribute ? 0 : net.refused);
	/* the kernel puts a number of its own there */
	smp->tid |= htobe64(UINT64_C(0x1234) << 32);
	if (net.other_attribute)
		smp->attr_id = htobe16(net.other_attribute);
	((struct ib_user_mad *)umad)->status =
		net.deaf == attribute ? ETIMEDOUT : (uint32_t)net.status;
	*length = net.length;
	return 3;
}

int umad_status(void *umad)
{
	return (int)((struct ib_user_mad *)umad)->status;
}

/* A switch: "leaf-r07-a", port 12, 4x and 1x, SDR to QDR, EDR to XDR */
static int setup(_unused_ void **state)
{
	memset(&net, 0, sizeof(net));
	net.method = UMAD_METHOD_GET_RESP;
	/* on its way back */
	net.refused = 0x8000;
	net.length = 256;
	net.node[2] = 2;
	net.node[11] = 0xab;
	net.node[12] = 0x12;
	net.node[19] = 0xcd;
	net.node[36] = 12;
	memcpy(net.text, "leaf-r07-a", 10);
	net.port[29] = 3;
	net.port[35] = 0xf7;
	net.port[63] = 0xee;
	net.port[56] = 0xf9;
	net.lid[16] = 0x12;
	net.lid[17] = 0x34;
	/* extended counters, and the time that was waited */
	net.class[2] = 0x12;
	net.counters[1] = net.extended[1] = 12;
	for (uint8_t i = 2; i < sizeof(net.counters); i++) {
		net.counters[i] = i;
		net.extended[i] = 0x80 | i;
	}
	return 0;
}

static Hop ask_end(bool counters)
{
	Hop h = {.device = "mlx5_0", .port = 1};

	net.next = 0;
	net.n_sent = 0;
	net.is_lid = counters;
	hop_ask(&h, 1, counters);
	assert_int_equal(net.n_open, 0);
	return h;
}

static Hop ask_hop(void)
{
	return ask_end(false);
}

static Hop ask_counters(void)
{
	return ask_end(true);
}

static FarEnd ask(void)
{
	return ask_hop().end;
}

static void test_answers(_unused_ void **state)
{
	FarEnd e = ask();

	assert_int_equal(e.type, 2);
	assert_int_equal(e.port, 12);
	assert_int_equal(e.guid, UINT64_C(0x12000000000000cd));
	assert_int_equal(e.system, 0xab);
	assert_string_equal(e.text, "leaf-r07-a");
	assert_int_equal(e.widths, 3);
	assert_int_equal(e.speeds, 0x1e7);
	/* of that port, not of port 0 of the switch */
	assert_int_equal(net.port_asked, 12);
	assert_int_equal(net.n_sent, 3);
}

static void assert_nothing(UnavailableCode why)
{
	Hop h = ask_hop();

	assert_int_equal(h.end.type, 0);
	assert_int_equal(h.end.guid, 0);
	assert_int_equal(h.why, why);
	/* nothing is asked of a port that is not known */
	assert_in_range(net.n_sent, 0, 2);
}

/* What was known of a port that was asked before goes. */
static void test_again(_unused_ void **state)
{
	Hop h = {.device = "mlx5_0", .port = 1};

	hop_ask(&h, 1, false);
	assert_int_equal(h.end.type, 2);
	net.is_silent = true;
	net.n_sent = 0;
	hop_ask(&h, 1, false);
	assert_int_equal(h.end.type, 0);
	assert_string_equal(h.end.text, "");
	assert_int_equal(h.why, UNAVAILABLE_NO_ANSWER);
}

/* The other end has a key, refuses, or cannot be asked. */
static void test_no_answer(_unused_ void **state)
{
	net.status = ETIMEDOUT;
	assert_nothing(UNAVAILABLE_NO_ANSWER);
	/* not even that one is missing comes */
	net.is_silent = true;
	assert_nothing(UNAVAILABLE_NO_ANSWER);
	net.is_silent = false;
	net.status = 0;
	net.refused = 0x800c;
	assert_nothing(UNAVAILABLE_REFUSED);
	net.cannot_send = true;
	assert_nothing(UNAVAILABLE_NOT_ASKED);
	net.no_agent = true;
	assert_nothing(UNAVAILABLE_NOT_ASKED);
	/* a virtual function */
	net.error = EPROTONOSUPPORT;
	assert_nothing(UNAVAILABLE_NOT_APPLICABLE);
	net.no_device = true;
	net.error = ENOENT;
	assert_nothing(UNAVAILABLE_NOT_ASKED);
	net.error = EACCES;
	assert_nothing(UNAVAILABLE_NO_PERMISSION);
}

/* The first answer to a question is the only one. */
static void test_two_answers(_unused_ void **state)
{
	net.again = true;
	assert_int_equal(ask().type, 2);
	assert_false(net.again);
}

static void assert_timeouts(const Hop *asked, size_t n, const int *expected,
			    unsigned int n_expected)
{
	Hop hops[4];

	memcpy(hops, asked, n * sizeof(*hops));
	net.n_sent = net.n_timeouts = 0;
	net.next = 0;
	net.now_usec = 5 * USEC_PER_SEC;
	hop_ask(hops, n, false);
	assert_int_equal(net.n_timeouts, n_expected);
	for (unsigned int i = 0; i < n_expected; i++)
		assert_int_equal(net.timeouts[i], expected[i]);
}

/* All answers to a round of questions come within a second, those of all ports together. */
static void test_time(_unused_ void **state)
{
	static const int answered[] = {1000, 700, 1000}, silent[] = {1000, 1, 1};
	const Hop hops[] = {{.device = "mlx5_0", .port = 1},
			    {.device = "mlx5_0", .port = 1},
			    {.device = "mlx5_0", .port = 1}};

	net.takes_usec = 300 * USEC_PER_MSEC;
	assert_timeouts(hops, 1, answered, ARRAY_SIZE(answered));
	net.is_silent = true;
	assert_timeouts(hops, ARRAY_SIZE(hops), silent, ARRAY_SIZE(silent));
}

/* What is behind the last port is somebody else's. */
static void test_one_more(_unused_ void **state)
{
	for (unsigned int counters = 0; counters < 2; counters++) {
		Hop h[2] = {{.device = "mlx5_0", .port = 1},
			    {.device = "mlx5_0", .port = 1, .waits = 1}};
		Hop other;

		h[1].end.parts = 1U << FAR_END_LID;
		h[1].end.lid = 0x1234;
		h[1].end.type = FAR_END_SWITCH;
		other = h[1];
		net.next = 0;
		net.n_sent = 0;
		net.is_lid = counters;
		hop_ask(h, 1, counters);
		assert_int_equal(net.n_sent, counters ? 5 : 3);
		assert_memory_equal(&h[1], &other, sizeof(other));
	}
}

/* LIDs from 0xc000 on are those of groups. */
static void test_lids(_unused_ void **state)
{
	uint8_t data[FAR_END_BYTES] = {[16] = 0xbf, [17] = 0xff};
	FarEnd e = {};

	assert_int_equal(far_end_take(&e, FAR_END_LID, data), 0);
	assert_int_equal(e.lid, 0xbfff);
	data[16] = 0xc0;
	data[17] = 0;
	assert_true(far_end_take(&e, FAR_END_LID, data) < 0);
	assert_int_equal(e.lid, 0xbfff);
}

static void test_bad_packets(_unused_ void **state)
{
	net.length = 255;
	assert_nothing(UNAVAILABLE_NO_ANSWER);
	net.length = 256;
	net.method = UMAD_METHOD_GET;
	assert_nothing(UNAVAILABLE_NO_ANSWER);
	net.method = UMAD_METHOD_GET_RESP;
	net.other_attribute = UMAD_SM_ATTR_SM_INFO;
	assert_nothing(UNAVAILABLE_NO_ANSWER);
	net.other_attribute = 0;
	assert_int_equal(ask().type, 2);
}

static void test_bad_nodes(_unused_ void **state)
{
	const struct {
		unsigned int at;
		uint8_t value;
	} bad[] = {{2, 0}, {2, 4}, {2, 255}, {36, 0}};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		setup(NULL);
		net.node[bad[i].at] = bad[i].value;
		assert_nothing(UNAVAILABLE_REFUSED);
	}
	setup(NULL);
	memset(net.node + 12, 0, 8);
	assert_nothing(UNAVAILABLE_REFUSED);
}

/* 64 bytes, of which none has to be 0, and any can be anything */
static void test_texts(_unused_ void **state)
{
	FarEnd e;

	memset(net.text, 'x', sizeof(net.text));
	e = ask();
	assert_int_equal(strlen(e.text), 63);
	memcpy(net.text, "a\033[31m\377\nb", 10);
	e = ask();
	assert_string_equal(e.text, "a?[31m??b");
	memset(net.text, 0xff, sizeof(net.text));
	e = ask();
	for (const char *p = e.text; *p; p++)
		assert_int_equal(*p, '?');
	assert_int_equal(e.type, 2);
}

/* Ports that cannot be, before umad is asked for them. */
static void test_ports(_unused_ void **state)
{
	Hop h[] = {{.device = "", .port = 1},
		   {.device = "mlx5_0", .port = 0},
		   {.device = "mlx5_0", .port = 257},
		   {.device = "mlx5_0", .port = 1}};

	hop_ask(h, ARRAY_SIZE(h), false);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(h[i].end.type, 0);
	assert_int_equal(h[3].end.type, 2);
	assert_int_equal(net.n_open, 0);
}

/* The value of counter NAME; UINT64_MAX: it is not there, or more than once. */
static uint64_t counter(const Hop *h, const char *name)
{
	uint64_t value, ret = UINT64_MAX;
	unsigned int times = 0;

	for (size_t i = 0; i < FAR_COUNTERS_MAX; i++) {
		const char *file = far_end_counter(&h->end, i, &value);

		if (!file || !streq(file, name))
			continue;
		times++;
		ret = value;
	}
	return times == 1 ? ret : UINT64_MAX;
}

static size_t count(const Hop *h)
{
	uint64_t value;
	size_t n = 0;

	for (size_t i = 0; i < FAR_COUNTERS_MAX; i++)
		n += far_end_counter(&h->end, i, &value) != NULL;
	return n;
}

/* Each is where the standard has it. */
static void test_counters(_unused_ void **state)
{
	static const struct {
		const char *name;
		uint64_t value;
	} expected[] = {
		{"symbol_error", 0x0405},
		{"link_error_recovery", 0x06},
		{"link_downed", 0x07},
		{"port_rcv_errors", 0x0809},
		{"port_rcv_remote_physical_errors", 0x0a0b},
		{"port_rcv_switch_relay_errors", 0x0c0d},
		{"port_xmit_discards", 0x0e0f},
		{"port_xmit_constraint_errors", 0x10},
		{"port_rcv_constraint_errors", 0x11},
		{"local_link_integrity_errors", 0x1},
		{"excessive_buffer_overrun_errors", 0x3},
		{"VL15_dropped", 0x1617},
		{"port_xmit_wait", 0x28292a2b},
		{"port_xmit_data", 0x88898a8b8c8d8e8f},
		{"port_rcv_data", 0x9091929394959697},
		{"port_xmit_packets", 0x98999a9b9c9d9e9f},
		{"port_rcv_packets", 0xa0a1a2a3a4a5a6a7},
		{"unicast_xmit_packets", 0xa8a9aaabacadaeaf},
		{"unicast_rcv_packets", 0xb0b1b2b3b4b5b6b7},
		{"multicast_xmit_packets", 0xb8b9babbbcbdbebf},
		{"multicast_rcv_packets", 0xc0c1c2c3c4c5c6c7},
	};
	Hop h = ask_counters();

	for (size_t i = 0; i < ARRAY_SIZE(expected); i++)
		assert_int_equal(counter(&h, expected[i].name), expected[i].value);
	assert_int_equal(count(&h), ARRAY_SIZE(expected));
	assert_true(far_end_has_counters(&h.end));
	/* a switch has its LID at port 0 */
	assert_int_equal(net.port_asked, 0);
	assert_int_equal(net.n_sent, 5);
	net.node[2] = 1;
	h = ask_counters();
	assert_int_equal(net.port_asked, 12);
	assert_int_equal(count(&h), ARRAY_SIZE(expected));
}

/* What the node cannot count is not there, whatever its answer has at that place. */
static void test_narrow_counters(_unused_ void **state)
{
	Hop h;

	net.class[2] = 0x04;
	h = ask_counters();
	assert_int_equal(counter(&h, "port_xmit_data"), 0x88898a8b8c8d8e8f);
	assert_int_equal(counter(&h, "unicast_xmit_packets"), UINT64_MAX);
	assert_int_equal(counter(&h, "port_xmit_wait"), UINT64_MAX);
	net.class[2] = 0;
	h = ask_counters();
	assert_int_equal(counter(&h, "port_xmit_data"), 0x18191a1b);
	assert_int_equal(counter(&h, "port_rcv_data"), 0x1c1d1e1f);
	assert_int_equal(counter(&h, "port_xmit_packets"), 0x20212223);
	assert_int_equal(counter(&h, "port_rcv_packets"), 0x24252627);
	assert_int_equal(count(&h), 16);
	/* one of the answers is missing, or an error */
	net.class[2] = 0x12;
	net.deaf = UMAD_ATTR_CLASS_PORT_INFO;
	h = ask_counters();
	assert_int_equal(count(&h), 16);
	net.deaf = 0;
	net.refused_attribute = 0x1d;
	net.refused = 0xc;
	h = ask_counters();
	assert_int_equal(counter(&h, "port_xmit_data"), 0x18191a1b);
	assert_int_equal(counter(&h, "port_xmit_wait"), 0x28292a2b);
}

static void assert_no_counters(UnavailableCode why, unsigned int n_sent)
{
	Hop h = ask_counters();

	assert_false(far_end_has_counters(&h.end));
	assert_int_equal(count(&h), 0);
	assert_int_equal(h.why, why);
	assert_int_equal(net.n_sent, n_sent);
}

/* Why counters are not known is said. */
static void test_no_counters(_unused_ void **state)
{
	/* no subnet manager */
	net.lid[16] = net.lid[17] = 0;
	assert_no_counters(UNAVAILABLE_NOT_CONFIGURED, 2);
	/* no LID of one port */
	net.lid[16] = 0xc0;
	assert_no_counters(UNAVAILABLE_REFUSED, 2);
	net.lid[16] = 0x12;
	net.lid[17] = 0x34;
	net.deaf = UMAD_SM_ATTR_PORT_INFO;
	assert_no_counters(UNAVAILABLE_NO_ANSWER, 2);
	net.deaf = UMAD_SM_ATTR_NODE_INFO;
	assert_no_counters(UNAVAILABLE_NO_ANSWER, 1);
	net.deaf = 0;
	net.no_pma = true;
	assert_no_counters(UNAVAILABLE_NOT_ASKED, 2);
	net.no_pma = false;
	net.refused = 0xc;
	net.refused_attribute = 0x12;
	net.deaf = 0x1d;
	assert_no_counters(UNAVAILABLE_REFUSED, 5);
	net.refused = 0;
	net.deaf = 0x12;
	net.class[2] = 0;
	assert_no_counters(UNAVAILABLE_NO_ANSWER, 5);
	/* of another port */
	net.deaf = 0;
	net.counters[1] = 13;
	assert_no_counters(UNAVAILABLE_REFUSED, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_answers, setup),
		cmocka_unit_test_setup(test_again, setup),
		cmocka_unit_test_setup(test_no_answer, setup),
		cmocka_unit_test_setup(test_two_answers, setup),
		cmocka_unit_test_setup(test_time, setup),
		cmocka_unit_test_setup(test_one_more, setup),
		cmocka_unit_test(test_lids),
		cmocka_unit_test_setup(test_bad_packets, setup),
		cmocka_unit_test_setup(test_bad_nodes, setup),
		cmocka_unit_test_setup(test_texts, setup),
		cmocka_unit_test_setup(test_ports, setup),
		cmocka_unit_test_setup(test_counters, setup),
		cmocka_unit_test_setup(test_narrow_counters, setup),
		cmocka_unit_test_setup(test_no_counters, setup),
	};

	return cmocka_run_group_tests_name("hop", tests, NULL, NULL);
}
