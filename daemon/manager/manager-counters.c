/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * rdmad reads counters by itself once in CounterIntervalSec=, so that the judge knows of loss and
 * congestion where nobody else reads them: one device after the other, those ports on which
 * programs can move data.
 */

#include "decode.h"
#include "manager-private.h"

/* From the question to one device to that to the next. */
#define STEP_USEC (100 * USEC_PER_MSEC)

static bool is_being_read(const Port *p)
{
	const Reading *r = reading_of(p, QUERY_COUNTERS);

	return r && r->step != READING_IDLE;
}

static bool is_reading(const Device *d)
{
	for (uint32_t i = 0; d && i < d->n_ports; i++)
		if (is_being_read(d->ports[i]))
			return true;
	return false;
}

/* Those that somebody reads, or has read lately, need no reading of rdmad's own. */
static bool is_due(const Manager *m, const Port *p)
{
	const PortSnapshot *s = &p->now;
	uint64_t last = health_counters_usec(p);

	return p->published && !s->values.stale && !p->device->schedule->wedged &&
	       (s->values.state >= PORT_STATE_ACTIVE || !mask_has(&s->valid, PORT_ATTR_state)) &&
	       !is_being_read(p) &&
	       (!last || monotonic_usec(m) - last >= m->config.counter_usec / 2);
}

/* Returns whether a port of D is read. */
static bool read_device(Manager *m, Device *d)
{
	bool reads = false;

	for (uint32_t i = 0; i < d->n_ports; i++) {
		Port *p = d->ports[i];

		if (is_due(m, p) && manager_read(m, p, QUERY_COUNTERS) > 0) {
			reading_of(p, QUERY_COUNTERS)->is_own = true;
			reads = true;
		}
	}
	return reads;
}

/* Reads the next device of which a port is due, from the index m->counter_device on. False: there
 * is none. */
static bool read_next(Manager *m)
{
	for (size_t i = 0; i < m->cache.n_devices; i++) {
		Device *d = m->cache.devices[i];

		if (d->index < m->counter_device || !read_device(m, d))
			continue;
		m->counter_device = d->index + 1;
		return true;
	}
	return false;
}

static int on_time(_unused_ sd_event_source *s, _unused_ uint64_t usec, void *userdata)
{
	Manager *m = userdata;

	if ((m->counter_device > 0 && is_reading(cache_device(&m->cache, m->counter_device - 1))) ||
	    read_next(m)) {
		manager_start_timer(m, &m->counter_timer, STEP_USEC, on_time, m, "counters");
		return 0;
	}
	m->counter_device = 0;
	manager_counters_start(m);
	return 0;
}

void manager_counters_start(Manager *m)
{
	if (m->config.counter_usec)
		manager_start_timer(m, &m->counter_timer, m->config.counter_usec, on_time, m,
				    "counters");
}
