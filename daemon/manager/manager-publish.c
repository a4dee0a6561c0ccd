/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A change goes to the shared memory first, and then to the bus. */

#include "manager-private.h"

static int on_counts(_unused_ sd_event_source *s, _unused_ uint64_t usec, void *userdata)
{
	Manager *m = userdata;

	if (m->bus)
		bus_publish_counts(m->bus);
	return 0;
}

/* When a switch goes down many ports change. Subscribers want to hear of the ports first, so the
 * counts follow a little later. */
void manager_publish_counts(Manager *m)
{
	uint32_t devices = (uint32_t)m->cache.n_devices, ports = (uint32_t)m->cache.n_ports;
	uint32_t active = m->cache.n_active;

	if (devices == m->said_devices && ports == m->said_ports && active == m->said_active &&
	    !(m->bus && bus_lists_changed(m->bus)))
		return;
	m->said_devices = devices;
	m->said_ports = ports;
	m->said_active = active;
	if (m->ready)
		manager_await_timer(m, &m->counts, SCHEDULE_LATER_USEC, on_counts, m, "counts");
}

void manager_publish_device(Manager *m, DeviceChange *change)
{
	Device *d = change->device;

	/* a device that is only listed is published when it has been asked */
	if (change->cause == CHANGE_LIST && !d->published)
		return;
	if (!d->published && change->op != CACHE_REMOVED) {
		d->published = true;
		change->op = CACHE_ADDED;
	}
	if (m->bus)
		bus_publish_device(m->bus, change);
}

void manager_publish_port(Manager *m, PortChange *change)
{
	Port *p = change->port;

	p->published = true;
	shared_memory_count(change);
	/* first: whoever hears of the change on the bus finds it in the memory */
	shared_memory_put(m->memory, p, change->op != CACHE_UNCHANGED);
	if (m->bus)
		bus_publish_port(m->bus, change);
}
