/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "top-model.h"

#include <strings.h>

static void port_done(TopPort *p)
{
	free(p->path);
	sample_done(&p->last);
	for (size_t i = 0; i < p->n_errors; i++)
		free(p->errors[i].name);
	free(p->errors);
	free(p->failure);
}

void top_model_done(TopModel *m)
{
	for (size_t i = 0; i < m->n; i++)
		port_done(&m->ports[i]);
	free(m->ports);
	free(m->failure);
	*m = (TopModel){};
}

static void forget_rates(TopPort *p)
{
	for (TopRate i = 0; i < _TOP_RATE_MAX; i++)
		p->rates[i] = -1;
}

/* Moves the port at PATH out of WAS, from *AT on; makes a new one if it is not there. Both lists
 * are in the order of paths. */
static int take_port(TopModel *was, size_t *at, const char *path, TopPort *ret)
{
	TopPort *p;

	while (*at < was->n && strverscmp(was->ports[*at].path, path) < 0)
		++*at;
	p = *at < was->n ? &was->ports[*at] : NULL;
	if (p && streq(p->path, path)) {
		*ret = *p;
		*p = (TopPort){};
		++*at; /* so nobody looks for the path that was here */
		return 0;
	}
	*ret = (TopPort){.path = strdup(path)};
	forget_rates(ret);
	return ret->path ? 0 : -ENOMEM;
}

int top_model_follow(TopModel *m, const ObjectList *objects, TopFilter *filter, void *userdata)
{
	TopModel is = *m;
	size_t at = 0;
	int r = 0;

	is.n = 0;
	is.ports = calloc(objects->n + 1, sizeof(*is.ports));
	if (!is.ports)
		return -ENOMEM;
	for (size_t i = 0; i < objects->n && r == 0; i++) {
		const Object *o = objects->items[i];

		if (!o->is_port || !filter(userdata, o))
			continue;
		r = take_port(m, &at, o->path, &is.ports[is.n]);
		is.ports[is.n++].object = o;
	}
	for (size_t i = 0; i < m->n; i++)
		port_done(&m->ports[i]);
	free(m->ports);
	*m = is;
	return r;
}

bool top_is_error_counter(const char *name)
{
	static const char *const words[] = {"err",     "discard", "drop",    "overrun",
					    "recover", "downed",  "timeout", "out_of_"};

	/* these end with each connection */
	if (strcasestr(name, "flush"))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strcasestr(name, words[i]))
			return true;
	return false;
}

uint64_t top_port_errors(const TopPort *p)
{
	uint64_t n = 0;

	for (size_t i = 0; i < p->n_errors; i++)
		n += p->errors[i].new_errors;
	return n;
}

/* Keeps the errors in the order of their number, the most first. */
static int add_errors(TopPort *p, const char *name, uint64_t n)
{
	size_t i = 0;

	while (i < p->n_errors && !streq(p->errors[i].name, name))
		i++;
	if (i == p->n_errors) {
		if (!array_grow(p->errors, i))
			return -ENOMEM;
		p->errors[i] = (TopError){.name = strdup(name)};
		if (!p->errors[i].name)
			return -ENOMEM;
		p->n_errors++;
	}
	p->errors[i].new_errors += n;
	for (; i > 0 && p->errors[i - 1].new_errors < p->errors[i].new_errors; i--) {
		TopError more = p->errors[i];

		p->errors[i] = p->errors[i - 1];
		p->errors[i - 1] = more;
	}
	return 0;
}

/* A counter that went back was reset, and has counted from 0 since. */
static int look_for_errors(TopPort *p, const Sample *s, const Value *counter)
{
	const Value *was = sample_find_earlier(s, &p->last, counter);
	uint64_t before = was ? counter_value(was) : 0, now = counter_value(counter);

	if (!was || counter_is(was, "missing") || counter_is(counter, "missing") || now == before ||
	    !top_is_error_counter(counter_member(counter, MEMBER_NAME)))
		return 0;
	return add_errors(p, counter_member(counter, MEMBER_NAME),
			  now > before ? now - before : now);
}

/* Drivers whose ports have no counters/ in sysfs count under other names. The first counter that a
 * port has is taken. */
static void look_for_rate(TopPort *p, const Sample *s, const Value *counter)
{
	static const struct {
		TopRate rate;
		const char *name;
	} names[] = {
		{TOP_RECEIVE, "port_rcv_bytes"},
		{TOP_TRANSMIT, "port_xmit_bytes"},
		{TOP_RECEIVE_PACKETS, "port_rcv_packets"},
		{TOP_TRANSMIT_PACKETS, "port_xmit_packets"},
		{TOP_RECEIVE, "rx_bytes"},
		{TOP_TRANSMIT, "tx_bytes"},
		{TOP_RECEIVE_PACKETS, "rx_pkts"},
		{TOP_TRANSMIT_PACKETS, "tx_pkts"},
		{TOP_RECEIVE_PACKETS, "rcvd_pkts"},
		{TOP_TRANSMIT_PACKETS, "sent_pkts"},
	};
	const char *name = counter_member(counter, MEMBER_NAME);
	double rate;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (!streq(name, names[i].name) || p->rates[names[i].rate] >= 0)
			continue;
		/* one that has reached its largest value stands still, whatever happens */
		if (!counter_is(counter, "saturated") && sample_rate(s, &p->last, counter, &rate))
			p->rates[names[i].rate] = rate;
	}
}

/* Takes a sample of the port. Returns whether there was an earlier one to compare with, or -ENOMEM.
 */
static int take_sample(TopPort *p, Sample *s)
{
	/* CLOCK_MONOTONIC went back: the machine that is asked was rebooted */
	bool first = p->last.monotonic_usec == 0 || s->monotonic_usec < p->last.monotonic_usec;
	int r = 0;

	free(p->failure);
	p->failure = NULL;
	/* rdmad reads counters once a second at most, and has answered with the same ones again */
	if (s->monotonic_usec == p->last.monotonic_usec)
		return false;
	forget_rates(p);
	for (size_t i = 0; !first && r == 0 && i < s->counters.n; i++) {
		look_for_rate(p, s, &s->counters.items[i]);
		r = look_for_errors(p, s, &s->counters.items[i]);
	}
	sample_done(&p->last);
	p->last = *s;
	*s = (Sample){};
	return r < 0 ? r : !first;
}

static int port_fail(TopPort *p, const char *why)
{
	forget_rates(p);
	free(p->failure);
	p->failure = strdup(why);
	return p->failure ? 0 : -ENOMEM;
}

void top_model_restart(TopModel *m)
{
	free(m->failure);
	m->failure = NULL;
	m->waiting_usec = 0;
	m->stopped_usec = 0;
}

int top_model_sample(TopModel *m, Samples *all, bool remote, uint64_t realtime_usec)
{
	uint64_t newest = 0;

	top_model_restart(m);
	for (size_t i = 0; i < m->n; i++) {
		_cleanup_(sample_done) Sample s = {};
		TopPort *p = &m->ports[i];
		const char *why;
		int r = sample_take(all, p->path, &s, &why);

		newest = MAX(newest, s.realtime_usec);
		if (r == -ENOENT) /* the port was added while the others were read */
			continue;
		if (r == -EIO || r == -ETIMEDOUT)
			r = port_fail(p, why);
		else if (r == 0)
			r = take_sample(p, &s);
		if (r < 0)
			return r;
		m->has_rates |= r > 0;
	}
	if (remote && newest > 0)
		m->clock_ahead = (int64_t)(newest - realtime_usec);
	return 0;
}

static void forget_all_rates(TopModel *m)
{
	for (size_t i = 0; i < m->n; i++)
		forget_rates(&m->ports[i]);
}

void top_model_fail(TopModel *m, const char *text)
{
	top_model_restart(m);
	m->failure = strdup(text);
	/* it may come from the bus as it is */
	if (m->failure)
		text_sanitize(m->failure, strlen(m->failure) + 1);
	forget_all_rates(m);
}

void top_model_stop(TopModel *m, uint64_t realtime_usec)
{
	m->stopped_usec = realtime_usec;
	forget_all_rates(m);
}
