/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The manager's life, its connection to the bus, and the flush. */

#include <systemd/sd-daemon.h>

#include "log.h"
#include "manager-private.h"

/* When many devices come at once, each brings several events, and each event may ask for an
 * enumeration. The first few are carried out at once; after that there is one in this time. */
#define ENUMERATE_USEC	     (50 * USEC_PER_MSEC)
#define ENUMERATE_AT_ONCE    4U
#define RECONNECT_FIRST_USEC (500 * USEC_PER_MSEC)
#define RECONNECT_LAST_USEC  (10 * USEC_PER_SEC)

/* Flush */

static int on_enumerate_pace(_unused_ sd_event_source *s, _unused_ uint64_t usec, void *userdata)
{
	manager_mark_flush(userdata);
	return 0;
}

static void enumerate(Manager *m)
{
	uint64_t now = monotonic_usec(m);

	if (m->enumerate_usec > now + ENUMERATE_AT_ONCE * ENUMERATE_USEC) {
		manager_await_timer(m, &m->enumerate_pace, ENUMERATE_USEC, on_enumerate_pace, m,
				    "enumerate");
		return;
	}
	m->enumerate_usec = MAX(m->enumerate_usec, now) + ENUMERATE_USEC;
	m->devices_due = false;
	manager_enumerate(m);
}

static int on_flush(_unused_ sd_event_source *s, void *userdata)
{
	Manager *m = userdata;

	manager_begin_refresh(m);
	sd_event_source_set_enabled(m->flush, SD_EVENT_OFF);
	if (m->devices_due)
		enumerate(m);
	for (size_t i = 0; i < m->cache.n_devices; i++) {
		Device *d = m->cache.devices[i];

		if (!d->schedule->marked)
			continue;
		d->schedule->marked = false;
		manager_ask(m, d);
	}
	manager_check_look(m);
	return 0;
}

/* The connection to the bus */

static int connect_bus(Manager *m);

static void drop_bus(Manager *m)
{
	if (m->bus && m->source->ops->bus_changed)
		(void)m->source->ops->bus_changed(m->source, NULL);
	m->bus = bus_free(m->bus);
}

static int on_reconnect(sd_event_source *s, uint64_t usec, void *userdata);

static void reconnect_later(Manager *m)
{
	manager_start_timer(m, &m->reconnect, m->reconnect_usec, on_reconnect, m, "reconnect");
	m->reconnect_usec = MIN(2 * m->reconnect_usec, RECONNECT_LAST_USEC);
}

/* A timer, because on_disconnected() runs inside the connection that is freed here. */
static int on_reconnect(_unused_ sd_event_source *s, _unused_ uint64_t usec, void *userdata)
{
	Manager *m = userdata;

	manager_forget_processes(m);
	manager_neighbors_forget(m);
	manager_far_forget(m);
	manager_cable_forget(m);
	drop_bus(m);
	if (connect_bus(m) < 0 || (m->ready && bus_acquire_name(m->bus) < 0)) {
		drop_bus(m);
		reconnect_later(m);
	}
	return 0;
}

static void on_name(void *userdata, int error)
{
	Manager *m = userdata;

	m->has_name = error >= 0;
	if (error < 0 && (m->served || error == -ECONNRESET)) {
		reconnect_later(m);
	} else if (error < 0) {
		sd_event_exit(m->event, EXIT_FAILURE);
	} else if (m->served) {
		log_info("Connected to the bus again");
	} else {
		m->served = true;
		log_info("Serving %zu devices with %zu ports", m->cache.n_devices,
			 m->cache.n_ports);
		sd_notify(false, "READY=1\nSTATUS=Serving");
		if (m->source->ops->served && m->source->ops->served(m->source) < 0)
			sd_event_exit(m->event, EXIT_FAILURE);
	}
}

/* Connects again at once; but to a bus that ends the connection before it gives us the name, after
 * a growing delay. */
static void on_disconnected(void *userdata)
{
	Manager *m = userdata;

	if (m->has_name) {
		log_warning("The bus has gone, connecting again");
		m->has_name = false;
		m->reconnect_usec = RECONNECT_FIRST_USEC;
		manager_start_timer(m, &m->reconnect, 0, on_reconnect, m, "reconnect");
	} else {
		reconnect_later(m);
	}
}

static int connect_bus(Manager *m)
{
	static const BusHandler handler = {manager_query,	manager_read,	manager_refresh,
					   manager_acknowledge, manager_status, on_name,
					   on_disconnected};
	const BusSetup setup = {.event = m->event,
				.address = m->bus_address,
				.cache = &m->cache,
				.config = &m->config,
				.memory = m->memory,
				.handler = &handler,
				.userdata = m};
	int r = bus_new(&setup, &m->bus);

	if (r < 0)
		return r;
	r = m->source->ops->bus_changed
		    ? m->source->ops->bus_changed(m->source, bus_connection(m->bus))
		    : 0;
	return r < 0 ? log_error_errno(r, "Cannot prepare the bus connection: %m") : 0;
}

/* Life */

static void on_event(void *userdata, const Event *e)
{
	manager_on_event(userdata, e);
	manager_health_event(userdata, e);
}

int manager_new(const ManagerSetup *setup, Manager **ret)
{
	static const SourceHandler handler = {on_event,		 manager_on_noted,
					      manager_on_asking, manager_on_device,
					      manager_on_port,	 manager_on_end};
	const char *const paths[] = {
		[NEIGHBORS_OF_LLDPD] = setup->lldpd_socket,
		[NEIGHBORS_OF_NETWORKD] = setup->networkd_socket,
		[NEIGHBORS_OF_NETWORK_MANAGER] = setup->network_manager,
		[NEIGHBORS_OF_FABRIC] = setup->umad_class,
	};
	_cleanup_(manager_free_pointer) Manager *m = calloc(1, sizeof(Manager));
	int r;

	if (!m)
		return log_error_errno(-ENOMEM, "No memory to start: %m");
	m->event = sd_event_ref(setup->event);
	m->config = *setup->config;
	m->bus_address = setup->bus_address;
	for (NeighborSource s = 0; s < _NEIGHBOR_SOURCE_MAX; s++)
		m->neighbor_asks[s] = (NeighborAsk){m, s, paths[s], NULL};
	m->may_read_modules = setup->may_read_modules;
	m->reconnect_usec = RECONNECT_FIRST_USEC;
	m->reading_rows = manager_reading_rows;
	r = sd_event_add_defer(m->event, &m->flush, on_flush, m);
	if (r < 0)
		return log_error_errno(r, "Cannot set up the flush: %m");
	/* The flush has the priority of the sources that bring events, so it runs after all events
	 * that wait already. */
	sd_event_source_set_enabled(m->flush, SD_EVENT_OFF);
	r = shared_memory_new(m->event, 0, &m->memory);
	if (r < 0)
		return log_error_errno(r, "Cannot make the shared memory: %m");
	r = manager_health_start(m);
	if (r >= 0)
		r = manager_expect_start(m, setup->expect_path);
	if (r < 0)
		return log_error_errno(r, "No memory for the health of ports: %m");
	if (setup->state_directory)
		manager_history_start(m, setup->state_directory);
	m->recorder = recorder_new(m, setup->state_directory);
	r = setup->open_source(setup->userdata, &handler, m, &m->source);
	if (r < 0)
		return r;
	r = connect_bus(m);
	if (r < 0)
		return r;
	*ret = steal_pointer(&m);
	return 0;
}

int manager_start(Manager *m)
{
	int r = m->source->ops->start(m->source);

	if (r < 0)
		return log_error_errno(r, "Cannot watch for changes: %m");
	manager_mark_everything(m, REASON_STARTUP);
	manager_start_reconcile(m);
	manager_neighbors_start(m);
	manager_counters_start(m);
	manager_cable_start(m);
	manager_limit_start(m);
	return 0;
}

Manager *manager_free(Manager *m)
{
	if (!m)
		return NULL;
	for (size_t i = 0; i < m->cache.n_devices; i++) {
		Device *d = m->cache.devices[i];

		manager_refuse_calls(d, 0, -ESHUTDOWN, "rdmad stops");
		manager_tell_later(m, d);
		for (uint32_t n = 0; n < d->n_ports; n++) {
			manager_free_readings(d->ports[n]);
			manager_signal_forget(d->ports[n]);
		}
		manager_drop_later(m, d->schedule);
		schedule_free(d->schedule);
	}
	recorder_free(m->recorder);
	sd_event_source_disable_unref(m->record_day);
	manager_neighbors_forget(m);
	manager_far_forget(m);
	m->cable = sd_event_source_disable_unref(m->cable);
	manager_cable_forget(m);
	drop_bus(m);
	sd_event_source_disable_unref(m->neighbors);
	sd_event_source_disable_unref(m->counter_timer);
	sd_event_source_disable_unref(m->reconnect);
	sd_event_source_disable_unref(m->flush);
	sd_event_source_disable_unref(m->later);
	sd_event_source_disable_unref(m->enumerate_pace);
	sd_event_source_disable_unref(m->reconcile);
	sd_event_source_disable_unref(m->start);
	sd_event_source_disable_unref(m->counts);
	sd_event_source_disable_unref(m->judge);
	sd_event_source_disable_unref(m->refresh_pace);
	sd_event_source_disable_unref(m->enumerate_retry);
	source_free(m->source);
	shared_memory_free(m->memory);
	manager_history_end(m);
	manager_expect_end(m);
	manager_health_end(m);
	cache_done(&m->cache);
	sd_event_unref(m->event);
	free(m);
	return NULL;
}
