/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "idle.h"

struct Idle {
	sd_event_source *timer; /* NULL: never */
	uint64_t usec;
	unsigned int n_users;
};

static int on_timer(sd_event_source *s, _unused_ uint64_t usec, _unused_ void *userdata)
{
	return sd_event_exit(sd_event_source_get_event(s), 0);
}

static void start(Idle *i)
{
	if (!i->timer)
		return;
	sd_event_source_set_time_relative(i->timer, i->usec);
	sd_event_source_set_enabled(i->timer, SD_EVENT_ONESHOT);
}

int idle_new(sd_event *event, uint64_t usec, Idle **ret)
{
	_cleanup_(idle_free_pointer) Idle *i = calloc(1, sizeof(Idle));
	int r = 0;

	if (!i)
		return -ENOMEM;
	i->usec = usec;
	if (usec > 0)
		r = sd_event_add_time_relative(event, &i->timer, CLOCK_MONOTONIC, usec,
					       USEC_PER_SEC, on_timer, NULL);
	if (r < 0)
		return r;
	*ret = steal_pointer(&i);
	return 0;
}

void idle_free(Idle *i)
{
	if (!i)
		return;
	sd_event_source_disable_unref(i->timer);
	free(i);
}

void idle_begin(Idle *i)
{
	if (i->n_users++ == 0 && i->timer)
		sd_event_source_set_enabled(i->timer, SD_EVENT_OFF);
}

void idle_end(Idle *i)
{
	if (--i->n_users == 0)
		start(i);
}
