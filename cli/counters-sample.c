/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "counters-sample.h"

#include "names.h"

void sample_done(Sample *s)
{
	value_done(&s->counters);
}

int sample_read(Context *c, const char *path, Sample *ret, sd_bus_error *error)
{
	_cleanup_(sd_bus_message_unref_pointer) sd_bus_message *reply = NULL;
	_cleanup_(sample_done) Sample s = {};
	int r = sd_bus_call_method(c->bus, RDMAD_BUS_NAME, path, RDMAD_INTERFACE_PORT,
				   "GetCounters", error, &reply, "a{sv}", 0);

	if (r >= 0)
		r = value_read(reply, &s.counters);
	if (r >= 0)
		r = sd_bus_message_read(reply, "tt", &s.realtime_usec, &s.monotonic_usec);
	if (r < 0)
		return r;
	for (size_t i = 0; i < s.counters.n; i++)
		if (s.counters.items[i].type != VALUE_STRUCT ||
		    s.counters.items[i].n <= MEMBER_REASON ||
		    s.counters.items[i].items[MEMBER_VALUE].type != VALUE_UNSIGNED)
			return -EBADMSG;
	*ret = s;
	s = (Sample){};
	return 0;
}

const char *counter_member(const Value *counter, CounterMember m)
{
	return value_text(&counter->items[m]);
}

uint64_t counter_value(const Value *counter)
{
	return counter->items[MEMBER_VALUE].number;
}

bool counter_is(const Value *counter, const char *condition)
{
	return streq(counter_member(counter, MEMBER_CONDITION), condition);
}

const Value *sample_find(const Sample *s, const Value *counter)
{
	for (size_t i = 0; i < s->counters.n; i++)
		if (streq(counter_member(&s->counters.items[i], MEMBER_GROUP),
			  counter_member(counter, MEMBER_GROUP)) &&
		    streq(counter_member(&s->counters.items[i], MEMBER_NAME),
			  counter_member(counter, MEMBER_NAME)))
			return &s->counters.items[i];
	return NULL;
}

bool sample_starts_group(const Sample *s, size_t i)
{
	return i == 0 || !streq(counter_member(&s->counters.items[i], MEMBER_GROUP),
				counter_member(&s->counters.items[i - 1], MEMBER_GROUP));
}
