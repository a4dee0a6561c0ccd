/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The evidence of devices and ports beside their states, for a later explanation. */

#include "manager-private.h"

/* When a device has gone, its hardware may be about to go: the kernel removes that afterwards. */
#define JUDGE_USEC (2 * USEC_PER_SEC)

static EvidenceMoment moment(const Manager *m, EventReason reason)
{
	return (EvidenceMoment){realtime_now_usec(), monotonic_usec(m), reason};
}

void manager_evidence_port(Manager *m, PortChange *c)
{
	const Port *p = c->port;
	EvidenceMoment when = {c->when_usec, monotonic_usec(m),
			       event_reason_to_publish(c->reasons)};

	if (c->op != CACHE_ADDED && c->tables)
		evidence_note_tables(&p->device->evidence, p->number, &c->was, &p->now, &when);
	if (c->op == CACHE_ADDED || !mask_is_empty(&c->changed))
		evidence_note_port(&p->device->evidence, p->number, &p->now,
				   c->op == CACHE_ADDED ? &mask_all : &c->changed, &when);
	if (c->parts & READ_SIGNAL)
		evidence_note_port_counts(&p->device->evidence, p->number, &p->now, &when);
}

/* Notes the hardware of D, now that its place is known. */
static void note_parent(Manager *m, Device *d, const EvidenceMoment *when)
{
	const char *path = TEXT_OF(&d->now.values, sysfs_path);
	uint64_t identity = 0;

	if (*path && m->source->ops->parent)
		(void)m->source->ops->parent(m->source, path, &identity);
	if (identity)
		evidence_note_parent(&d->evidence, path, identity, when);
}

void manager_evidence_device(Manager *m, DeviceChange *c)
{
	Device *d = c->device;
	EvidenceMoment when = {c->when_usec, monotonic_usec(m), REASON_DEVLINK};

	evidence_note_health(&d->evidence, &c->was, &d->now, &when);
	when.reason = REASON_DEVICE;
	if (!mask_is_empty(&c->changed))
		evidence_note_device(&d->evidence, &d->now, &c->changed, &when);
	if (mask_has(&c->changed, DEVICE_ATTR_sysfs_path))
		note_parent(m, d, &when);
	evidence_note_counts(&d->evidence, &d->now, &when);
}

bool manager_evidence_event(Manager *m, Device *d, uint32_t number, EventReason reason)
{
	EvidenceMoment when = moment(m, reason);

	return evidence_note_event(&d->evidence, number, &when);
}

static int on_judge(_unused_ sd_event_source *s, _unused_ uint64_t usec, void *userdata)
{
	Manager *m = userdata;
	EvidenceMoment when = moment(m, REASON_DEVICE);
	EvidenceLog *l;
	const char *path;

	while ((l = evidence_unjudged(&m->cache.evidence, &path))) {
		uint64_t identity = 0;
		ParentState state = m->source->ops->parent(m->source, path, &identity);

		evidence_judge(l, state, identity, &when);
	}
	return 0;
}

void manager_evidence_absence(Manager *m, Device *d)
{
	evidence_keep(&m->cache.evidence, &d->now, realtime_now_usec(), &d->evidence);
	if (m->source->ops->parent)
		manager_start_timer(m, &m->judge, JUDGE_USEC, on_judge, m, "judge");
}
