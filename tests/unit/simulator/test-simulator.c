/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The simulator as a source: queries, commands and their events, the script, and devices that do
 * not answer. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "scenario.h"
#include "simulator.h"

/* No test waits longer: what it waits for does not come. */
#define GUARD_USEC (120 * USEC_PER_SEC)
/* The time-out of queries in the test in which one times out. */
#define TIMEOUT_USEC (20 * USEC_PER_MSEC)

typedef struct Fixture {
	sd_event *loop;
	Source *source;
	/* what the handler was called with; of several the last one */
	Event events[64];
	size_t n_events;
	size_t n_ports, n_devices, n_ends, n_asking, n_noted;
	Query asked; /* by the source itself, last */
	bool is_refused;
	uint64_t end_id;
	int end_error;
	char end_text[64];
	int port_error;
	PortSnapshot port;
	DeviceSnapshot device;
	bool forget_in_port; /* the handler forgets device 0 when it gets a port */
	bool ask_in_end;     /* the handler asks again at the next end of a query */
} Fixture;

static int ask(Fixture *f, uint64_t id, uint32_t device, uint32_t port)
{
	Query q = {.id = id, .device = device, .attributes = true, .parts = READ_ALL};

	if (port)
		port_set_add(&q.ports, port);
	else
		for (uint32_t n = 1; n <= RDMA_PORT_MAX; n++)
			port_set_add(&q.ports, n);
	return f->source->ops->query(f->source, &q);
}

static void on_event(void *userdata, const Event *event)
{
	Fixture *f = userdata;

	f->events[f->n_events++ % ARRAY_SIZE(f->events)] = *event;
}

static void on_device(void *userdata, uint64_t id, DeviceSnapshot *s)
{
	Fixture *f = userdata;

	assert_int_not_equal(id, 0);
	f->n_devices++;
	device_snapshot_done(&f->device);
	f->device = *s;
	*s = (DeviceSnapshot){};
}

static void on_port(void *userdata, uint64_t id, uint32_t port, int error, PortSnapshot *s)
{
	Fixture *f = userdata;

	assert_int_not_equal(id, 0);
	assert_int_not_equal(port, 0);
	f->n_ports++;
	f->port_error = error;
	port_snapshot_done(&f->port);
	f->port = *s;
	*s = (PortSnapshot){};
	if (f->forget_in_port)
		f->source->ops->forget(f->source, 0);
}

static void on_end(void *userdata, uint64_t id, int error, _unused_ QueryErrorCode code,
		   const char *text)
{
	Fixture *f = userdata;

	f->n_ends++;
	f->end_id = id;
	f->end_error = error;
	text_copy(f->end_text, sizeof(f->end_text), text);
	if (f->ask_in_end)
		assert_int_equal(ask(f, id + 1, 0, 1), 0);
	f->ask_in_end = false;
}

static void on_noted(void *userdata, const Event *event)
{
	Fixture *f = userdata;

	on_event(userdata, event);
	f->n_noted++;
}

static bool on_asking(void *userdata, const Query *query)
{
	Fixture *f = userdata;

	f->n_asking++;
	f->asked = *query;
	return !f->is_refused;
}

static const SourceHandler handler = {on_event, on_noted, on_asking, on_device, on_port, on_end};

static void start_with(Fixture *f, uint64_t timeout_usec, const char *text)
{
	Config config = CONFIG_DEFAULT;
	char path[] = "/tmp/test-simulator.XXXXXX";
	_cleanup_free_ char *message = NULL;
	_cleanup_close_ int fd = mkstemp(path);
	int r;

	config.query_timeout_usec = timeout_usec;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	r = simulator_new(f->loop, &config, path, &handler, f, &f->source, &message);
	unlink(path);
	if (r < 0)
		fail_msg("%s", message);
	assert_int_equal(f->source->ops->start(f->source), 0);
}

static void start(Fixture *f, const char *text)
{
	start_with(f, GUARD_USEC, text);
}

static int setup(void **state)
{
	Fixture *f = calloc(1, sizeof(Fixture));

	if (!f || sd_event_new(&f->loop) < 0)
		return -1;
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	Fixture *f = *state;

	source_free(f->source);
	port_snapshot_done(&f->port);
	device_snapshot_done(&f->device);
	sd_event_unref(f->loop);
	free(f);
	return 0;
}

/* Turns the loop until *COUNTER is WANTED. */
static void turn_until(Fixture *f, const size_t *counter, size_t wanted)
{
	while (*counter < wanted)
		if (sd_event_run(f->loop, GUARD_USEC) <= 0)
			fail_msg("nothing happens any more");
	assert_int_equal(*counter, wanted);
}

/* Turns the loop until it would have to wait. */
static void turn(Fixture *f)
{
	int r;

	do
		r = sd_event_run(f->loop, 0);
	while (r > 0);
	assert_int_equal(r, 0);
}

static int run(Fixture *f, const char *line, char **ret_message)
{
	_cleanup_free_ char *copy = strdup(line);
	Words words;

	assert_int_equal(words_split(copy, &words, ret_message), 0);
	return simulator_run(f->source, (const char *const *)words.words, NULL, ret_message);
}

static void command(Fixture *f, const char *line)
{
	_cleanup_free_ char *message = NULL;

	if (run(f, line, &message) < 0)
		fail_msg("%s: %s", line, message);
}

static void expect_event(const Fixture *f, size_t i, uint32_t device, uint32_t port,
			 EventReason reason)
{
	assert_true(i < f->n_events);
	assert_int_equal(f->events[i].device, device);
	assert_int_equal(f->events[i].port, port);
	assert_int_equal(f->events[i].reason, reason);
}

#define TWO "[device a]\nprotocol = infiniband\nports = 2\n[device b]\nprotocol = roce\n"

static void test_enumerate(void **state)
{
	Fixture *f = *state;
	DeviceSnapshot *d;
	size_t n;

	start(f, TWO "index = 9\n");
	assert_int_equal(f->source->ops->enumerate(f->source, &d, &n), 0);
	assert_int_equal(n, 2);
	assert_string_equal(TEXT_OF(&d[0].values, name), "a");
	assert_int_equal(d[0].values.index, 0);
	assert_int_equal(d[0].values.port_count, 2);
	assert_int_equal(d[0].values.dev_protocol, PROTOCOL_INFINIBAND);
	assert_int_equal(d[1].values.index, 9);
	assert_true(mask_has(&d[1].supplied, DEVICE_ATTR_node_guid));
	/* only a query brings this */
	assert_false(mask_has(&d[1].supplied, DEVICE_ATTR_chardevs));
	device_array_free(d, n);
}

static void test_query(void **state)
{
	Fixture *f = *state;

	start(f, TWO);
	assert_int_equal(ask(f, 5, 0, 2), 0);
	assert_int_equal(f->n_devices + f->n_ports + f->n_ends,
			 0); /* not called from inside the query */
	assert_int_equal(ask(f, 6, 0, 1), -EBUSY);
	f->ask_in_end = true;
	turn_until(f, &f->n_ends, 2);
	assert_int_equal(f->end_id, 6);
	assert_int_equal(f->end_error, 0);
	assert_int_equal(f->n_devices, 2);
	assert_int_equal(f->n_ports, 2);
	assert_string_equal(TEXT_OF(&f->device.values, name), "a");
	assert_true(mask_has(&f->port.supplied, PORT_ATTR_lid));
	assert_int_equal(f->port.tables[PORT_TABLE_PKEYS]->n, 1);

	/* P_Keys come only if they are asked for */
	Query q = {.id = 7, .device = 0};
	port_set_add(&q.ports, 1);
	assert_int_equal(f->source->ops->query(f->source, &q), 0);
	turn_until(f, &f->n_ends, 3);
	assert_false(mask_has(&f->port.supplied, PORT_ATTR_pkeys));
	assert_null(f->port.tables[PORT_TABLE_PKEYS]);

	/* a port that does not exist */
	assert_int_equal(ask(f, 8, 0, 3), 0);
	turn_until(f, &f->n_ends, 4);
	assert_int_equal(f->port_error, -EINVAL);
	assert_true(mask_is_empty(&f->port.supplied));

	/* a device that does not exist */
	assert_int_equal(ask(f, 9, 77, 1), 0);
	turn_until(f, &f->n_ends, 5);
	assert_int_equal(f->end_error, -ENODEV);
}

static void test_set(void **state)
{
	Fixture *f = *state;

	start(f, TWO);
	command(f, "set a/1 state=down phys_state=polling event=port-error event=sm-change");
	assert_int_equal(f->n_events, 2);
	expect_event(f, 0, 0, 1, REASON_PORT_ERROR);
	expect_event(f, 1, 0, 1, REASON_SM_CHANGE);
	ask(f, 1, 0, 1);
	turn_until(f, &f->n_ends, 1);
	assert_int_equal(f->port.values.state, 1);
	assert_int_equal(f->port.values.phys_state, 2);
}

/* Without an interface no attribute of it is supplied; its table is, and is empty. */
static void test_set_no_netdev(void **state)
{
	Fixture *f = *state;
	_cleanup_free_ char *message = NULL;

	start(f, TWO);
	command(f, "set b/1 netdev= event=netdev");
	ask(f, 1, 1, 1);
	turn_until(f, &f->n_ends, 1);
	assert_false(mask_has(&f->port.supplied, PORT_ATTR_netdev));
	assert_false(mask_has(&f->port.supplied, PORT_ATTR_netdev_mtu));
	assert_true(mask_has(&f->port.supplied, PORT_ATTR_netdevs));
	assert_null(f->port.tables[PORT_TABLE_NETDEVS]);
	/* the index of the interface was removed with it */
	assert_int_equal(run(f, "set b/1 netdev=eth5", &message), -EINVAL);
}

static void test_devices(void **state)
{
	Fixture *f = *state;
	_cleanup_free_ char *message = NULL;
	const char *words[] = {"add", "a", NULL};
	uint32_t index = 0;
	uint64_t guid;
	DeviceSnapshot *d;
	size_t n;

	start(f, TWO "[device c]\nprotocol = iwarp\npresent = no\n");
	assert_int_equal(f->source->ops->enumerate(f->source, &d, &n), 0);
	assert_int_equal(n, 2);
	guid = d[0].values.node_guid;
	device_array_free(d, n);

	/* a rename changes the name and nothing else */
	command(f, "rename a x");
	expect_event(f, 0, 0, EVENT_ALL_PORTS, REASON_DEVICE);
	assert_int_equal(run(f, "remove a", &message), -ENOENT);
	ask(f, 1, 0, 1);
	turn_until(f, &f->n_ends, 1);
	assert_string_equal(TEXT_OF(&f->device.values, name), "x");
	assert_true(f->device.values.node_guid == guid);

	/* removed before its query is answered */
	ask(f, 2, 0, 1);
	command(f, "remove x");
	turn_until(f, &f->n_ends, 2);
	assert_int_equal(f->end_error, -ENODEV);
	assert_int_equal(f->n_ports, 1);

	/* added again: it has all that it had, but another index */
	assert_int_equal(simulator_run(f->source, words, &index, &message), 0);
	assert_int_equal(index, 2);
	expect_event(f, f->n_events - 1, 2, EVENT_ALL_PORTS, REASON_DEVICE);
	ask(f, 3, 2, 2);
	turn_until(f, &f->n_ends, 3);
	assert_true(f->device.values.node_guid == guid);
	free(steal_pointer(&message));
	assert_int_equal(simulator_run(f->source, words, &index, &message), -EEXIST);
}

static void test_stall(void **state)
{
	Fixture *f = *state;

	start(f, TWO);
	/* it answers again before the time-out */
	command(f, "stall a");
	ask(f, 1, 0, 1);
	ask(f, 2, 1, 1);
	turn_until(f, &f->n_ends, 1);
	assert_int_equal(f->end_id, 2); /* other devices are answered meanwhile */
	command(f, "unstall a");
	turn_until(f, &f->n_ends, 2);
	assert_int_equal(f->end_error, 0);
	assert_int_equal(f->n_events, 0);

	/* removed while it does not answer */
	command(f, "stall a");
	ask(f, 6, 0, 1);
	turn(f);
	command(f, "remove a");
	turn_until(f, &f->n_ends, 3);
	assert_int_equal(f->end_error, -ENODEV);

	/* forgotten while it does not answer; the last query is still open at the end */
	command(f, "stall b");
	ask(f, 7, 1, 1);
	turn(f);
	f->source->ops->forget(f->source, 1);
	assert_int_equal(ask(f, 8, 1, 1), 0);
	turn(f);
	assert_int_equal(f->n_ends, 3);
}

static void test_wedged(void **state)
{
	Fixture *f = *state;

	start_with(f, TIMEOUT_USEC, TWO);
	command(f, "stall a");
	ask(f, 3, 0, 1);
	turn_until(f, &f->n_ends, 1);
	assert_int_equal(f->end_error, -ETIMEDOUT);
	assert_string_equal(f->end_text, "no answer within 20 ms");
	assert_int_equal(f->n_ports, 0);
	assert_int_equal(ask(f, 4, 0, 1), -ETIMEDOUT);
	command(f, "unstall a");
	assert_int_equal(f->n_events, 1);
	expect_event(f, 0, 0, EVENT_ALL_PORTS, REASON_RECOVERED);
	assert_int_equal(ask(f, 5, 0, 1), 0);
	turn_until(f, &f->n_ends, 2);
	assert_int_equal(f->end_error, 0);
	command(f, "unstall a");
	assert_int_equal(f->n_events, 1);
}

static void test_forget(void **state)
{
	Fixture *f = *state;

	start(f, TWO);
	ask(f, 1, 0, 0);
	f->source->ops->forget(f->source, 0);
	turn(f);
	assert_int_equal(f->n_devices + f->n_ports + f->n_ends, 0);

	/* forgotten while it is being answered */
	f->forget_in_port = true;
	ask(f, 2, 0, 0);
	turn(f);
	assert_int_equal(f->n_ports, 1);
	assert_int_equal(f->n_ends, 0);
	f->forget_in_port = false;
	assert_int_equal(ask(f, 3, 0, 1), 0);
	turn_until(f, &f->n_ends, 1);
}

static void test_fail(void **state)
{
	Fixture *f = *state;

	start(f, TWO);
	command(f, "fail b/1 EREMOTEIO 2");
	for (uint64_t i = 1; i <= 3; i++) {
		ask(f, i, 1, 1);
		turn_until(f, &f->n_ends, i);
		assert_int_equal(f->end_error, 0);
		assert_int_equal(f->port_error, i <= 2 ? -EREMOTEIO : 0);
		assert_int_equal(mask_has(&f->port.supplied, PORT_ATTR_state), i == 3);
		assert_int_equal(f->port.tables[PORT_TABLE_GIDS] != NULL, i == 3);
		/* what does not come from the verbs */
		assert_true(mask_has(&f->port.supplied, PORT_ATTR_netdev_mtu));
		assert_int_equal(f->port.tables[PORT_TABLE_NETDEVS]->n, 1);
	}
	command(f, "fail a/* EIO");
	for (uint64_t i = 4; i <= 6; i++) {
		ask(f, i, 0, 2);
		turn_until(f, &f->n_ends, i);
		assert_int_equal(f->port_error, -EIO);
	}
	command(f, "fail a/* none");
	ask(f, 7, 0, 2);
	turn_until(f, &f->n_ends, 7);
	assert_int_equal(f->port_error, 0);
}

static void test_script(void **state)
{
	Fixture *f = *state;
	size_t seen[_REASON_MAX] = {}, n = 0;

	/* steps of one time happen in the order of the file */
	start(f, TWO "[script]\n"
		     "at 20ms: event a/2 sm-change\n"
		     "at 10ms every 15ms: event a/1 link\n"
		     "at 10ms: set a/1 lid=99 event=lid-change\n");
	while (!seen[REASON_SM_CHANGE] || seen[REASON_LINK] < 3) {
		assert_true(sd_event_run(f->loop, GUARD_USEC) > 0);
		for (; n < f->n_events; n++)
			seen[f->events[n % ARRAY_SIZE(f->events)].reason]++;
	}
	expect_event(f, 0, 0, 1, REASON_LINK);
	expect_event(f, 1, 0, 1, REASON_LID_CHANGE);
	assert_int_equal(seen[REASON_LID_CHANGE], 1);
	assert_int_equal(seen[REASON_SM_CHANGE], 1);
	ask(f, 1, 0, 1);
	turn_until(f, &f->n_ends, 1);
	assert_int_equal(f->port.values.lid, 99);
}

/* What is written for minutes happens within a second, in its order. */
static void test_script_speed(void **state)
{
	Fixture *f = *state;

	start(f, TWO "[script]\nspeed = 1000\n"
		     "at 100s: event a/2 sm-change\n"
		     "at 50s: event a/1 link\n");
	turn_until(f, &f->n_events, 2);
	expect_event(f, 0, 0, 1, REASON_LINK);
	expect_event(f, 1, 0, 2, REASON_SM_CHANGE);
}

/* On a slow machine rdmad needs long until it has read all devices and has its name. A record that
 * is played is not ahead of that. */
static void test_record_waits(void **state)
{
	Fixture *f = *state;

	start(f, "[device a]\nrecorded = yes\nports = 1\n"
		 "[script]\nat 0s: noted a/1 reasons=lid-change\n");
	assert_int_equal(sd_event_run(f->loop, 2 * USEC_PER_SEC), 0);
	assert_int_equal(f->n_noted, 0);
	assert_int_equal(f->source->ops->served(f->source), 0);
	turn_until(f, &f->n_noted, 1);
	expect_event(f, 0, 0, 1, REASON_LID_CHANGE);
}

/* The devices are listed, as often as the core does that at once. */
static void list(Fixture *f)
{
	DeviceSnapshot *d = NULL;
	size_t n = 0;

	assert_int_equal(f->source->ops->enumerate(f->source, &d, &n), 0);
	device_array_free(d, n);
}

#define RECORDED "[device a]\nrecorded = yes\nports = 2\n"

/* What a record says is the answer of a query that nobody made, and that ends with it. */
static void test_record_answers(void **state)
{
	Fixture *f = *state;

	start(f, RECORDED);
	list(f);
	assert_int_equal(ask(f, 5, 0, 1), 0);
	turn_until(f, &f->n_ends, 1);
	command(f, "answer a/2 lid=7 reasons=lid-change,link open=yes");
	assert_int_equal(f->n_asking, 1);
	assert_int_equal(f->asked.id, 5);
	assert_true(f->asked.has_answer && f->asked.is_open);
	assert_int_equal(f->asked.reasons, REASON_BIT(REASON_LID_CHANGE) | REASON_BIT(REASON_LINK));
	assert_true(port_set_has(&f->asked.ports, 2) && !port_set_has(&f->asked.ports, 1));
	assert_int_equal(f->n_ports, 2);
	assert_int_equal(f->port.values.lid, 7);
	assert_int_equal(f->n_ends, 2);
	assert_int_equal(f->end_error, 0);
	/* the core does not take it */
	f->is_refused = true;
	command(f, "answer a/2 lid=8");
	assert_int_equal(f->n_asking, 2);
	assert_int_equal(f->n_ports + f->n_ends, 4);
}

/* A port that could not be read answers no query until the record says that it has. What the record
 * says in the meantime belongs to the query that waits. */
static void test_record_waiting_query(void **state)
{
	Fixture *f = *state;

	start(f, RECORDED);
	list(f);
	assert_int_equal(ask(f, 5, 0, 0), 0);
	turn_until(f, &f->n_ends, 1);
	command(f, "answer a/1 error=EIO code=device-error:EIO text=Input/output%20error");
	assert_int_equal(f->port_error, -EIO);
	assert_int_equal(f->n_ends, 2);
	assert_int_equal(ask(f, 6, 0, 0), 0);
	f->n_ports = f->n_devices = 0;
	assert_int_equal(sd_event_run(f->loop, USEC_PER_SEC), 1);
	assert_int_equal(f->n_ends, 2);
	command(f, "answer a/1 lid=7");
	assert_int_equal(f->asked.id, 6);
	assert_int_equal(f->n_ports, 1);
	assert_int_equal(f->n_ends, 2);
	turn_until(f, &f->n_ends, 3);
	assert_int_equal(f->end_id, 6);
	/* the port that has answered does not do so twice */
	assert_int_equal(f->n_ports, RDMA_PORT_MAX);
	/* all of the device could not be asked */
	command(f, "answer a error=ETIMEDOUT code=timeout text=hangs");
	assert_int_equal(f->end_error, -ETIMEDOUT);
	assert_string_equal(f->end_text, "hangs");
}

/* A new device is listed before the next step, which comes once more then. */
static void test_record_new_device(void **state)
{
	Fixture *f = *state;

	start(f, "[device b]\nrecorded = yes\nports = 1\n"
		 "[script]\nat 0s: add a recorded=yes index=3 ports=1\n"
		 "at 0s: answer a fw_ver=1.2\nat 0s: answer a/1 lid=7\nat 0s: asked a\n");
	assert_int_equal(f->source->ops->served(f->source), 0);
	turn_until(f, &f->n_events, 1);
	assert_int_equal(sd_event_run(f->loop, 10 * USEC_PER_MSEC), 0);
	expect_event(f, 0, EVENT_ALL_DEVICES, EVENT_ALL_PORTS, REASON_DEVICE);
	assert_int_equal(f->n_asking, 0);
	list(f);
	assert_int_equal(ask(f, 5, 3, 1), 0);
	turn_until(f, &f->n_ports, 1);
	assert_int_equal(f->n_devices, 1);
	assert_string_equal(TEXT_OF(&f->device.values, fw_ver), "1.2");
	assert_int_equal(f->port.values.lid, 7);
	turn_until(f, &f->n_ends, 1);
	assert_int_equal(f->n_asking, 2);
	assert_int_equal(f->n_events, 1);
}

/* The list has what the kernel's has (nldev-parse.c): what a device that has never answered is
 * published with. */
static void test_record_list(void **state)
{
	Fixture *f = *state;
	DeviceSnapshot *d = NULL;
	size_t n = 0;

	start(f, "[device a]\nrecorded = yes\nports = 1\ncap_flags = 7\nvendor_id = 5\n");
	assert_int_equal(f->source->ops->enumerate(f->source, &d, &n), 0);
	assert_int_equal(n, 1);
	assert_true(mask_has(&d->supplied, DEVICE_ATTR_cap_flags));
	assert_int_equal(d->values.cap_flags, 7);
	assert_false(mask_has(&d->supplied, DEVICE_ATTR_vendor_id));
	device_array_free(d, n);
}

/* What only the list says is not the device's to answer: the core lists the devices. */
static void test_record_parent(void **state)
{
	Fixture *f = *state;

	start(f, RECORDED);
	list(f);
	assert_int_equal(ask(f, 5, 0, 1), 0);
	turn_until(f, &f->n_ends, 1);
	command(f, "answer a parent=b");
	assert_int_equal(f->n_asking, 0);
	assert_int_equal(f->n_events, 1);
	expect_event(f, 0, EVENT_ALL_DEVICES, EVENT_ALL_PORTS, REASON_DEVICE);
	command(f, "answer a fw_ver=1.2");
	assert_int_equal(f->n_asking, 1);
}

/* A device that a record says has gone gives no answer before the core has listed the devices. */
static void test_record_removed(void **state)
{
	Fixture *f = *state;

	start(f, RECORDED);
	list(f);
	command(f, "remove a");
	assert_int_equal(ask(f, 5, 0, 1), 0);
	assert_int_equal(sd_event_run(f->loop, USEC_PER_SEC), 1);
	assert_int_equal(sd_event_run(f->loop, 10 * USEC_PER_MSEC), 0);
	assert_int_equal(f->n_ends, 0);
	f->source->ops->forget(f->source, 0);
}

/* A step that fails because of an earlier command does nothing, and the other steps happen. */
static void test_script_failure(void **state)
{
	Fixture *f = *state;

	start(f, TWO "[script]\nat 5ms: set b/1 lid=7 event=lid-change\n"
		     "at 6ms: event a/1 link\n");
	command(f, "remove b");
	assert_int_equal(f->n_events, 1);
	turn_until(f, &f->n_events, 2);
	expect_event(f, 1, 0, 1, REASON_LINK);
}

static void test_many(void **state)
{
	Fixture *f = *state;
	uint32_t n = getenv("RDMAD_TEST_VALGRIND") ? 200 : 20000;

	start(f, "[device m%d]\nprotocol = infiniband\ncount = 512\nports = 8\n");
	for (uint32_t i = 0; i < 512; i++)
		assert_int_equal(ask(f, i + 1, i, 0), 0);
	turn_until(f, &f->n_ends, 512);
	assert_int_equal(f->n_ports, 512 * RDMA_PORT_MAX);
	f->n_ports = 0;
	command(f, "set */* sm_lid=3 event=sm-change");
	assert_int_equal(f->n_events, 4096);
	for (uint32_t i = 0; i < n; i++) {
		char line[64];

		snprintf(line, sizeof(line), "set m%u/%u lid=%u event=lid-change", i % 512,
			 i % 8 + 1, i);
		command(f, line);
	}
	assert_int_equal(f->n_events, 4096 + n);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	/* clang-format off */
	const struct CMUnitTest tests[] = {
		TEST(test_enumerate), TEST(test_query), TEST(test_set), TEST(test_set_no_netdev),
		TEST(test_devices), TEST(test_stall), TEST(test_wedged), TEST(test_forget),
		TEST(test_fail), TEST(test_script), TEST(test_script_speed), TEST(test_record_waits),
		TEST(test_record_list), TEST(test_record_parent), TEST(test_record_removed), TEST(test_record_answers),
		TEST(test_record_waiting_query), TEST(test_record_new_device), TEST(test_script_failure), TEST(test_many),
	};
	/* clang-format on */

	return cmocka_run_group_tests(tests, NULL, NULL);
}
