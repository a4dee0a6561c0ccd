/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How many bits of a link are errors: what FEC has corrected, where the driver counts that, and
 * else symbol errors on InfiniBand, which are what is left after that. It is measured since the
 * link came up, and over a day or two at most.
 */

#include "decode.h"
#include "error-ratio.h"
#include "manager-private.h"

/* rdmad knows the time of a reading only roughly. In a shorter interval that error is large. */
#define LEAST_USEC (10 * USEC_PER_SEC)
/* Where this counter stands still. One that has more is wider than the architecture says. */
#define SYMBOL_ERRORS_MAX UINT16_MAX

static void publish(Manager *m, Port *p, PortSnapshot *measured)
{
	_cleanup_(port_change_done) PortChange change = {};

	cache_apply_port_measured(p, measured, realtime_now_usec(), &change);
	if (change.op == CACHE_CHANGED)
		manager_publish_port(m, &change);
}

void manager_signal_forget(Port *p)
{
	free(p->errors);
	p->errors = NULL;
}

static void forget(Manager *m, Port *p)
{
	if (!p->errors && !p->now.measured.full)
		return;
	manager_signal_forget(p);
	publish(m, p, &(PortSnapshot){});
}

/* The counter of errors of P counts no more. */
static void note_full(Manager *m, Port *p)
{
	manager_signal_forget(p);
	publish(m, p, &(PortSnapshot){.measured.full = true});
}

/* The rate of the link whose errors the counter has; 0: it is not known. Of a LAG that is one
 * interface, and Rate may be that of all. */
static uint64_t rate_of_link(const PortSnapshot *s)
{
	bool is_of_all = s->values.rate_source == RATE_SOURCE_EFFECTIVE ||
			 s->values.rate_source == RATE_SOURCE_BOND;

	if (mask_has(&s->valid, PORT_ATTR_netdev_speed))
		return s->values.netdev_speed;
	return mask_has(&s->valid, PORT_ATTR_rate) && !is_of_all ? s->values.rate : 0;
}

/* Whether what FEC corrects is counted, and so symbol errors are not what is measured. */
static bool counts_corrected(const Port *p)
{
	return mask_has(&p->now.valid, PORT_ATTR_fec_corrected_bits);
}

/* The counter of errors of P, which has been read, has N. */
static void take(Manager *m, Port *p, uint64_t n)
{
	const PortSnapshot *now = &p->now;
	const uint64_t rate = rate_of_link(now);
	PortSnapshot s = {};
	uint64_t interval, limit;
	ErrorRatio e;

	if (!rate || !decode_state_meets(now->values.state, PORT_STATE_ACTIVE))
		return forget(m, p);
	if (!p->errors)
		p->errors = calloc(1, sizeof(*p->errors));
	if (!p->errors)
		return;
	interval = error_meter_take(p->errors,
				    (ErrorCount){n, monotonic_usec(m), counts_corrected(p)}, rate);
	if (interval > 0 && interval < LEAST_USEC)
		return;
	if (interval == 0)
		return publish(m, p, &s);
	e = error_meter_ratio(p->errors);
	PORT_SUPPLY(&s, bit_error_interval, interval);
	PORT_SUPPLY(&s, bit_error_ratio_lower, e.lower);
	PORT_SUPPLY(&s, bit_error_ratio_upper, e.upper);
	if (e.ratio)
		PORT_SUPPLY(&s, bit_error_ratio, e.ratio);
	limit = counts_corrected(p) ? error_limit(TEXT_OF(&now->values, fec_mode), rate) : 0;
	if (limit)
		PORT_SUPPLY(&s, bit_error_margin, error_margin(e.upper, limit));
	publish(m, p, &s);
}

void manager_signal_port(Manager *m, PortChange *c)
{
	Port *p = c->port;

	if (mask_has(&c->changed, PORT_ATTR_state_change))
		forget(m, p);
	if (c->cause != CHANGE_ANSWER || !(c->parts & READ_SIGNAL) || !counts_corrected(p))
		return;
	/* some drivers have the counter although nothing counts */
	if (streq(TEXT_OF(&p->now.values, fec_mode), "off"))
		forget(m, p);
	else
		take(m, p, p->now.values.fec_corrected_bits);
}

void manager_signal_counters(Manager *m, Port *p)
{
	const Reading *r = reading_of(p, QUERY_COUNTERS);

	if (!r || r->error < 0 || p->now.values.protocol != PROTOCOL_INFINIBAND ||
	    counts_corrected(p))
		return;
	TABLE_FOREACH(CounterEntry, e, r->table)
		if (!e->error && streq(e->file, "symbol_error")) {
			if (e->value != SYMBOL_ERRORS_MAX)
				take(m, p, e->value);
			else
				note_full(m, p);
		}
}
