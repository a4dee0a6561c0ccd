/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The base of all other files of the manager: timers, and queries to the source. */

#include "log.h"
#include "manager-private.h"

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
		log_warning_errno(r, "Cannot start the timer \"%s\", ignoring: %m", name);
}

void manager_await_timer(Manager *m, sd_event_source **s, uint64_t delay_usec,
			 sd_event_time_handler_t handler, void *userdata, const char *name)
{
	if (!timer_runs(*s))
		manager_start_timer(m, s, delay_usec, handler, userdata, name);
}

int manager_send(Manager *m, const Device *d, Query *query)
{
	query->links_generation = m->links_generation;
	query->leave = schedule_leave(d->schedule);
	return m->source->ops->query(m->source, query);
}
