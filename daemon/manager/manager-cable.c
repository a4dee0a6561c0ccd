/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The modules in the cages. rdmad-cable is asked for one after the other, so that never two of one
 * adapter are read: of each once in CableIntervalSec=, and after its link went down or came up. The
 * one that waits longest is the next.
 */

#include "bus-cable.h"
#include "log.h"
#include "manager-private.h"

/* Between two looks at one module is at least this, and so many times as long as the first one
 * took.
 */
#define PAUSE_USEC  (60 * USEC_PER_SEC)
#define PAUSE_SHARE 1000U
/* After errors the interval is doubled so often, up to a day. */
#define DOUBLINGS_MAX 10U
#define DAY_USEC      (86400 * USEC_PER_SEC)

static int on_time(sd_event_source *s, uint64_t usec, void *userdata);

/* The port that is to be read first; NULL: there is none. */
static Port *first_port(const Manager *m)
{
	Port *first = NULL;

	for (size_t i = 0; i < m->cache.n_devices; i++)
		for (uint32_t n = 0; n < m->cache.devices[i]->n_ports; n++) {
			Port *p = m->cache.devices[i]->ports[n];

			if (manager_has_interface(p) &&
			    (!first || p->cable.due_usec < first->cable.due_usec))
				first = p;
		}
	return first;
}

static void wait_until(Manager *m, uint64_t when_usec)
{
	uint64_t now = monotonic_usec(m);

	manager_start_timer(m, &m->cable,
			    when_usec > now ? MIN(when_usec - now, m->config.cable_usec) : 0,
			    on_time, m, "cable");
}

/* When P is read again, after a look that took TOOK_USEC and ended with ERROR or 0. */
static void put_off(Manager *m, Port *p, uint64_t took_usec, int error)
{
	uint64_t now = monotonic_usec(m);
	uint64_t pause = MAX(PAUSE_USEC, MIN(PAUSE_SHARE * took_usec, DAY_USEC));

	p->cable.failures = error < 0 ? MIN(p->cable.failures + 1, DOUBLINGS_MAX) : 0;
	p->cable.spared_usec = now + pause;
	p->cable.due_usec =
		now + MAX(pause, MIN(m->config.cable_usec << p->cable.failures, DAY_USEC));
}

static int on_answer(sd_bus_message *answer, void *userdata, _unused_ sd_bus_error *error)
{
	_cleanup_(port_change_done) PortChange change = {};
	Manager *m = userdata;
	Port *p = device_port(cache_device(&m->cache, m->cable_device), m->cable_number);
	_cleanup_(port_snapshot_done) PortSnapshot s = {};
	int r = bus_take_module(answer, &s);
	char name[80];

	m->cable_asked = sd_bus_slot_unref(m->cable_asked);
	wait_until(m, 0);
	if (!p)
		return 0;
	put_off(m, p, monotonic_usec(m) - m->cable_begin_usec, r);
	if (r < 0)
		log_debug_errno(r, "%s: cannot read the module: %m", port_name(p, name));
	s.unmeasured = p->now.unmeasured;
	cache_apply_port(p, &s, REASON_BIT(REASON_CABLE), realtime_now_usec(), &change);
	/* also if nothing but measurements has changed, which the judge looks at */
	manager_hand_on_port(m, &change);
	return 0;
}

static int on_time(_unused_ sd_event_source *s, _unused_ uint64_t usec, void *userdata)
{
	Manager *m = userdata;
	Port *p = first_port(m);

	if (m->cable_asked)
		return 0;
	if (!p || !m->bus || p->cable.due_usec > monotonic_usec(m)) {
		wait_until(m, p && m->bus ? p->cable.due_usec : UINT64_MAX);
		return 0;
	}
	m->cable_begin_usec = monotonic_usec(m);
	if (bus_ask_module(m->bus, p->now.values.ifindex, on_answer, m, &m->cable_asked) < 0) {
		put_off(m, p, 0, -ENOMEM);
		wait_until(m, 0);
		return 0;
	}
	m->cable_device = p->device->index;
	m->cable_number = p->number;
	return 0;
}

void manager_cable_start(Manager *m)
{
	if (m->config.cable && m->may_read_modules)
		wait_until(m, 0);
}

void manager_cable_forget(Manager *m)
{
	m->cable_asked = sd_bus_slot_unref(m->cable_asked);
	if (m->cable)
		wait_until(m, 0);
}
