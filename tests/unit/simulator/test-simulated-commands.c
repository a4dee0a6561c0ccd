/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Commands: what they change on a simulated machine, and the events that they send. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "compat-glib.h"
#include "row-text.h"
#include "simulated-commands.h"
#include "simulated-counters.h"

typedef struct Fixture {
	SimulatedMachine machine;
	Event events[16];
	size_t n_events;
} Fixture;

static void on_event(void *userdata, const Event *event)
{
	Fixture *f = userdata;

	assert_true(f->n_events < ARRAY_SIZE(f->events));
	f->events[f->n_events++] = *event;
}

static void start(Fixture *f, const char *text)
{
	char path[] = "/tmp/test-simulated-commands.XXXXXX";
	_cleanup_free_ char *message = NULL;
	_cleanup_close_ int fd = mkstemp(path);
	Scenario *scenario = NULL;
	unsigned int line;
	int r;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	r = scenario_load(path, &scenario, &message);
	unlink(path);
	if (r < 0)
		fail_msg("%s", message);
	simulated_machine_init(&f->machine, scenario);
	f->machine.event = on_event;
	f->machine.userdata = f;
	if (simulated_machine_populate(&f->machine, &line, &message) < 0)
		fail_msg("%u: %s", line, message);
}

static int setup(void **state)
{
	*state = calloc(1, sizeof(Fixture));
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	Fixture *f = *state;

	simulated_machine_done(&f->machine);
	free(f);
	return 0;
}

static void command(Fixture *f, const char *line)
{
	_cleanup_free_ char *message = NULL, *copy = strdup(line);
	Words words;

	assert_int_equal(words_split(copy, &words, &message), 0);
	if (simulated_commands_run(&f->machine, (const char *const *)words.words, &message) < 0)
		fail_msg("%s: %s", line, message);
}

/* The command LINE fails with ERROR and MESSAGE and sends no event. */
static void expect_failure(Fixture *f, const char *line, int error, const char *message)
{
	_cleanup_free_ char *said = NULL, *copy = strdup(line);
	size_t n_events = f->n_events;
	Words words;

	assert_int_equal(words_split(copy, &words, &said), 0);
	assert_int_equal(
		simulated_commands_run(&f->machine, (const char *const *)words.words, &said),
		error);
	assert_string_equal(said, message);
	assert_int_equal(f->n_events, n_events);
}

static void expect_event(const Fixture *f, size_t i, uint32_t device, uint32_t port,
			 EventReason reason)
{
	assert_true(i < f->n_events);
	assert_int_equal(f->events[i].device, device);
	assert_int_equal(f->events[i].port, port);
	assert_int_equal(f->events[i].reason, reason);
}

static const DeviceSnapshot *device(const Fixture *f, uint32_t index)
{
	const SimulatedDevice *d = simulated_machine_device(&f->machine, index);

	assert_non_null(d);
	return &d->now;
}

static const PortSnapshot *port(const Fixture *f, uint32_t index, uint32_t number)
{
	assert_in_range(number, 1, device(f, index)->values.port_count);
	return &simulated_machine_device(&f->machine, index)->ports[number - 1].now;
}

#define TWO "[device a]\nprotocol = infiniband\nports = 2\n[device b]\nprotocol = roce\n"

static void test_set(void **state)
{
	Fixture *f = *state;

	start(f, TWO);
	command(f, "set a/1 state=down phys_state=polling event=port-error event=sm-change");
	assert_int_equal(f->n_events, 2);
	expect_event(f, 0, 0, 1, REASON_PORT_ERROR);
	expect_event(f, 1, 0, 1, REASON_SM_CHANGE);
	assert_int_equal(port(f, 0, 1)->values.state, 1);
	assert_int_equal(port(f, 0, 1)->values.phys_state, 2);
	assert_int_equal(port(f, 0, 2)->values.state, 4);
	command(f, "set */* sm_lid=40 event=sm-change");
	assert_int_equal(f->n_events, 5);
	expect_event(f, 2, 0, 1, REASON_SM_CHANGE);
	expect_event(f, 4, 1, 1, REASON_SM_CHANGE);
	assert_int_equal(port(f, 0, 2)->values.sm_lid, 40);
	assert_int_equal(port(f, 1, 1)->values.sm_lid, 40);
}

/* If one setting is wrong, nothing is changed, on all ports of the command. */
static void test_set_nothing(void **state)
{
	Fixture *f = *state;

	start(f, TWO);
	expect_failure(f, "set a/1 state=down pkey.1=1 lid=x event=port-active", -EINVAL,
		       "lid = x: expected a number up to 4294967295");
	assert_int_equal(port(f, 0, 1)->values.state, 4);
	assert_int_equal(port(f, 0, 1)->tables[PORT_TABLE_PKEYS]->n, 1);
	/* the last port has no entry 8 in its table of GIDs, the first ones have */
	command(f, "set a/* gid_tbl_len=9");
	command(f, "set b/1 gid.3= gid.2= gid.1= gid.0= gid_tbl_len=8");
	expect_failure(f, "set */* lid=40 gid.8=::1", -EINVAL,
		       "gid.8: the table has 8 entries, expected an index below that");
	assert_int_not_equal(port(f, 0, 1)->values.lid, 40);
	assert_int_equal(port(f, 0, 1)->tables[PORT_TABLE_GIDS]->n, 1);
	expect_failure(f, "set a fw_ver=2 color=red event=device", -EINVAL,
		       "color: no attribute of a device, expected a field of it such as fw_ver or "
		       "node_desc");
	assert_string_equal(TEXT_OF(&device(f, 0)->values, fw_ver), "1.0.0");
}

/* Entries of tables, and words with spaces. The GIDs follow the name of the interface. */
static void test_set_tables(void **state)
{
	Fixture *f = *state;
	const PortSnapshot *p;
	const GidEntry *g;

	start(f, TWO);
	command(f, "set b/1 \"gid.7=192.0.2.1 v2 vlan9 9\" gid.0= netdev=eth5");
	p = port(f, 1, 1);
	assert_int_equal(p->tables[PORT_TABLE_GIDS]->n, 4);
	g = (const GidEntry *)(const void *)p->tables[PORT_TABLE_GIDS]->entries;
	assert_int_equal(g[0].index, 1);
	assert_string_equal(g[0].netdev, "eth5");
	assert_int_equal(g[3].index, 7);
	assert_string_equal(g[3].netdev, "vlan9");
	assert_string_equal(
		((const NetdevEntry *)(const void *)p->tables[PORT_TABLE_NETDEVS]->entries)->name,
		"eth5");
}

/* An IPoIB interface is as the rows about the interface of the port say it; that of an Ethernet
 * port has these rows itself. */
static void test_set_ipoib(void **state)
{
	Fixture *f = *state;
	const NetdevEntry *e;

	start(f, TWO);
	command(f, "set a/1 \"netdev=ib0 9\"");
	command(f, "set a/1 netdev_up=no netdev_mtu=2044");
	command(f, "set b/1 netdev_up=no netdev_mtu=2044");
	e = (const NetdevEntry *)(const void *)port(f, 0, 1)->tables[PORT_TABLE_NETDEVS]->entries;
	assert_string_equal(e->name, "ib0");
	assert_string_equal(e->state, "down");
	assert_int_equal(e->mtu, 2044);
	command(f, "set a/1 netdev_operstate=dormant");
	e = (const NetdevEntry *)(const void *)port(f, 0, 1)->tables[PORT_TABLE_NETDEVS]->entries;
	assert_string_equal(e->state, "dormant");
	e = (const NetdevEntry *)(const void *)port(f, 1, 1)->tables[PORT_TABLE_NETDEVS]->entries;
	assert_string_equal(e->state, "");
	assert_int_equal(e->mtu, 0);
}

/* What the interface of a port is called too, and its addresses. They stay its when it changes. */
static void test_set_interface(void **state)
{
	Fixture *f = *state;
	const AltnameEntry *names;
	const AddressEntry *addresses;
	const PortSnapshot *p;

	start(f, TWO);
	command(f, "set a/1 \"netdev=ib0 9\" altnames=ibp1,ibs2 \"addresses=192.0.2.1 fd00::1\"");
	command(f, "set a/1 \"netdev=ib1 10\"");
	p = port(f, 0, 1);
	assert_int_equal(p->tables[PORT_TABLE_ALTNAMES]->n, 2);
	names = (const AltnameEntry *)(const void *)p->tables[PORT_TABLE_ALTNAMES]->entries;
	assert_string_equal(names[1].name, "ibs2");
	assert_int_equal(names[1].ifindex, 10);
	assert_int_equal(p->tables[PORT_TABLE_ADDRESSES]->n, 2);
	addresses = (const AddressEntry *)(const void *)p->tables[PORT_TABLE_ADDRESSES]->entries;
	assert_int_equal(addresses[0].ifindex, 10);
	assert_int_equal(addresses[1].address[0], 0xfd);
	expect_failure(f, "set a/1 addresses=192.0.2.1,192.0.2", -EINVAL,
		       "addresses = 192.0.2.1,192.0.2: expected IP addresses");
	expect_failure(f, "set a/1 altnames=a/b", -EINVAL,
		       "altnames = a/b: expected names of up to 127 bytes");
	assert_int_equal(port(f, 0, 1)->tables[PORT_TABLE_ALTNAMES]->n, 2);
	command(f, "set a/1 altnames= addresses=");
	assert_null(port(f, 0, 1)->tables[PORT_TABLE_ALTNAMES]);
	assert_null(port(f, 0, 1)->tables[PORT_TABLE_ADDRESSES]);
}

static void test_set_device(void **state)
{
	Fixture *f = *state;

	start(f, TWO);
	command(f, "set a \"node_desc=some host\" event=device");
	assert_int_equal(f->n_events, 1);
	expect_event(f, 0, 0, EVENT_ALL_PORTS, REASON_DEVICE);
	assert_string_equal(TEXT_OF(&device(f, 0)->values, node_desc), "some host");
}

/* A port has one name. */
static void test_port_name(void **state)
{
	Fixture *f = *state;

	start(f, TWO);
	expect_failure(f, "set a/0x1 lid=7", -ENOENT,
		       "a/0x1: no such port, expected a number from 1 to 2, or *");
	expect_failure(f, "event a/01 link", -ENOENT,
		       "a/01: no such port, expected a number from 1 to 2, or *");
	expect_failure(f, "fail a/3 EIO", -ENOENT,
		       "a/3: no such port, expected a number from 1 to 2, or *");
	command(f, "event a/2 link");
	expect_event(f, 0, 0, 2, REASON_LINK);
}

static void test_events(void **state)
{
	Fixture *f = *state;

	start(f, TWO);
	command(f, "event a/2 lid-change");
	command(f, "event a/* gid-change pkey-change");
	command(f, "event b device-fatal");
	command(f, "event * overrun");
	assert_int_equal(f->n_events, 7);
	expect_event(f, 0, 0, 2, REASON_LID_CHANGE);
	expect_event(f, 4, 0, 2, REASON_PKEY_CHANGE);
	expect_event(f, 5, 1, EVENT_ALL_PORTS, REASON_DEVICE_FATAL);
	expect_event(f, 6, EVENT_ALL_DEVICES, EVENT_ALL_PORTS, REASON_OVERRUN);
}

static void test_add(void **state)
{
	Fixture *f = *state;
	const char *words[] = {"add", "z", "protocol=opa", "event=link", NULL};
	_cleanup_free_ char *message = NULL;

	start(f, TWO "[device c]\nprotocol = iwarp\npresent = no\nfw_ver = 7\n");
	/* made of the sections of another device */
	command(f, "add n from=c ports=3 node_desc=new");
	assert_string_equal(TEXT_OF(&device(f, 2)->values, fw_ver), "7");
	assert_string_equal(TEXT_OF(&device(f, 2)->values, node_desc), "new");
	assert_int_equal(device(f, 2)->values.port_count, 3);
	assert_int_equal(port(f, 2, 3)->values.state, 4);
	expect_event(f, 0, 2, EVENT_ALL_PORTS, REASON_DEVICE);
	/* made without sections */
	assert_int_equal(simulated_commands_run(&f->machine, words, &message), 0);
	assert_int_equal(f->machine.added, 3);
	assert_string_equal(TEXT_OF(&device(f, 3)->values, name), "z");
	assert_int_equal(f->n_events, 3);
	expect_event(f, 1, 3, EVENT_ALL_PORTS, REASON_DEVICE);
	expect_event(f, 2, 3, EVENT_ALL_PORTS, REASON_LINK);
	/* no two ports have the same address */
	assert_true(device(f, 3)->values.node_guid != device(f, 2)->values.node_guid);
	expect_failure(f, "add y protocol=opa color=red", -EINVAL,
		       "color: no attribute of a device, expected a field of it such as fw_ver or "
		       "node_desc");
	expect_failure(f, "add y protocol=opa fw_ver", -EINVAL,
		       "fw_ver: expected ATTRIBUTE=VALUE or event=REASON");
	expect_failure(f, "add z", -EEXIST, "z: there is such a device, expected another name");
	assert_null(simulated_machine_device(&f->machine, 4));
}

/* The first reading of PORT brings this value of the counter NAME. */
static void expect_first_reading(const SimulatedPort *port, const char *name, uint64_t value)
{
	_cleanup_(table_free_pointer) Table *counters = NULL;
	const CounterEntry *entry = NULL;

	assert_int_equal(simulated_counters_read(port, false, 1, &counters), 0);
	TABLE_FOREACH(CounterEntry, e, counters)
		entry = streq(e->file, name) ? e : entry;
	assert_non_null(entry);
	assert_int_equal(entry->value, value);
}

/* A new device has counted before it was added. */
static void test_add_counters(void **state)
{
	Fixture *f = *state;
	const SimulatedDevice *d;

	start(f, TWO);
	command(f, "add n protocol=infiniband ports=2 counter.link_downed=25 fw_ver=7");
	d = simulated_machine_device(&f->machine, 2);
	assert_non_null(d);
	assert_string_equal(TEXT_OF(&d->now.values, fw_ver), "7");
	for (uint32_t i = 0; i < 2; i++)
		expect_first_reading(&d->ports[i], "link_downed", 25);
	expect_failure(f, "add m protocol=infiniband counter.link_downed=many", -EINVAL,
		       "counter.link_downed = many: expected a number, +NUMBER, or nothing");
	assert_null(simulated_machine_device(&f->machine, 3));
}

/* The ports of removed devices do not count, and an index is not used again. */
static void test_remove(void **state)
{
	Fixture *f = *state;

	start(f, TWO);
	for (uint32_t n = 0; n < SCENARIO_PORTS_MAX; n += RDMA_PORT_MAX) {
		uint32_t index = 2 + n / RDMA_PORT_MAX;

		command(f, "add n protocol=opa ports=1024");
		assert_int_equal(device(f, index)->values.port_count, RDMA_PORT_MAX);
		command(f, "remove n");
		assert_null(simulated_machine_device(&f->machine, index));
		assert_int_equal(f->n_events, 2);
		expect_event(f, 1, index, EVENT_ALL_PORTS, REASON_DEVICE);
		f->n_events = 0;
	}
	expect_failure(f, "remove n", -ENOENT,
		       "n: no such device, expected the name of one that is there now");
}

/* Commands for all devices come to them in the order of their indices. */
static void test_order(void **state)
{
	Fixture *f = *state;

	start(f,
	      "[device a]\nprotocol = opa\nindex = 700\n[device b]\nprotocol = opa\nindex = 21\n"
	      "[device c]\nprotocol = opa\nindex = 9\n[device d]\nprotocol = opa\nindex = 100\n");
	command(f, "event */* link");
	assert_int_equal(f->n_events, 4);
	expect_event(f, 0, 9, 1, REASON_LINK);
	expect_event(f, 1, 21, 1, REASON_LINK);
	expect_event(f, 2, 100, 1, REASON_LINK);
	expect_event(f, 3, 700, 1, REASON_LINK);
}

/* A message quotes 100 bytes. D-Bus refuses half of the two bytes of a character. */
static void test_cut_character(void **state)
{
	Fixture *f = *state;
	char line[200] = "remove ", message[200] = "";

	start(f, TWO);
	memset(line + strlen("remove "), 'x', 99);
	memset(message, 'x', 99);
	memcpy(line + strlen("remove ") + 99, "\xc3\xa9", sizeof("\xc3\xa9"));
	snprintf(message + 99, sizeof(message) - 99,
		 "?: no such device, expected the name of one that is there now");
	expect_failure(f, line, -ENOENT, message);
}

/* LINE with WORD in place of each '@' */
static char *with_word(const char *line, const char *word)
{
	GString *text = g_string_new(line);

	g_string_replace(text, "@", word, 0);
	return g_string_free(text, false);
}

static void command_with(Fixture *f, const char *line, const char *word)
{
	g_autofree char *text = with_word(line, word);

	command(f, text);
}

/* Whatever the name of a device is: as a record writes it, it is read back, in headings and in
 * commands. */
static void test_names(void **state)
{
	static const char *const names[] = {
		"a b",
		"a%20b",
		"%",
		"%d",
		"mlx5_%d",
		"%25",
		"*",
		"a*",
		"a=b",
		"#",
		"a:b",
		"[x]",
		"a]",
		"\"q\"",
		"\\",
		"'$(x)`y`;",
		"h\u00f6st",
		" ",
		"  a  ",
		"\u4e2d %p",
		"-n",
		"x\\c",
		"%s%n",
		"%41aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
		"%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%",
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		Fixture *f = *state;
		g_autoptr(GString) word = g_string_new(NULL);
		g_autofree char *text = NULL;

		word_put(word, names[i]);
		text = with_word("[device @]\nrecorded = yes\nindex = 7\nports = 2\n"
				 "[port @/2]\nlid = 5\n",
				 word->str);
		start(f, text);
		assert_string_equal(TEXT_OF(&device(f, 7)->values, name), names[i]);
		assert_int_equal(port(f, 7, 2)->values.lid, 5);
		command_with(f, "set @/1 lid=6", word->str);
		assert_int_equal(port(f, 7, 1)->values.lid, 6);
		command_with(f, "set @/* lid=7", word->str);
		assert_int_equal(port(f, 7, 2)->values.lid, 7);
		command_with(f, "answer @/2 lid=8", word->str);
		assert_int_equal(port(f, 7, 2)->values.lid, 8);
		command_with(f, "noted @/2 reasons=port-error", word->str);
		command_with(f, "rename @ other", word->str);
		command_with(f, "rename other @", word->str);
		command_with(f, "remove @", word->str);
		command_with(f, "add @ recorded=yes index=9 ports=1", word->str);
		command_with(f, "asked @", word->str);
		assert_string_equal(TEXT_OF(&device(f, 9)->values, name), names[i]);
		simulated_machine_done(&f->machine);
		f->n_events = 0;
	}
}

/* What is said of a recorded port is taken as a whole, or nothing of it is. */
static void test_recorded_refused(void **state)
{
	Fixture *f = *state;

	start(f, "[device a]\nrecorded = yes\nindex = 7\nports = 1\n"
		 "[port a/1]\nlid = 5\npkeys.n = 1\n");
	expect_failure(f, "answer a/1 lid=6 pkeys.n=2 pkeys.2=index=2", -EINVAL,
		       "pkeys.2: the table has 2 entries, expected a number below that");
	assert_int_equal(port(f, 7, 1)->values.lid, 5);
	assert_int_equal(port(f, 7, 1)->tables[PORT_TABLE_PKEYS]->n, 1);
}

/* The number of a device and an escape in one name; a section of a port finds its device. */
static void test_names_with_numbers(void **state)
{
	Fixture *f = *state;

	start(f, "[device a%20%d%25]\nprotocol = infiniband\ncount = 2\n"
		 "[port a%20%d%25/1]\nlid = 3\n[port a%201%25/1]\nlid = 4\n");
	assert_string_equal(TEXT_OF(&device(f, 0)->values, name), "a 0%");
	assert_string_equal(TEXT_OF(&device(f, 1)->values, name), "a 1%");
	assert_int_equal(port(f, 0, 1)->values.lid, 3);
	assert_int_equal(port(f, 1, 1)->values.lid, 4);
	command(f, "add b%23 from=a%201%25");
	assert_string_equal(TEXT_OF(&device(f, 2)->values, name), "b#");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {TEST(test_set),
					   TEST(test_set_nothing),
					   TEST(test_set_tables),
					   TEST(test_set_interface),
					   TEST(test_set_ipoib),
					   TEST(test_set_device),
					   TEST(test_port_name),
					   TEST(test_events),
					   TEST(test_add),
					   TEST(test_add_counters),
					   TEST(test_remove),
					   TEST(test_order),
					   TEST(test_cut_character),
					   TEST(test_names),
					   TEST(test_names_with_numbers),
					   TEST(test_recorded_refused)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
