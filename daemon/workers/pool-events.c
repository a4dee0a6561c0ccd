/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "pool-events.h"

void pool_report(PoolDevice *d, uint32_t reasons)
{
	const uint32_t recovered = REASON_BIT(REASON_RECOVERED);

	/* After REASON_RECOVERED everything is read again: no other reason is needed. */
	if (!(d->pending & recovered))
		d->pending = reasons & recovered ? reasons : d->pending | reasons;
	sd_event_source_set_enabled(d->pool->report, SD_EVENT_ON);
}

void pool_report_lost(Pool *p, const Worker *w, const PoolDevice *spoiler)
{
	for (size_t i = 0; i < p->n_devices; i++) {
		PoolDevice *d = p->devices[i];

		if (d->asked != w)
			continue;
		d->asked = NULL;
		if (d != spoiler && d->heard)
			pool_report(d, REASON_BIT(REASON_OVERRUN));
	}
}

/* Reports one event in each turn of the event loop, until none is pending. */
static int on_report(sd_event_source *s, void *userdata)
{
	Pool *p = userdata;
	PoolDevice *d;
	size_t i = 0;
	Event e = {};

	while (i < p->n_devices && !p->devices[i]->pending)
		i++;
	if (i == p->n_devices) {
		sd_event_source_set_enabled(s, SD_EVENT_OFF);
		return 0;
	}
	d = p->devices[i];
	e = (Event){.device = d->index,
		    .port = EVENT_ALL_PORTS,
		    .reason = (EventReason)__builtin_ctz(d->pending)};
	d->pending &= d->pending - 1; /* without the bit of this reason, which is the lowest */
	p->handler->event(p->userdata, &e);
	return 0;
}

bool pool_count_event(Pool *p, Process *process)
{
	uint64_t now = pool_now_usec(p), age = now - process->second_usec;

	if (age >= USEC_PER_SEC) {
		/* After a second without any event it is not in a row. */
		bool flood = process->n_events > POOL_EVENTS_MAX && age < 2 * USEC_PER_SEC;

		process->n_floods = flood ? process->n_floods + 1 : 0;
		process->n_events = 0;
		process->second_usec = now;
	}
	process->n_events++;
	return process->n_floods < POOL_FLOOD_SECONDS;
}

bool pool_admit_event(PoolDevice *d, const Process *process, EventReason reason)
{
	Pool *p = d->pool;
	int enabled = SD_EVENT_OFF;

	if (process->n_events <= POOL_EVENTS_MAX)
		return true;
	d->dropped |= REASON_BIT(reason);
	sd_event_source_get_enabled(p->flood, &enabled);
	if (enabled == SD_EVENT_OFF) {
		sd_event_source_set_time(p->flood, process->second_usec + USEC_PER_SEC);
		sd_event_source_set_enabled(p->flood, SD_EVENT_ONESHOT);
	}
	return false;
}

static int on_flood(_unused_ sd_event_source *s, _unused_ uint64_t usec, void *userdata)
{
	Pool *p = userdata;

	for (size_t i = 0; i < p->n_devices; i++) {
		PoolDevice *d = p->devices[i];

		if (d->dropped)
			pool_report(d, d->dropped | REASON_BIT(REASON_OVERRUN));
		d->dropped = 0;
	}
	return 0;
}

int pool_events_init(Pool *p)
{
	int r = sd_event_add_defer(p->event, &p->report, on_report, p);

	if (r < 0)
		return r;
	sd_event_source_set_enabled(p->report, SD_EVENT_OFF);
	r = sd_event_add_time(p->event, &p->flood, CLOCK_MONOTONIC, 0, 0, on_flood, p);
	if (r < 0)
		return r;
	return sd_event_source_set_enabled(p->flood, SD_EVENT_OFF);
}

void pool_events_done(Pool *p)
{
	p->report = sd_event_source_disable_unref(p->report);
	p->flood = sd_event_source_disable_unref(p->flood);
}
