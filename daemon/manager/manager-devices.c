/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The set of devices: what came, went or changed its name. */

#include "log.h"
#include "manager-private.h"

#define ENUMERATE_RETRY_FIRST_USEC (250 * USEC_PER_MSEC)
#define ENUMERATE_RETRY_LAST_USEC  (30 * USEC_PER_SEC)
/* How often the devices are listed again at most, one list right after the other. */
#define LISTS_MAX 4U

static void remove_port(Manager *m, Port *p)
{
	manager_record_settle(m);
	schedule_drop_port(p->device->schedule, p->number);
	manager_refuse_calls(p->device, p->number, -ENODEV, "the port has gone");
	if (m->source->ops->netdevs_changed)
		m->source->ops->netdevs_changed(m->source, p->device->index, p->number, NULL);
	shared_memory_remove(m->memory, p);
	if (m->bus)
		bus_publish_port_removed(m->bus, p);
	if (manager_note_absence(m, p))
		manager_want_users(m, p);
	manager_free_readings(p);
	manager_signal_forget(p);
	manager_health_forget_port(m, p);
	cache_remove_port(p);
}

static void remove_device(Manager *m, Device *d)
{
	log_info("%s: removed", TEXT_OF(&d->now.values, name));
	manager_record_settle(m);
	manager_refuse_calls(d, 0, -ENODEV, "the device has gone");
	m->source->ops->forget(m->source, d->index);
	while (d->n_ports > 0)
		remove_port(m, d->ports[d->n_ports - 1]);
	manager_note_device_absence(m, d, TEXT_OF(&d->now.values, name));
	if (d->published)
		manager_announce_device(m, d, CACHE_REMOVED);
	manager_evidence_absence(m, d);
	manager_drop_later(m, d->schedule);
	schedule_free(d->schedule);
	manager_health_forget_device(m, d);
	cache_remove_device(&m->cache, d);
}

static void follow_rename(Manager *m, Device *d)
{
	/* before the history of another name becomes the beginning of theirs */
	manager_tell_later(m, d);
	for (uint32_t n = 0; n < d->n_ports; n++) {
		Port *p = d->ports[n];
		_cleanup_(port_change_done) PortChange change = {};

		cache_apply_port_name(p, realtime_now_usec(), &change);
		if (change.op == CACHE_CHANGED && p->published)
			manager_hand_on_port(m, &change);
	}
}

static uint32_t served_ports(const DeviceSnapshot *s)
{
	return s->values.port_count - s->values.omitted_ports;
}

/* Brings one device of an enumeration into the cache. */
static void take_device(Manager *m, DeviceSnapshot *s)
{
	_cleanup_(device_change_done) DeviceChange change = {};
	uint32_t index = s->values.index;
	Port *excess;
	Device *d;
	int op = cache_apply_device(&m->cache, s, CHANGE_LIST, realtime_now_usec(), &change);

	if (op < 0) {
		log_error_errno(op, "Cannot keep device %u, ignoring it: %m", index);
		return;
	}
	d = change.device;
	if (!d->schedule && !schedule_new(d, m)) {
		log_error_errno(-ENOMEM, "Cannot keep device %u, ignoring it: %m", index);
		cache_remove_device(&m->cache, d);
		return;
	}
	/* at the start one message gives their number instead */
	if (op == CACHE_ADDED)
		evidence_recall(&m->cache.evidence, TEXT_OF(&d->now.values, name), &d->evidence);
	if (op == CACHE_ADDED)
		log_at(m->ready ? LOG_INFO : LOG_DEBUG, 0, "%s: added, %u ports",
		       TEXT_OF(&d->now.values, name), d->n_ports);
	if (d->now.values.omitted_ports > change.was.values.omitted_ports)
		log_warning("%s: has %u ports, of which %u are not served: too many",
			    TEXT_OF(&d->now.values, name), d->now.values.port_count,
			    d->now.values.omitted_ports);
	while ((excess = cache_excess_port(d)))
		remove_port(m, excess);
	/* A device that hangs ends no question after which they would be said. Ports that have come
	 * wait for that end: the record does not say when a list was made. */
	if (m->bus && d->n_ports < d->ports_said)
		bus_publish_device_ports(m->bus, d);
	if (op == CACHE_ADDED || d->n_ports > served_ports(&change.was)) {
		manager_mark_device(d, EVENT_ALL_PORTS, m->ready ? REASON_DEVICE : REASON_STARTUP);
		/* without memory for the mark it is not asked, and the look would not end */
		if (m->looking && schedule_is_dirty(d->schedule))
			schedule_begin_whole(d->schedule);
	}
	manager_hand_on_device(m, &change);
	if (op == CACHE_CHANGED && mask_has(&change.changed, DEVICE_ATTR_name)) {
		manager_note_device_absence(m, d, TEXT_OF(&change.was.values, name));
		manager_note_device_findings(m, d);
		follow_rename(m, d);
	}
}

static int on_enumerate_retry(_unused_ sd_event_source *s, _unused_ uint64_t usec, void *userdata)
{
	Manager *m = userdata;

	m->devices_due = true;
	manager_mark_flush(m);
	return 0;
}

/* The devices that are known stay, and are asked as before. */
static void enumerate_fail(Manager *m, int error)
{
	if (!m->enumerate_failed) {
		log_warning_errno(error, "Cannot enumerate the devices, will try again: %m");
		m->enumerate_retry_usec = ENUMERATE_RETRY_FIRST_USEC;
	}
	m->enumerate_failed = true;
	manager_start_timer(m, &m->enumerate_retry, m->enumerate_retry_usec, on_enumerate_retry, m,
			    "enumerate again");
	m->enumerate_retry_usec = MIN(2 * m->enumerate_retry_usec, ENUMERATE_RETRY_LAST_USEC);
	manager_answer_refresh(m, error);
}

static int compare_indices(const void *a, const void *b)
{
	uint32_t x = ((const DeviceSnapshot *)a)->values.index;
	uint32_t y = ((const DeviceSnapshot *)b)->values.index;

	return (x > y) - (x < y);
}

/* The devices that the source lists now, by ascending index. */
static int list_devices(Manager *m, DeviceSnapshot **ret, size_t *ret_n)
{
	int r = m->source->ops->enumerate(m->source, ret, ret_n);

	if (r >= 0 && *ret_n > 0)
		sort(*ret, *ret_n, sizeof(**ret), compare_indices);
	return r;
}

/* Whether a device that is known is not among the N DEVICES. */
static bool lacks_known(const Manager *m, const DeviceSnapshot *devices, size_t n)
{
	size_t i = 0;

	for (size_t k = 0; k < m->cache.n_devices; k++) {
		while (i < n && devices[i].values.index < m->cache.devices[k]->index)
			i++;
		if (i == n || devices[i].values.index != m->cache.devices[k]->index)
			return true;
	}
	return false;
}

static bool same_indices(const DeviceSnapshot *a, size_t n_a, const DeviceSnapshot *b, size_t n_b)
{
	if (n_a != n_b)
		return false;
	for (size_t i = 0; i < n_a; i++)
		if (a[i].values.index != b[i].values.index)
			return false;
	return true;
}

/*
 * The same. The kernel gives its list in parts, one device each, and knows by a count where it was
 * (ib_enum_all_devs() in drivers/infiniband/core/device.c). If a device goes between two parts, one
 * behind it is left out. So a list from which a known device is missing counts only if the next one
 * is the same.
 */
static int list_devices_surely(Manager *m, DeviceSnapshot **ret, size_t *ret_n)
{
	DeviceSnapshot *devices = NULL;
	size_t n = 0;
	int r = list_devices(m, &devices, &n);

	for (unsigned int i = 0; r >= 0 && i < LISTS_MAX && lacks_known(m, devices, n); i++) {
		DeviceSnapshot *again = NULL;
		size_t n_again = 0;
		bool same;

		r = list_devices(m, &again, &n_again);
		if (r < 0)
			break;
		same = same_indices(devices, n, again, n_again);
		device_array_free(devices, n);
		devices = again;
		n = n_again;
		if (same)
			break;
	}
	if (r < 0) {
		device_array_free(devices, n);
		return r;
	}
	*ret = devices;
	*ret_n = n;
	return 0;
}

void manager_enumerate(Manager *m)
{
	DeviceSnapshot *devices = NULL;
	size_t n = 0, k = 0, i = 0;
	int r = list_devices_surely(m, &devices, &n);

	if (r < 0) {
		enumerate_fail(m, r);
		return;
	}
	if (m->enumerate_failed)
		log_notice("The devices could be enumerated again");
	m->enumerate_failed = false;
	while (k < m->cache.n_devices) {
		Device *d = m->cache.devices[k];

		while (i < n && devices[i].values.index < d->index)
			i++;
		if (i < n && devices[i].values.index == d->index)
			k++;
		else
			remove_device(m, d);
	}
	for (i = 0; i < n; i++)
		take_device(m, &devices[i]);
	device_array_free(devices, n);
	manager_publish_counts(m);
}
