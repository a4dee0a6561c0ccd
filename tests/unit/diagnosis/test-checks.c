/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the checks of rdmactl check find on machines that are made here, without rdmad: each on both
 * sides of the boundary that it has. */

#include "clock.h"
#include "format.h"
#include "machine.h"

/* Ports of one kind with these rates, of one digit each; "-": none. Returns how many are odd. */
static size_t odd_ones(const char *rates)
{
	_cleanup_machine_ Machine m = {};

	for (const char *p = rates; *p; p++) {
		Object *port = add(&m);

		if (*p != '-')
			set_number(port, PORT_ATTR_rate, (uint64_t)(*p - '0') * 1000000000);
	}
	return found(&m, "odd-one-out");
}

static void test_siblings(_unused_ void **state)
{
	_cleanup_machine_ Machine m = {};

	assert_int_equal(odd_ones("4442"), 1);
	assert_int_equal(odd_ones("4444"), 0);
	/* three others at least, that have a value */
	assert_int_equal(odd_ones("442"), 0);
	assert_int_equal(odd_ones("442-"), 0);
	assert_int_equal(odd_ones("4-442"), 1);
	/* more than half of the others agree: half of them are not enough */
	assert_int_equal(odd_ones("44123"), 0);
	assert_int_equal(odd_ones("444123"), 3);
	assert_int_equal(odd_ones("4441235"), 0);
	assert_int_equal(odd_ones("21344"), 0);
	assert_int_equal(odd_ones("321444"), 3);
	/* a value that two have is meant */
	assert_int_equal(odd_ones("4444422"), 0);
	assert_int_equal(odd_ones("44444221"), 1);
	/* another model is no sibling */
	for (size_t i = 0; i < 4; i++)
		set_number(add(&m), PORT_ATTR_rate, i > 0 ? 4 : 2);
	assert_int_equal(found(&m, "odd-one-out"), 1);
	assert_says(&m, 0, "on 3 of 3 other ports");
	assert_ptr_equal(m.run.findings[0].port, m.run.ports[0]);
	set_text(device_of(&m, m.run.ports[0]), DEVICE_ATTR_hca_type, "MT1");
	assert_int_equal(found(&m, "odd-one-out"), 0);
}

/* What has changed within the time to settle is not compared. */
static void test_settle(_unused_ void **state)
{
	_cleanup_machine_ Machine m = {};
	uint64_t now = realtime_now_usec();
	Object *port = NULL;

	for (size_t i = 0; i < 4; i++)
		set_number(port = add(&m), PORT_ATTR_rate, i > 2 ? 2 : 4);
	m.run.settle_usec = HOUR;
	set_number(port, PORT_ATTR_state_change, now - HOUR);
	assert_int_equal(found(&m, "odd-one-out"), 1);
	set_number(port, PORT_ATTR_state_change, now - HOUR + 600 * USEC_PER_SEC);
	assert_int_equal(found(&m, "odd-one-out"), 0);
	/* the clock was set back since: it may stay so for years */
	set_number(port, PORT_ATTR_state_change, now + DAY);
	assert_int_equal(found(&m, "odd-one-out"), 1);
	set_number(port, PORT_ATTR_state_change, 1);
	port->values[PORT_ATTR_stale] = (Value){.type = VALUE_BOOL, .boolean = true};
	assert_int_equal(found(&m, "odd-one-out"), 0);
}

static Object *add_subnet(Machine *m, const char *prefix, uint64_t lid, uint64_t lmc,
			  uint64_t sm_lid, const char *adapter)
{
	Object *port = add(m);

	set_text(port, PORT_ATTR_subnet_prefix, prefix);
	set_number(port, PORT_ATTR_lid, lid);
	set_number(port, PORT_ATTR_lmc, lmc);
	set_number(port, PORT_ATTR_sm_lid, sm_lid);
	set_text(device_of(m, port), DEVICE_ATTR_sys_image_guid, adapter);
	return port;
}

#define PREFIX	  "fe80:0000:0000:0000"
#define ADAPTER_1 "0002:c903:0000:0001"
#define ADAPTER_2 "0002:c903:0000:0002"

/* Two ports of one prefix; the first has LIDs from 8 on. */
static size_t same_prefix(uint64_t lmc, uint64_t lid, uint64_t sm_lid, const char *adapter)
{
	_cleanup_machine_ Machine m = {};

	add_subnet(&m, PREFIX, 8, lmc, 1, ADAPTER_1);
	add_subnet(&m, PREFIX, lid, lmc, sm_lid, adapter);
	return found(&m, "same-prefix");
}

static void test_prefixes(_unused_ void **state)
{
	_cleanup_machine_ Machine m = {};

	/* with the LMC N a port has 2^N LIDs */
	assert_int_equal(same_prefix(0, 8, 1, ADAPTER_2), 1);
	assert_int_equal(same_prefix(0, 9, 1, ADAPTER_2), 0);
	assert_int_equal(same_prefix(3, 15, 1, ADAPTER_2), 1);
	assert_int_equal(same_prefix(3, 16, 1, ADAPTER_2), 0);
	assert_int_equal(same_prefix(2, 11, 1, ADAPTER_2), 1);
	assert_int_equal(same_prefix(2, 12, 1, ADAPTER_2), 0);
	assert_int_equal(same_prefix(7, 135, 1, ADAPTER_2), 1);
	assert_int_equal(same_prefix(7, 136, 1, ADAPTER_2), 0);
	assert_int_equal(same_prefix(70, 136, 1, ADAPTER_2), 0);
	/* functions of one adapter share a LID */
	assert_int_equal(same_prefix(0, 8, 1, ADAPTER_1), 0);
	assert_int_equal(same_prefix(0, 9, 2, ADAPTER_1), 1);
	/* what has no LID or subnet manager yet says nothing */
	assert_int_equal(same_prefix(0, 9, 0, ADAPTER_2), 0);
	assert_int_equal(same_prefix(0, 0, 2, ADAPTER_2), 0);
	add_subnet(&m, PREFIX, 8, 0, 1, ADAPTER_1);
	add_subnet(&m, "fe80:0000:0000:0001", 8, 0, 2, ADAPTER_2);
	assert_int_equal(found(&m, "same-prefix"), 0);
	/* one finding for one prefix */
	add_subnet(&m, PREFIX, 9, 0, 3, ADAPTER_2);
	add_subnet(&m, PREFIX, 10, 0, 4, ADAPTER_2);
	add_subnet(&m, "fe80:0000:0000:0001", 9, 0, 3, ADAPTER_2);
	assert_int_equal(found(&m, "same-prefix"), 2);
	set_text(add_subnet(&m, "fe80:0000:0000:0002", 8, 0, 1, ADAPTER_1), PORT_ATTR_state,
		 "down");
	add_subnet(&m, "fe80:0000:0000:0002", 9, 0, 2, ADAPTER_2);
	assert_int_equal(found(&m, "same-prefix"), 2);
}

/* A subnet manager that takes over tells one port after the other. */
static void test_new_manager(_unused_ void **state)
{
	_cleanup_machine_ Machine m = {};

	add_subnet(&m, PREFIX, 8, 0, 1, ADAPTER_1);
	add_subnet(&m, PREFIX, 9, 0, 2, ADAPTER_2);
	m.run.settle_usec = HOUR;
	add_evidence(&m, "SmLid", HOUR, "1", "2");
	add_evidence(&m, "Rate", 0, "1", "2");
	assert_int_equal(found(&m, "same-prefix"), 1);
	add_evidence(&m, "Lid", HOUR / 2, "4", "9");
	assert_int_equal(found(&m, "same-prefix"), 0);
	m.run.settle_usec = HOUR / 4;
	assert_int_equal(found(&m, "same-prefix"), 1);
	add_evidence(&m, "SmLid", 0, "1", "2");
	assert_int_equal(found(&m, "same-prefix"), 0);
}

static void add_vf(Object *port, uint64_t n, const char *node, const char *guid, const char *policy)
{
	Value *vfs = &port->values[PORT_ATTR_vfs], *vf;

	vfs->type = VALUE_ARRAY;
	vf = append(vfs);
	vf->type = VALUE_STRUCT;
	append_number(vf, n);
	append_text(vf, node);
	append_text(vf, guid);
	append_text(vf, policy);
	append_text(vf, "on");
	append(vf)->type = VALUE_DICT;
}

static void test_vfs(_unused_ void **state)
{
	static const char none[] = "0000:0000:0000:0000", guid[] = "0002:c903:0000:0101";
	static const char ones[] = "ffff:ffff:ffff:ffff";
	_cleanup_machine_ Machine m = {}, ethernet = {}, many = {};
	Object *port = add(&m);

	add_vf(port, 0, guid, guid, "auto");
	assert_int_equal(found(&m, "vf-no-guid"), 0);
	assert_int_equal(found(&m, "vf-disabled"), 0);
	add_vf(port, 1, none, guid, "enable");
	assert_int_equal(found(&m, "vf-no-guid"), 1);
	assert_says(&m, 0, "virtual function 1:");
	add_vf(port, 5, guid, none, "disable");
	assert_int_equal(found(&m, "vf-no-guid"), 1);
	assert_says(&m, 0, "virtual functions 1, 5:");
	assert_int_equal(found(&m, "vf-disabled"), 1);
	assert_says(&m, 0, "virtual function 5 is");
	assert_int_equal(found(&m, "same-guid"), 1);
	assert_says(&m, 0, "virtual function 1 has the GUID 0002:c903:0000:0101, as 0 of d0/1 has");
	/* Ethernet has none */
	add_vf(add(&ethernet), 0, "", "", "auto");
	assert_int_equal(found(&ethernet, "vf-no-guid"), 0);
	port = add(&many);
	for (uint64_t i = 0; i < 8; i++)
		add_vf(port, i, none, none, "auto");
	assert_int_equal(found(&many, "vf-no-guid"), 1);
	assert_says(&many, 0, "0, 1, 2, 3, 4, 5, 6, 7:");
	add_vf(port, 8, none, none, "auto");
	assert_int_equal(found(&many, "vf-no-guid"), 1);
	assert_says(&many, 0, "0, 1, 2, 3, 4, 5, 6, 7, ...:");
	/* of functions that wait, and that have waited before */
	add_vf(port, 9, ones, ones, "auto");
	add_vf(port, 10, ones, ones, "auto");
	add_vf(port, 11, guid, guid, "auto");
	assert_int_equal(found(&many, "same-guid"), 0);
}

static size_t pcie_errors(uint64_t nonfatal, uint64_t fatal, uint64_t root, const char *says)
{
	_cleanup_machine_ Machine m = {};
	Object *device = device_of(&m, add(&m));
	size_t n;

	set_number(device, DEVICE_ATTR_aer_nonfatal, nonfatal);
	set_number(device, DEVICE_ATTR_aer_fatal, fatal);
	set_number(device, DEVICE_ATTR_aer_root_fatal, root);
	n = found(&m, "pcie-errors");
	if (n > 0)
		assert_says(&m, 0, says);
	return n;
}

static void test_pcie_errors(_unused_ void **state)
{
	_cleanup_machine_ Machine m = {};
	static const char *const addresses[] = {"0000:c1:00.0", "0000:c1:00.1", "0000:c1:01.0"};

	assert_int_equal(pcie_errors(0, 0, 0, ""), 0);
	assert_int_equal(pcie_errors(1, 0, 0, "1 non-fatal, 0 fatal"), 1);
	assert_int_equal(pcie_errors(0, 1, 0, "0 non-fatal, 1 fatal"), 1);
	assert_int_equal(pcie_errors(0, 0, 1, "the root port got 1 message about"), 1);
	assert_int_equal(pcie_errors(0, 0, 2, "the root port got 2 messages about"), 1);
	/* Linux may count what is fatal at one of the two only */
	assert_int_equal(pcie_errors(2, 0, 3, "2 non-fatal, 3 fatal"), 1);
	assert_int_equal(pcie_errors(2, 4, 3, "2 non-fatal, 4 fatal"), 1);
	/* the functions of one adapter have one root port */
	for (size_t i = 0; i < ARRAY_SIZE(addresses); i++) {
		Object *device = device_of(&m, add(&m));

		set_text(device, DEVICE_ATTR_pci_address, addresses[i]);
		set_number(device, DEVICE_ATTR_aer_root_fatal, 1);
	}
	assert_int_equal(found(&m, "pcie-errors"), 2);
	assert_ptr_equal(m.run.findings[1].device, m.run.devices[2]);
}

static void test_pcie_slow(_unused_ void **state)
{
	static const char *const narrowest[] = {"0000:15:01.0", "0000:15:01.0", "0000:15:02.0"};
	_cleanup_machine_ Machine m = {};

	for (size_t i = 0; i < ARRAY_SIZE(narrowest); i++) {
		Object *device = device_of(&m, add(&m));

		set_text(device, DEVICE_ATTR_pcie_narrowest, narrowest[i]);
		set_number(device, DEVICE_ATTR_pcie_rate, 8);
		set_number(device, DEVICE_ATTR_pcie_max_rate, 8);
	}
	assert_int_equal(found(&m, "pcie-slow"), 0);
	for (size_t i = 0; i < m.run.n_devices; i++)
		set_number(CONST_CAST(Object *, m.run.devices[i]), DEVICE_ATTR_pcie_rate, 7);
	assert_int_equal(found(&m, "pcie-slow"), 2);
	assert_says(&m, 0, "PCIe has 7 bit/s, and could have 8 bit/s: the link below 0000:15:01.0");
	assert_ptr_equal(m.run.findings[1].device, m.run.devices[2]);
	/* without the place, each is one */
	for (size_t i = 0; i < m.run.n_devices; i++)
		value_done(&CONST_CAST(Object *, m.run.devices[i])
				    ->values[DEVICE_ATTR_pcie_narrowest]);
	assert_int_equal(found(&m, "pcie-slow"), 3);
}

static void add_reporter(Object *device, const char *state, uint64_t errors, uint64_t recoveries)
{
	Value *all = &device->values[DEVICE_ATTR_health_reporters], *reporter;

	all->type = VALUE_ARRAY;
	reporter = append(all);
	reporter->type = VALUE_STRUCT;
	append_text(reporter, "fw");
	append_text(reporter, state);
	append_number(reporter, errors);
	append_number(reporter, recoveries);
	append(reporter)->type = VALUE_DICT;
}

static void test_health(_unused_ void **state)
{
	_cleanup_machine_ Machine m = {}, first = {};
	Object *device = device_of(&m, add(&m));

	add_reporter(device_of(&first, add(&first)), "error", 1, 0);
	assert_int_equal(found(&first, "health-error"), 1);
	add_reporter(device_of(&first, add(&first)), "healthy", 1, 1);
	assert_int_equal(found(&first, "health-recovered"), 1);
	add_reporter(device, "healthy", 0, 0);
	assert_int_equal(found(&m, "health-error") + found(&m, "health-recovered"), 0);
	add_reporter(device, "healthy", 3, 1);
	assert_int_equal(found(&m, "health-error"), 0);
	assert_int_equal(found(&m, "health-recovered"), 1);
	assert_says(&m, 0, "3 errors, 1 recovered");
	add_reporter(device, "error", 1, 1);
	assert_int_equal(found(&m, "health-error"), 1);
	assert_says(&m, 0, "1 error, 1 recovered");
	assert_int_equal(found(&m, "health-recovered"), 1);
}

static void test_bursts(_unused_ void **state)
{
	_cleanup_machine_ Machine m = {};
	Object *device = device_of(&m, add(&m));
	Value last = {.type = VALUE_UNSIGNED};
	_cleanup_free_ char *text = NULL;

	set_number(device, DEVICE_ATTR_aer_correctable, 5000);
	m.evidence.type = VALUE_ARRAY;
	assert_int_equal(found(&m, "pcie-burst"), 0);
	/* another thing, one that went back, one of the day before */
	add_evidence(&m, "AerRootCorrectable", HOUR, "0", "5000");
	add_evidence(&m, "AerCorrectable", HOUR, "5000", "0");
	add_evidence(&m, "AerCorrectable", DAY + HOUR, "0", "5000");
	assert_int_equal(found(&m, "pcie-burst"), 0);
	add_evidence(&m, "AerCorrectable", DAY - HOUR, "0", "100");
	assert_int_equal(found(&m, "pcie-burst"), 1);
	assert_says(&m, 0, "(AER): 100 in 24 h");
	last.number = add_evidence(&m, "AerCorrectable", HOUR, "100", "350");
	assert_int_equal(found(&m, "pcie-burst"), 1);
	assert_says(&m, 0, "(AER): 350 in 24 h");
	text = format_value(&port_attributes[PORT_ATTR_state_change], &last);
	assert_says(&m, 0, text);
	/* of fewer errors in all there can be no burst */
	set_number(device, DEVICE_ATTR_aer_correctable, 100);
	assert_int_equal(found(&m, "pcie-burst"), 1);
	set_number(device, DEVICE_ATTR_aer_correctable, 99);
	assert_int_equal(found(&m, "pcie-burst"), 0);
}

static void test_heat(_unused_ void **state)
{
	static const struct {
		uint64_t margin;
		size_t hot, too_hot;
	} cases[] = {{6, 0, 0}, {5, 1, 0}, {1, 1, 0}, {0, 0, 1}};
	_cleanup_machine_ Machine m = {};
	Object *port = add(&m);

	set_number(port, PORT_ATTR_module_temperature, 69);
	assert_int_equal(found(&m, "hot") + found(&m, "too-hot"), 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		set_number(port, PORT_ATTR_module_temperature_margin, cases[i].margin);
		assert_int_equal(found(&m, "hot"), cases[i].hot);
		assert_int_equal(found(&m, "too-hot"), cases[i].too_hot);
	}
	assert_says(&m, 0, "the module has 69 °C, which is critical");
	set_number(port, PORT_ATTR_adapter_temperature, 103);
	set_number(port, PORT_ATTR_adapter_temperature_margin, 2);
	assert_int_equal(found(&m, "hot"), 1);
	assert_says(&m, 0, "the adapter has 103 °C, 2 K below what is critical");
}

static void test_uncorrectable(_unused_ void **state)
{
	_cleanup_machine_ Machine m = {};
	Object *port = add(&m);

	m.evidence.type = VALUE_ARRAY;
	add_evidence(&m, "UncorrectableBlocks", HOUR, "5", "25");
	assert_int_equal(found(&m, "uncorrectable"), 0);
	set_number(port, PORT_ATTR_fec_uncorrectable, 25);
	assert_int_equal(found(&m, "uncorrectable"), 1);
	assert_says(&m, 0, "FEC could not correct 20 blocks in 24 h");
}

static void add_transition(Value *transitions, uint64_t time, uint64_t rate)
{
	Value *t = append(transitions), *tail;

	t->type = VALUE_STRUCT;
	append_number(t, time);
	append_number(t, 0);
	append_text(t, "down");
	append_text(t, "active");
	append_text(t, "port-active");
	tail = append(t);
	tail->type = VALUE_DICT;
	if (rate > 0) {
		append_text(tail, "Rate");
		append_number(tail, rate);
	}
}

/* The link ran at each of RATES for HOURS of 24 before the next one; it has the last one now. */
static size_t slower(const char *rates, uint64_t hours, uint64_t *ret_first)
{
	_cleanup_machine_ Machine m = {};
	Object *port = add(&m);
	Value *transitions = history_of(&m, port, "Transitions");
	size_t n = strlen(rates);
	uint64_t time = realtime_now_usec() - n * hours * HOUR;
	_cleanup_free_ char *until = NULL;

	for (size_t i = 0; i < n; i++, time += hours * HOUR)
		add_transition(transitions, time, (uint64_t)(rates[i] - '0') * 1000000000);
	set_number(port, PORT_ATTR_rate, (uint64_t)(rates[n - 1] - '0') * 1000000000);
	n = found(&m, "slower");
	if (n == 0)
		return 0;
	/* which of them ended when it says */
	for (size_t i = 1; i < transitions->n; i++) {
		until = format_value(&port_attributes[PORT_ATTR_state_change],
				     &transitions->items[i].items[0]);
		if (strstr(m.run.findings[0].sentence, until))
			*ret_first = i - 1;
		free(until);
		until = NULL;
	}
	return n;
}

static void test_former_rate(_unused_ void **state)
{
	uint64_t which = 99;

	assert_int_equal(slower("42", 1, &which), 1);
	assert_int_equal(which, 0);
	assert_int_equal(slower("44", 1, &which), 0);
	assert_int_equal(slower("24", 1, &which), 0);
	/* the last time of several */
	assert_int_equal(slower("424242", 1, &which), 1);
	assert_int_equal(which, 4);
	assert_int_equal(slower("4240302", 1, &which), 1);
	assert_int_equal(which, 2);
	/* what ended more than seven days ago does not count */
	assert_int_equal(slower("42", 7 * 24 - 1, &which), 1);
	assert_int_equal(slower("42", 7 * 24 + 1, &which), 0);
	assert_int_equal(slower("432", 4 * 24, &which), 1);
	assert_int_equal(which, 1);
}

static void test_flaps(_unused_ void **state)
{
	_cleanup_machine_ Machine m = {};
	const Object *port = add(&m), *other = add(&m);
	Value *downs = history_of(&m, port, "LinkDowns");
	const uint64_t t = realtime_now_usec() - HOUR;

	assert_true(flap_limit_parse("3/12h", &m.run.flap));
	assert_int_equal(m.run.flap.usec, 12 * HOUR);
	for (uint64_t i = 1; i < 3; i++)
		append_number(downs, t + i);
	/* the clock was wrong then, and what was before that is old */
	append_number(downs, t + DAY);
	append_number(downs, t - DAY);
	assert_int_equal(found(&m, "flap"), 0);
	append_number(downs, t + 3);
	assert_int_equal(found(&m, "flap"), 1);
	assert_ptr_equal(m.run.findings[0].port, port);
	assert_says(&m, 0, "went down 3 times in 12h, the last time at 20");
	downs = history_of(&m, other, "LinkDowns");
	for (uint64_t i = 0; i < 4; i++)
		append_number(downs, t + i);
	assert_int_equal(found(&m, "flap"), 2);
	assert_says(&m, 1, "went down 4 times");
	/* rdmad keeps no more times, so there may have been more */
	while (downs->n < FLAPS_MAX - 1)
		append_number(downs, t + downs->n);
	assert_int_equal(found(&m, "flap"), 2);
	assert_says(&m, 1, "went down 255 times");
	append_number(downs, t + downs->n);
	assert_int_equal(found(&m, "flap"), 2);
	assert_says(&m, 1, "went down at least 256 times");
	assert_true(flap_limit_parse("off", &m.run.flap));
	assert_int_equal(found(&m, "flap"), 0);
	assert_true(flap_limit_parse("256/1s", &m.run.flap));
	assert_false(flap_limit_parse("257/1s", &m.run.flap));
	assert_false(flap_limit_parse("0/1s", &m.run.flap));
	assert_false(flap_limit_parse("3", &m.run.flap));
}

static size_t mtu(const char *protocol, uint64_t is, uint64_t most, uint64_t netdev)
{
	_cleanup_machine_ Machine m = {};
	Object *port = add(&m);

	set_text(port, PORT_ATTR_protocol, protocol);
	set_number(port, PORT_ATTR_active_mtu, is);
	set_number(port, PORT_ATTR_max_mtu, most);
	set_number(port, PORT_ATTR_netdev_mtu, netdev);
	return found(&m, "small-mtu");
}

static void test_mtu(_unused_ void **state)
{
	/* the headers of RoCE take 96 bytes of the MTU of the interface */
	assert_int_equal(mtu("roce", 1024, 4096, 1500), 0);
	assert_int_equal(mtu("roce", 1024, 4096, 4191), 1);
	assert_int_equal(mtu("roce", 2048, 4096, 4191), 0);
	assert_int_equal(mtu("roce", 2048, 4096, 4192), 1);
	assert_int_equal(mtu("roce", 1024, 4096, 2143), 0);
	assert_int_equal(mtu("roce", 1024, 4096, 2144), 1);
	assert_int_equal(mtu("roce", 2048, 2048, 9000), 0);
	assert_int_equal(mtu("infiniband", 1024, 4096, 9000), 0);
}

static void test_lids(_unused_ void **state)
{
	static const struct {
		uint64_t lid, sm_lid;
		const char *state;
		size_t no_lid, no_sm;
	} cases[] = {
		{1, 1, "active", 0, 0},	     {0, 1, "active", 1, 0},
		{0xffff, 1, "active", 1, 0}, {0xbfff, 1, "active", 0, 0},
		{0xc000, 1, "active", 1, 0}, {1, 0xc000, "active", 0, 1},
		{1, 0, "active", 0, 1},	     {0, 0, "active-defer", 1, 1},
		{0, 0, "init", 0, 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_machine_ Machine m = {};
		Object *port = add(&m);

		set_number(port, PORT_ATTR_lid, cases[i].lid);
		set_number(port, PORT_ATTR_sm_lid, cases[i].sm_lid);
		set_text(port, PORT_ATTR_state, cases[i].state);
		assert_int_equal(found(&m, "no-lid"), cases[i].no_lid);
		assert_int_equal(found(&m, "no-sm"), cases[i].no_sm);
	}
}

/* What N times of this, so long ago, are found to be; "": nothing. */
static void assert_storm(size_t n, const char *what, const char *to, uint64_t ago, const char *says)
{
	_cleanup_machine_ Machine m = {};

	set_number(add(&m), PORT_ATTR_sm_generation, 4);
	for (size_t i = 0; i < n; i++)
		add_evidence(&m, what, ago, "1", to);
	assert_int_equal(found(&m, "sm-storm"), *says ? 1 : 0);
	if (*says)
		assert_says(&m, 0, says);
}

static void test_storms(_unused_ void **state)
{
	_cleanup_machine_ Machine m = {};

	assert_storm(4, "SmLid", "7", 0, "changed 4 times in 1h, the last time at 20");
	assert_storm(3, "SmLid", "7", 0, "");
	assert_storm(4, "SmLid", "7", HOUR + USEC_PER_SEC, "");
	assert_storm(4, "SmLid", "7", HOUR - 60 * USEC_PER_SEC, "several of them compete");
	assert_storm(10, "Event", "client-reregister", 0, "configured the port again 10 times");
	assert_storm(9, "Event", "client-reregister", 0, "");
	assert_storm(10, "Event", "sm-change", 0, "configured the port again 10 times");
	assert_storm(10, "Event", "resume", 0, "");
	/* one reconfiguration has both events */
	set_number(add(&m), PORT_ATTR_sm_generation, 100);
	for (size_t i = 0; i < 9; i++) {
		add_evidence(&m, "Event", 0, "", "sm-change");
		add_evidence(&m, "Event", 0, "", "client-reregister");
	}
	assert_int_equal(found(&m, "sm-storm"), 0);
}

/* A RoCE port with this GID of the interface NETDEV, which has lost that one: what is found; "":
 * nothing. */
static void assert_lost(const char *is, const char *netdev, const char *was, const char *says)
{
	_cleanup_machine_ Machine m = {};
	Object *port = add(&m);
	Value *gids = &port->values[PORT_ATTR_gids], *entry;

	set_text(port, PORT_ATTR_protocol, "roce");
	gids->type = VALUE_ARRAY;
	entry = append(gids);
	entry->type = VALUE_STRUCT;
	append_number(entry, 0);
	append_text(entry, is);
	append_text(entry, "RoCE v2");
	append_text(entry, netdev);
	if (was)
		add_evidence(&m, "Gids", DAY, was, "");
	assert_int_equal(found(&m, "no-address"), *says ? 1 : 0);
	if (*says)
		assert_says(&m, 0, says);
}

static void test_lost_address(_unused_ void **state)
{
	assert_lost("fe80::1", "eth0", "[3] ::ffff:192.0.2.1", "the address 192.0.2.1 has gone");
	assert_lost("::ffff:169.254.7.8", "eth0", "[3] 2001:db8::1",
		    "the address 2001:db8::1 has gone");
	assert_lost("::ffff:192.0.2.2", "eth0", "[3] ::ffff:192.0.2.1", "");
	assert_lost("fe80::1", "eth0", "[3] fe80::2", "");
	assert_lost("fe80::1", "eth0", NULL, "");
	/* the interface is in another network namespace, and has no address there yet */
	assert_lost("fe80::1", "", "[3] ::ffff:192.0.2.1", "");
}

/* Adds a port that has these P_Keys, "0xffff 0x8012" */
static Object *add_with_pkeys(Machine *m, const char *keys)
{
	Object *port = add(m);
	Value *table = &port->values[PORT_ATTR_pkeys];
	char *end;

	table->type = VALUE_ARRAY;
	for (const char *at = keys; *at; at = end) {
		Value *entry = append(table);

		entry->type = VALUE_STRUCT;
		append_number(entry, table->n - 1);
		append_number(entry, strtoul(at, &end, 16));
		append_text(entry, "full");
	}
	return port;
}

/* The second port has lost 0x8012: whether that is found. FIRST and THIRD are the P_Keys of
 * other ports; NULL: there is none. */
static size_t lost_pkeys(Machine *m, const char *is, const char *first, const char *third)
{
	machine_done(m);
	*m = (Machine){};
	if (first)
		add_with_pkeys(m, first);
	add_with_pkeys(m, is);
	if (third)
		add_with_pkeys(m, third);
	add_evidence(m, "Pkeys", HOUR, "0x8012", "");
	return found(m, "lost-pkey");
}

static void test_lost_pkeys(_unused_ void **state)
{
	_cleanup_machine_ Machine m = {};

	assert_int_equal(lost_pkeys(&m, "0xffff", "0xffff 0x8012", NULL), 1);
	assert_says(&m, 0, "the P_Key 0x8012 has gone at ");
	assert_says(&m, 0, ", and another port has it");
	assert_ptr_equal(m.run.findings[0].port, m.run.ports[1]);
	/* the first has the same evidence */
	assert_int_equal(lost_pkeys(&m, "0xffff", "0xffff", "0xffff 0x0012"), 2);
	/* all have lost it */
	assert_int_equal(lost_pkeys(&m, "0xffff", "0xffff", "0xffff"), 0);
	assert_int_equal(lost_pkeys(&m, "0xffff", "0xffff 0x8013", "0xffff"), 0);
	/* nobody can be asked */
	assert_int_equal(lost_pkeys(&m, "0xffff", NULL, NULL), 1);
	assert_int_equal(lost_pkeys(&m, "", NULL, NULL), 1);
	/* it is back */
	assert_int_equal(lost_pkeys(&m, "0xffff 0x8012", "0xffff 0x8012", NULL), 0);
	/* the port is a limited member now */
	assert_int_equal(lost_pkeys(&m, "0xffff 0x0012", NULL, NULL), 1);
	assert_says(&m, 0, "; the port is a limited member now");
	assert_int_equal(lost_pkeys(&m, "0xffff 0x0012", "0xffff 0x8012", NULL), 1);
	assert_int_equal(lost_pkeys(&m, "0xffff 0x0012", "0xffff 0x0012", NULL), 0);
	assert_int_equal(lost_pkeys(&m, "0xffff 0x0012 0x8012", "0x8012", NULL), 0);
	/* it was taken from all of four but one; and from two of three that have virtual functions
	 */
	assert_int_equal(lost_pkeys(&m, "0xffff", "0xffff", "0xffff 0x8012"), 2);
	add_with_pkeys(&m, "0xffff");
	assert_int_equal(found(&m, "lost-pkey"), 0);
	assert_int_equal(lost_pkeys(&m, "0xffff", "0xffff 0x8012", NULL), 1);
	for (size_t i = 0; i < m.run.n_ports; i++) {
		Value *vfs = &m.run.ports[i]->values[PORT_ATTR_vfs];

		vfs->type = VALUE_ARRAY;
		append(vfs)->type = VALUE_STRUCT;
	}
	assert_int_equal(found(&m, "lost-pkey"), 0);
	/* it never had it: the evidence is of another one */
	assert_int_equal(lost_pkeys(&m, "0xffff 0x8012", "0xffff 0x8012 0x8013", NULL), 0);
	/* a port that is down has none */
	assert_int_equal(lost_pkeys(&m, "0xffff", "0xffff 0x8012", NULL), 1);
	set_text(m.run.ports[1], PORT_ATTR_state, "down");
	assert_int_equal(found(&m, "lost-pkey"), 0);
	set_text(m.run.ports[1], PORT_ATTR_state, "active");
	set_text(m.run.ports[0], PORT_ATTR_state, "down");
	assert_int_equal(found(&m, "lost-pkey"), 1);
	/* somebody has said what there shall be */
	assert_int_equal(expect_add(&m.expect, "Pkeys=0xffff"), 0);
	assert_int_equal(found(&m, "lost-pkey"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_storms),	      cmocka_unit_test(test_lost_address),
		cmocka_unit_test(test_lost_pkeys),    cmocka_unit_test(test_siblings),
		cmocka_unit_test(test_settle),	      cmocka_unit_test(test_prefixes),
		cmocka_unit_test(test_vfs),	      cmocka_unit_test(test_pcie_errors),
		cmocka_unit_test(test_pcie_slow),     cmocka_unit_test(test_health),
		cmocka_unit_test(test_former_rate),   cmocka_unit_test(test_flaps),
		cmocka_unit_test(test_mtu),	      cmocka_unit_test(test_lids),
		cmocka_unit_test(test_bursts),	      cmocka_unit_test(test_heat),
		cmocka_unit_test(test_uncorrectable), cmocka_unit_test(test_new_manager),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
