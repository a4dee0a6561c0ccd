/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Since when a port is fit to be used.
 *
 * A port whose link was lost is active again before it is as it was: the GIDs of an Ethernet port
 * come back one by one, and a link that has just come up may go down again. A job that begins too
 * early is lost. So the port has to be quiet for a time that its history asks for.
 */

#include "decode.h"
#include "flaps.h"
#include "health-private.h"
#include "wait.h"

#define MINUTES_USEC(n) ((n)*60 * USEC_PER_SEC)

/*
 * A link that went down so often in a day has to be quiet for so long. Most links of a large
 * network that go down do so once (Alibaba, HPN), so one time asks for nothing. Two in a day are to
 * be looked into (see FLAP_LIMIT); ByteDance takes a machine out of use that has more than two
 * alerts in five minutes (ByteRobust). gpud calls three a fault. Of a link that is up for less than
 * 125 minutes NVIDIA's bring-up procedure says that nobody knows its bit error ratio.
 */
static const struct {
	size_t downs;
	uint64_t usec;
} holds[] = {{5, MINUTES_USEC(125)}, {3, MINUTES_USEC(60)}, {2, MINUTES_USEC(5)}};

/* So far back a link down counts. */
#define HOLD_PAST_USEC FLAP_LIMIT_USEC

void fit_done(Fit *f)
{
	f->gids = table_free(f->gids);
}

/* Whether P is active, as for those who wait for ports, and nothing critical is known of it or its
 * device. */
static bool is_usable(const Port *p)
{
	static const WaitCondition active = {.state = PORT_STATE_ACTIVE};
	const KeptList *kept = &p->device->health->kept;

	return wait_lack(&active, p) == LACK_NOTHING && !p->device->now.values.stale &&
	       kept_worst(kept, p->health->object) != VERDICT_CRITICAL &&
	       kept_worst(kept, p->device->health->object) != VERDICT_CRITICAL;
}

static bool has_gid(const Table *gids, const GidEntry *e)
{
	TABLE_FOREACH(GidEntry, g, gids)
		if (g->index == e->index && g->type == e->type &&
		    memcmp(g->gid, e->gid, sizeof(g->gid)) == 0)
			return true;
	return false;
}

/* Whether one of the GIDs WAS is not at its index in IS. Those of containers come and go. */
static bool lacks_gids(const Table *was, const Table *is)
{
	const GidEntry *e;
	TableCursor c = {};

	while ((e = table_next_own(was, is, &c)))
		if (e->namespace != GID_NAMESPACE_OTHER && !has_gid(is, e))
			return true;
	return false;
}

/* How long P has to be quiet, which is so since SINCE. */
static uint64_t hold_of(const Port *p, uint64_t since)
{
	uint64_t past = since > HOLD_PAST_USEC ? since - HOLD_PAST_USEC : 0;
	const PortEvidence shown = {p->device->evidence, p->number};
	const SeenSource evidence = {health_evidence, &shown};
	_cleanup_value_ Value history = {};
	size_t n = p->history.n_downs - history_link_downs_since(&p->history, past);

	/* what an administrator has done does not count */
	if (n >= holds[ARRAY_SIZE(holds) - 1].downs && health_history(p, past, &history) >= 0)
		n = flaps_count(value_lookup(&history, "LinkDowns"), past, UINT64_MAX, &evidence,
				NULL);
	for (size_t i = 0; i < ARRAY_SIZE(holds); i++)
		if (n >= holds[i].downs)
			return holds[i].usec;
	return 0;
}

/* When something critical that is known from before ended, until NOW. */
static uint64_t last_critical(const Port *p, uint64_t now)
{
	uint64_t last = 0;

	for (size_t i = 0; i < p->history.findings.n; i++) {
		const PastFinding *f = &p->history.findings.items[i];

		if (f->severity == VERDICT_CRITICAL && !f->acknowledged)
			last = MAX(last, f->until ? f->until : now);
	}
	return last;
}

/* P is usable. Notes since when it is quiet; returns whether that is another time than before. */
static bool look_if_quiet(Fit *f, const Port *p, uint64_t now)
{
	const PortSnapshot *s = &p->now;
	uint32_t lid = mask_has(&s->valid, PORT_ATTR_lid) ? s->values.lid : 0;
	bool lacks = mask_has(&s->valid, PORT_ATTR_gids)
			     ? lacks_gids(f->gids, s->tables[PORT_TABLE_GIDS])
			     : f->lacks_gids;
	bool is_other = f->is_known && (f->is_broken || lid != f->lid || lacks != f->lacks_gids);

	if (!f->is_known)
		f->quiet_usec = last_critical(p, now);
	if (is_other)
		f->quiet_usec = now;
	else if (s->values.state_change != f->state_change)
		f->quiet_usec = MAX(f->quiet_usec, s->values.state_change);
	is_other |= s->values.state_change != f->state_change;
	f->state_change = s->values.state_change;
	f->lid = lid;
	f->lacks_gids = lacks;
	f->is_known = true;
	f->is_broken = false;
	return is_other;
}

/* The GIDs of P are those that it is to have from now on. */
static void take_gids(Fit *f, const Port *p)
{
	Table *gids = p->now.tables[PORT_TABLE_GIDS];

	f->lacks_gids = false;
	if (!mask_has(&p->now.valid, PORT_ATTR_gids) || f->gids == gids)
		return;
	table_free(f->gids);
	f->gids = table_hold(gids);
}

/* Returns when P is to be looked at again; UINT64_MAX: only after a change. */
static uint64_t look_at(const Health *h, Fit *f, const Port *p, uint64_t now)
{
	uint64_t hold;

	if (!is_usable(p)) {
		f->is_known = f->is_broken = true;
		f->since_usec = 0;
		return UINT64_MAX;
	}
	if (look_if_quiet(f, p, now))
		f->since_usec = 0;
	if (!f->since_usec) {
		/* nobody knows, or somebody has set the clock back */
		if (!f->quiet_usec || f->quiet_usec > now)
			f->quiet_usec = now;
		hold = MAX(hold_of(p, f->quiet_usec), f->lacks_gids ? h->settle_usec : 0);
		if (now - f->quiet_usec < hold)
			return f->quiet_usec + hold;
		f->since_usec = f->quiet_usec + hold;
	}
	take_gids(f, p);
	return UINT64_MAX;
}

bool fit_look(Health *h, Device *d, uint64_t now)
{
	bool is_other = false;

	d->health->fit_usec = UINT64_MAX;
	for (uint32_t i = 0; i < d->n_ports; i++) {
		Port *p = d->ports[i];
		Fit *f = p->health ? &p->health->fit : NULL;
		uint64_t again;

		if (!f)
			continue;
		again = look_at(h, f, p, now);
		d->health->fit_usec = MIN(d->health->fit_usec, again);
		is_other |= f->since_usec != p->now.values.fit_since ||
			    p->fit_downs != p->history.link_downs;
	}
	h->fit_usec = MIN(h->fit_usec, d->health->fit_usec);
	return is_other;
}

uint64_t health_fit_since(const Port *p)
{
	return p->health ? p->health->fit.since_usec : 0;
}
