/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The counters of ports, as far as the checks look at them. */

#include "health-private.h"

/* Verdicts rest on an interval that is at least so long, or as rdmad reads counters by itself, if
 * that is shorter. */
#define LEAST_USEC (10 * USEC_PER_SEC)
/* From counters that were read longer ago, or twice as long as rdmad waits for the next reading, no
 * verdict follows. */
#define OLD_USEC (15 * 60 * USEC_PER_SEC)

static bool is_used(const void *userdata, const char *name)
{
	const Expectations *e = userdata;

	for (size_t i = 0; i < e->n; i++)
		if (e->items[i].kind == EXPECT_COUNTER && streq(e->items[i].counter, name))
			return true;
	return check_uses_counter(name);
}

static void forget_samples(Health *h, const CounterLadder *l)
{
	for (size_t i = 0; i < ARRAY_SIZE(h->samples); i++)
		if (h->samples[i].of == l) {
			sample_done(&h->samples[i].sample);
			h->samples[i].of = NULL;
		}
}

uint64_t health_counters_usec(const Port *p)
{
	const PortHealth *ph = p->health;

	return ph && ph->counters.n > 0 ? ph->counters.monotonic_usec[0] : 0;
}

bool health_take_counters(Health *h, Port *p, const Table *read, uint64_t realtime_usec,
			  uint64_t monotonic_usec)
{
	uint64_t least = h->counter_usec ? MIN(h->counter_usec / 2, LEAST_USEC) : LEAST_USEC;
	PortHealth *ph = p->health;

	if (!ph || monotonic_usec < health_counters_usec(p) + least)
		return false;
	forget_samples(h, &ph->counters);
	(void)ladder_take(&ph->counters, read, realtime_usec, monotonic_usec, is_used, &h->expect);
	ph->mark.counters = p->device->health->is_marked = h->is_marked = true;
	return true;
}

void health_drop_counters(Health *h, PortHealth *ph)
{
	forget_samples(h, &ph->counters);
	ladder_done(&ph->counters);
}

/* Sample I of L, made in PLACE of H; NULL without memory. */
static const Sample *make(Health *h, size_t place, const CounterLadder *l, size_t i)
{
	MadeSample *made = &h->samples[place];

	if (made->of == l && made->i == i)
		return &made->sample;
	sample_done(&made->sample);
	*made = (MadeSample){};
	if (ladder_sample(l, i, &made->sample) < 0)
		return NULL;
	made->of = l;
	made->i = i;
	return &made->sample;
}

/* The counters of PORT that were read lately; NULL: there are none. */
static const CounterLadder *counters_of(Health *h, const Object *port)
{
	const PortHealth *ph = health_object_port(port)->health;
	const CounterLadder *l = &ph->counters;
	uint64_t old = MAX(2 * h->counter_usec, OLD_USEC);

	h->now.counters = h->now.time = true;
	return l->n > 0 && h->judged_usec <= l->realtime_usec[0] + old ? l : NULL;
}

const Sample *health_ask_counters(void *userdata, const Object *port, const char **ret_why)
{
	const CounterLadder *l = counters_of(userdata, port);

	*ret_why = NULL;
	return l ? make(userdata, 0, l, 0) : NULL;
}

const Sample *health_ask_counters_before(void *userdata, const Object *port, uint64_t most_usec)
{
	const CounterLadder *l = counters_of(userdata, port);
	size_t i = l ? ladder_find(l, most_usec) : 0;

	return i > 0 ? make(userdata, 1, l, i) : NULL;
}
