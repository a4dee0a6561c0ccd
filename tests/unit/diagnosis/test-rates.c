/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What checks find in how counters have grown between two samples, on both sides of each limit. */

#include "clock.h"
#include "machine.h"

#define RATE UINT64_C(400000000000)

static Sample before, now;
static Sample long_before; /* if it has a time: what is found where so old a sample may be */

static const Sample *read_now(_unused_ void *userdata, _unused_ const Object *port,
			      _unused_ const char **ret_why)
{
	return &now;
}

static const char *why_nothing;

static const Sample *read_nothing(_unused_ void *userdata, _unused_ const Object *port,
				  const char **ret_why)
{
	*ret_why = why_nothing;
	return NULL;
}

static const Sample *read_before(_unused_ void *userdata, _unused_ const Object *port,
				 uint64_t most_usec)
{
	return long_before.monotonic_usec &&
			       now.monotonic_usec - long_before.monotonic_usec <= most_usec
		       ? &long_before
		       : &before;
}

static void add_counter(Sample *s, const char *name, uint64_t value)
{
	const char *const texts[_COUNTER_MEMBER_MAX] = {"hw_counters", name, "", "", "valid", ""};

	assert_int_equal(sample_append(s, texts, value), 0);
}

/* A machine whose port has had 100 of NAME, and GROWTH more SECONDS later. */
static void prepare(Machine *m, const char *name, uint64_t growth, uint64_t seconds)
{
	Object *port = add(m);

	sample_done(&before);
	sample_done(&now);
	before = (Sample){.realtime_usec = realtime_now_usec() - seconds * USEC_PER_SEC,
			  .monotonic_usec = DAY};
	now = (Sample){.realtime_usec = realtime_now_usec(),
		       .monotonic_usec = DAY + seconds * USEC_PER_SEC};
	add_counter(&before, name, 100);
	add_counter(&now, name, 100 + growth);
	set_number(port, PORT_ATTR_rate, RATE);
	m->run.ask.counters = read_now;
	m->run.ask.counters_before = read_before;
}

/* That CHECK finds this; SAYS is "" if it finds nothing. */
static void assert_found(const char *check, const char *name, uint64_t growth, uint64_t seconds,
			 const char *says)
{
	_cleanup_machine_ Machine m = {};

	prepare(&m, name, growth, seconds);
	assert_int_equal(found(&m, check), *says ? 1 : 0);
	if (*says)
		assert_says(&m, 0, says);
}

static void test_loss(_unused_ void **state)
{
	assert_found("loss", "out_of_sequence", 1000, 100,
		     "10 packets sent again or out of order (out_of_sequence) in a second, over "
		     "100 s");
	assert_found("loss", "out_of_sequence", 990, 100, "");
	assert_found("loss", "local_ack_timeout_err", 100, 100, "1 acknowledgements that did not");
	assert_found("loss", "local_ack_timeout_err", 99, 100, "");
	assert_found("loss", "roce_adp_retrans_to", 100, 100, "1 acknowledgements that did not");
	assert_found("loss", "roce_adp_retrans_to", 99, 100, "");
	assert_found("loss", "port_xmit_discards", 1000, 100, "10 packets discarded");
	/* of each driver, and no other counter */
	assert_found("loss", "to_retransmits", 1000, 10, "(to_retransmits)");
	assert_found("loss", "RetransSegs", 1000, 10, "(RetransSegs)");
	assert_found("loss", "tcpRetransSegs", 1000, 10, "(tcpRetransSegs)");
	assert_found("loss", "tx_rdma_retx_pkts", 1000, 10, "(tx_rdma_retx_pkts)");
	assert_found("loss", "retrans_pkts", 1000, 10, "(retrans_pkts)");
	assert_found("loss", "requester_timeout", 1000, 10, "(requester_timeout)");
	assert_found("loss", "rq_num_oos", 1000, 10, "(rq_num_oos)");
	assert_found("loss", "tx_pps_limit_drop_cnt", 1000, 10, "(tx_pps_limit_drop_cnt)");
	assert_found("loss", "rx_write_requests", 1000000, 10, "");
	/* it was reset */
	assert_found("loss", "out_of_sequence", UINT64_MAX - 10, 10, "");
	/* of one moment */
	assert_found("loss", "out_of_sequence", 1000, 0, "");
}

static void test_congestion(_unused_ void **state)
{
	/* 64 bits a tick */
	const uint64_t fifth = RATE / 64 / 5;

	assert_found("congested", "np_cnp_sent", 10000, 10, "1000 congestion notifications");
	assert_found("congested", "np_cnp_sent", 9900, 10, "");
	assert_found("congested", "rx_ecn_marked_pkts", 10000, 10, "(rx_ecn_marked_pkts)");
	assert_found("congested", "port_xmit_wait", 10 * fifth, 10,
		     "for 20 % of the time, over 10");
	assert_found("congested", "port_xmit_wait", 10 * fifth - 100, 10, "");
	assert_found("pause-storm", "rx_prio3_pause", 10000, 10, "1000 pause frames");
	assert_found("pause-storm", "rx_prio3_pause", 9900, 10, "");
	assert_found("pause-storm", "tx_pause_ctrl_phy", 10000, 10, "(tx_pause_ctrl_phy)");
	assert_found("pause-storm", "rx_control_frames", 10000, 10, "(rx_control_frames)");
	assert_found("pause-storm", "rx_prio3_packets", 10000, 10, "");
}

static void test_symbols(_unused_ void **state)
{
	_cleanup_machine_ Machine m = {};

	/* 1.44e15 bits an hour at 400 Gb/s: 7.2 errors are 5e-15, and 14.4 are 1e-14 */
	assert_found("symbol-errors", "symbol_error", 10, 3600, "bits is a symbol error");
	assert_found("symbol-errors", "symbol_error", 9, 3600, "");
	assert_found("symbol-errors", "symbol_error", 14, 3600, "over 3600 s");
	assert_found("symbol-errors", "symbol_error", 15, 3600, "");
	assert_found("bad-signal", "symbol_error", 15, 3600, "bits is a symbol error");
	assert_found("bad-signal", "symbol_error", 14, 3600, "");
	/* 36 in five hours are 5e-15 */
	assert_found("symbol-errors", "symbol_error", 37, 5 * 3600, "bits is a symbol error");
	assert_found("symbol-errors", "symbol_error", 35, 5 * 3600, "");
	assert_found("bad-signal", "symbol_error", 15, 3600, "one of 9.6e+13 bits");
	/* 8.4 to 24.7 are to be expected where 15 were counted */
	assert_found("bad-signal", "symbol_error", 15, 3600,
		     "; with 95 % confidence one of 5.8e+13 to 1.7e+14");
	/* while a link trains they are normal */
	prepare(&m, "symbol_error", 1000, 3600);
	assert_int_equal(found(&m, "bad-signal"), 1);
	set_number(m.run.ports[0], PORT_ATTR_state_change, realtime_now_usec() - HOUR / 2);
	assert_int_equal(found(&m, "bad-signal"), 0);
}

static void test_retraining(_unused_ void **state)
{
	assert_found("retraining", "link_error_recovery", 2, 3600, "2 times in 3600 s");
	assert_found("retraining", "link_error_recovery", 2, 60, "2 times in 60 s");
	assert_found("retraining", "link_error_recovery", 1, 3600, "");
	assert_found("retraining", "link_error_recovery", 1, 60, "");
	/* of a longer time it is the part of an hour */
	assert_found("retraining", "link_error_recovery", 2, 4800, "2 times in 4800 s");
	assert_found("retraining", "link_error_recovery", 2, 4802, "");
	assert_found("retraining", "link_error_recovery", 3, 7200, "3 times in 7200 s");
	assert_found("retraining", "symbol_error", 100, 3600, "");
	/* it was reset */
	assert_found("retraining", "link_error_recovery", UINT64_MAX - 10, 3600, "");
	assert_found("retraining", "local_link_integrity_errors", 2, 3600, "too many errors at");
	assert_found("retraining", "local_link_integrity_errors", 1, 3600, "");
}

static void test_overruns(_unused_ void **state)
{
	assert_found("loss", "excessive_buffer_overrun_errors", 2, 3600, "overrun 2 times in 3600");
	assert_found("loss", "excessive_buffer_overrun_errors", 1, 3600, "");
	assert_found("retraining", "excessive_buffer_overrun_errors", 15, 60, "");
}

/* Downs that were seen belong to another check. */
static void test_downs(_unused_ void **state)
{
	_cleanup_machine_ Machine m = {};
	Value *downs;

	prepare(&m, "link_downed", 3, 3600);
	assert_true(flap_limit_parse("2/24h", &m.run.flap));
	assert_int_equal(found(&m, "retraining"), 1);
	assert_says(&m, 0, "the link went down without being seen 3 times in 3600 s (link_downed)");
	downs = history_of(&m, m.run.ports[0], "LinkDowns");
	/* before the interval, and in it */
	append_number(downs, before.realtime_usec - 1);
	append_number(downs, before.realtime_usec);
	assert_int_equal(found(&m, "retraining"), 1);
	assert_says(&m, 0, "without being seen 2 times");
	/* a function that may wait, and who does not ask for flaps */
	set_text(device_of(&m, m.run.ports[0]), DEVICE_ATTR_function, "vf");
	assert_int_equal(found(&m, "retraining"), 0);
	set_text(device_of(&m, m.run.ports[0]), DEVICE_ATTR_function, "");
	assert_int_equal(found(&m, "retraining"), 1);
	assert_true(flap_limit_parse("off", &m.run.flap));
	assert_int_equal(found(&m, "retraining"), 0);
	assert_true(flap_limit_parse("2/24h", &m.run.flap));
	append_number(downs, now.realtime_usec);
	assert_int_equal(found(&m, "retraining"), 0);
}

/* Whether a counter that has grown so much holds the expectation. */
static bool holds(const char *expectation, uint64_t growth, uint64_t seconds)
{
	_cleanup_machine_ Machine m = {};

	prepare(&m, "symbol_error", growth, seconds);
	assert_int_equal(expect_add(&m.expect, expectation), 0);
	assert_true(expectations_have_rates(&m.expect));
	return found(&m, "counter") == 0;
}

static void test_expectations(_unused_ void **state)
{
	Expectations e = {.is_check = check_exists};

	assert_true(holds("symbol_error<10/1h", 9, 3600));
	assert_false(holds("symbol_error<10/1h", 10, 3600));
	/* in two hours twice as many; in a minute not a sixtieth */
	assert_true(holds("symbol_error<10/1h", 18, 7200));
	assert_false(holds("symbol_error<10/1h", 20, 7200));
	assert_true(holds("symbol_error<10/1h", 9, 60));
	assert_false(holds("symbol_error<10/1h", 10, 60));
	/* that it is little is known after all of the time */
	assert_true(holds("symbol_error>10/1h", 1, 60));
	assert_false(holds("symbol_error>10/1h", 10, 3600));
	assert_true(holds("symbol_error>10/1h", 11, 3600));
	assert_int_equal(expect_add(&e, "symbol_error<10/"), -EINVAL);
	assert_int_equal(expect_add(&e, "symbol_error</1h"), -EINVAL);
	assert_int_equal(expect_add(&e, "symbol_error<10/0s"), -EINVAL);
	assert_int_equal(expect_add(&e, "symbol_error<10"), 0);
	assert_false(expectations_have_rates(&e));
	expectations_done(&e);
}

/* There is an earlier sample too, SECONDS old, when the counter was VALUE. */
static void prepare_earlier(const char *name, uint64_t value, uint64_t seconds)
{
	sample_done(&long_before);
	long_before = (Sample){.realtime_usec = now.realtime_usec - seconds * USEC_PER_SEC,
			       .monotonic_usec = now.monotonic_usec - seconds * USEC_PER_SEC};
	add_counter(&long_before, name, value);
}

/* NAME has grown by 1000 in 100 s, and by GROWTH in the 300 s before: how much check loss finds. */
static size_t lost_after(const char *name, uint64_t growth)
{
	_cleanup_machine_ Machine m = {};
	size_t n;

	prepare(&m, name, 1000, 100);
	before.counters.items[0].items[MEMBER_VALUE].number += growth;
	now.counters.items[0].items[MEMBER_VALUE].number += growth;
	prepare_earlier(name, 100, 400);
	n = found(&m, "loss");
	sample_done(&long_before);
	long_before.monotonic_usec = 0;
	return n;
}

/* A peer that has crashed does not acknowledge for a while. */
static void test_crashed_peer(_unused_ void **state)
{
	assert_int_equal(lost_after("local_ack_timeout_err", 0), 0);
	assert_int_equal(lost_after("local_ack_timeout_err", 299), 0);
	assert_int_equal(lost_after("local_ack_timeout_err", 300), 1);
	assert_int_equal(lost_after("retrans_timeout_events", 0), 0);
	assert_int_equal(lost_after("out_of_sequence", 0), 1);
}

/* Which sample is compared depends on what is asked. */
static void test_two_intervals(_unused_ void **state)
{
	_cleanup_machine_ Machine m = {}, other = {}, third = {};

	/* packets are lost now, and not as an average of the hour */
	prepare(&m, "out_of_sequence", 0, 60);
	prepare_earlier("out_of_sequence", 0, HOUR / USEC_PER_SEC);
	now.counters.items[0].items[MEMBER_VALUE].number = 1000000;
	before.counters.items[0].items[MEMBER_VALUE].number = 1000000;
	assert_int_equal(found(&m, "loss"), 0);
	/* of 60 s no ratio is known; at 400 Gb/s a warning needs 5000 s, and 10000 s are looked at
	 */
	prepare(&other, "symbol_error", 0, 60);
	prepare_earlier("symbol_error", 100 - 17, 8000);
	assert_int_equal(found(&other, "symbol-errors"), 1);
	assert_says(&other, 0, "over 8000 s");
	prepare_earlier("symbol_error", 100 - 15, 8000);
	assert_int_equal(found(&other, "symbol-errors"), 0);
	prepare_earlier("symbol_error", 0, 10100);
	assert_int_equal(found(&other, "bad-signal"), 0);
	/* what has begun now is found in the shorter one, and the worse counts */
	prepare_earlier("symbol_error", 100 - 30, 8000);
	before.counters.items[0].items[MEMBER_VALUE].number = 90;
	assert_int_equal(found(&other, "bad-signal"), 1);
	assert_says(&other, 0, "over 60 s");
	assert_int_equal(found(&other, "symbol-errors"), 0);
	/* ten in an hour: 18 in two hours are not, unless they came now */
	prepare(&third, "symbol_error", 0, 60);
	prepare_earlier("symbol_error", 100 - 18, 7200);
	assert_int_equal(expect_add(&third.expect, "symbol_error<10/1h"), 0);
	assert_int_equal(found(&third, "counter"), 0);
	prepare_earlier("symbol_error", 100 - 20, 7200);
	assert_int_equal(found(&third, "counter"), 1);
	prepare_earlier("symbol_error", 100 - 10, 7200);
	before.counters.items[0].items[MEMBER_VALUE].number = 90;
	assert_int_equal(found(&third, "counter"), 1);
	sample_done(&long_before);
	long_before.monotonic_usec = 0;
}

static void append_member(Value *to, const char *text)
{
	Value *member = value_append(to);

	assert_non_null(member);
	*member = (Value){.type = VALUE_TEXT, .text = strdup(text)};
}

/* A finding of PORT as rdmad publishes it, of the growth of COUNTER; NULL: of none. */
static void publish(Object *port, const char *check, const char *counter, const char *text)
{
	Value *all = &port->values[PORT_ATTR_findings], *f, *tail;

	all->type = VALUE_ARRAY;
	f = value_append(all);
	assert_non_null(f);
	f->type = VALUE_STRUCT;
	append_member(f, check);
	append_member(f, "warning");
	append_member(f, text);
	tail = counter ? value_append(f) : NULL;
	if (tail) {
		tail->type = VALUE_DICT;
		append_member(tail, "Counter");
		append_member(tail, counter);
	}
}

/* Who has no earlier sample takes what rdmad has found in its own. */
static void test_published(_unused_ void **state)
{
	_cleanup_machine_ Machine m = {};

	prepare(&m, "symbol_error", 0, 60);
	m.run.ask.counters_before = NULL;
	publish(m.run.ports[0], "loss", NULL,
		"packets are lost: 10 packets in a second, over 300 s");
	publish(m.run.ports[0], "counter", "symbol_error", "12 more in 300 s, expected ...");
	publish(m.run.ports[0], "counter", "link_downed", "symbol_error has grown by 9 in 300 s");
	publish(m.run.ports[0], "counter", NULL, "symbol_error has grown by 12, expected 0");
	assert_int_equal(found(&m, "loss"), 1);
	assert_says(&m, 0, "packets are lost: 10 packets in a second, over 300 s");
	assert_int_equal(found(&m, "congested"), 0);
	assert_int_equal(expect_add(&m.expect, "symbol_error<10/1h"), 0);
	assert_int_equal(found(&m, "counter"), 1);
	assert_says(&m, 0, "12 more in 300 s");
	m.run.ask.counters_before = read_before;
	assert_int_equal(found(&m, "loss"), 0);
	assert_int_equal(expect_add(&m.expect, "hw_counter.none<1"), 0);
	assert_int_equal(found(&m, "counter"), 1);
	assert_says(&m, 0, "the port has no counter none");
	/* nobody has read them: that is no finding, and says nothing of the counter */
	m.run.ask.counters = read_nothing;
	assert_int_equal(found(&m, "counter"), 0);
	why_nothing = "no answer";
	assert_int_equal(found(&m, "counter"), 1);
	assert_says(&m, 0, "the counters cannot be read: no answer");
}

/* A link that is up for a minute is judged by that minute. */
static void test_young_link(_unused_ void **state)
{
	_cleanup_machine_ Machine m = {};

	prepare(&m, "symbol_error", 100, 60);
	prepare_earlier("symbol_error", 0, 2000);
	set_number(m.run.ports[0], PORT_ATTR_state_change, now.realtime_usec - 100 * USEC_PER_SEC);
	assert_int_equal(found(&m, "bad-signal"), 1);
	assert_says(&m, 0, "over 60 s");
	set_number(m.run.ports[0], PORT_ATTR_state_change, now.realtime_usec - 59 * USEC_PER_SEC);
	assert_int_equal(found(&m, "bad-signal"), 0);
	sample_done(&long_before);
	long_before.monotonic_usec = 0;
	/* what rdmad has found */
	m.run.ask.counters_before = NULL;
	publish(m.run.ports[0], "symbol-errors", NULL, "one of 1e14 bits");
	assert_int_equal(found(&m, "symbol-errors"), 1);
	assert_int_equal(found(&m, "bad-signal"), 0);
}

/* Whose growth anything depends on: rdmad keeps no others. */
static void test_used(_unused_ void **state)
{
	static const char *const used[] = {
		"out_of_sequence", "cc_rx_ce_pkts", "RetransSegs", "tcpRetransSegs",
		"rx_prio7_pause", "frames_tx_pripause", "port_xmit_wait", "symbol_error",
		"req_rx_pkt_seq_err", "resp_tx_pkt_seq_err", "rx_rdma_mtu_discard_pkts",
		/* frames that the link broke, as each driver calls them for ethtool */
		"rx_crc_errors", "rx_crc_errors_phy", "rx_crc_errors.nic", "port.rx_crc_errors",
		"rx_fcs_err_frames", "rx_fcs_errors", "frames_rx_bad_fcs", "mac_rx_fcs_err_pkt_num",
		"roce_drops_crc", "rx_discards_phy", "tx_discards_phy", "link_down_events_phy",
		/* pause frames of a link, and of a priority */
		"rx_pause_prio_7", "tx_priority_3_xoff.nic", "port.rx_priority_0_xoff",
		"link_xoff_rx.nic", "port.link_xoff_tx", "mac_tx_pfc_pri3_pkt_num",
		"mac_rx_mac_pause_num",
		/* what adapters discard, and what they are told of congestion */
		"rx_roce_errors", "ip4InDiscards", "ip6InTruncatedPkts", "rxVlanErrors",
		"rx_err_pkt", "port_xmit_constraint_errors", "received_cnps", "sent_cnps",
		"received_ecns", "received_cnp_count", "rx_prio3_discards", "rx_prio0_buf_discard",
		"rx_prio7_cong_discard", "tx_pause_storm_warning_events",
		"tx_pause_storm_error_events", "duplicate_request", "dup_req", "max_retry_exceeded",
		"retry_exceeded_err"};
	static const char *const others[] = {"rx_write_requests",
					     "port_rcv_data",
					     "",
					     "*",
					     "rx_prio8_pause",
					     "rx_out_of_buffer",
					     "rx_corrected_bits_phy",
					     "rx_err_lane_0_phy",
					     "req_tx_pkt_seq_err",
					     "rx_pause_duration_prio_3",
					     "tx_priority_3_xon.nic",
					     "ip4InPkts"};

	for (size_t i = 0; i < ARRAY_SIZE(used); i++)
		assert_true(check_uses_counter(used[i]));
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		assert_false(check_uses_counter(others[i]));
}

static Sample far_before, far_now;

static const Sample *read_far(_unused_ void *userdata, _unused_ const Object *port)
{
	return &far_now;
}

static const Sample *read_far_before(_unused_ void *userdata, _unused_ const Object *port,
				     _unused_ uint64_t most_usec)
{
	return &far_before;
}

/* As prepare() with HERE; at the other end NAME has grown by THERE in the same time. */
static void prepare_far(Machine *m, const char *name, uint64_t there, uint64_t here,
			uint64_t seconds)
{
	prepare(m, name, here, seconds);
	sample_done(&far_before);
	sample_done(&far_now);
	far_before = (Sample){.realtime_usec = before.realtime_usec,
			      .monotonic_usec = before.monotonic_usec};
	far_now =
		(Sample){.realtime_usec = now.realtime_usec, .monotonic_usec = now.monotonic_usec};
	add_counter(&far_before, name, 7);
	add_counter(&far_now, name, 7 + there);
	set_text(m->run.ports[0], PORT_ATTR_neighbor, "leaf-3");
	set_text(m->run.ports[0], PORT_ATTR_neighbor_port, "17");
	m->run.ask.far_counters = read_far;
	m->run.ask.far_counters_before = read_far_before;
}

/* That far-errors finds this, "" if nothing. */
static void assert_far(const char *name, uint64_t there, uint64_t here, uint64_t seconds,
		       const char *says)
{
	_cleanup_machine_ Machine m = {};

	prepare_far(&m, name, there, here, seconds);
	assert_int_equal(found(&m, "far-errors"), *says ? 1 : 0);
	if (*says)
		assert_says(&m, 0, says);
}

static void test_far_errors(_unused_ void **state)
{
	assert_far("port_rcv_errors", 1000, 0, 100,
		   "errors are at leaf-3 17 only: port_rcv_errors by 1000, in 100 s");
	assert_far("port_rcv_errors", 999, 0, 100, "");
	assert_far("port_rcv_errors", 1000, 1, 100, "");
	assert_far("port_xmit_discards", 1000, 0, 100, "port_xmit_discards by 1000");
	assert_far("symbol_error", 10, 0, 3600, "symbol_error by 10, in 3600 s");
	assert_far("symbol_error", 9, 0, 3600, "");
	assert_far("symbol_error", 10, 1, 3600, "");
	/* 5e-15 of what 400 Gb/s carry in five hours are 36 */
	assert_far("symbol_error", 37, 0, 5 * 3600, "symbol_error by 37");
	assert_far("symbol_error", 35, 0, 5 * 3600, "");
	assert_far("link_error_recovery", 2, 0, 3600, "link_error_recovery by 2");
	assert_far("link_error_recovery", 1, 0, 3600, "");
	assert_far("link_error_recovery", 2, 0, 4802, "");
	assert_far("local_link_integrity_errors", 2, 0, 60, "local_link_integrity_errors by 2");
	assert_far("excessive_buffer_overrun_errors", 2, 0, 60, "overrun_errors by 2");
	assert_far("port_xmit_data", 1000000, 0, 100, "");
	/* it was reset */
	assert_far("port_rcv_errors", UINT64_MAX - 6, 0, 100, "");
}

static void set_value_text(Value *v, const char *text)
{
	value_done(v);
	*v = (Value){.type = VALUE_TEXT, .text = strdup(text)};
}

/* Whose counters of the other end say nothing: of one that is not compared, or not the same. */
static void test_far_unknown(_unused_ void **state)
{
	_cleanup_machine_ Machine m = {};
	Object *port;

	prepare_far(&m, "symbol_error", 1000, 0, 3600);
	port = m.run.ports[0];
	assert_int_equal(found(&m, "far-errors"), 1);
	/* of a link that came up meanwhile */
	set_number(port, PORT_ATTR_state_change, far_before.realtime_usec);
	assert_int_equal(found(&m, "far-errors"), 1);
	set_number(port, PORT_ATTR_state_change, far_before.realtime_usec + 1);
	assert_int_equal(found(&m, "far-errors"), 0);
	value_done(&port->values[PORT_ATTR_state_change]);
	assert_int_equal(found(&m, "far-errors"), 0);
	set_number(port, PORT_ATTR_state_change, far_before.realtime_usec);
	set_text(port, PORT_ATTR_state, "init");
	assert_int_equal(found(&m, "far-errors"), 0);
	set_text(port, PORT_ATTR_state, "active");
	assert_int_equal(found(&m, "far-errors"), 1);
	/* how this end counts is not known */
	m.run.ask.counters = read_nothing;
	assert_int_equal(found(&m, "far-errors"), 0);
	m.run.ask.counters = read_now;
	/* or it counts no further */
	set_value_text(&now.counters.items[0].items[MEMBER_CONDITION], "saturated");
	assert_int_equal(found(&m, "far-errors"), 0);
	set_value_text(&now.counters.items[0].items[MEMBER_CONDITION], "valid");
	/* nobody has told its name */
	set_text(port, PORT_ATTR_neighbor, "");
	assert_int_equal(found(&m, "far-errors"), 1);
	assert_says(&m, 0, "errors are at the other end only: symbol_error by 1000");
	/* what rdmad has found */
	m.run.ask.far_counters_before = NULL;
	assert_int_equal(found(&m, "far-errors"), 0);
	publish(port, "far-errors", NULL, "errors are at leaf-3 17 only");
	assert_int_equal(found(&m, "far-errors"), 1);
	assert_says(&m, 0, "errors are at leaf-3 17 only");
}

/* On a link that is down nothing is lost; of a driver that does not say that, it is known. */
static void test_down(_unused_ void **state)
{
	_cleanup_machine_ Machine m = {};

	prepare(&m, "retrans_pkts", 1000000, 10);
	assert_int_equal(found(&m, "loss"), 1);
	set_text(m.run.ports[0], PORT_ATTR_state, "down");
	assert_int_equal(found(&m, "loss"), 0);
	value_done(&m.run.ports[0]->values[PORT_ATTR_state]);
	assert_int_equal(found(&m, "loss"), 1);
}

/* Without an earlier sample no counter is read. */
static void test_nothing_known(_unused_ void **state)
{
	_cleanup_machine_ Machine m = {};

	prepare(&m, "out_of_sequence", 1000000, 10);
	m.run.ask.counters_before = NULL;
	assert_int_equal(found(&m, "loss"), 0);
	m.run.ask.counters_before = read_before;
	assert_int_equal(found(&m, "loss"), 1);
	assert_int_equal(expect_add(&m.expect, "Ignore=loss"), 0);
	assert_int_equal(found(&m, "loss"), 0);
}

/* The rate of a LAG fell so often, and so often the port went down. */
static size_t rate_falls(size_t n, size_t downs, uint64_t ago, const char *limit)
{
	_cleanup_machine_ Machine m = {};
	Object *port = add(&m), *other;
	Value *history = history_of(&m, port, "LinkDowns"), *bond, *member;
	size_t alone;

	assert_true(flap_limit_parse(limit, &m.run.flap));
	for (size_t i = 0; i < n; i++) {
		add_evidence(&m, "Rate", ago, "400000000000", "200000000000");
		add_evidence(&m, "Rate", ago, "200000000000", "400000000000");
		/* that is another row, and what is no number */
		add_evidence(&m, "LinkWidth", ago, "4", "1");
		add_evidence(&m, "Rate", ago, "400000000000", "");
		add_evidence(&m, "Rate", ago, "", "200000000000");
	}
	for (size_t i = 0; i < downs; i++)
		append_number(history, realtime_now_usec());
	assert_int_equal(found(&m, "bond-member"), 0);
	bond = &port->values[PORT_ATTR_bond_members];
	bond->type = VALUE_ARRAY;
	member = append(bond);
	member->type = VALUE_STRUCT;
	append_number(member, 7);
	append_text(member, "eth0");
	append_text(member, "active");
	append(member)->type = VALUE_DICT;
	/* another port of the adapter, if it is free, can be the second member */
	alone = found(&m, "bond-member");
	other = add_second(&m, port);
	set_text(other, PORT_ATTR_state, "down");
	set_text(other, PORT_ATTR_netdev, "eth1");
	assert_int_equal(found(&m, "bond-member"), alone);
	set_text(other, PORT_ATTR_protocol, "roce");
	assert_int_equal(found(&m, "bond-member"), 1);
	assert_says(&m, 0, "the bond has one member only, eth0, and the adapter has another port");
	set_text(other, PORT_ATTR_netdev_master, "br0");
	assert_int_equal(found(&m, "bond-member"), alone);
	if (alone > 0)
		assert_says(&m, 0, "members of the bond come and go");
	member = append(bond);
	member->type = VALUE_STRUCT;
	append_number(member, 8);
	append_text(member, "eth1");
	append_text(member, "active");
	append(member)->type = VALUE_DICT;
	n = found(&m, "bond-member");
	if (n > 0)
		assert_says(&m, 0,
			    "members of the bond come and go: the rate has fallen 2 times in 12h");
	/* that has the link of its adapter, which says so itself */
	set_text(device_of(&m, port), DEVICE_ATTR_function, "vf");
	assert_int_equal(found(&m, "bond-member"), 0);
	set_text(device_of(&m, port), DEVICE_ATTR_function, "pf");
	assert_int_equal(found(&m, "bond-member"), n);
	set_text(port, PORT_ATTR_state, "init");
	assert_int_equal(found(&m, "bond-member"), 0);
	return n;
}

static void test_rate_flaps(_unused_ void **state)
{
	assert_int_equal(rate_falls(2, 0, 0, "2/12h"), 1);
	assert_int_equal(rate_falls(1, 0, 0, "2/12h"), 0);
	assert_int_equal(rate_falls(3, 1, 0, "2/12h"), 1);
	assert_int_equal(rate_falls(2, 1, 0, "2/12h"), 0);
	assert_int_equal(rate_falls(2, 3, 0, "2/12h"), 0);
	assert_int_equal(rate_falls(2, 0, 12 * HOUR - USEC_PER_SEC * 60, "2/12h"), 1);
	assert_int_equal(rate_falls(2, 0, 12 * HOUR + USEC_PER_SEC, "2/12h"), 0);
	assert_int_equal(rate_falls(9, 0, 0, "off"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rate_flaps),    cmocka_unit_test(test_loss),
		cmocka_unit_test(test_crashed_peer),  cmocka_unit_test(test_congestion),
		cmocka_unit_test(test_symbols),	      cmocka_unit_test(test_expectations),
		cmocka_unit_test(test_nothing_known), cmocka_unit_test(test_two_intervals),
		cmocka_unit_test(test_published),     cmocka_unit_test(test_down),
		cmocka_unit_test(test_young_link),    cmocka_unit_test(test_used),
		cmocka_unit_test(test_far_errors),    cmocka_unit_test(test_far_unknown),
		cmocka_unit_test(test_retraining),    cmocka_unit_test(test_overruns),
		cmocka_unit_test(test_downs),
	};
	int r = cmocka_run_group_tests(tests, NULL, NULL);

	sample_done(&before);
	sample_done(&now);
	sample_done(&far_before);
	sample_done(&far_now);
	return r;
}
