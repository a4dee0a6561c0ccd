/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "sample.h"

#include "names.h"
#include "unavailable.h"

void sample_done(Sample *s)
{
	value_done(&s->counters);
}

/* Where things are in a reply to GetCounters() */
enum { SET_GROUPS, SET_NAMES, SET_UNITS, _SET_MAX };
enum { PORT_PATH, PORT_SET, PORT_VALUES, PORT_REALTIME, PORT_MONOTONIC, PORT_TAIL, _PORT_MAX };

void samples_done(Samples *s)
{
	value_done(&s->sets);
	value_done(&s->ports);
}

int samples_from(sd_bus_message *reply, Samples *ret)
{
	_cleanup_(samples_done) Samples s = {};
	int r = value_read(reply, &s.sets);

	if (r >= 0)
		r = value_read(reply, &s.ports);
	if (r < 0)
		return r;
	*ret = s;
	s = (Samples){};
	return 0;
}

/* PATH: of the only port; NULL: all. */
static int call(sd_bus *bus, const char *path, SampleEnd end, Samples *ret, sd_bus_error *error)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL, *reply = NULL;
	int r = sd_bus_message_new_method_call(bus, &m, RDMAD_BUS_NAME, RDMAD_ROOT_PATH,
					       RDMAD_INTERFACE_MANAGER, "GetCounters");

	if (r >= 0)
		r = sd_bus_message_open_container(m, 'a', "{sv}");
	if (r >= 0 && path)
		r = sd_bus_message_append(m, "{sv}", "ports", "as", 1, path);
	if (r >= 0 && end == SAMPLE_REMOTE)
		r = sd_bus_message_append(m, "{sv}", "end", "s", "remote");
	if (r >= 0)
		r = sd_bus_message_close_container(m);
	if (r >= 0)
		r = sd_bus_call(bus, m, 0, error, &reply);
	return r < 0 ? r : samples_from(reply, ret);
}

int sample_read_all(sd_bus *bus, SampleEnd end, Samples *ret, sd_bus_error *error)
{
	return call(bus, NULL, end, ret, error);
}

int sample_read(sd_bus *bus, const char *path, SampleEnd end, Sample *ret, sd_bus_error *error)
{
	_cleanup_(samples_done) Samples all = {};
	const char *why = "the port has gone";
	int r = call(bus, path, end, &all, error);

	if (r >= 0)
		r = sample_take(&all, path, ret, &why);
	if (r == -ENOENT)
		return sd_bus_error_setf(error, RDMAD_ERROR_NOT_FOUND, "%s", why);
	if (r == -EIO || r == -ETIMEDOUT)
		return sd_bus_error_setf(
			error, r == -EIO ? RDMAD_ERROR_QUERY_FAILED : RDMAD_ERROR_DEVICE_TIMEOUT,
			"%s", why);
	return r;
}

/* Item I of V, which is to have TYPE; NULL: it has not. */
static const Value *item_of(const Value *v, size_t i, ValueType type)
{
	return v && i < v->n && v->items[i].type == type ? &v->items[i] : NULL;
}

/* What the dictionary D has under I, a number; NULL: nothing. */
static const Value *numbered(const Value *d, uint64_t i)
{
	for (size_t k = 0; d && d->type == VALUE_DICT && k + 1 < d->n; k += 2)
		if (d->items[k].type == VALUE_UNSIGNED && d->items[k].number == i)
			return &d->items[k + 1];
	return NULL;
}

static bool has_number(const Value *array, uint64_t i)
{
	VALUE_FOREACH(item, array)
		if (item->type == VALUE_UNSIGNED && item->number == i)
			return true;
	return false;
}

/* The counters of PORT, an item of a reply, whose set is SET. */
static int take_counters(const Value *set, const Value *port, Sample *s)
{
	const Value *tail = &port->items[PORT_TAIL], *values = &port->items[PORT_VALUES];
	const Value *missing = value_lookup(tail, "Missing");
	const Value *saturated = value_lookup(tail, "Saturated");
	const char *texts[_COUNTER_MEMBER_MAX];
	int r = 0;

	for (size_t i = 0; i < values->n && r == 0; i++) {
		const Value *reason = numbered(missing, i);

		for (int k = SET_GROUPS; k < _SET_MAX; k++)
			if (!item_of(item_of(set, (size_t)k, VALUE_ARRAY), i, VALUE_TEXT))
				return -EBADMSG;
		if (!item_of(values, i, VALUE_UNSIGNED))
			return -EBADMSG;
		texts[MEMBER_GROUP] = set->items[SET_GROUPS].items[i].text;
		texts[MEMBER_NAME] = set->items[SET_NAMES].items[i].text;
		texts[MEMBER_UNIT] = set->items[SET_UNITS].items[i].text;
		texts[MEMBER_CONDITION] = reason		     ? "missing"
					  : has_number(saturated, i) ? "saturated"
								     : "valid";
		texts[MEMBER_REASON] = reason ? value_text(reason) : "";
		r = sample_append(s, texts, values->items[i].number);
	}
	return r;
}

static bool is_port(const Value *v)
{
	static const ValueType types[_PORT_MAX] = {
		[PORT_PATH] = VALUE_TEXT,	   [PORT_SET] = VALUE_UNSIGNED,
		[PORT_VALUES] = VALUE_ARRAY,	   [PORT_REALTIME] = VALUE_UNSIGNED,
		[PORT_MONOTONIC] = VALUE_UNSIGNED, [PORT_TAIL] = VALUE_DICT,
	};

	for (size_t i = 0; i < _PORT_MAX; i++)
		if (!item_of(v, i, types[i]))
			return false;
	return true;
}

int sample_take(Samples *all, const char *path, Sample *ret, const char **ret_why)
{
	const size_t first = all->next;

	for (size_t i = 0; i < all->ports.n; i++) {
		const size_t at = (first + i) % all->ports.n;
		const Value *port = &all->ports.items[at], *error;
		_cleanup_(sample_done) Sample s = {.counters.type = VALUE_ARRAY};
		int r;

		if (!is_port(port))
			return -EBADMSG;
		if (!streq(port->items[PORT_PATH].text, path))
			continue;
		all->next = at + 1;
		error = value_lookup(&port->items[PORT_TAIL], "ErrorMessage");
		if (error) {
			*ret_why = value_text(error);
			error = value_lookup(&port->items[PORT_TAIL], "Error");
			return error && streq(value_text(error), "firmware-timeout") ? -ETIMEDOUT
										     : -EIO;
		}
		s.realtime_usec = port->items[PORT_REALTIME].number;
		s.monotonic_usec = port->items[PORT_MONOTONIC].number;
		r = take_counters(item_of(&all->sets, port->items[PORT_SET].number, VALUE_STRUCT),
				  port, &s);
		if (r < 0)
			return r;
		*ret = s;
		s = (Sample){};
		return 0;
	}
	return -ENOENT;
}

const char *counter_member(const Value *counter, CounterMember m)
{
	return value_text(&counter->items[m]);
}

const char *counter_reason(const Value *counter)
{
	return unavailable_text(counter_member(counter, MEMBER_REASON));
}

uint64_t counter_value(const Value *counter)
{
	return counter->items[MEMBER_VALUE].number;
}

bool counter_is(const Value *counter, const char *condition)
{
	return streq(counter_member(counter, MEMBER_CONDITION), condition);
}

static bool is_same_counter(const Value *a, const Value *b)
{
	return streq(counter_member(a, MEMBER_NAME), counter_member(b, MEMBER_NAME)) &&
	       streq(counter_member(a, MEMBER_GROUP), counter_member(b, MEMBER_GROUP));
}

const Value *sample_find_name(const Sample *s, const char *name)
{
	for (size_t i = 0; i < s->counters.n; i++)
		if (streq(counter_member(&s->counters.items[i], MEMBER_NAME), name))
			return &s->counters.items[i];
	return NULL;
}

const Value *sample_find(const Sample *s, const Value *counter)
{
	for (size_t i = 0; i < s->counters.n; i++)
		if (is_same_counter(&s->counters.items[i], counter))
			return &s->counters.items[i];
	return NULL;
}

const Value *sample_find_earlier(const Sample *now, const Sample *before, const Value *counter)
{
	size_t i = (size_t)(counter - now->counters.items);

	if (i < before->counters.n && is_same_counter(&before->counters.items[i], counter))
		return &before->counters.items[i];
	return sample_find(before, counter);
}

bool sample_rate(const Sample *now, const Sample *before, const Value *counter, double *ret)
{
	const Value *was = sample_find_earlier(now, before, counter);

	if (!was || counter_is(was, "missing") || counter_is(counter, "missing") ||
	    counter_value(counter) < counter_value(was) ||
	    now->monotonic_usec <= before->monotonic_usec)
		return false;
	*ret = (double)(counter_value(counter) - counter_value(was)) * (double)USEC_PER_SEC /
	       (double)(now->monotonic_usec - before->monotonic_usec);
	return true;
}

bool sample_starts_group(const Sample *s, size_t i)
{
	return i == 0 || !streq(counter_member(&s->counters.items[i], MEMBER_GROUP),
				counter_member(&s->counters.items[i - 1], MEMBER_GROUP));
}

int sample_append(Sample *s, const char *const texts[_COUNTER_MEMBER_MAX], uint64_t value)
{
	_cleanup_value_ Value counter = {.type = VALUE_STRUCT};
	Value *items;
	size_t at;

	for (CounterMember m = 0; m < _COUNTER_MEMBER_MAX; m++) {
		Value *member = value_append(&counter);

		if (!member)
			return -ENOMEM;
		if (m == MEMBER_VALUE) {
			*member = (Value){.type = VALUE_UNSIGNED, .number = value};
			continue;
		}
		member->text = strdup(texts[m]);
		if (!member->text)
			return -ENOMEM;
		member->type = VALUE_TEXT;
	}
	s->counters.type = VALUE_ARRAY;
	if (!value_append(&s->counters))
		return -ENOMEM;
	items = s->counters.items;
	at = s->counters.n - 1;
	while (at > 0 && !streq(counter_member(&items[at - 1], MEMBER_GROUP), texts[MEMBER_GROUP]))
		at--;
	if (at == 0)
		at = s->counters.n - 1; /* the first of its group */
	memmove(&items[at + 1], &items[at], (s->counters.n - 1 - at) * sizeof(*items));
	items[at] = counter;
	counter = (Value){};
	return 0;
}

/* Adds a counter with the names and the unit of LIKE. */
static int append_like(Sample *s, const Value *like, uint64_t value, const char *condition,
		       const char *reason)
{
	const char *texts[_COUNTER_MEMBER_MAX];

	for (CounterMember m = 0; m < _COUNTER_MEMBER_MAX; m++)
		texts[m] = counter_member(like, m);
	texts[MEMBER_CONDITION] = condition;
	texts[MEMBER_REASON] = reason;
	return sample_append(s, texts, value);
}

int sample_subtract(const Sample *now, const Sample *before, Sample *ret)
{
	_cleanup_(sample_done) Sample s = {.realtime_usec = now->realtime_usec,
					   .monotonic_usec = now->monotonic_usec};
	int r = 0;

	for (size_t i = 0; i < now->counters.n && r == 0; i++) {
		const Value *counter = &now->counters.items[i];
		const Value *was = sample_find(before, counter);
		const char *reason = NULL;

		if (counter_is(counter, "missing"))
			reason = counter_member(counter, MEMBER_REASON);
		else if (!was || counter_is(was, "missing"))
			reason = "it had no value before";
		else if (counter_value(counter) < counter_value(was))
			reason = "it was reset";
		if (reason)
			r = append_like(&s, counter, 0, "missing", reason);
		else
			r = append_like(&s, counter, counter_value(counter) - counter_value(was),
					counter_member(counter, MEMBER_CONDITION), "");
	}
	if (r < 0)
		return r;
	*ret = s;
	s = (Sample){};
	return 0;
}

/* Adds the sum of COUNTER over all ports to TOTAL. */
static int add_total(const SampleList *list, const Value *counter, Sample *total)
{
	size_t n_values = 0, n_missing = 0;
	bool saturated = false;
	uint64_t sum = 0;
	char reason[64] = "";

	for (size_t i = 0; i < list->n; i++) {
		const Value *one = sample_find(&list->items[i].sample, counter);

		/* a port that is no such port, such as one of another driver, lacks nothing */
		if (!one)
			continue;
		n_missing += counter_is(one, "missing");
		n_values += !counter_is(one, "missing");
		if (__builtin_add_overflow(sum, counter_value(one), &sum)) {
			sum = UINT64_MAX;
			saturated = true;
		}
		saturated |= counter_is(one, "saturated");
	}
	if (n_missing > 0)
		snprintf(reason, sizeof(reason), "without %zu %s", n_missing,
			 n_missing == 1 ? "port" : "ports");
	return append_like(total, counter, sum,
			   n_values == 0 ? "missing"
			   : saturated	 ? "saturated"
					 : "valid",
			   reason);
}

int sample_total(const SampleList *list, Sample *ret)
{
	_cleanup_(sample_done) Sample total = {};
	int r = 0;

	for (size_t i = 0; i < list->n; i++) {
		const Sample *s = &list->items[i].sample;

		total.realtime_usec = MAX(total.realtime_usec, s->realtime_usec);
		total.monotonic_usec = MAX(total.monotonic_usec, s->monotonic_usec);
		for (size_t k = 0; k < s->counters.n && r == 0; k++)
			if (!sample_find(&total, &s->counters.items[k]))
				r = add_total(list, &s->counters.items[k], &total);
	}
	if (r < 0)
		return r;
	*ret = total;
	total = (Sample){};
	return 0;
}

PortSample *sample_list_add(SampleList *l, const char *name, const char *path)
{
	PortSample *item;

	if (!array_grow(l->items, l->n))
		return NULL;
	item = &l->items[l->n++];
	*item = (PortSample){.name = strdup(name), .path = strdup(path)};
	return item->name && item->path ? item : NULL;
}

const PortSample *sample_list_find(const SampleList *l, size_t place, const char *name)
{
	for (size_t i = 0; i < l->n; i++) {
		const PortSample *p = &l->items[(place + i) % l->n];

		if (streq(p->name, name))
			return p;
	}
	return NULL;
}

void sample_list_done(SampleList *l)
{
	for (size_t i = 0; i < l->n; i++) {
		free(l->items[i].name);
		free(l->items[i].path);
		sample_done(&l->items[i].sample);
	}
	free(l->items);
	*l = (SampleList){};
}
