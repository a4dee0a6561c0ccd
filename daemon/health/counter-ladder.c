/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "counter-ladder.h"

#include "counters.h"
#include "unavailable.h"

/* In place of a value that could not be read */
#define NO_VALUE UINT64_MAX

static CounterEntry *entry_of(const Table *t, uint32_t i)
{
	return (CounterEntry *)CONST_CAST(uint8_t *, t->entries) + i;
}

static uint64_t value_of(const CounterEntry *e)
{
	return e->error ? NO_VALUE : e->value;
}

void ladder_done(CounterLadder *l)
{
	table_free(l->now);
	free(l->places);
	free(l->values);
	*l = (CounterLadder){};
}

/* The name of E as it is published. */
static const char *name_of(const CounterEntry *e)
{
	const CounterRow *row = counter_find((CounterGroup)e->group, e->file);

	return row ? row->name : e->file;
}

/* Whether READ has the same counters as the table from which L->now was made. */
static bool is_same(const CounterLadder *l, const Table *read)
{
	if (!l->now || !read || l->n_read != read->n)
		return false;
	for (uint32_t i = 0; i < l->now->n; i++) {
		const CounterEntry *a = entry_of(l->now, i), *b = entry_of(read, l->places[i]);

		if (a->group != b->group || !streq(a->file, b->file))
			return false;
	}
	return true;
}

/* L, which is empty, gets those of READ that are used, without a sample. */
static int choose(CounterLadder *l, const Table *read, CounterIsUsed is_used, const void *userdata)
{
	uint32_t n = 0, *places = calloc(read->n, sizeof(*places));
	Table *now = places ? table_copy(read) : NULL;

	if (!now) {
		free(places);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < read->n; i++) {
		if (!is_used(userdata, name_of(entry_of(read, i))))
			continue;
		*entry_of(now, n) = *entry_of(read, i);
		places[n++] = i;
	}
	*l = (CounterLadder){.places = places, .n_read = read->n};
	if (n > 0) {
		l->now = table_new(now->entries, n, sizeof(CounterEntry));
		l->values = calloc((size_t)n * LADDER_SAMPLES, sizeof(*l->values));
	}
	table_free(now);
	if (n > 0 && (!l->now || !l->values)) {
		ladder_done(l);
		return -ENOMEM;
	}
	return 0;
}

/* Whether a counter of L->now is less than it was in the last sample. */
static bool has_gone_back(const CounterLadder *l)
{
	for (uint32_t i = 0; l->n > 0 && i < l->now->n; i++)
		if (l->values[i] != NO_VALUE && value_of(entry_of(l->now, i)) < l->values[i])
			return true;
	return false;
}

/* The samples from FROM on, of which there are N, move to TO. */
static void move(CounterLadder *l, size_t to, size_t from, size_t n)
{
	size_t size = l->now->n * sizeof(*l->values);

	memmove(&l->realtime_usec[to], &l->realtime_usec[from], n * sizeof(*l->realtime_usec));
	memmove(&l->monotonic_usec[to], &l->monotonic_usec[from], n * sizeof(*l->monotonic_usec));
	memmove((char *)l->values + to * size, (char *)l->values + from * size, n * size);
}

static uint64_t age(const CounterLadder *l, size_t i)
{
	return l->monotonic_usec[0] - l->monotonic_usec[i];
}

/* Drops the samples without which the ages are still at most doubled from one to the next. */
static void thin(CounterLadder *l)
{
	for (size_t i = 2; i + 1 < l->n;) {
		if (age(l, i + 1) > 2 * age(l, i - 1)) {
			i++;
			continue;
		}
		move(l, i, i + 1, l->n - i - 1);
		l->n--;
	}
}

int ladder_take(CounterLadder *l, const Table *read, uint64_t realtime_usec,
		uint64_t monotonic_usec, CounterIsUsed is_used, const void *userdata)
{
	if (!is_same(l, read)) {
		int r;

		ladder_done(l);
		r = read ? choose(l, read, is_used, userdata) : 0;
		if (r < 0 || !l->now)
			return r;
	}
	for (uint32_t i = 0; i < l->now->n; i++)
		*entry_of(l->now, i) = *entry_of(read, l->places[i]);
	if (has_gone_back(l))
		l->n = 0;
	l->n = MIN(l->n, LADDER_SAMPLES - 1);
	move(l, 1, 0, l->n++);
	l->realtime_usec[0] = realtime_usec;
	l->monotonic_usec[0] = monotonic_usec;
	for (uint32_t i = 0; i < l->now->n; i++)
		l->values[i] = value_of(entry_of(l->now, i));
	thin(l);
	return 0;
}

size_t ladder_find(const CounterLadder *l, uint64_t most_usec)
{
	size_t i = l->n > 0 ? l->n - 1 : 0;

	while (i > 1 && age(l, i) > most_usec)
		i--;
	return i;
}

/* Adds C to S, if the port has it. */
static int append(Sample *s, const Counter *c)
{
	const char *const texts[_COUNTER_MEMBER_MAX] = {
		[MEMBER_GROUP] = counter_group_name(c->group),
		[MEMBER_NAME] = c->name,
		[MEMBER_UNIT] = counter_unit_name(c->unit),
		[MEMBER_CONDITION] = counter_condition_name(c->condition),
		[MEMBER_REASON] = c->reason,
	};

	return streq(c->reason, unavailable_rows[UNAVAILABLE_NOT_REPORTED].code)
		       ? 0
		       : sample_append(s, texts, c->value);
}

int ladder_sample(const CounterLadder *l, size_t i, Sample *ret)
{
	_cleanup_(counter_set_free_pointer) CounterSet *set = NULL;
	_cleanup_(table_free_pointer) Table *then = table_copy(l->now);
	_cleanup_(sample_done) Sample s = {.counters.type = VALUE_ARRAY,
					   .realtime_usec = l->realtime_usec[i],
					   .monotonic_usec = l->monotonic_usec[i]};
	int r = then ? counter_set_new(then, false, &set) : -ENOMEM;

	for (uint32_t k = 0; r == 0 && i > 0 && k < then->n; k++) {
		CounterEntry *e = entry_of(then, k);

		e->value = l->values[i * then->n + k];
		e->error = e->value == NO_VALUE ? -ENODATA : 0;
	}
	for (size_t k = 0; r == 0 && k < counter_set_size(set); k++) {
		const Counter c = counter_set_get(set, k, NULL);

		r = append(&s, &c);
	}
	if (r < 0)
		return r;
	*ret = s;
	s = (Sample){};
	return 0;
}
