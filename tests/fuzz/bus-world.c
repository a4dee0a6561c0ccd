/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "bus-world.h"

#define ACTIVE	       4U
#define LARGE_GIDS     1024U
#define FIRST_DEVICE   0U
#define LAST_DEVICE    7U
#define REALTIME_USEC  UINT64_C(1700000000000000)
#define MEMORY_RECORDS 4U

static PortSnapshot port_snapshot(uint32_t state, size_t n_gids)
{
	static GidEntry gids[LARGE_GIDS];
	const PkeyEntry pkey = {.pkey = 0xffff};
	PortSnapshot s = {.parts = READ_ALL};

	PORT_SUPPLY(&s, state, state);
	PORT_SUPPLY(&s, phys_state, 5);
	PORT_SUPPLY(&s, link_layer, 1);
	PORT_SUPPLY(&s, lid, 17);
	PORT_SUPPLY(&s, sm_lid, 1);
	PORT_SUPPLY(&s, active_mtu, 5);
	PORT_SUPPLY(&s, active_width, 2);
	PORT_SUPPLY(&s, active_speed, 32);
	for (size_t i = 0; i < n_gids; i++)
		gids[i] = (GidEntry){.gid = {0xfe, 0x80, [14] = (uint8_t)(i >> 8), (uint8_t)i},
				     .index = (uint32_t)i};
	s.tables[PORT_TABLE_GIDS] = table_new(gids, n_gids, sizeof(gids[0]));
	mask_set(&s.supplied, PORT_ATTR_gids, true);
	s.tables[PORT_TABLE_PKEYS] = table_new(&pkey, 1, sizeof(pkey));
	mask_set(&s.supplied, PORT_ATTR_pkeys, true);
	return s;
}

void world_change(World *w, Port *p, uint32_t state)
{
	PortSnapshot s = port_snapshot(state, 1);
	_cleanup_(port_change_done) PortChange change = {};

	cache_apply_port(p, &s, REASON_BIT(REASON_PORT_ERROR), REALTIME_USEC, &change);
	port_snapshot_done(&s);
	shared_memory_put(w->memory, p, true);
	bus_publish_port(w->bus, &change);
	bus_publish_counts(w->bus);
}

/* Adds a device with its ports. Nobody is told. */
static Device *add_device(World *w, uint32_t index, const char *name, uint32_t ports, size_t n_gids)
{
	DeviceSnapshot s = {};
	PortChange change;
	DeviceChange device_change;
	Device *d;

	DEVICE_SUPPLY(&s, index, index);
	DEVICE_SUPPLY_TEXT(&s, name, name);
	DEVICE_SUPPLY(&s, port_count, ports);
	DEVICE_SUPPLY(&s, node_type, 1);
	DEVICE_SUPPLY(&s, dev_protocol, PROTOCOL_INFINIBAND);
	FUZZ_CHECK(cache_apply_device(&w->cache, &s, CHANGE_LIST, 0, &device_change) ==
		   CACHE_ADDED);
	device_snapshot_done(&s);
	d = device_change.device;
	d->published = true;
	for (uint32_t i = 1; i <= ports; i++) {
		PortSnapshot port = port_snapshot(ACTIVE, n_gids);
		Port *p = device_port(d, i);

		cache_apply_port(p, &port, REASON_BIT(REASON_STARTUP), REALTIME_USEC, &change);
		port_change_done(&change);
		port_snapshot_done(&port);
		p->published = true;
		shared_memory_put(w->memory, p, true);
	}
	return d;
}

/* What is read of KIND of P has been read, or could not be: ERROR. */
static void end_reading(World *w, const Port *p, QueryKind kind, int error)
{
	Reading *r = reading_of(p, kind);

	if (!r)
		return;
	r->step = READING_IDLE;
	r->error = error;
	if (error == 0)
		sd_event_now(w->event, CLOCK_MONOTONIC, &r->monotonic_usec);
	bus_resume_calls(&r->calls);
}

void world_toggle_device(World *w)
{
	Device *d = cache_device(&w->cache, LAST_DEVICE);

	if (!d) {
		d = add_device(w, LAST_DEVICE, "rocep1", 1, 1);
		bus_publish_device(w->bus, &(DeviceChange){.device = d, .op = CACHE_ADDED});
		bus_publish_port(w->bus, &(PortChange){.port = device_port(d, 1),
						       .op = CACHE_ADDED,
						       .reasons = REASON_BIT(REASON_DEVICE)});
	} else {
		Port *p = device_port(d, 1);

		/* as the manager: no call waits for what has gone */
		bus_answer_queries(&w->queries, 0, NULL, -ENODEV, "the device has gone");
		for (QueryKind k = QUERY_COUNTERS; k < _QUERY_KIND_MAX; k++)
			end_reading(w, p, k, -ENODEV);
		p->readings = NULL;
		shared_memory_remove(w->memory, p);
		bus_publish_port_removed(w->bus, p);
		bus_publish_device(w->bus, &(DeviceChange){.device = d, .op = CACHE_REMOVED});
		cache_remove_device(&w->cache, d);
	}
	bus_publish_counts(w->bus);
}

Port *world_port(World *w, unsigned int i)
{
	Device *d = cache_device(&w->cache, i < WORLD_PORTS - 1 ? FIRST_DEVICE : LAST_DEVICE);

	return d ? device_port(d, i < WORLD_PORTS - 1 ? i + 1 : 1) : NULL;
}

/* The handler */

static int answer(World *w, Port *p, PendingList *list, PendingList **ret_list)
{
	PortChange change;

	*ret_list = list;
	/* a device that hangs has failed before */
	if (w->answer == WORLD_NEVER)
		cache_apply_port_error(p, -EIO, QUERY_ERROR_DEVICE, "no answer", 0, 1000, &change);
	return w->answer == WORLD_AT_ONCE ? 0 : w->answer == WORLD_LATER ? 1 : -ETIMEDOUT;
}

static int on_query(void *userdata, Port *p, _unused_ uint64_t max_age_usec, PendingList **ret_list)
{
	World *w = userdata;

	return answer(w, p, &w->queries, ret_list);
}

static Reading *reading(World *w, const Port *p, QueryKind kind)
{
	return &w->readings[p->device->index == FIRST_DEVICE ? p->number - 1 : WORLD_PORTS - 1]
			   [kind];
}

static int on_read(void *userdata, Port *p, QueryKind kind)
{
	World *w = userdata;
	Reading *r = reading(w, p, kind);

	if (!reading_of(p, kind)) {
		r->next = p->readings;
		p->readings = r;
		r->port = p;
		r->kind = kind;
	}
	if (r->step == READING_IDLE && w->answer == WORLD_LATER) {
		r->step = READING_ASKED;
		sd_event_now(w->event, CLOCK_MONOTONIC, &r->began_usec);
	}
	if (w->answer == WORLD_AT_ONCE)
		sd_event_now(w->event, CLOCK_MONOTONIC, &r->monotonic_usec);
	if (w->answer == WORLD_NEVER)
		r->error = -ETIMEDOUT;
	return r->step != READING_IDLE;
}

static PendingList *on_refresh(void *userdata)
{
	World *w = userdata;

	return &w->refreshes;
}

static int on_acknowledge(_unused_ void *userdata, _unused_ Port *p, _unused_ const char *check,
			  _unused_ const char *text)
{
	return -ENOENT;
}

static void on_status(_unused_ void *userdata, BusStatus *ret)
{
	*ret = (BusStatus){.last_sync_usec = REALTIME_USEC};
}

static void on_name(_unused_ void *userdata, int error)
{
	FUZZ_CHECK(error == 0);
}

static void on_disconnected(void *userdata)
{
	World *w = userdata;

	w->disconnected = true;
}

/* Calls about one port after the other, as the manager answers them: here all are about any. */
void world_answer(World *w, int error)
{
	const char *text = error < 0 ? strerror(-error) : "";

	for (unsigned int i = 0; i < WORLD_PORTS; i++) {
		const Port *p = world_port(w, i);

		if (!p)
			continue;
		bus_answer_queries(&w->queries, p->number, p, error, text);
		for (QueryKind k = QUERY_COUNTERS; k < _QUERY_KIND_MAX; k++)
			end_reading(w, p, k, error);
	}
	bus_answer_refresh(&w->refreshes, error);
}

void world_init(World *w, const char *address, bool large, uint64_t long_reply_rate)
{
	static const BusHandler handler = {on_query,  on_read, on_refresh,     on_acknowledge,
					   on_status, on_name, on_disconnected};
	static const CounterEntry counters[] = {
		{.file = "port_xmit_data", .value = 7},
		{.file = "port_rcv_data", .error = -EIO},
		{.file = "of_a_driver", .value = UINT64_MAX, .group = COUNTER_GROUP_HARDWARE},
	};
	static const HolderEntry users[] = {
		{.started = 1, .kind = USER_PROCESS, .pid = 4711, .qps = 3, .name = "train"},
		{.kind = USER_PROCESS, .pid = 4712, .qps = 1, .uid = USER_NO_UID},
		{.kind = USER_KERNEL, .qps = 2, .uid = USER_NO_UID, .name = "ib_core"},
	};
	static char port[] = "mlx5_0/1", *configured[] = {port, NULL};
	BusSetup setup = {.address = address, .handler = &handler, .userdata = w};

	*w = (World){.config = CONFIG_DEFAULT};
	w->config.long_reply_rate = long_reply_rate;
	w->config.wait_ports = configured;
	for (size_t i = 0; i < WORLD_PORTS; i++) {
		w->readings[i][QUERY_COUNTERS].table =
			table_new(counters, ARRAY_SIZE(counters), sizeof(counters[0]));
		w->readings[i][QUERY_USERS].table =
			table_new(users, ARRAY_SIZE(users), sizeof(users[0]));
		FUZZ_CHECK(w->readings[i][QUERY_COUNTERS].table &&
			   w->readings[i][QUERY_USERS].table);
	}
	FUZZ_CHECK(sd_event_new(&w->event) >= 0);
	FUZZ_CHECK(shared_memory_new(w->event, MEMORY_RECORDS, &w->memory) == 0);
	(void)add_device(w, FIRST_DEVICE, "mlx5_0", 2, large ? LARGE_GIDS : 2);
	(void)add_device(w, LAST_DEVICE, "rocep1", 1, 1);
	setup.event = w->event;
	setup.cache = &w->cache;
	setup.config = &w->config;
	setup.memory = w->memory;
	FUZZ_CHECK(bus_new(&setup, &w->bus) >= 0);
	FUZZ_CHECK(bus_acquire_name(w->bus) >= 0);
}

void world_done(World *w)
{
	bus_free(w->bus);
	shared_memory_free(w->memory);
	cache_done(&w->cache);
	for (size_t i = 0; i < WORLD_PORTS; i++)
		for (QueryKind k = 0; k < _QUERY_KIND_MAX; k++)
			table_free(w->readings[i][k].table);
	sd_event_unref(w->event);
}
