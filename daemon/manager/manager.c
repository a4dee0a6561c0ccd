/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "manager.h"

#include <systemd/sd-daemon.h>

#include "log.h"
#include "manager-private.h"
#include "simulator.h"
#include "source-kernel.h"

/* Of a crowd of devices each has several events: after a few enumerations at once there is one in
 * this time. */
#define ENUMERATE_USEC	     (50 * USEC_PER_MSEC)
#define ENUMERATE_AT_ONCE    4U
#define RECONNECT_FIRST_USEC (500 * USEC_PER_MSEC)
#define RECONNECT_LAST_USEC  (10 * USEC_PER_SEC)

void manager_start_timer(Manager *m, sd_event_source **s, uint64_t delay_usec,
			 sd_event_time_handler_t handler, void *userdata, const char *name)
{
	uint64_t when = monotonic_usec(m) + delay_usec;
	int r;

	if (*s) {
		r = sd_event_source_set_time(*s, when);
		if (r >= 0)
			r = sd_event_source_set_enabled(*s, SD_EVENT_ONESHOT);
	} else {
		r = sd_event_add_time(m->event, s, CLOCK_MONOTONIC, when, USEC_PER_MSEC, handler,
				      userdata);
		if (r >= 0)
			sd_event_source_set_description(*s, name);
	}
	if (r < 0)
		log_warning_errno(r, "Cannot arm the timer \"%s\", ignoring: %m", name);
}

/* Everything has been asked once: the name on the bus says so, and READY when it is there. */
void manager_check_ready(Manager *m)
{
	if (m->ready || m->enumerate)
		return;
	for (size_t i = m->n_seen; i < m->cache.n_devices; i++) {
		const Device *d = m->cache.devices[i];
		const Schedule *w = d->schedule;

		if (d->published)
			m->n_seen += i == m->n_seen;
		else if (!w->wedged && (w->asked_id || schedule_is_dirty(w)))
			return;
	}
	manager_publish_counts(m); /* which nobody knows otherwise yet */
	m->ready = true;
	if (m->bus && bus_acquire_name(m->bus) < 0)
		sd_event_exit(m->event, EXIT_FAILURE);
}

/* Flush */

static int on_enumerate_pace(_unused_ sd_event_source *s, _unused_ uint64_t usec, void *userdata)
{
	manager_mark_flush(userdata);
	return 0;
}

static void enumerate(Manager *m)
{
	uint64_t now = monotonic_usec(m);

	if (m->enumerated_usec > now + ENUMERATE_AT_ONCE * ENUMERATE_USEC) {
		if (!timer_runs(m->enumerate_pace))
			manager_start_timer(m, &m->enumerate_pace, ENUMERATE_USEC,
					    on_enumerate_pace, m, "enumerate");
		return;
	}
	m->enumerated_usec = MAX(m->enumerated_usec, now) + ENUMERATE_USEC;
	m->enumerate = false;
	manager_enumerate(m);
}

static int on_flush(_unused_ sd_event_source *s, void *userdata)
{
	Manager *m = userdata;

	if (m->n_refreshing > 0 && m->n_covered == 0) {
		m->n_covered = m->n_refreshing;
		manager_mark_everything(m, REASON_REFRESH);
	}
	sd_event_source_set_enabled(m->flush, SD_EVENT_OFF);
	if (m->enumerate)
		enumerate(m);
	for (size_t i = 0; i < m->cache.n_devices; i++)
		manager_ask(m, m->cache.devices[i]);
	manager_check_ready(m);
	return 0;
}

void manager_mark_flush(Manager *m)
{
	if (!timer_runs(m->flush))
		sd_event_source_set_enabled(m->flush, SD_EVENT_ONESHOT);
}

/* Events */

/* Reasons that say nothing about network interfaces. */
#define NO_LINK_REASONS                                                                            \
	(REASON_BIT(REASON_CHARDEV) | REASON_BIT(REASON_PORT_ACTIVE) |                             \
	 REASON_BIT(REASON_PORT_ERROR) | REASON_BIT(REASON_LID_CHANGE) |                           \
	 REASON_BIT(REASON_SM_CHANGE) | REASON_BIT(REASON_CLIENT_REREGISTER) |                     \
	 REASON_BIT(REASON_PKEY_CHANGE) | REASON_BIT(REASON_GID_CHANGE) |                          \
	 REASON_BIT(REASON_SPEED_CHANGE))

void manager_mark_device(Manager *m, Device *d, uint32_t port, EventReason reason)
{
	const uint32_t whole = REASON_BIT(REASON_STARTUP) | REASON_BIT(REASON_RECONCILE) |
			       REASON_BIT(REASON_REFRESH) | REASON_BIT(REASON_RESUME) |
			       REASON_BIT(REASON_OVERRUN);

	if (reason == REASON_RECOVERED) {
		if (d->schedule->wedged)
			log_info("%s: answers again", d->now.values.name);
		d->schedule->wedged = false;
	}
	if (schedule_mark(d->schedule, port, reason) < 0)
		log_warning("%s: no memory to note an event, ignoring", d->now.values.name);
	else if (whole & REASON_BIT(reason) && !d->schedule->wedged)
		manager_set_sync(m, d->schedule, true, d->schedule->asked_sync);
}

static void on_event(void *userdata, const Event *e)
{
	Manager *m = userdata;
	Device *d;

	log_debug("event: device %u port %u %s", e->device, e->port, event_reason_name(e->reason));
	if (e->reason == REASON_OVERRUN)
		m->lost_events++;
	if (!(NO_LINK_REASONS & REASON_BIT(e->reason)))
		m->links_generation++;
	manager_mark_flush(m);
	if (e->device != EVENT_ALL_DEVICES) {
		d = cache_device(&m->cache, e->device);
		if (d)
			manager_mark_device(m, d, e->port, e->reason);
		if (!d || e->reason == REASON_DEVICE || e->reason == REASON_DEVICE_FATAL)
			m->enumerate = true;
		return;
	}
	m->enumerate = true;
	/* Some device came, went or has another name: the enumeration finds out which. */
	if (e->reason == REASON_DEVICE)
		return;
	for (size_t i = 0; i < m->cache.n_devices; i++)
		manager_mark_device(m, m->cache.devices[i], EVENT_ALL_PORTS, e->reason);
}

void manager_mark_everything(Manager *m, EventReason reason)
{
	on_event(m, &(Event){EVENT_ALL_DEVICES, EVENT_ALL_PORTS, reason});
}

/* Up to a tenth earlier or later, so that a cluster's machines do not all ask at once. */
static uint64_t reconcile_delay(const Manager *m)
{
	uint64_t spread = m->config.reconcile_usec / 5;

	return m->config.reconcile_usec - spread / 2 + (spread ? (uint64_t)random() % spread : 0);
}

static int on_reconcile(_unused_ sd_event_source *s, _unused_ uint64_t usec, void *userdata)
{
	Manager *m = userdata;

	manager_mark_everything(m, REASON_RECONCILE);
	manager_start_timer(m, &m->reconcile, reconcile_delay(m), on_reconcile, m, "reconcile");
	return 0;
}

/* The bus */

static int connect_bus(Manager *m);
static void reconnect_later(Manager *m);

static int on_reconnect(_unused_ sd_event_source *s, _unused_ uint64_t usec, void *userdata)
{
	Manager *m = userdata;

	if (m->bus) {
		/* here and not in the handler below, which runs inside the connection */
		m->sleep = watch_sleep_free(m->sleep);
		m->disconnected = sd_bus_slot_unref(m->disconnected);
		m->bus = bus_free(m->bus);
	}
	if (connect_bus(m) < 0 || (m->ready && bus_acquire_name(m->bus) < 0)) {
		if (m->bus) {
			m->sleep = watch_sleep_free(m->sleep);
			m->disconnected = sd_bus_slot_unref(m->disconnected);
			m->bus = bus_free(m->bus);
		}
		reconnect_later(m);
	}
	return 0;
}

static void reconnect_later(Manager *m)
{
	manager_start_timer(m, &m->reconnect, m->reconnect_usec, on_reconnect, m, "reconnect");
	m->reconnect_usec = MIN(2 * m->reconnect_usec, RECONNECT_LAST_USEC);
}

void manager_on_name(Manager *m, int error)
{
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
	}
}

static int on_disconnected(_unused_ sd_bus_message *message, void *userdata,
			   _unused_ sd_bus_error *error)
{
	Manager *m = userdata;

	/* at once, but not again and again to a bus that throws us out before it gives us the name
	 */
	if (m->has_name) {
		log_warning("The bus has gone, connecting again");
		m->has_name = false;
		m->reconnect_usec = RECONNECT_FIRST_USEC;
		manager_start_timer(m, &m->reconnect, 0, on_reconnect, m, "reconnect");
	} else {
		reconnect_later(m);
	}
	return 0;
}

static int connect_bus(Manager *m)
{
	int r = bus_new(m, m->bus_address, &m->bus);

	if (r < 0)
		return r;
	r = sd_bus_match_signal(bus_connection(m->bus), &m->disconnected, NULL,
				"/org/freedesktop/DBus/Local", "org.freedesktop.DBus.Local",
				"Disconnected", on_disconnected, m);
	if (r < 0)
		return log_error_errno(r, "Cannot watch the bus connection: %m");
	if (m->simulated)
		return 0;
	r = watch_sleep_new(bus_connection(m->bus), on_event, m, &m->sleep);
	if (r < 0)
		(void)log_warning_errno(r, "Cannot watch for suspend and resume, ignoring: %m");
	return 0;
}

/* Calls from the bus */

const Cache *manager_cache(const Manager *m)
{
	return &m->cache;
}

const Config *manager_config(const Manager *m)
{
	return &m->config;
}

Bus *manager_bus(const Manager *m)
{
	return m->bus;
}

SharedMemory *manager_memory(const Manager *m)
{
	return m->memory;
}

sd_event *manager_event_loop(const Manager *m)
{
	return m->event;
}

Source *manager_simulator(const Manager *m)
{
	return m->simulated ? m->source : NULL;
}

void manager_status(const Manager *m, ManagerStatus *ret)
{
	*ret = (ManagerStatus){.simulated = m->simulated,
			       .reconcile_usec = m->config.reconcile_usec,
			       .last_sync_usec = m->last_sync_usec,
			       .lost_events = m->lost_events};
	if (!m->simulated)
		source_kernel_status(m->source, &ret->monitor_mode);
}
/* Life */

static int open_source(Manager *m, const char *scenario, const char *worker)
{
	static const SourceHandler handler = {on_event, manager_on_device, manager_on_port,
					      manager_on_end};
	_cleanup_free_ char *message = NULL;
	int r;

	if (!scenario) {
		r = source_kernel_new(m->event, &m->config, worker, &handler, m, &m->source);
		if (r < 0)
			return log_error_errno(r, "Cannot set up what watches the kernel: %m");
		return 0;
	}
	m->simulated = true;
	r = simulator_new(m->event, &m->config, scenario, &handler, m, &m->source, &message);
	if (r < 0)
		return log_error_errno(r, "%s", message ? message : scenario);
	return 0;
}

int manager_new(sd_event *event, const Config *config, const char *bus_address,
		const char *scenario, const char *worker, Manager **ret)
{
	_cleanup_(manager_free_pointer) Manager *m = calloc(1, sizeof(Manager));
	int r;

	if (!m)
		return log_error_errno(-ENOMEM, "No memory to start: %m");
	m->event = sd_event_ref(event);
	m->config = *config;
	m->reconnect_usec = RECONNECT_FIRST_USEC;
	if (bus_address) {
		m->bus_address = strdup(bus_address);
		if (!m->bus_address)
			return log_error_errno(-ENOMEM, "No memory to start: %m");
	}
	r = sd_event_add_defer(event, &m->flush, on_flush, m);
	if (r < 0)
		return log_error_errno(r, "Cannot set up the flush: %m");
	/* Of the same priority as what brings events: it has its turn after all that wait already,
	 * and before what comes later. */
	sd_event_source_set_enabled(m->flush, SD_EVENT_OFF);
	r = shared_memory_new(event, 0, &m->memory);
	if (r < 0)
		return log_error_errno(r, "Cannot make the shared memory: %m");
	r = open_source(m, scenario, worker);
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
	if (m->config.reconcile_usec)
		manager_start_timer(m, &m->reconcile, reconcile_delay(m), on_reconcile, m,
				    "reconcile");
	return 0;
}

Manager *manager_free(Manager *m)
{
	for (size_t i = 0; i < m->cache.n_devices; i++) {
		Schedule *w = m->cache.devices[i]->schedule;

		manager_answer_queries(m, &w->asked_waiting, 0, NULL, -ESHUTDOWN, "rdmad stops");
		manager_answer_queries(m, &w->waiting, 0, NULL, -ESHUTDOWN, "rdmad stops");
		manager_refuse_counters(m, m->cache.devices[i], 0, -ESHUTDOWN, "rdmad stops");
		manager_free_counters(m->cache.devices[i]);
		manager_log_states(m->cache.devices[i]);
		schedule_free(w);
	}
	for (size_t i = 0; i < m->n_refreshing; i++)
		sd_bus_message_unref(m->refreshing[i]);
	free(m->refreshing);
	watch_sleep_free(m->sleep);
	sd_bus_slot_unref(m->disconnected);
	if (m->bus)
		bus_free(m->bus);
	sd_event_source_disable_unref(m->reconnect);
	sd_event_source_disable_unref(m->flush);
	sd_event_source_disable_unref(m->enumerate_pace);
	sd_event_source_disable_unref(m->reconcile);
	sd_event_source_disable_unref(m->counts);
	sd_event_source_disable_unref(m->enumerate_retry);
	source_free(m->source);
	if (m->memory)
		shared_memory_free(m->memory);
	cache_done(&m->cache);
	history_list_done(&m->histories);
	sd_event_unref(m->event);
	free(m->bus_address);
	free(m);
	return NULL;
}
