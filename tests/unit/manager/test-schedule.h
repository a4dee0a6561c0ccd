/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A schedule of a device with two ports that have answered, for the tests. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "schedule.h"

#define MSEC USEC_PER_MSEC

static inline int setup(void **state)
{
	Cache *c = calloc(1, sizeof(Cache));
	DeviceSnapshot s = {};
	DeviceChange device_change;
	Device *d;

	DEVICE_SUPPLY(&s, index, 3);
	DEVICE_SUPPLY(&s, port_count, 2);
	DEVICE_SUPPLY(&s, sys_image_guid, 0x1234);
	DEVICE_SUPPLY_TEXT(&s, name, "mlx5_0");
	if (!c || cache_apply_device(c, &s, CHANGE_LIST, 0, &device_change) < 0 ||
	    !schedule_new(device_change.device, NULL))
		return -1;
	d = device_change.device;
	/* they have answered, and are active */
	for (uint32_t i = 0; i < d->n_ports; i++) {
		d->ports[i]->now.parts = READ_ALL;
		d->ports[i]->now.values.state = 4;
	}
	*state = c;
	return 0;
}

static inline int teardown(void **state)
{
	Cache *c = *state;

	schedule_free(c->devices[0]->schedule);
	cache_done(c);
	free(c);
	return 0;
}

static inline Schedule *work_of(void **state)
{
	return ((Cache *)*state)->devices[0]->schedule;
}

/* What was left for later of both ports. */
static inline unsigned int left(const Schedule *w)
{
	return w->n_reasons ? w->later_ports[1].left | w->later_ports[2].left : 0;
}

/* The ports that were asked have answered. */
static inline void take_answers(Schedule *w)
{
	for (uint32_t n = 1; n < w->n_reasons; n++)
		if (schedule_is_asked(w, n))
			(void)schedule_take_answer(w, n);
}

static inline Query begin_and_end(Schedule *w, uint64_t now)
{
	uint64_t when;
	Query q;

	assert_true(schedule_may_ask(w, now, &when));
	schedule_begin(w, 1, now, &q);
	take_answers(w);
	schedule_end(w, now);
	return q;
}

/* The same at a time at which nothing has to wait. */
static inline Query ask(Schedule *w)
{
	static uint64_t now;

	now += 10 * USEC_PER_SEC;
	return begin_and_end(w, now);
}
