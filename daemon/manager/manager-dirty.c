/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Takes events in. They say what may have changed; it is marked, and asked about in the next flush.
 */

#include "log.h"
#include "manager-private.h"

void manager_mark_flush(Manager *m)
{
	if (!timer_runs(m->flush))
		sd_event_source_set_enabled(m->flush, SD_EVENT_ONESHOT);
}

void manager_spare_flush(Manager *m)
{
	if (!timer_runs(m->flush) || m->devices_due || m->refresh_next.first)
		return;
	for (size_t i = 0; i < m->cache.n_devices; i++)
		if (m->cache.devices[i]->schedule->marked)
			return;
	sd_event_source_set_enabled(m->flush, SD_EVENT_OFF);
}

void manager_mark_device(Device *d, uint32_t port, EventReason reason)
{
	Schedule *w = d->schedule;

	if (reason == REASON_RECOVERED && w->wedged) {
		w->wedged = false;
		w->recovering = true;
	}
	if (schedule_mark(w, port, reason) < 0)
		log_warning("%s: no memory to note an event, ignoring",
			    TEXT_OF(&d->now.values, name));
}

/* Notes the event about P (NULL: about D) in history, evidence and record. */
static void note_event(Manager *m, Device *d, Port *p, const Event *e)
{
	bool is_evidence = manager_evidence_event(m, d, e->port, e->reason);

	if ((p && manager_note_event(m, p, e->reason)) || is_evidence)
		manager_record_event(m, d, p, e->reason);
}

void manager_on_event(void *userdata, const Event *e)
{
	const uint32_t reason = REASON_BIT(e->reason);
	Manager *m = userdata;
	Device *d;

	log_debug("event: device %u port %u %s", e->device, e->port, event_reason_name(e->reason));
	if (e->reason == REASON_OVERRUN)
		m->lost_events++;
	if (reason & event_reasons_meaning(MEANS_LINKS))
		m->links_generation++;
	manager_mark_flush(m);
	if (e->device != EVENT_ALL_DEVICES) {
		d = cache_device(&m->cache, e->device);
		if (d) {
			manager_mark_device(d, e->port, e->reason);
			note_event(m, d, device_port(d, e->port), e);
		}
		if (!d || reason & event_reasons_meaning(MEANS_DEVICES))
			m->devices_due = true;
		return;
	}
	m->devices_due = true;
	if (reason & event_reasons_meaning(MEANS_WHOLE))
		m->looking = true;
	/* Some device came, went or has another name: the enumeration finds out which. */
	if (e->reason == REASON_DEVICE)
		return;
	for (size_t i = 0; i < m->cache.n_devices; i++) {
		manager_mark_device(m->cache.devices[i], EVENT_ALL_PORTS, e->reason);
		note_event(m, m->cache.devices[i], NULL, e);
	}
}

void manager_on_noted(void *userdata, const Event *e)
{
	Manager *m = userdata;
	Device *d = cache_device(&m->cache, e->device);

	if (d)
		note_event(m, d, device_port(d, e->port), e);
}

void manager_mark_everything(Manager *m, EventReason reason)
{
	manager_on_event(m, &(Event){EVENT_ALL_DEVICES, EVENT_ALL_PORTS, reason});
}
