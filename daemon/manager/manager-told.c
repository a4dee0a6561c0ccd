/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The lines of a record are taken as answers: at once, and in the same way. So rdmad publishes the
 * same, however quickly the record is played. */

#include "log.h"
#include "manager-private.h"

static void take_events(Manager *m, Device *d, Port *p, uint32_t reasons)
{
	for (EventReason r = 0; r < _REASON_MAX; r++) {
		if (!(reasons & REASON_BIT(r)))
			continue;
		manager_evidence_event(m, d, p ? p->number : EVENT_ALL_PORTS, r);
		if (p)
			manager_note_event(m, p, r);
		manager_record_event(m, d, p, r);
	}
}

static void take_port(Manager *m, Port *p, const Told *t)
{
	Schedule *w = p->device->schedule;

	/* The device has answered. */
	if (t->error == 0)
		w->wedged = false;
	manager_take_port(m, p, t->reasons, t->is_open, t->error, t->code, t->text,
			  t->port_snapshot);
}

static void take_device(Manager *m, Device *d, const Told *t)
{
	_cleanup_(device_change_done) DeviceChange change = {};
	const PortSet none = {};
	int r;

	/* the list says that: TOLD_DEVICES */
	mask_set(&t->device_snapshot->supplied, DEVICE_ATTR_name, false);
	mask_set(&t->device_snapshot->supplied, DEVICE_ATTR_port_count, false);
	if (t->error < 0) {
		/* what the list of devices has said of one that has never answered */
		if (!d->published)
			(void)cache_apply_device(&m->cache, t->device_snapshot, CHANGE_LIST, 0,
						 &change);
		d->schedule->wedged = t->error == -ETIMEDOUT;
		manager_fail_device(m, d, &none, t->error, t->code, t->text);
		return;
	}
	if (!t->is_listed)
		d->schedule->wedged = false;
	r = cache_apply_device(&m->cache, t->device_snapshot,
			       t->is_listed ? CHANGE_LIST : CHANGE_ANSWER, realtime_now_usec(),
			       &change);
	if (r < 0) {
		log_warning_errno(r, "%s: cannot keep what the record says, ignoring: %m",
				  d->now.values.name);
		return;
	}
	/* it was published then, whoever said it */
	change.cause = CHANGE_ANSWER;
	manager_hand_on_device(m, &change);
}

void manager_on_told(void *userdata, const Told *t)
{
	Manager *m = userdata;
	Device *d = cache_device(&m->cache, t->device);
	Port *p;

	if (!d || t->kind == TOLD_DEVICES) {
		manager_enumerate(m);
		/* those that are new are asked */
		manager_mark_flush(m);
		d = t->kind == TOLD_DEVICES ? NULL : cache_device(&m->cache, t->device);
	}
	p = d && t->port ? device_port(d, t->port) : NULL;
	if (!d || (t->port && !p))
		return;
	if (t->kind == TOLD_ASKED)
		manager_publish_ports(m, d);
	else if (t->kind == TOLD_EVENT)
		take_events(m, d, p, t->reasons);
	else if (p)
		take_port(m, p, t);
	else
		take_device(m, d, t);
	manager_publish_counts(m);
}
