/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How well devices and ports are: what the judge (daemon/health) says of what has changed; and the
 * rails, which change with it.
 *
 * It is asked when the change is on the bus, a little later, so that what changes together is
 * judged together, and in a storm of changes it takes a tenth of the processor at most. Ports are
 * compared with each other only after READY, when all are known, and so seldom that it takes a
 * thousandth of it at most.
 */

#include "clock.h"
#include "log.h"
#include "manager-private.h"
#include "processor-time.h"
#include "rails.h"

#define JUDGE_DELAY_USEC (2 * USEC_PER_MSEC)
#define JUDGE_SHARE	 10U
#define COMPARE_SHARE	 1000U
/* A clock that is only adjusted is never so far off between two looks. */
#define CLOCK_STEP_USEC USEC_PER_SEC

/* Returns whether the findings are other ones. */
static bool publish_device_health(Manager *m, Device *d, bool details)
{
	_cleanup_(device_change_done) DeviceChange change;
	Table *findings;
	AttrVerdict health = health_of_device(d, &findings);

	cache_apply_device_health(d, health, findings, details, realtime_now_usec(), &change);
	if (change.op == CACHE_CHANGED)
		manager_publish_device(m, &change);
	return change.tables != 0;
}

static bool publish_port_health(Manager *m, Port *p, bool details)
{
	_cleanup_(port_change_done) PortChange change;
	Table *findings;
	AttrVerdict health = health_of_port(p, &findings);

	cache_apply_port_health(p, health, health_fit_since(p), findings, details,
				realtime_now_usec(), &change);
	if (change.op == CACHE_CHANGED)
		manager_publish_port(m, &change);
	return change.tables != 0;
}

/* A HealthTell */
static void publish_health(void *userdata, Device *d, bool details)
{
	Manager *m = userdata;
	bool is_new = publish_device_health(m, d, details);

	m->health_told = true;
	for (uint32_t i = 0; i < d->n_ports; i++)
		if (d->ports[i]->published &&
		    (publish_port_health(m, d->ports[i], details) || is_new))
			manager_note_findings(m, d->ports[i]);
	if (is_new)
		manager_note_device_findings(m, d);
}

/* The worst of all, and what is found of no device. */
static void publish_machine(Manager *m)
{
	Table *findings;
	AttrVerdict health = health_of_machine(m->health, &findings);
	bool same = table_equal(findings, m->machine_findings);

	if (health == m->machine_health && same) {
		table_free(findings);
		return;
	}
	table_free(m->machine_findings);
	m->machine_findings = findings;
	m->machine_health = health;
	if (!same)
		manager_note_all_findings(m);
	if (m->bus)
		bus_publish_health(m->bus);
}

int manager_acknowledge(void *userdata, Port *p, const char *check, const char *text)
{
	Manager *m = userdata;
	char name[80];

	if (!health_acknowledge(m->health, p, check, text, realtime_now_usec()))
		return -ENOENT;
	log_notice("%s: %s is acknowledged%s%s", port_name(p, name), check, *text ? ": " : "",
		   text);
	publish_health(m, p->device, true);
	publish_machine(m);
	return 0;
}

/* When that may be done again which the processor has been busy with since BEGIN_NSEC, if it shall
 * take one part of SHARE of its time at most; on CLOCK_MONOTONIC. */
static uint64_t next_share(uint64_t begin_nsec, uint64_t share)
{
	return monotonic_now_usec() + share * (processor_now_nsec() - begin_nsec) / 1000;
}

static void compare(Manager *m)
{
	uint64_t begin = processor_now_nsec();
	SourceStatus status;

	m->source->ops->status(m->source, &status);
	health_hide(m->health, status.namespaces && streq(status.namespaces, "exclusive"));
	health_compare(m->health, realtime_now_usec(), publish_health, m);
	m->compare_usec = next_share(begin, COMPARE_SHARE);
	m->health_told = true;
}

/* A RailTell */
static void publish_rail(void *userdata, PortChange *c)
{
	Manager *m = userdata;

	manager_publish_port(m, c);
	(void)health_take_port(m->health, c);
}

static int on_health(sd_event_source *s, uint64_t usec, void *userdata);

/* Waits for what is to be done next. */
static void await_health(Manager *m)
{
	uint64_t now = monotonic_now_usec(), realtime = realtime_now_usec();
	uint64_t next = health_next_usec(m->health), delay = UINT64_MAX;

	if (next != UINT64_MAX)
		delay = next > realtime ? next - realtime : 0;
	if (m->ready && health_wants_comparison(m->health))
		delay = m->compare_usec > now ? m->compare_usec - now : 0;
	if (delay != UINT64_MAX)
		manager_start_timer(m, &m->health_timer, delay, on_health, m, "health");
}

void manager_health_follow_clock(Manager *m)
{
	uint64_t was = m->booted_usec, is = realtime_now_usec() - boottime_now_usec();

	if ((is > was ? is - was : was - is) < CLOCK_STEP_USEC)
		return;
	m->booted_usec = is;
	health_mark_all(m->health);
}

static int on_health(_unused_ sd_event_source *s, _unused_ uint64_t usec, void *userdata)
{
	Manager *m = userdata;
	uint64_t begin = processor_now_nsec();

	m->health_soon = m->health_told = false;
	manager_health_follow_clock(m);
	/* without memory the next time */
	if (m->ready && m->rails_due)
		m->rails_due = rails_number(&m->cache, realtime_now_usec(), publish_rail, m) < 0;
	health_judge(m->health, realtime_now_usec(), publish_health, m);
	m->judge_usec = next_share(begin, JUDGE_SHARE);
	if (m->ready && health_wants_comparison(m->health) &&
	    monotonic_now_usec() >= m->compare_usec)
		compare(m);
	if (m->health_told)
		publish_machine(m);
	await_health(m);
	return 0;
}

void manager_health_judge_soon(Manager *m)
{
	uint64_t now;

	if (m->health_soon)
		return;
	now = monotonic_now_usec();
	m->health_soon = true;
	manager_start_timer(m, &m->health_timer,
			    MAX(JUDGE_DELAY_USEC, m->judge_usec > now ? m->judge_usec - now : 0),
			    on_health, m, "health");
}

void manager_health_port(Manager *m, PortChange *c)
{
	m->rails_due |= rails_depend_on_port(c);
	if (health_take_port(m->health, c) || m->rails_due)
		manager_health_judge_soon(m);
}

void manager_health_device(Manager *m, DeviceChange *c)
{
	m->rails_due |= rails_depend_on_device(c);
	if (health_take_device(m->health, c) || m->rails_due)
		manager_health_judge_soon(m);
}

void manager_health_event(Manager *m, const Event *e)
{
	const Device *d = cache_device(&m->cache, e->device);

	if (e->reason == REASON_DEVICE_FATAL && d && health_take_failure(m->health, d))
		manager_health_judge_soon(m);
}

void manager_health_counters(Manager *m, Port *p)
{
	Reading *r = reading_of(p, QUERY_COUNTERS);

	if (!r || r->error < 0 || !r->monotonic_usec)
		return;
	if (health_take_counters(m->health, p, SAMPLE_LOCAL, r->table, r->realtime_usec,
				 r->monotonic_usec))
		manager_health_judge_soon(m);
	/* nobody else wants them */
	if (r->is_own) {
		r->table = table_free(r->table);
		r->monotonic_usec = 0;
	}
}

void manager_health_forget_port(Manager *m, Port *p)
{
	health_forget_port(m->health, p);
	manager_health_judge_soon(m);
}

void manager_health_forget_device(Manager *m, Device *d)
{
	health_forget_device(m->health, d);
	manager_health_judge_soon(m);
}

int manager_health_start(Manager *m)
{
	m->booted_usec = realtime_now_usec() - boottime_now_usec();
	return health_new(&m->cache, m->config.settle_usec, m->config.counter_usec, &m->health);
}

void manager_health_judge_all(Manager *m)
{
	(void)on_health(NULL, 0, m);
}

void manager_health_end(Manager *m)
{
	sd_event_source_disable_unref(m->health_timer);
	m->health = health_free(m->health);
	m->machine_findings = table_free(m->machine_findings);
}
