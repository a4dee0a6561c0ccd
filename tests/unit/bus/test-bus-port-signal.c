/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The signals of a port on their two ways to the bus, with a bus that is the test itself. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */
#include <sys/socket.h>

#include "bus-loop.h"
#include "bus-pair.h"
#include "bus-peer.h"
#include "bus-port-signal.h"
#include "bus-wait-for.h"

#define MESSAGES_MAX 2048

typedef struct Test {
	sd_bus *bus; /* the end that receives */
	Bus daemon;  /* the end that sends */
	Device device;
	Port port;
	sd_bus_message *messages[MESSAGES_MAX]; /* received */
	size_t n;
} Test;

static int on_message(sd_bus_message *m, void *userdata, _unused_ sd_bus_error *error)
{
	Test *t = userdata;

	assert_true(t->n < MESSAGES_MAX);
	t->messages[t->n++] = sd_bus_message_ref(m);
	return 1;
}

static void forget(Test *t)
{
	while (t->n > 0)
		sd_bus_message_unref(t->messages[--t->n]);
}

static int setup(void **state)
{
	const int size = BUS_LOOP_SOCKET;
	Test *t = calloc(1, sizeof(*t));
	PortSnapshot *s;

	assert_non_null(t);
	t->device.index = 3;
	t->port.device = &t->device;
	s = &t->port.now;
	PORT_SUPPLY(s, link_layer, 1);
	PORT_SUPPLY(s, state, 4);
	PORT_SUPPLY(s, lid, 17);
	PORT_SUPPLY(s, sm_lid, 1);
	PORT_SUPPLY(s, active_mtu, 5);
	s->values.port_num = 1;
	port_derive(s, &t->device.now);
	bus_pair_open(&t->daemon.bus, &t->bus);
	bus_pair_settle(t->daemon.bus, t->bus);
	assert_int_equal(setsockopt(sd_bus_get_fd(t->daemon.bus), SOL_SOCKET, SO_SNDBUF, &size,
				    sizeof(size)),
			 0);
	assert_true(sd_bus_add_filter(t->bus, NULL, on_message, t) >= 0);
	*state = t;
	return 0;
}

static int teardown(void **state)
{
	Test *t = *state;

	forget(t);
	sd_bus_close_unref(t->bus);
	sd_bus_close_unref(t->daemon.bus);
	free(t);
	return 0;
}

/* All rows have changed, and the state. */
static void say_all(Test *t)
{
	const Announcement announcements[] = {
		{.is_state = true, .state = 4, .old_state = 1, .reason = REASON_PORT_ACTIVE},
		{.reason = REASON_CLIENT_REREGISTER}};

	bus_signal_port(&t->daemon, &t->port, port_interfaces(&t->port.now),
			&(PortNews){.changed = {{UINT64_MAX, UINT64_MAX,
						 UINT64_MAX >> (192 - _PORT_ATTR_MAX)}}},
			announcements, ARRAY_SIZE(announcements));
}

/* Where a message comes from, what it is, and what is in it. */
static char *describe(sd_bus_message *m)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	fprintf(f, "%s %s.%s %s ", sd_bus_message_get_path(m), sd_bus_message_get_interface(m),
		sd_bus_message_get_member(m), sd_bus_message_get_signature(m, true));
	assert_true(sd_bus_message_dump(m, f, 0) >= 0);
	fclose(f);
	return text;
}

static void test_both_ways(void **state)
{
	static const char *const expected[] = {
		"/org/rdma/device/3/port/1 org.freedesktop.DBus.Properties.PropertiesChanged "
		"sa{sv}as ",
		"/org/rdma/device/3/port/1 org.freedesktop.DBus.Properties.PropertiesChanged "
		"sa{sv}as ",
		"/org/rdma/device/3/port/1 org.freedesktop.DBus.Properties.PropertiesChanged "
		"sa{sv}as ",
		"/org/rdma/device/3/port/1 org.rdma.Port.StateChanged sss ",
		"/org/rdma/device/3/port/1 org.rdma.Port.SubnetReconfigured s ",
	};
	char *direct[ARRAY_SIZE(expected)], text[4000];
	size_t fillers = 0;
	Test *t = *state;

	/* nothing waits: what is said is on its way */
	say_all(t);
	assert_int_equal(bus_peer_unsent(t->daemon.bus), 0);
	bus_pair_run(t->bus);
	assert_int_equal(t->n, ARRAY_SIZE(expected));
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
		direct[i] = describe(t->messages[i]);
		assert_ptr_equal(strstr(direct[i], expected[i]), direct[i]);
	}
	assert_non_null(strstr(direct[1], "\"Lid\""));
	forget(t);

	/* messages wait: it comes behind them, and is the same */
	memset(text, 'a', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	for (; bus_peer_unsent(t->daemon.bus) == 0; fillers++)
		assert_true(sd_bus_emit_signal(t->daemon.bus, "/", "a.b", "Filler", "s", text) >=
			    0);
	say_all(t);
	assert_int_equal(bus_peer_unsent(t->daemon.bus), 1 + ARRAY_SIZE(expected));
	bus_pair_settle(t->daemon.bus, t->bus);
	assert_int_equal(t->n, fillers + ARRAY_SIZE(expected));
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
		_cleanup_free_ char *queued = describe(t->messages[fillers + i]);

		assert_string_equal(queued, direct[i]);
		free(direct[i]);
	}
}

/* The state and the LID have changed, and those in GAINED had no value. Which of them is said
 * first? */
static const char *first_of_both(Test *t, AttrMask gained)
{
	_cleanup_free_ char *first = NULL, *second = NULL;
	PortNews news = {.gained = gained};
	bool is_lid;

	mask_set(&news.changed, PORT_ATTR_state, true);
	mask_set(&news.changed, PORT_ATTR_lid, true);
	bus_signal_port(&t->daemon, &t->port, port_interfaces(&t->port.now), &news, NULL, 0);
	bus_pair_run(t->bus);
	assert_int_equal(t->n, 2);
	first = describe(t->messages[0]);
	second = describe(t->messages[1]);
	is_lid = strstr(first, "\"Lid\"");
	assert_non_null(strstr(is_lid ? second : first, "\"State\""));
	assert_non_null(strstr(is_lid ? first : second, "\"Lid\""));
	forget(t);
	return is_lid ? "the LID" : "the state";
}

static AttrMask only(PortAttr row)
{
	AttrMask mask = {};

	mask_set(&mask, row, true);
	return mask;
}

/* The signal of the state has Unavailable. When it no longer names a row, the value has been said;
 * when a value is lost, it names the row already. While neither happens, the state is first. */
static void test_order(void **state)
{
	Test *t = *state;

	assert_string_equal(first_of_both(t, only(PORT_ATTR_lid)), "the LID");
	assert_string_equal(first_of_both(t, (AttrMask){}), "the state");
	/* rows of org.rdma.Port are said with Unavailable; what has not changed is not said */
	assert_string_equal(first_of_both(t, only(PORT_ATTR_state)), "the state");
	assert_string_equal(first_of_both(t, only(PORT_ATTR_sm_lid)), "the state");
	t->port.now.values.state = 1;
	port_derive(&t->port.now, &t->device.now);
	assert_string_equal(first_of_both(t, (AttrMask){}), "the state");
	/* gained and lost while the bus took nothing */
	assert_string_equal(first_of_both(t, only(PORT_ATTR_lid)), "the state");
}

/* ROW has changed, and those in GAINED had no value. */
static void publish(Test *t, PortAttr row, AttrMask gained)
{
	PortChange change = {.port = &t->port,
			     .op = CACHE_CHANGED,
			     .changed = only(row),
			     .was = t->port.now,
			     .reasons = REASON_BIT(REASON_PORT_ACTIVE)};

	change.was.valid = mask_without(change.was.valid, gained);
	bus_publish_port(&t->daemon, &change);
}

static int on_something(_unused_ sd_event_source *s, _unused_ void *userdata)
{
	return 0;
}

#define LONG_QUEUE UINT64_C(1024)

/* So many messages wait that changes are held. */
static void fill_queue(Test *t)
{
	char text[4000];

	memset(text, 'a', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	while (bus_peer_unsent(t->daemon.bus) < LONG_QUEUE)
		assert_true(sd_bus_emit_signal(t->daemon.bus, "/", "a.b", "Filler", "s", text) >=
			    0);
}

/* The bus takes all that waits; then something happens in the event loop, and after it comes what
 * was held. */
static void take_all(Test *t)
{
	for (uint64_t n = 0; n < LONG_QUEUE; n += t->n) {
		forget(t);
		bus_pair_settle(t->daemon.bus, t->bus);
		assert_true(t->n > 0);
	}
	forget(t);
	assert_true(sd_event_add_defer(t->daemon.event, NULL, on_something, NULL) >= 0);
	assert_true(sd_event_run(t->daemon.event, 0) > 0);
	while (t->daemon.held)
		assert_true(sd_event_run(t->daemon.event, 0) > 0);
	bus_pair_settle(t->daemon.bus, t->bus);
}

/* What waits is said as one change, in the order that all of it needs; and so is what waits when
 * that has been said. */
static void test_held(void **state)
{
	_cleanup_(sd_event_unrefp) sd_event *event = NULL;
	_cleanup_free_ char *first = NULL, *second = NULL, *later = NULL;
	Test *t = *state;

	assert_true(sd_event_new(&event) >= 0);
	t->daemon.event = event;
	t->daemon.signals = true;
	t->daemon.held_end = &t->daemon.held;
	assert_int_equal(bus_wait_new(&t->daemon, &t->daemon.waits), 0);
	fill_queue(t);
	publish(t, PORT_ATTR_state, only(PORT_ATTR_lid));
	publish(t, PORT_ATTR_lid, only(PORT_ATTR_lid));
	publish(t, PORT_ATTR_sm_lid, (AttrMask){});
	assert_int_equal(bus_peer_unsent(t->daemon.bus), LONG_QUEUE);
	take_all(t);
	assert_int_equal(t->n, 2);
	first = describe(t->messages[0]);
	second = describe(t->messages[1]);
	assert_non_null(strstr(first, "\"Lid\""));
	assert_non_null(strstr(first, "\"SmLid\""));
	assert_non_null(strstr(second, "\"State\""));

	fill_queue(t);
	publish(t, PORT_ATTR_sm_lid, (AttrMask){});
	assert_int_equal(bus_peer_unsent(t->daemon.bus), LONG_QUEUE);
	take_all(t);
	assert_int_equal(t->n, 1);
	later = describe(t->messages[0]);
	assert_non_null(strstr(later, "\"SmLid\""));
	t->daemon.waits = bus_wait_free(t->daemon.waits);
	bus_signals_done(&t->daemon);
}

/* Bytes go whole or not at all, or the connection ends. */
static void test_bytes(void **state)
{
	static const uint8_t bytes[16000];
	const int small = 1;
	Test *t = *state;
	int fd = sd_bus_get_fd(t->daemon.bus);

	assert_false(bus_peer_write(t->daemon.bus, bytes, sizeof(bytes) + 1));
	while (bus_peer_write(t->daemon.bus, bytes, sizeof(bytes)))
		assert_true(sd_bus_is_open(t->daemon.bus) > 0);
	assert_true(sd_bus_is_open(t->daemon.bus) > 0);
	/* no socket of rdmad has a buffer that is so small */
	for (uint8_t drain[16384]; recv(sd_bus_get_fd(t->bus), drain, sizeof(drain), 0) > 0;)
		;
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &small, sizeof(small)), 0);
	assert_true(bus_peer_write(t->daemon.bus, bytes, sizeof(bytes)));
	assert_int_equal(sd_bus_is_open(t->daemon.bus), 0);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_both_ways),
		TEST(test_order),
		TEST(test_held),
		TEST(test_bytes),
	};

	return cmocka_run_group_tests_name("bus-port-signal", tests, NULL, NULL);
}
