/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "health-private.h"
#include "row-set.h"

/* A finding that depends on the time is looked at again so often. */
#define AGAIN_USEC (60 * USEC_PER_SEC)
/* So seldom details are told. */
#define DETAILS_USEC (2 * USEC_PER_SEC)

static DeviceHealth *device_health(const Object *o)
{
	return health_object_device(o)->health;
}

/* What checks ask */

static const Value *ask_history(void *userdata, const Object *port)
{
	/* a history changes with these; another name has another history */
	static const PortAttr rows[] = {PORT_ATTR_device_name, PORT_ATTR_state, PORT_ATTR_rate,
					PORT_ATTR_state_change, PORT_ATTR_link_downs};
	Health *h = userdata;

	h->now.time = true;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		mask_set(port->made->read, rows[i], true);
	if (h->history_of == port)
		return &h->history;
	value_done(&h->history);
	h->history_of = NULL;
	if (health_history(health_object_port(port), h->judged_usec - FLAP_LIMIT_USEC,
			   &h->history) < 0)
		return NULL;
	h->history_of = port;
	return &h->history;
}

static SeenSource ask_evidence(void *userdata, const Object *o)
{
	const Port *port = health_object_port(o);
	Health *h = userdata;

	h->now.evidence = h->now.time = true;
	h->evidence = (PortEvidence){health_object_device(o)->evidence, port ? port->number : 0};
	return (SeenSource){health_evidence, &h->evidence};
}

/* What is judged */

static void set_done(Health *h)
{
	/* the objects belong to the devices and ports */
	free(h->list.items);
	free(h->ports);
	free(h->devices);
	h->list = (ObjectList){};
	h->ports = NULL;
	h->devices = NULL;
	h->n_ports = h->n_devices = 0;
}

static bool reserve_port(Health *h, Port *p)
{
	PortHealth *ph = p->health;

	if (ph)
		return true;
	ph = calloc(1, sizeof(*ph));
	if (!ph || health_object_of_port(p, p->device->health->object,
					 &h->now.rows[ASKED_OTHER_PORT], &ph->object) < 0) {
		free(ph);
		return false;
	}
	ph->mark.whole = true;
	p->device->health->is_marked = h->is_marked = true;
	p->health = ph;
	return true;
}

static bool reserve_device(Health *h, Device *d)
{
	DeviceHealth *dh = d->health;

	if (dh)
		return true;
	dh = calloc(1, sizeof(*dh));
	if (!dh || health_object_of_device(d, &h->now.rows[ASKED_OTHER_DEVICE], &dh->object) < 0) {
		free(dh);
		return false;
	}
	dh->mark.whole = dh->is_marked = h->is_marked = true;
	dh->fit_usec = UINT64_MAX;
	dh->kept.cache = h->cache;
	d->health = dh;
	return true;
}

static void add_device(Health *h, Device *d)
{
	if (!d->published || !reserve_device(h, d))
		return;
	d->health->order = h->n_devices;
	h->devices[h->n_devices++] = h->list.items[h->list.n++] = d->health->object;
	for (uint32_t i = 0; i < d->n_ports; i++) {
		Port *p = d->ports[i];

		if (!p->published || !reserve_port(h, p))
			continue;
		h->ports[h->n_ports++] = h->list.items[h->list.n++] = p->health->object;
	}
}

/* Lists all that is published, in the order of indices and numbers. */
static void find_set(Health *h)
{
	const Cache *c = h->cache;
	bool was_alone = h->n_devices == 1;

	if (!h->is_other_set)
		return;
	set_done(h);
	h->list.items = calloc(c->n_devices + c->n_ports + 1, sizeof(Object *));
	h->ports = calloc(c->n_ports + 1, sizeof(Object *));
	h->devices = calloc(c->n_devices + 1, sizeof(Object *));
	if (!h->list.items || !h->ports || !h->devices ||
	    (c->n_devices > 0 && asked_reserve(&h->asked) < 0)) {
		set_done(h);
		return;
	}
	for (size_t i = 0; i < c->n_devices; i++)
		add_device(h, c->devices[i]);
	/* what looked at a device without others was not seen to look at others */
	for (size_t i = 0; i < h->n_devices && was_alone; i++) {
		DeviceHealth *d = device_health(h->devices[i]);

		d->mark.whole = d->is_marked = h->is_marked = true;
	}
	h->is_other_set = false;
}

/* Looking */

static bool ask_hides_devices(void *userdata)
{
	const Health *h = userdata;

	return h->hides_devices;
}

static bool ask_may_have_failed(_unused_ void *userdata, const Object *device)
{
	return device_health(device)->has_failed;
}

static bool ask_lost(void *userdata, size_t i, LostDevice *ret)
{
	const Health *h = userdata;
	EvidenceLoss l;

	if (!evidence_loss(&h->cache->evidence, i, &l))
		return false;
	*ret = (LostDevice){l.name, l.driver, l.model, l.guid, l.adapter, l.path, l.realtime_usec};
	return true;
}

void health_hide(Health *h, bool hides_devices)
{
	h->hides_devices = hides_devices;
}

static CheckRun new_run(Health *h)
{
	return (CheckRun){
		.objects = &h->list,
		.ports = h->ports,
		.n_ports = h->n_ports,
		.expect = &h->expect,
		.flap = {FLAP_LIMIT, FLAP_LIMIT_USEC, FLAP_LIMIT_TEXT},
		.only = CONDITIONS_ALL,
		.settle_usec = h->settle_usec,
		.now_usec = h->judged_usec,
		.ask = {.history = ask_history,
			.evidence = ask_evidence,
			.counters = health_ask_counters,
			.counters_before = health_ask_counters_before,
			.far_counters = health_ask_far,
			.far_counters_before = health_ask_far_before,
			.hides_devices = ask_hides_devices,
			.may_have_failed = ask_may_have_failed,
			.lost = h->hides_devices ? NULL : ask_lost,
			.userdata = h},
		.devices = h->devices,
	};
}

static bool is_any(_unused_ const void *owner, _unused_ const Finding *f)
{
	return true;
}

static void findings_done(CheckRun *r)
{
	r->devices = NULL; /* they are not of this run */
	check_run_done(r);
}

/* CHECK looks at D, or at its port P. R is a run of H, of which nothing stays. */
static void look(Health *h, CheckRun *r, const Check *check, DeviceHealth *d, PortHealth *p)
{
	h->now = (Asked){};
	d->object->made->read = &h->now.rows[ASKED_DEVICE];
	if (p)
		p->object->made->read = &h->now.rows[ASKED_PORT];
	r->devices = h->devices;
	r->n_devices = d->order + 1;
	r->error = 0;
	check_look(r, check, d->object, p ? p->object : NULL);
	d->object->made->read = &h->now.rows[ASKED_OTHER_DEVICE];
	if (p)
		p->object->made->read = &h->now.rows[ASKED_OTHER_PORT];
	asked_note(&h->asked, check, &h->now);
	if (r->error >= 0)
		kept_take(&d->kept, check, p ? p->object : d->object, r->findings, r->n_findings,
			  is_any, NULL, h->judged_usec);
	findings_done(r);
}

/* All of WHO look at D, or at its port P. */
static void look_all(Health *h, CheckSet who, DeviceHealth *d, PortHealth *p)
{
	CheckRun r = new_run(h);

	MASK_FOREACH(i, who)
	look(h, &r, &checks[i], d, p);
}

/* Who may say another thing now, because of the device. */
static CheckSet due_of_device(const Health *h, const DeviceHealth *d)
{
	CheckSet due = d->is_again ? h->asked.time : (CheckSet){};

	if (d->mark.whole)
		return mask_all;
	if (!mask_is_empty(&d->mark.rows))
		due = mask_or(due, mask_or(asked_who(&h->asked, ASKED_DEVICE, d->mark.rows),
					   h->asked.evidence));
	return due;
}

/* The same because of a port. */
static CheckSet due_of_port(const Health *h, const PortHealth *p)
{
	CheckSet due = p->mark.counters ? h->asked.counters : (CheckSet){};

	if (p->mark.whole)
		return mask_all;
	if (!mask_is_empty(&p->mark.rows))
		due = mask_or(due, mask_or(asked_who(&h->asked, ASKED_PORT, p->mark.rows),
					   h->asked.evidence));
	return due;
}

/* Whether what MARK says changes a verdict by itself: of what is stale nothing is known. */
static bool is_of_verdict(const Mark *mark, unsigned int stale, unsigned int state)
{
	return mark->whole || mask_has(&mark->rows, stale) || mask_has(&mark->rows, state);
}

static void judge_device(Health *h, Device *device)
{
	DeviceHealth *d = device->health;
	CheckSet due = due_of_device(h, d);

	d->is_told = d->kept.n > 0 ||
		     is_of_verdict(&d->mark, DEVICE_ATTR_stale, DEVICE_ATTR_unavailable);
	look_all(h, mask_and(due, h->asked.of_device), d, NULL);
	for (uint32_t i = 0; i < device->n_ports; i++) {
		PortHealth *p = device->ports[i]->health;
		CheckSet who;

		if (!p)
			continue;
		who = mask_and(mask_or(due, due_of_port(h, p)), h->asked.of_port);
		look_all(h, who, d, p);
		d->is_told |= is_of_verdict(&p->mark, PORT_ATTR_stale, PORT_ATTR_state);
		p->mark = (Mark){};
		if (!mask_is_empty(&who))
			object_forget(p->object);
	}
	object_forget(d->object);
	d->mark = (Mark){};
	d->is_marked = d->is_again = false;
	d->is_told |= d->kept.n > 0;
	kept_fold(&d->kept);
	d->is_told |= fit_look(h, device, h->judged_usec);
}

/* A port that changes again and again has the same findings, with other numbers. */
static void tell_device(Health *h, Device *d, HealthTell tell, void *userdata)
{
	bool details = h->judged_usec - d->health->details_usec >= DETAILS_USEC;

	if (details)
		d->health->details_usec = h->judged_usec;
	else
		d->health->fit_usec =
			MIN(d->health->fit_usec, d->health->details_usec + DETAILS_USEC);
	h->fit_usec = MIN(h->fit_usec, d->health->fit_usec);
	tell(userdata, d, details);
}

/* Whether a finding of L may be over after some time. */
static bool depends_on_time(const Health *h, const KeptList *l)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->items[i].ended_usec ||
		    mask_has(&h->asked.time, CHECK_PLACE(l->items[i].finding.check)))
			return true;
	return false;
}

/* Marks the devices of which a port may be fit NOW. */
static void mark_fit(Health *h, uint64_t now)
{
	if (h->fit_usec > now)
		return;
	h->fit_usec = UINT64_MAX;
	for (size_t i = 0; i < h->n_devices; i++) {
		DeviceHealth *d = device_health(h->devices[i]);

		if (d->fit_usec <= now)
			d->is_marked = h->is_marked = true;
		else
			h->fit_usec = MIN(h->fit_usec, d->fit_usec);
	}
}

/* What depends on the time is marked if it is late enough for that. */
static void mark_late(Health *h, uint64_t now)
{
	mark_fit(h, now);
	if (h->again_usec <= now) {
		h->compares = mask_or(h->compares, h->again);
		h->again = (CheckSet){};
		h->again_usec = UINT64_MAX;
	}
	if (h->is_again && now - h->timed_usec < AGAIN_USEC)
		return;
	h->timed_usec = now;
	for (size_t i = 0; i < h->n_devices; i++) {
		DeviceHealth *d = device_health(h->devices[i]);

		if (depends_on_time(h, &d->kept))
			d->is_marked = d->is_again = h->is_marked = true;
	}
}

static void begin_run(Health *h, uint64_t now)
{
	h->judged_usec = now;
	h->history_of = NULL;
}

void health_judge(Health *h, uint64_t now, HealthTell tell, void *userdata)
{
	size_t n_whole = 0;

	find_set(h);
	mark_late(h, now);
	begin_run(h, now);
	if (!h->is_marked)
		return;
	h->is_marked = h->is_again = false;
	for (size_t i = 0; i < h->n_devices; i++) {
		Device *d = health_object_device(h->devices[i]);

		if (d->health->is_marked) {
			n_whole += d->health->mark.whole;
			judge_device(h, d);
			if (d->health->is_told)
				tell_device(h, d, tell, userdata);
		}
		h->is_again |= d->health->kept.n > 0 && depends_on_time(h, &d->health->kept);
	}
	/* all have looked at all devices: only what looks at the machine has still to compare */
	if (n_whole > 0 && n_whole == h->n_devices)
		h->compares =
			mask_without(h->compares, mask_or(h->asked.of_device, h->asked.of_port));
}

/* The comparison */

static bool is_of_device(const void *owner, const Finding *f)
{
	const Object *o = f->port ? f->port : f->device;

	return o && device_health(o) == owner;
}

static bool is_of_machine(_unused_ const void *owner, const Finding *f)
{
	return !f->port && !f->device;
}

/* CHECK looks at all ports. */
static void compare(Health *h, const Check *check)
{
	CheckRun r = new_run(h);

	h->now = (Asked){};
	check_look(&r, check, NULL, NULL);
	asked_note(&h->asked, check, &h->now);
	if (r.error >= 0) {
		kept_take(&h->kept, check, NULL, r.findings, r.n_findings, is_of_machine, NULL,
			  h->judged_usec);
		for (size_t i = 0; i < h->n_devices; i++) {
			DeviceHealth *d = device_health(h->devices[i]);

			d->is_told |= kept_has(&d->kept, check);
			kept_take(&d->kept, check, NULL, r.findings, r.n_findings, is_of_device, d,
				  h->judged_usec);
			d->is_told |= kept_has(&d->kept, check);
		}
	}
	findings_done(&r);
}

/* CHECK, which looks at others beside its own device or port, looks at each of these. */
static void look_again(Health *h, const Check *check)
{
	CheckRun r = new_run(h);

	for (size_t i = 0; i < h->n_devices; i++) {
		Device *device = health_object_device(h->devices[i]);
		DeviceHealth *d = device->health;

		d->is_told |= kept_has(&d->kept, check);
		if (check->scope == SCOPE_DEVICE)
			look(h, &r, check, d, NULL);
		for (uint32_t k = 0; k < device->n_ports && check->scope == SCOPE_PORT; k++)
			if (device->ports[k]->health)
				look(h, &r, check, d, device->ports[k]->health);
		d->is_told |= kept_has(&d->kept, check);
	}
}

bool health_wants_comparison(const Health *h)
{
	return !mask_is_empty(&h->compares);
}

void health_compare(Health *h, uint64_t now, HealthTell tell, void *userdata)
{
	CheckSet who = h->compares;

	/* ports that have changed now are compared when they have settled */
	if (!mask_is_empty(&h->unsettled)) {
		h->again = mask_or(h->again, h->unsettled);
		h->again_usec = now + h->settle_usec + USEC_PER_SEC;
	}
	h->compares = h->unsettled = (CheckSet){};
	begin_run(h, now);
	for (size_t i = 0; i < h->n_devices; i++)
		device_health(h->devices[i])->is_told = false;
	for (unsigned int i = 0; i < n_checks; i++) {
		if (!mask_has(&who, i))
			continue;
		if (checks[i].scope == SCOPE_MACHINE)
			compare(h, &checks[i]);
		else if (mask_has(&h->asked.others, i))
			look_again(h, &checks[i]);
		else
			continue;
		/* before the next makes its own: there may be thousands of ports */
		for (size_t k = 0; k < h->list.n; k++)
			object_forget(h->list.items[k]);
	}
	for (size_t i = 0; i < h->n_devices; i++) {
		Device *d = health_object_device(h->devices[i]);

		if (!d->health->is_told)
			continue;
		kept_fold(&d->health->kept);
		(void)fit_look(h, d, now);
		tell_device(h, d, tell, userdata);
	}
}

uint64_t health_next_usec(const Health *h)
{
	uint64_t next =
		h->is_again ? MIN(h->again_usec, h->timed_usec + AGAIN_USEC) : h->again_usec;

	return MIN(next, h->fit_usec);
}

/* Changes */

/* WHO is to compare the ports, now and when they have settled. */
static void compare_soon(Health *h, CheckSet who)
{
	h->compares = mask_or(h->compares, who);
	h->unsettled = mask_or(h->unsettled, who);
}

/* The set of devices or ports is another one. */
static void take_set(Health *h)
{
	h->is_other_set = true;
	compare_soon(h, mask_all);
}

/* Takes the rows CHANGED into MARK, if any check has ever asked for one of them. OWN and OTHER say
 * who has. */
static bool take_rows(Health *h, DeviceHealth *d, Mark *mark, AttrMask changed, AskedOf own,
		      AskedOf other)
{
	CheckSet compares = asked_who(&h->asked, other, changed);
	AttrMask asked = mask_and(changed, h->asked.any[own]);
	bool is_own = !mask_is_empty(&asked) ||
		      (!mask_is_empty(&h->asked.evidence) && !mask_is_empty(&changed));

	compare_soon(h, compares);
	if (is_own) {
		mark->rows = mask_or(mark->rows, changed);
		d->is_marked = h->is_marked = true;
	}
	return is_own || !mask_is_empty(&compares);
}

static _always_inline_ bool is_counter(const Attribute *a)
{
	return a->class == CLASS_COUNTER && a->size > 0;
}

/* The COUNTERS, rows of TABLE, that differ, of which no change tells. VALID: the rows that only one
 * of the two has. */
static AttrMask grown(const Attribute *table, AttrMask counters, AttrMask valid, const void *was,
		      const void *now)
{
	AttrMask changed = mask_and(counters, valid);

	MASK_FOREACH(a, counters)
	if (memcmp((const char *)was + table[a].offset, (const char *)now + table[a].offset,
		   table[a].size) != 0)
		mask_set(&changed, a, true);
	return changed;
}

bool health_take_failure(Health *h, const Device *d)
{
	AttrMask changed = {};

	if (!d->health)
		return false;
	d->health->has_failed = true;
	/* the driver reports so in one way or the other */
	mask_set(&changed, DEVICE_ATTR_health_reporters, true);
	return take_rows(h, d->health, &d->health->mark, changed, ASKED_DEVICE, ASKED_OTHER_DEVICE);
}

bool health_take_port(Health *h, const PortChange *c)
{
	const PortSnapshot *now = &c->port->now;
	PortHealth *p = c->port->health;
	AttrMask counters, changed;

	/* checks of other ports may have made its values */
	if (p)
		object_forget(p->object);
	if (!p || c->op == CACHE_ADDED) {
		if (p)
			p->mark.whole = c->port->device->health->is_marked = h->is_marked = true;
		take_set(h);
		return true;
	}
	/* a device that does not answer */
	if (now->values.stale && mask_has(&c->changed, PORT_ATTR_stale))
		health_take_failure(h, c->port->device);
	counters = mask_and(port_rows(is_counter),
			    mask_or(h->asked.any[ASKED_PORT], h->asked.any[ASKED_OTHER_PORT]));
	changed = mask_or(c->changed,
			  grown(port_attributes, counters, mask_xor(c->was.valid, now->valid),
				&c->was.values, &now->values));
	return !mask_is_empty(&changed) && take_rows(h, c->port->device->health, &p->mark, changed,
						     ASKED_PORT, ASKED_OTHER_PORT);
}

bool health_take_device(Health *h, const DeviceChange *c)
{
	const DeviceSnapshot *now = &c->device->now;
	DeviceHealth *d = c->device->health;
	AttrMask counters, changed;

	if (c->op == CACHE_REMOVED)
		return false;
	if (d)
		object_forget(d->object);
	if (!d || c->op == CACHE_ADDED) {
		take_set(h);
		return true;
	}
	counters = mask_and(device_rows(is_counter),
			    mask_or(h->asked.any[ASKED_DEVICE], h->asked.any[ASKED_OTHER_DEVICE]));
	changed = mask_or(c->changed,
			  grown(device_attributes, counters, mask_xor(c->was.valid, now->valid),
				&c->was.values, &now->values));
	return take_rows(h, d, &d->mark, changed, ASKED_DEVICE, ASKED_OTHER_DEVICE);
}

void health_forget_port(Health *h, Port *p)
{
	if (!p->health)
		return;
	kept_forget(&p->device->health->kept, p->health->object);
	kept_fold(&p->device->health->kept);
	health_drop_counters(h, p->health);
	fit_done(&p->health->fit);
	object_free(p->health->object);
	free(p->health);
	p->health = NULL;
	set_done(h);
	take_set(h);
}

void health_forget_device(Health *h, Device *d)
{
	if (!d->health)
		return;
	for (uint32_t i = 0; i < d->n_ports; i++)
		health_forget_port(h, d->ports[i]);
	kept_done(&d->health->kept);
	object_free(d->health->object);
	free(d->health);
	d->health = NULL;
	set_done(h);
	take_set(h);
}

void health_mark_all(Health *h)
{
	/* the list of H may be out of date */
	for (size_t i = 0; i < h->cache->n_devices; i++) {
		DeviceHealth *d = h->cache->devices[i]->health;

		if (d)
			d->mark.whole = d->is_marked = h->is_marked = true;
	}
	h->compares = mask_all;
}

void health_expect(Health *h, Expectations *e)
{
	expectations_done(&h->expect);
	h->expect = *e;
	*e = (Expectations){};
	health_mark_all(h);
	/* others may be looked at */
	for (size_t i = 0; i < h->cache->n_devices; i++) {
		const Device *d = h->cache->devices[i];

		for (uint32_t k = 0; k < d->n_ports; k++)
			if (d->ports[k]->health)
				health_drop_counters(h, d->ports[k]->health);
	}
}

/* Life */

int health_new(const Cache *c, uint64_t settle_usec, uint64_t counter_usec, Health **ret)
{
	Health *h = calloc(1, sizeof(*h));

	if (!h)
		return -ENOMEM;
	asked_begin(&h->asked);
	h->cache = h->kept.cache = c;
	h->settle_usec = settle_usec;
	h->counter_usec = counter_usec;
	h->again_usec = h->fit_usec = UINT64_MAX;
	h->compares = mask_all;
	*ret = h;
	return 0;
}

Health *health_free(Health *h)
{
	if (!h)
		return NULL;
	for (size_t i = 0; i < h->cache->n_devices; i++)
		health_forget_device(h, h->cache->devices[i]);
	set_done(h);
	kept_done(&h->kept);
	value_done(&h->history);
	expectations_done(&h->expect);
	asked_done(&h->asked);
	free(h);
	return NULL;
}
