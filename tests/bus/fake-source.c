/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "fake-source.h"

#include "counters-text.h"

#include <fcntl.h>

FakeSource fake;

/* What the linker puts in the place of functions of schedule.c */
uint64_t __wrap_schedule_next_settle(Schedule *w);
uint64_t __real_schedule_next_settle(Schedule *w);
uint64_t __wrap_schedule_next_retry(Schedule *w);
uint64_t __real_schedule_next_retry(Schedule *w);

uint64_t __wrap_schedule_next_settle(Schedule *w)
{
	uint64_t delay;

	do
		delay = __real_schedule_next_settle(w);
	while (delay && !fake.settles);
	return delay;
}

uint64_t __wrap_schedule_next_retry(Schedule *w)
{
	(void)__real_schedule_next_retry(w);
	return 3600 * USEC_PER_SEC;
}

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
	if (fake.leave_out > 0 && fake.n_devices > 0) {
		fake.leave_out--;
		(*ret_n)--;
	} else if (fake.leave_out_first > 0 && fake.n_devices > 0) {
		fake.leave_out_first--;
		memmove(*ret, *ret + 1, --(*ret_n) * sizeof(DeviceSnapshot));
	}
	for (size_t i = 0; i < *ret_n; i++)
		texts_hold((*ret)[i].values.texts);
	return 0;
}

static int fake_query(_unused_ Source *s, const Query *query)
{
	if (fake.query_error)
		return fake.query_error;
	/* Who is on a port that goes down: few tests are about it. */
	if (query->kind == QUERY_USERS && !fake.users)
		return -EBUSY;
	assert_true(fake.n_queries < QUERIES_MAX);
	fake.queries[fake.n_queries++] = *query;
	return 0;
}

static void fake_netdevs_changed(_unused_ Source *s, uint32_t device, uint32_t number,
				 const PortSnapshot *now)
{
	if (!now) {
		port_set_add(&fake.interfaces_forgotten, number);
		return;
	}
	assert_int_equal(device, now->values.device_index);
	assert_int_equal(number, now->values.port_num);
	port_set_remove(&fake.interfaces_forgotten, number);
	fake.n_interfaces++;
}

static void fake_hurry(_unused_ Source *s, _unused_ uint32_t device)
{
	fake.n_hurried++;
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
				      .hurry = fake_hurry,
				      .forget = fake_forget,
				      .netdevs_changed = fake_netdevs_changed,
				      .status = fake_status,
				      .free = fake_free};

	fake.source.ops = &ops;
	fake.handler = handler;
	fake.userdata = handler_userdata;
	*ret = &fake.source;
	return 0;
}

void set_device(size_t i, uint32_t index, const char *name, uint32_t ports)
{
	device_snapshot_done(&fake.devices[i]);
	DEVICE_SUPPLY(&fake.devices[i], index, index);
	DEVICE_SUPPLY_TEXT(&fake.devices[i], name, name);
	DEVICE_SUPPLY(&fake.devices[i], node_type, 1);
	DEVICE_SUPPLY(&fake.devices[i], port_count, ports);
}

void tell(uint32_t device, uint32_t port, EventReason reason)
{
	fake.handler->event(fake.userdata, &(Event){device, port, reason});
}

void let_retry(Test *t, uint32_t index)
{
	const Schedule *w = device(t, index)->schedule;

	assert_true(timer_runs(w->retry));
	assert_true(sd_event_source_set_time(w->retry, 0) >= 0);
}

void answer_device(uint64_t id, const char *name)
{
	const HealthEntry reporters[] = {{.name = "fw"},
					 {.name = "fw_fatal", .errors = fake.health_errors}};
	DeviceSnapshot s = {};

	if (name)
		DEVICE_SUPPLY_TEXT(&s, name, name);
	DEVICE_SUPPLY_TEXT(&s, fw_ver, "1.2");
	DEVICE_SUPPLY(&s, events, fake.events);
	s.tables[DEVICE_TABLE_HEALTH] = table_new(reporters, 2, sizeof(reporters[0]));
	mask_set(&s.supplied, DEVICE_ATTR_health_reporters, true);
	fake.handler->device(fake.userdata, id, &s);
	device_snapshot_done(&s);
}

/* What query ID asks of its ports: the fake answers it, and what nobody waits for with it, so that
 * no query follows for that alone. */
static unsigned int asked_parts(uint64_t id)
{
	for (size_t i = 0; i < fake.n_queries; i++)
		if (fake.queries[i].id == id)
			return fake.queries[i].parts | (fake.omits_signal ? 0U : READ_SIGNAL);
	return READ_ALL;
}

void answer_port(uint64_t id, uint32_t port, int error, uint32_t state)
{
	unsigned int parts = asked_parts(id);
	PortSnapshot s = {.parts = parts, .failed = fake.failed & parts};

	PORT_SUPPLY(&s, link_layer, 1);
	PORT_SUPPLY(&s, state, state);
	PORT_SUPPLY(&s, lid, 7);
	PORT_SUPPLY(&s, sm_lid, 1);
	fake.handler->port(fake.userdata, id, port, error, &s);
	port_snapshot_done(&s);
}

void answer_counters(uint64_t id, uint32_t port, uint64_t value)
{
	CounterEntry e = {.group = COUNTER_GROUP_PORT, .file = "symbol_error", .value = value};
	PortSnapshot s = {};

	s.tables[PORT_TABLE_COUNTERS] = table_new(&e, 1, sizeof(e));
	mask_set(&s.supplied, PORT_ATTR_counters, true);
	fake.handler->port(fake.userdata, id, port, 0, &s);
	port_snapshot_done(&s);
}

void answer_end(uint64_t id, int error, const char *text)
{
	fake.handler->end(fake.userdata, id, error, query_error_of(error, text), text);
}

const Query *last_query(void)
{
	assert_true(fake.n_queries > 0);
	return &fake.queries[fake.n_queries - 1];
}

void answer(uint32_t state)
{
	const Query q = *last_query();

	if (q.attributes)
		answer_device(q.id, NULL);
	for (uint32_t n = 1; n <= RDMA_PORT_MAX; n++)
		if (port_set_has(&q.ports, n))
			answer_port(q.id, n, 0, state);
	answer_end(q.id, 0, "");
}

static bool has_rest(const Schedule *w)
{
	return schedule_has_left(w) || w->later_usec > 0;
}

void answer_ports(uint32_t ports, uint32_t layer, uint32_t state)
{
	const Query q = *last_query();

	if (q.attributes)
		answer_device(q.id, NULL);
	for (uint32_t n = 1; n <= ports; n++) {
		PortSnapshot s = {.parts = q.parts};
		char interface[16];

		if (!port_set_has(&q.ports, n))
			continue;
		PORT_SUPPLY(&s, state, state);
		PORT_SUPPLY(&s, phys_state, 5 /* link-up */);
		PORT_SUPPLY(&s, link_layer, layer);
		snprintf(interface, sizeof(interface), "eth%u", n);
		PORT_SUPPLY_TEXT(&s, netdev, interface);
		PORT_SUPPLY(&s, ifindex, 100 + n);
		fake.handler->port(fake.userdata, q.id, n, 0, &s);
		port_snapshot_done(&s);
	}
	answer_end(q.id, 0, "");
}

void answer_rest(Test *t, uint32_t index, uint32_t state)
{
	const Schedule *w = device(t, index)->schedule;

	while (w->asked_id || has_rest(w)) {
		RUN_UNTIL(t, w->asked_id || !has_rest(w));
		if (w->asked_id)
			answer(state);
	}
}

static int on_reply(sd_bus_message *m, void *userdata, _unused_ sd_bus_error *error)
{
	Call *c = userdata;
	const sd_bus_error *e = sd_bus_message_get_error(m);

	c->done = true;
	snprintf(c->error, sizeof(c->error), "%s", e ? e->name : "");
	return 0;
}

/* The same of a call of GetCounters() for one port: the error is what the reply says of it. */
static int on_counters(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	_cleanup_free_ char *text = NULL;
	Call *c = userdata;
	const char *code;

	on_reply(m, userdata, error);
	if (*c->error)
		return 0;
	text = counters_text(m, NULL);
	code = strstr(text, "Error=");
	if (code)
		sscanf(code, "Error=%79s", c->error);
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

static void call(Test *t, Call *c, sd_bus_message_handler_t handler, const char *path,
		 const char *interface, const char *method, const char *types, ...)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	va_list args;

	c->done = false;
	c->slot = sd_bus_slot_unref(c->slot);
	if (!t->has_name)
		wait_name(t);
	assert_true(sd_bus_message_new_method_call(t->f->bus, &m, RDMAD_BUS_NAME, path, interface,
						   method) >= 0);
	va_start(args, types);
	assert_true(sd_bus_message_appendv(m, types, args) >= 0);
	va_end(args);
	assert_true(sd_bus_call_async(t->f->bus, &c->slot, m, handler, c, 0) >= 0);
}

void call_query(Test *t, Call *c, const char *path)
{
	call(t, c, on_reply, path, RDMAD_INTERFACE_PORT, "Query", "a{sv}", 0);
}

void call_query_cached(Test *t, Call *c, const char *path, uint64_t max_age_usec)
{
	call(t, c, on_reply, path, RDMAD_INTERFACE_PORT, "Query", "a{sv}", 1, "max-age-usec", "t",
	     max_age_usec);
}

void call_counters(Test *t, Call *c, const char *path)
{
	call(t, c, on_counters, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "GetCounters", "a{sv}", 1,
	     "ports", "as", 1, path);
}

void call_far_counters(Test *t, Call *c, const char *path)
{
	call(t, c, on_counters, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "GetCounters", "a{sv}", 2,
	     "ports", "as", 1, path, "end", "s", "remote");
}

void call_all_counters(Test *t, Call *c)
{
	call(t, c, on_reply, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "GetCounters", "a{sv}", 0);
}

void call_refresh(Test *t, Call *c)
{
	call(t, c, on_reply, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "Refresh", "a{sv}", 0);
}

void wait_call(Test *t, Call *c, const char *error)
{
	RUN_UNTIL(t, c->done);
	assert_string_equal(c->error, error);
	c->slot = sd_bus_slot_unref(c->slot);
}

void barrier(Test *t)
{
	Call c = {};

	while (sd_event_run(t->event, 0) > 0)
		;
	call(t, &c, on_reply, RDMAD_ROOT_PATH, "org.freedesktop.DBus.Peer", "Ping", "");
	wait_call(t, &c, "");
	while (sd_event_run(t->event, 0) > 0)
		;
}

const Device *device(Test *t, uint32_t index)
{
	return cache_device(&t->manager->cache, index);
}

const PortValues *port(Test *t, uint32_t index, uint32_t number)
{
	const Port *p = device_port(device(t, index), number);

	assert_non_null(p);
	return &p->now.values;
}

uint64_t last_sync(Test *t)
{
	BusStatus s;

	manager_status(t->manager, &s);
	return s.last_sync_usec;
}

static void make_manager(Test *t, const Config *config)
{
	static char lldpd_socket[512], networkd_socket[512], network_manager[512], umad_class[512];

	snprintf(lldpd_socket, sizeof(lldpd_socket), "%s/lldpd", t->f->directory);
	snprintf(networkd_socket, sizeof(networkd_socket), "%s/networkd", t->f->directory);
	snprintf(network_manager, sizeof(network_manager), "%s/network-manager", t->f->directory);
	snprintf(umad_class, sizeof(umad_class), "%s/umad", t->f->directory);
	assert_true(manager_new(&(ManagerSetup){.event = t->event,
						.config = config,
						.bus_address = t->f->address,
						.lldpd_socket = lldpd_socket,
						.networkd_socket = networkd_socket,
						.network_manager = network_manager,
						.umad_class = umad_class,
						.may_read_modules = true,
						.state_directory =
							config->record_max ? t->f->directory : NULL,
						.open_source = open_fake},
				&t->manager) >= 0);
}

void start_again(Test *t, const Config *config)
{
	manager_free(t->manager);
	fake.n_queries = 0;
	t->has_name = false;
	make_manager(t, config);
	start(t);
}

int setup_with(void **state, const Config *config)
{
	Test *t = calloc(1, sizeof(Test));

	memset(&fake, 0, sizeof(fake));
	set_device(0, 1, "mlx5_0", 2);
	fake.n_devices = 1;
	t->f = fixture_new();
	assert_true(sd_event_new(&t->event) >= 0);
	assert_true(sd_bus_attach_event(t->f->bus, t->event, 0) >= 0);
	make_manager(t, config);
	*state = t;
	return 0;
}

int setup(void **state)
{
	static const Config config = {.query_timeout_usec = USEC_PER_SEC};

	return setup_with(state, &config);
}

int teardown(void **state)
{
	Test *t = *state;

	manager_free(t->manager);
	sd_bus_detach_event(t->f->bus);
	fixture_free(t->f);
	sd_event_unref(t->event);
	for (size_t i = 0; i < DEVICES_MAX; i++)
		device_snapshot_done(&fake.devices[i]);
	free(t);
	return 0;
}

void start(Test *t)
{
	assert_true(manager_start(t->manager) >= 0);
	RUN_UNTIL(t, fake.n_queries == 1);
}

int setup_answered(void **state)
{
	setup(state);
	start(*state);
	answer(4);
	barrier(*state);
	fixture_forget(((Test *)*state)->f);
	return 0;
}

static const char *log_path(const Test *t)
{
	static char path[96];

	snprintf(path, sizeof(path), "%s/manager.log", t->f->directory);
	return path;
}

static int saved_stderr = -1;

void log_capture(Test *t)
{
	int fd = open(log_path(t), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	unsetenv("JOURNAL_STREAM");
	saved_stderr = dup(STDERR_FILENO);
	assert_true(saved_stderr >= 0);
	assert_true(dup2(fd, STDERR_FILENO) >= 0);
	close(fd);
}

unsigned int log_count(Test *t, const char *text)
{
	_cleanup_fclose_ FILE *file = fopen(log_path(t), "r");
	unsigned int n = 0;
	char line[512];

	assert_true(dup2(saved_stderr, STDERR_FILENO) >= 0);
	close(saved_stderr);
	assert_non_null(file);
	while (fgets(line, sizeof(line), file))
		n += strstr(line, text) != NULL;
	return n;
}
