/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Expectations on counters. */

#include "check-parts.h"
#include "checks.h"

/* Whether expectation I is one on a counter of the port that the run looks at, and no later one is
 * on the same counter in the same sense. */
static bool applies(const CheckRun *r, size_t i)
{
	const Expectation *items = r->expect->items;

	if (items[i].kind != EXPECT_COUNTER || !check_applies(r, &items[i], r->port))
		return false;
	for (size_t k = i + 1; k < r->expect->n; k++)
		if (items[k].kind == EXPECT_COUNTER && items[k].order == items[i].order &&
		    !items[k].per_usec == !items[i].per_usec &&
		    streq(items[k].counter, items[i].counter) &&
		    check_applies(r, &items[k], r->port))
			return false;
	return true;
}

/* Compares by how much COUNTER has grown in at most MOST_USEC, as far as that is known: in less
 * than the time of X what was too much is too much, and in more it is the part of that time.
 * Returns whether it is as expected. */
static bool compare_growth(CheckRun *r, const Sample *s, const Expectation *x, const Value *counter,
			   uint64_t most_usec, const char *expected)
{
	const Sample *before = r->ask.counters_before(r->ask.userdata, r->port, most_usec);
	double rate, seconds, growth;

	if (!before || !sample_rate(s, before, counter, &rate))
		return true;
	seconds = (double)(s->monotonic_usec - before->monotonic_usec) / (double)USEC_PER_SEC;
	growth = rate * MIN(seconds, (double)x->per_usec / (double)USEC_PER_SEC);
	if (seconds * (double)USEC_PER_SEC < (double)x->per_usec && x->order != ORDER_LESS &&
	    x->order != ORDER_LESS_EQUAL)
		return true;
	if (expectation_holds_for(x, (uint64_t)(growth + 0.5)))
		return true;
	check_find(r, NULL, "%s has grown by %.0f in %.0f s, expected %s", x->counter,
		   rate * seconds, seconds, expected);
	return false;
}

/* Samples are not as old as the time of X: one may be younger, and one older. */
static void compare_growths(CheckRun *r, const Sample *s, const Expectation *x,
			    const Value *counter, const char *expected)
{
	r->counter = x->counter;
	if (!r->ask.counters_before)
		check_find_published(r);
	else if (compare_growth(r, s, x, counter, x->per_usec, expected))
		(void)compare_growth(r, s, x, counter, 2 * x->per_usec, expected);
	r->counter = NULL;
}

static void compare(CheckRun *r, const Sample *s, const Expectation *x)
{
	const Value *counter = sample_find_name(s, x->counter);
	_cleanup_free_ char *expected = expectation_format(x);

	if (!counter)
		check_find(r, NULL, "the port has no counter %s", x->counter);
	else if (counter_is(counter, "missing"))
		check_find(r, NULL, "%s cannot be read: %s", x->counter,
			   counter_member(counter, MEMBER_REASON));
	else if (x->per_usec)
		compare_growths(r, s, x, counter, expected ? expected : "");
	else if (!expectation_holds_for(x, counter_value(counter)))
		check_find(r, NULL, "%s is %s%llu, expected %s", x->counter,
			   counter_is(counter, "saturated") ? "at least " : "",
			   (unsigned long long)counter_value(counter), expected ? expected : "");
}

void look_at_counters(CheckRun *r)
{
	const Sample *s = NULL;
	const char *why = NULL;
	size_t first = 0;

	while (first < r->expect->n && !applies(r, first))
		first++;
	/* a port that does not answer is found by another check */
	if (first == r->expect->n || object_is_stale(r->port) ||
	    check_is_ignored(r, r->check->name) || !r->ask.counters)
		return;
	s = r->ask.counters(r->ask.userdata, r->port, &why);
	if (!s && why)
		check_find(r, NULL, "the counters cannot be read: %s", why);
	for (size_t i = first; s && i < r->expect->n; i++)
		if (applies(r, i))
			compare(r, s, &r->expect->items[i]);
}
