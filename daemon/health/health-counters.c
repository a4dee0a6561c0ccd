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
	const CounterLadder *l = p->health ? p->health->ladders[SAMPLE_LOCAL] : NULL;

	return l && l->n > 0 ? l->monotonic_usec[0] : 0;
}

bool health_take_counters(Health *h, Port *p, SampleEnd end, const Table *read,
			  uint64_t realtime_usec, uint64_t monotonic_usec)
{
	uint64_t least = h->counter_usec ? MIN(h->counter_usec / 2, LEAST_USEC) : LEAST_USEC;
	PortHealth *ph = p->health;
	CounterLadder *l;

	if (ph && !ph->ladders[end])
		ph->ladders[end] = calloc(1, sizeof(CounterLadder));
	l = ph ? ph->ladders[end] : NULL;
	if (!l || (l->n > 0 && monotonic_usec < l->monotonic_usec[0] + least))
		return false;
	forget_samples(h, l);
	(void)ladder_take(l, read, realtime_usec, monotonic_usec, is_used, &h->expect);
	ph->mark.counters = p->device->health->is_marked = h->is_marked = true;
	return true;
}

void health_drop_counters(Health *h, PortHealth *ph)
{
	for (SampleEnd end = 0; end < _SAMPLE_END_MAX; end++) {
		if (!ph->ladders[end])
			continue;
		forget_samples(h, ph->ladders[end]);
		ladder_done(ph->ladders[end]);
		free(ph->ladders[end]);
		ph->ladders[end] = NULL;
	}
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

/* The counters at END of PORT that were read lately; NULL: there are none. */
static const CounterLadder *counters_of(Health *h, const Object *port, SampleEnd end)
{
	const CounterLadder *l = health_object_port(port)->health->ladders[end];
	uint64_t old = MAX(2 * h->counter_usec, OLD_USEC);

	h->now.counters = h->now.time = true;
	return l && l->n > 0 && h->judged_usec <= l->realtime_usec[0] + old ? l : NULL;
}

static const Sample *newest(Health *h, const Object *port, SampleEnd end)
{
	const CounterLadder *l = counters_of(h, port, end);

	return l ? make(h, 2 * end, l, 0) : NULL;
}

static const Sample *earlier(Health *h, const Object *port, SampleEnd end, uint64_t most_usec)
{
	const CounterLadder *l = counters_of(h, port, end);
	size_t i = l ? ladder_find(l, most_usec) : 0;

	return i > 0 ? make(h, 2 * end + 1, l, i) : NULL;
}

const Sample *health_ask_counters(void *userdata, const Object *port, const char **ret_why)
{
	*ret_why = NULL;
	return newest(userdata, port, SAMPLE_LOCAL);
}

const Sample *health_ask_counters_before(void *userdata, const Object *port, uint64_t most_usec)
{
	return earlier(userdata, port, SAMPLE_LOCAL, most_usec);
}

const Sample *health_ask_far(void *userdata, const Object *port)
{
	return newest(userdata, port, SAMPLE_REMOTE);
}

const Sample *health_ask_far_before(void *userdata, const Object *port, uint64_t most_usec)
{
	return earlier(userdata, port, SAMPLE_REMOTE, most_usec);
}
