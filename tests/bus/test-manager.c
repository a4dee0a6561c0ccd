/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The manager with a source that does what no good source does: answers for another question,
 * twice, not at all; devices that come, go, shrink and change their names while they are asked. The
 * manager runs in this process; the bus and everything on it are real. One fake source for all of
 * it, hence one file.
 */

#include <systemd/sd-event.h>

#include "fixture.h"
#include "manager-private.h"

#define DEVICES_MAX 4
#define QUERIES_MAX 64
#define PORT_1	    "/org/rdma/device/1/port/1"
#define PORT_2	    "/org/rdma/device/1/port/2"

/* The source: the test is the hardware. */
static struct {
	Source source;
	const SourceHandler *handler;
	void *userdata;
	DeviceSnapshot devices[DEVICES_MAX];
	size_t n_devices;
	int enumerate_error, query_error;
	unsigned int n_enumerated, n_forgotten;
	Query queries[QUERIES_MAX];
	size_t n_queries;
} fake;

typedef struct Test {
	Fixture *f;
	sd_event *event;
	Manager *manager;
	bool has_name;
} Test;

static int fake_start(_unused_ Source *s)
{
	return 0;
}

static int fake_enumerate(_unused_ Source *s, DeviceSnapshot **ret, size_t *ret_n)
{
	fake.n_enumerated++;
	if (fake.enumerate_error)
		return fake.enumerate_error;
	*ret = calloc(DEVICES_MAX, sizeof(DeviceSnapshot));
	assert_non_null(*ret);
	memcpy(*ret, fake.devices, sizeof(fake.devices));
	*ret_n = fake.n_devices;
	return 0;
}

static int fake_query(_unused_ Source *s, const Query *query)
{
	if (fake.query_error)
		return fake.query_error;
	assert_true(fake.n_queries < QUERIES_MAX);
	fake.queries[fake.n_queries++] = *query;
	return 0;
}

static void fake_forget(_unused_ Source *s, _unused_ uint32_t device)
{
	fake.n_forgotten++;
}

static void fake_free(_unused_ Source *s)
{
}

static void fake_status(_unused_ const Source *s, SourceStatus *ret)
{
	*ret = (SourceStatus){};
}

static int open_fake(_unused_ void *userdata, const SourceHandler *handler, void *handler_userdata,
		     Source **ret)
{
	static const SourceOps ops = {.start = fake_start,
				      .enumerate = fake_enumerate,
				      .query = fake_query,
				      .forget = fake_forget,
				      .status = fake_status,
				      .free = fake_free};

	fake.source.ops = &ops;
	fake.handler = handler;
	fake.userdata = handler_userdata;
	*ret = &fake.source;
	return 0;
}

static void set_device(size_t i, uint32_t index, const char *name, uint32_t ports)
{
	fake.devices[i] = (DeviceSnapshot){};
	DEVICE_SUPPLY(&fake.devices[i], index, index);
	DEVICE_SUPPLY_TEXT(&fake.devices[i], name, name);
	DEVICE_SUPPLY(&fake.devices[i], node_type, 1);
	DEVICE_SUPPLY(&fake.devices[i], port_count, ports);
}

static void tell(uint32_t device, uint32_t port, EventReason reason)
{
	fake.handler->event(fake.userdata, &(Event){device, port, reason});
}

static void answer_device(uint64_t id, const char *name)
{
	DeviceSnapshot s = {};

	if (name)
		DEVICE_SUPPLY_TEXT(&s, name, name);
	DEVICE_SUPPLY_TEXT(&s, fw_ver, "1.2");
	fake.handler->device(fake.userdata, id, &s);
	device_snapshot_done(&s);
}

static void answer_port(uint64_t id, uint32_t port, int error, uint32_t state)
{
	PortSnapshot s = {};

	PORT_SUPPLY(&s, link_layer, 1);
	PORT_SUPPLY(&s, state, state);
	PORT_SUPPLY(&s, lid, 7);
	PORT_SUPPLY(&s, sm_lid, 1);
	fake.handler->port(fake.userdata, id, port, error, &s);
	port_snapshot_done(&s);
}

static void answer_end(uint64_t id, int error, const char *text)
{
	fake.handler->end(fake.userdata, id, error, text);
}

static const Query *last_query(void)
{
	assert_true(fake.n_queries > 0);
	return &fake.queries[fake.n_queries - 1];
}

/* All that the last query asks for. */
static void answer(uint32_t state)
{
	const Query q = *last_query();

	if (q.attributes)
		answer_device(q.id, NULL);
	for (uint32_t n = 1; n <= RDMA_PORT_MAX; n++)
		if (port_set_has(&q.ports, n))
			answer_port(q.id, n, 0, state);
	answer_end(q.id, 0, "");
}

/* Runs the loop until CONDITION holds; a minute is a failure. */
#define RUN_UNTIL(t, condition)                                                                    \
	for (unsigned int _turns = 0; !(condition); _turns++) {                                    \
		if (_turns > 6000)                                                                 \
			fail_msg("never: %s", #condition);                                         \
		assert_true(sd_event_run((t)->event, 10 * USEC_PER_MSEC) >= 0);                    \
	}

/* A call that waits for its answer. */
typedef struct Call {
	bool done;
	char error[80];
	sd_bus_slot *slot;
} Call;

static int on_reply(sd_bus_message *m, void *userdata, _unused_ sd_bus_error *error)
{
	Call *c = userdata;
	const sd_bus_error *e = sd_bus_message_get_error(m);

	c->done = true;
	snprintf(c->error, sizeof(c->error), "%s", e ? e->name : "");
	return 0;
}

/* The name is asked for when everything has been asked about, and comes when the bus says so. */
static void wait_name(Test *t)
{
	for (int has = false; !has;) {
		_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;

		assert_true(sd_event_run(t->event, 10 * USEC_PER_MSEC) >= 0);
		assert_true(sd_bus_call_method(t->f->bus, "org.freedesktop.DBus",
					       "/org/freedesktop/DBus", "org.freedesktop.DBus",
					       "NameHasOwner", NULL, &reply, "s",
					       RDMAD_BUS_NAME) >= 0);
		assert_true(sd_bus_message_read(reply, "b", &has) >= 0);
	}
	t->has_name = true;
}

static void call(Test *t, Call *c, const char *path, const char *interface, const char *method)
{
	bool ping = streq(method, "Ping");

	c->done = false;
	c->slot = sd_bus_slot_unref(c->slot);
	if (!t->has_name)
		wait_name(t);
	assert_true(sd_bus_call_method_async(t->f->bus, &c->slot, RDMAD_BUS_NAME, path, interface,
					     method, on_reply, c, ping ? "" : "a{sv}", 0) >= 0);
}

static void call_query(Test *t, Call *c, const char *path)
{
	call(t, c, path, RDMAD_INTERFACE_PORT, "Query");
}

static void call_refresh(Test *t, Call *c)
{
	call(t, c, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "Refresh");
}

static void wait_call(Test *t, Call *c, const char *error)
{
	RUN_UNTIL(t, c->done);
	assert_string_equal(c->error, error);
	c->slot = sd_bus_slot_unref(c->slot);
}

/* Everything that could happen now has happened. */
static void barrier(Test *t)
{
	Call c = {};

	while (sd_event_run(t->event, 0) > 0)
		;
	call(t, &c, RDMAD_ROOT_PATH, "org.freedesktop.DBus.Peer", "Ping");
	wait_call(t, &c, "");
	while (sd_event_run(t->event, 0) > 0)
		;
}

static const Device *device(Test *t, uint32_t index)
{
	return cache_device(&t->manager->cache, index);
}

static const PortValues *port(Test *t, uint32_t index, uint32_t number)
{
	const Port *p = device_port(device(t, index), number);

	assert_non_null(p);
	return &p->now.values;
}

static uint64_t last_sync(Test *t)
{
	BusStatus s;

	manager_status(t->manager, &s);
	return s.last_sync_usec;
}

/* One device with two ports, not yet answered. */
static int setup(void **state)
{
	static const Config config = {.query_timeout_usec = USEC_PER_SEC};
	Test *t = calloc(1, sizeof(Test));

	memset(&fake, 0, sizeof(fake));
	set_device(0, 1, "mlx5_0", 2);
	fake.n_devices = 1;
	t->f = fixture_new();
	assert_true(sd_event_new(&t->event) >= 0);
	assert_true(sd_bus_attach_event(t->f->bus, t->event, 0) >= 0);
	assert_true(manager_new(&(ManagerSetup){.event = t->event,
						.config = &config,
						.bus_address = t->f->address,
						.open_source = open_fake},
				&t->manager) >= 0);
	*state = t;
	return 0;
}

static int teardown(void **state)
{
	Test *t = *state;

	manager_free(t->manager);
	sd_bus_detach_event(t->f->bus);
	fixture_free(t->f);
	sd_event_unref(t->event);
	free(t);
	return 0;
}

static void start(Test *t)
{
	assert_true(manager_start(t->manager) >= 0);
	RUN_UNTIL(t, fake.n_queries == 1);
}

static int setup_answered(void **state)
{
	setup(state);
	start(*state);
	answer(4);
	barrier(*state);
	fixture_forget(((Test *)*state)->f);
	return 0;
}

static void test_end_without_answers(void **state)
{
	Test *t = *state;

	start(t);
	answer_end(last_query()->id, 0, "");
	assert_true(device(t, 1)->now.values.stale);
	assert_string_equal(device(t, 1)->now.values.last_error, "the answer is incomplete");
	assert_true(port(t, 1, 2)->stale);
	/* it is asked again by itself, and that heals it */
	RUN_UNTIL(t, fake.n_queries == 2);
	answer(4);
	assert_false(device(t, 1)->now.values.stale);
	assert_false(port(t, 1, 2)->stale);
}

static void test_other_ids(void **state)
{
	Test *t = *state;
	uint64_t id;

	start(t);
	id = last_query()->id;
	answer_device(id + 1, "wrong");
	answer_device(id ^ UINT64_C(1) << 40, "wrong");
	answer_port(0, 1, 0, 4);
	answer_port(id + 1, 1, 0, 4);
	answer_port(id, 0, 0, 4);
	answer_port(id, 3, 0, 4);
	answer_port(id, RDMA_PORT_MAX, 0, 4);
	answer_end(id + 1, 0, "");
	answer_end(0, -ETIMEDOUT, "wrong");
	while (sd_event_run(t->event, 0) > 0)
		;
	assert_false(device_port(device(t, 1), 1)->published);
	assert_int_equal(fake.n_queries, 1);
	answer(4);
	assert_int_equal(port(t, 1, 1)->state, 4);
	/* and once it has ended it is over */
	answer_port(id, 1, 0, 1);
	answer_end(id, -ETIMEDOUT, "late");
	assert_int_equal(port(t, 1, 1)->state, 4);
	assert_false(port(t, 1, 1)->stale);
}

static void test_port_twice(void **state)
{
	Test *t = *state;
	uint64_t id;

	start(t);
	id = last_query()->id;
	answer_device(id, NULL);
	answer_port(id, 1, 0, 4);
	answer_port(id, 1, 0, 1);
	answer_port(id, 1, -EIO, 1);
	answer_port(id, 2, 0, 4);
	answer_end(id, 0, "");
	assert_int_equal(port(t, 1, 1)->state, 4);
	assert_false(port(t, 1, 1)->stale);
	barrier(t);
	assert_int_equal(fixture_count_signals(t->f, PORT_1, "StateChanged"), 0);
}

static void test_index_used_again(void **state)
{
	Test *t = *state;
	Call c = {};
	uint64_t id;

	tell(1, 1, REASON_PORT_ERROR);
	RUN_UNTIL(t, fake.n_queries == 2);
	id = last_query()->id;
	call_query(t, &c, PORT_1);
	barrier(t);
	fake.n_devices = 0;
	tell(1, EVENT_ALL_PORTS, REASON_DEVICE);
	wait_call(t, &c, RDMAD_ERROR_NOT_FOUND);
	assert_null(device(t, 1));
	assert_int_equal(fake.n_forgotten, 1);
	set_device(0, 1, "rocep1", 1);
	fake.n_devices = 1;
	tell(1, EVENT_ALL_PORTS, REASON_DEVICE);
	RUN_UNTIL(t, fake.n_queries == 3);
	/* what the old one still says is of nobody's interest */
	answer_port(id, 1, 0, 1);
	answer_end(id, 0, "");
	assert_false(device_port(device(t, 1), 1)->published);
	answer(4);
	assert_string_equal(port(t, 1, 1)->device_name, "rocep1");
	assert_int_equal(port(t, 1, 1)->state, 4);
}

static void test_shrinks_while_asked(void **state)
{
	Test *t = *state;
	Call asked = {}, waiting = {};
	uint64_t id;

	call_query(t, &asked, PORT_2);
	RUN_UNTIL(t, fake.n_queries == 2);
	id = last_query()->id;
	call_query(t, &waiting, PORT_2);
	barrier(t);
	set_device(0, 1, "mlx5_0", 1);
	tell(1, EVENT_ALL_PORTS, REASON_DEVICE);
	wait_call(t, &asked, RDMAD_ERROR_NOT_FOUND);
	wait_call(t, &waiting, RDMAD_ERROR_NOT_FOUND);
	assert_int_equal(device(t, 1)->n_ports, 1);
	/* the worker does not know yet */
	answer_port(id, 2, 0, 4);
	answer_end(id, 0, "");
	assert_false(device(t, 1)->now.values.stale);
	RUN_UNTIL(t, fake.n_queries == 3);
	assert_false(port_set_has(&last_query()->ports, 2));
	answer(4);
	assert_false(device(t, 1)->now.values.stale);
}

static void test_grows_while_asked(void **state)
{
	Test *t = *state;
	uint64_t id;

	tell(1, 1, REASON_PORT_ACTIVE);
	RUN_UNTIL(t, fake.n_queries == 2);
	id = last_query()->id;
	set_device(0, 1, "mlx5_0", RDMA_PORT_MAX);
	tell(1, EVENT_ALL_PORTS, REASON_DEVICE);
	barrier(t);
	assert_int_equal(device(t, 1)->n_ports, RDMA_PORT_MAX);
	answer_port(id, RDMA_PORT_MAX, 0, 4);
	assert_false(device_port(device(t, 1), RDMA_PORT_MAX)->published);
	answer_port(id, 1, 0, 4);
	answer_end(id, 0, "");
	RUN_UNTIL(t, fake.n_queries == 3);
	assert_true(port_set_has(&last_query()->ports, RDMA_PORT_MAX));
	answer(4);
	assert_int_equal(port(t, 1, RDMA_PORT_MAX)->state, 4);
	assert_true(device_port(device(t, 1), RDMA_PORT_MAX)->published);
}

/* The P_Keys of a port that became active are read after the news. */
static void test_pkeys_later(void **state)
{
	Test *t = *state;

	for (unsigned int i = 0; i < 3; i++) {
		size_t n = fake.n_queries;

		tell(1, 1, i % 2 ? REASON_CLIENT_REREGISTER : REASON_PORT_ACTIVE);
		RUN_UNTIL(t, fake.n_queries == n + 1);
		assert_false(last_query()->pkeys);
		answer(4);
		RUN_UNTIL(t, fake.n_queries == n + 2);
		assert_true(last_query()->pkeys);
		answer(4);
		barrier(t);
		assert_int_equal(fake.n_queries, n + 2);
	}
}

static void test_renamed_while_asked(void **state)
{
	Test *t = *state;
	uint64_t id;

	tell(EVENT_ALL_DEVICES, EVENT_ALL_PORTS, REASON_RECONCILE);
	RUN_UNTIL(t, fake.n_queries == 2);
	id = last_query()->id;
	/* the answer has the new name before the enumeration has it */
	set_device(0, 1, "renamed", 2);
	answer_device(id, "renamed");
	answer_port(id, 1, 0, 4);
	answer_port(id, 2, 0, 4);
	answer_end(id, 0, "");
	tell(1, EVENT_ALL_PORTS, REASON_DEVICE);
	RUN_UNTIL(t, fake.n_queries == 3);
	assert_string_equal(last_query()->name, "renamed");
	assert_string_equal(device(t, 1)->now.values.name, "renamed");
	assert_string_equal(port(t, 1, 1)->device_name, "renamed");
	assert_string_equal(port(t, 1, 2)->device_name, "renamed");
}

static void test_recovers_without_need(void **state)
{
	Test *t = *state;

	tell(1, EVENT_ALL_PORTS, REASON_RECOVERED);
	RUN_UNTIL(t, fake.n_queries == 2);
	answer(4);
	assert_false(port(t, 1, 1)->stale);
}

static void test_times_out_twice(void **state)
{
	Test *t = *state;
	Call c = {}, refreshing = {};
	uint64_t id;

	call_refresh(t, &refreshing);
	RUN_UNTIL(t, fake.n_queries == 2);
	id = last_query()->id;
	call_query(t, &c, PORT_1);
	barrier(t);
	answer_end(id, -ETIMEDOUT, "no answer");
	answer_end(id, -ETIMEDOUT, "no answer");
	/* nobody waits for a device that does not answer */
	wait_call(t, &c, RDMAD_ERROR_TIMEOUT);
	wait_call(t, &refreshing, "");
	assert_true(port(t, 1, 2)->stale);
	call_query(t, &c, PORT_1);
	wait_call(t, &c, RDMAD_ERROR_TIMEOUT);
	call_refresh(t, &refreshing);
	wait_call(t, &refreshing, "");
	tell(1, 1, REASON_PORT_ERROR);
	barrier(t);
	assert_int_equal(fake.n_queries, 2);
	tell(1, EVENT_ALL_PORTS, REASON_RECOVERED);
	RUN_UNTIL(t, fake.n_queries == 3);
	answer(4);
	assert_false(port(t, 1, 1)->stale);
	assert_false(device(t, 1)->now.values.stale);
	assert_string_equal(port(t, 1, 1)->last_error, "");
}

/* It takes no query, and leaves. */
static void test_wedged_and_removed(void **state)
{
	Test *t = *state;
	Call c = {};

	fake.query_error = -ETIMEDOUT;
	call_query(t, &c, PORT_1);
	wait_call(t, &c, RDMAD_ERROR_TIMEOUT);
	assert_true(port(t, 1, 1)->stale);
	fake.n_devices = 0;
	call_refresh(t, &c);
	wait_call(t, &c, "");
	assert_null(device(t, 1));
	fake.query_error = 0;
	fake.n_devices = 1;
	tell(1, EVENT_ALL_PORTS, REASON_DEVICE);
	RUN_UNTIL(t, fake.n_queries == 2);
	answer(4);
	assert_false(port(t, 1, 1)->stale);
}

static void test_cannot_ask(void **state)
{
	Test *t = *state;
	Call c = {};

	fake.query_error = -ENOMEM;
	call_query(t, &c, PORT_1);
	wait_call(t, &c, RDMAD_ERROR_QUERY_FAILED);
	assert_true(port(t, 1, 1)->stale);
	call_refresh(t, &c);
	wait_call(t, &c, "");
	fake.query_error = 0;
	RUN_UNTIL(t, fake.n_queries == 2);
	answer(4);
	assert_false(port(t, 1, 1)->stale);
	assert_false(device(t, 1)->now.values.stale);
}

static void test_unknown_devices(void **state)
{
	Test *t = *state;
	unsigned int n = fake.n_enumerated;

	tell(77, 3, REASON_PORT_ERROR);
	tell(77, EVENT_ALL_PORTS, REASON_RECOVERED);
	tell(UINT32_MAX - 1, UINT32_MAX, REASON_NETDEV);
	barrier(t);
	/* perhaps it is a new one: all of them are one look */
	assert_int_equal(fake.n_enumerated, n + 1);
	assert_int_equal(fake.n_queries, 1);
	/* a port that is not there is all of them */
	tell(1, 200, REASON_PORT_ERROR);
	RUN_UNTIL(t, fake.n_queries == 2);
	assert_true(port_set_has(&last_query()->ports, 1));
	assert_true(port_set_has(&last_query()->ports, 2));
	assert_false(port_set_has(&last_query()->ports, 200));
	answer(4);
}

/* Without an enumeration Refresh() has not been carried out, and that is said; the next one comes
 * by itself. */
static void test_cannot_enumerate(void **state)
{
	Test *t = *state;
	Call c = {};
	uint64_t synced = last_sync(t);

	set_device(1, 2, "rocep1", 1);
	fake.n_devices = 2;
	fake.enumerate_error = -EMFILE;
	call_refresh(t, &c);
	RUN_UNTIL(t, c.done || fake.n_queries == 2);
	if (!c.done)
		answer(4);
	wait_call(t, &c, RDMAD_ERROR_QUERY_FAILED);
	assert_true(last_sync(t) == synced);
	fake.enumerate_error = 0;
	RUN_UNTIL(t, device(t, 2));
}

/* The same with nothing there that could be asked. */
static void test_cannot_enumerate_nothing(void **state)
{
	Test *t = *state;
	Call c = {};

	fake.n_devices = 0;
	fake.enumerate_error = -EMFILE;
	assert_true(manager_start(t->manager) >= 0);
	RUN_UNTIL(t, fake.n_enumerated == 1);
	call_refresh(t, &c);
	wait_call(t, &c, RDMAD_ERROR_QUERY_FAILED);
	fake.enumerate_error = 0;
	fake.n_devices = 1;
	RUN_UNTIL(t, device(t, 1));
}

/* Who calls all the time does not keep the others waiting. */
static void test_refresh_under_refresh(void **state)
{
	Test *t = *state;
	Call first = {}, others[20] = {};
	size_t n = 0;

	call_refresh(t, &first);
	RUN_UNTIL(t, fake.n_queries == 2);
	while (!first.done && n < ARRAY_SIZE(others)) {
		size_t asked = fake.n_queries;

		/* one more comes while the device is being asked */
		call_refresh(t, &others[n++]);
		barrier(t);
		answer(4);
		RUN_UNTIL(t, first.done || fake.n_queries > asked);
	}
	assert_true(n <= 2);
	wait_call(t, &first, "");
	/* and those that came later get a look that began after their call */
	for (size_t i = 0; i < n; i++) {
		while (!others[i].done) {
			size_t asked = fake.n_queries;

			RUN_UNTIL(t, others[i].done || fake.n_queries > asked);
			if (!others[i].done)
				answer(4);
		}
		wait_call(t, &others[i], "");
	}
	assert_true(fake.n_queries >= 3);
}

/* A device that Refresh() itself finds is part of it. */
static void test_refresh_finds_device(void **state)
{
	Test *t = *state;
	Call c = {};

	set_device(0, 2, "rocep1", 1);
	call_refresh(t, &c);
	RUN_UNTIL(t, fake.n_queries == 2);
	assert_int_equal(last_query()->device, 2);
	barrier(t);
	assert_false(c.done);
	answer(4);
	wait_call(t, &c, "");
}

/* D-Bus has no way to send such text. */
static void test_error_is_no_text(void **state)
{
	Test *t = *state;
	Call c = {};

	call_query(t, &c, PORT_1);
	RUN_UNTIL(t, fake.n_queries == 2);
	answer_end(last_query()->id, -EIO, "firmware says \xff\xfe\x01");
	wait_call(t, &c, RDMAD_ERROR_QUERY_FAILED);
	assert_string_equal(port(t, 1, 1)->last_error, "firmware says ???");
}

/* A port answers for itself alone, and its error is looked at again. */
static void test_port_fails(void **state)
{
	Test *t = *state;
	const Query *q;

	tell(EVENT_ALL_DEVICES, EVENT_ALL_PORTS, REASON_RESUME);
	RUN_UNTIL(t, fake.n_queries == 2);
	q = last_query();
	answer_device(q->id, NULL);
	answer_port(q->id, 1, -EIO, 0);
	answer_port(q->id, 2, 0, 4);
	answer_end(q->id, 0, "");
	assert_true(port(t, 1, 1)->stale);
	assert_false(port(t, 1, 2)->stale);
	assert_false(device(t, 1)->now.values.stale);
	RUN_UNTIL(t, fake.n_queries == 3);
	answer(4);
	assert_false(port(t, 1, 1)->stale);
}

/* The subnet manager has told of itself while the port failed: no value says so afterwards. */
static void test_fails_while_reconfigured(void **state)
{
	Test *t = *state;
	sd_bus_message *m;
	const char *reason;

	tell(1, 1, REASON_CLIENT_REREGISTER);
	RUN_UNTIL(t, fake.n_queries == 2);
	answer_port(last_query()->id, 1, -EIO, 0);
	answer_end(last_query()->id, 0, "");
	RUN_UNTIL(t, fake.n_queries == 3);
	answer(4);
	barrier(t);
	assert_int_equal(fixture_count_signals(t->f, PORT_1, "SubnetReconfigured"), 1);
	assert_int_equal(fixture_count_signals(t->f, PORT_2, "SubnetReconfigured"), 0);
	m = fixture_wait_signal(t->f, PORT_1, "SubnetReconfigured");
	assert_true(sd_bus_message_read(m, "s", &reason) > 0);
	assert_string_equal(reason, "client-reregister");
}

/* Events about a device that fails do not put off the look that will find it well: only looks that
 * failed make the next one later. */
static void test_events_while_it_fails(void **state)
{
	Test *t = *state;
	unsigned int looks = 0;

	for (unsigned int i = 0; i < 8; i++) {
		size_t asked = fake.n_queries;
		const Query *q;

		tell(1, 1, REASON_PORT_ERROR);
		RUN_UNTIL(t, fake.n_queries > asked);
		q = last_query();
		/* no event has asked for these */
		if (q->attributes) {
			answer_device(q->id, NULL);
			looks++;
		}
		for (uint32_t n = 1; n <= 2; n++)
			if (port_set_has(&q->ports, n))
				answer_port(q->id, n, -EIO, 0);
		answer_end(q->id, 0, "");
	}
	assert_true(port(t, 1, 1)->stale);
	assert_int_equal(device(t, 1)->schedule->retry_usec, (250 * USEC_PER_MSEC) << (looks + 1));
	/* and the look comes */
	RUN_UNTIL(t, last_query()->attributes);
	answer(4);
	assert_false(port(t, 1, 1)->stale);
	assert_int_equal(device(t, 1)->schedule->retry_usec, 0);
}

static void answer_counters(uint64_t id, uint32_t port, uint64_t value)
{
	CounterEntry e = {.group = COUNTER_GROUP_PORT, .file = "symbol_error", .value = value};
	PortSnapshot s = {};

	s.tables[PORT_TABLE_COUNTERS] = table_new(&e, 1, sizeof(e));
	mask_set(&s.supplied, PORT_ATTR_counters, true);
	fake.handler->port(fake.userdata, id, port, 0, &s);
	port_snapshot_done(&s);
}

static void call_counters(Test *t, Call *c, const char *path)
{
	call(t, c, path, RDMAD_INTERFACE_PORT, "GetCounters");
}

/* Counters are asked for when nothing else is, and changes wait for their answer. */
static void test_counters_in_turn(void **state)
{
	Test *t = *state;
	Call counters = {}, again = {}, other = {};
	size_t n = fake.n_queries;
	Query q;

	tell(1, 1, REASON_LID_CHANGE);
	RUN_UNTIL(t, fake.n_queries == n + 1);
	call_counters(t, &counters, PORT_1);
	barrier(t);
	assert_int_equal(fake.n_queries, n + 1);
	assert_false(last_query()->counters);
	answer(4);
	RUN_UNTIL(t, fake.n_queries == n + 2);
	q = *last_query();
	assert_true(q.counters && port_set_has(&q.ports, 1) && !port_set_has(&q.ports, 2));
	assert_false(q.attributes || q.pkeys);

	/* the same port shares the question, another gets the next; an event waits */
	call_counters(t, &again, PORT_1);
	call_counters(t, &other, PORT_2);
	tell(1, 2, REASON_PORT_ERROR);
	barrier(t);
	assert_int_equal(fake.n_queries, n + 2);
	answer_counters(q.id, 2, 1); /* was not asked for */
	answer_counters(q.id, 1, 5);
	answer_counters(q.id, 1, 6); /* twice */
	wait_call(t, &counters, "");
	wait_call(t, &again, "");
	assert_int_equal(port(t, 1, 1)->state, 4);
	answer_end(q.id, 0, "");
	RUN_UNTIL(t, fake.n_queries == n + 3);
	assert_true(!last_query()->counters && port_set_has(&last_query()->ports, 2));
	answer(1);
	RUN_UNTIL(t, fake.n_queries == n + 4);
	q = *last_query();
	assert_true(q.counters && port_set_has(&q.ports, 2) && !port_set_has(&q.ports, 1));
	/* an end without the answer */
	answer_end(q.id, 0, "");
	wait_call(t, &other, RDMAD_ERROR_QUERY_FAILED);
	assert_false(port(t, 1, 2)->stale);
}

/* A question for counters can fail in every way that others can. */
static void test_counters_fail(void **state)
{
	Test *t = *state;
	Call c = {}, d = {};
	size_t n = fake.n_queries;

	/* the port alone */
	call_counters(t, &c, PORT_1);
	RUN_UNTIL(t, fake.n_queries == n + 1);
	fake.handler->port(fake.userdata, last_query()->id, 1, -EIO, &(PortSnapshot){});
	wait_call(t, &c, RDMAD_ERROR_QUERY_FAILED);
	answer_end(last_query()->id, 0, "");
	assert_false(port(t, 1, 1)->stale);

	/* the worker */
	call_counters(t, &c, PORT_1);
	RUN_UNTIL(t, fake.n_queries == n + 2);
	answer_end(last_query()->id, -EPIPE, "the worker died");
	wait_call(t, &c, RDMAD_ERROR_QUERY_FAILED);
	RUN_UNTIL(t, fake.n_queries == n + 3); /* the device is looked at again */
	assert_false(last_query()->counters);
	answer(4);

	/* the source */
	fake.query_error = -ENOMEM;
	call_counters(t, &c, PORT_1);
	wait_call(t, &c, RDMAD_ERROR_QUERY_FAILED);
	fake.query_error = 0;

	/* the device: all who wait hear of it, and those who come */
	call_counters(t, &c, PORT_1);
	RUN_UNTIL(t, fake.n_queries == n + 4);
	call_counters(t, &d, PORT_2);
	barrier(t);
	answer_end(last_query()->id, -ETIMEDOUT, "no answer");
	wait_call(t, &c, RDMAD_ERROR_TIMEOUT);
	wait_call(t, &d, RDMAD_ERROR_TIMEOUT);
	assert_true(port(t, 1, 1)->stale);
	call_counters(t, &c, PORT_1);
	wait_call(t, &c, RDMAD_ERROR_TIMEOUT);
	assert_int_equal(fake.n_queries, n + 4);
	tell(1, EVENT_ALL_PORTS, REASON_RECOVERED);
	RUN_UNTIL(t, fake.n_queries == n + 5);
	answer(4);
	assert_false(port(t, 1, 1)->stale);
}

int main(void)
{
#define NEW(test)      cmocka_unit_test_setup_teardown(test, setup, teardown)
#define ANSWERED(test) cmocka_unit_test_setup_teardown(test, setup_answered, teardown)
	const struct CMUnitTest tests[] = {
		NEW(test_end_without_answers),
		NEW(test_other_ids),
		NEW(test_port_twice),
		ANSWERED(test_index_used_again),
		ANSWERED(test_shrinks_while_asked),
		ANSWERED(test_grows_while_asked),
		ANSWERED(test_renamed_while_asked),
		ANSWERED(test_pkeys_later),
		ANSWERED(test_recovers_without_need),
		ANSWERED(test_times_out_twice),
		ANSWERED(test_wedged_and_removed),
		ANSWERED(test_cannot_ask),
		ANSWERED(test_unknown_devices),
		ANSWERED(test_cannot_enumerate),
		NEW(test_cannot_enumerate_nothing),
		ANSWERED(test_refresh_under_refresh),
		ANSWERED(test_refresh_finds_device),
		ANSWERED(test_error_is_no_text),
		ANSWERED(test_port_fails),
		ANSWERED(test_fails_while_reconfigured),
		ANSWERED(test_events_while_it_fails),
		ANSWERED(test_counters_in_turn),
		ANSWERED(test_counters_fail),
	};

	unsetenv("NOTIFY_SOCKET");
	return cmocka_run_group_tests_name("manager", tests, NULL, NULL);
}
