/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "health-kept.h"

#include "health-object.h"

static const Object *subject_of(const Finding *f)
{
	return f->port ? f->port : f->device;
}

static void finding_done(KeptFinding *k)
{
	free(k->finding.sentence);
}

void kept_done(KeptList *l)
{
	for (size_t i = 0; i < l->n; i++)
		finding_done(&l->items[i]);
	free(l->items);
	*l = (KeptList){};
}

static bool is_same(const Finding *a, const Finding *b)
{
	return a->check == b->check && a->port == b->port && a->device == b->device &&
	       a->row == b->row;
}

/* The one that F, which is found again, was before: several of one row are told apart by their
 * order. NULL: it is new. */
static KeptFinding *find_before(const KeptList *l, const Finding *f)
{
	for (size_t i = 0; i < l->n; i++)
		if (!l->items[i].is_seen && is_same(&l->items[i].finding, f))
			return &l->items[i];
	return NULL;
}

/* What the history H knows of K, which is new, from before rdmad was started: that it began then.
 */
static void recall_from(KeptFinding *k, History *h)
{
	const Finding *f = &k->finding;
	const PastFinding *was =
		past_findings_recall(&h->findings, f->check->name, f->row ? f->row->name : "");

	if (!was)
		return;
	k->since_usec = was->since;
	k->acknowledged_usec = was->acknowledged;
	text_copy(k->acknowledged_text, sizeof(k->acknowledged_text), was->acknowledged_text);
}

/* The same of the history of a device without ports, or of HISTORY_MACHINE. */
static void recall_without_port(const Cache *c, KeptFinding *k, const char *name)
{
	KeptHistory *kept = history_list_find(&c->histories, name, PORT_NUMBER_NONE);

	if (kept)
		recall_from(k, &kept->history);
}

/* The same of D. PORT: only of that port, unless it is NULL. */
static void recall_of(const Cache *c, KeptFinding *k, Device *d, const Port *port)
{
	for (uint32_t i = 0; i < d->n_ports; i++)
		if (!port || port == d->ports[i])
			recall_from(k, &d->ports[i]->history);
	if (!port)
		recall_without_port(c, k, TEXT_OF(&d->now.values, name));
}

/* That of a device is in the histories of all its ports, and that of the machine in all. */
static void recall(const Cache *c, KeptFinding *k)
{
	const Object *subject = subject_of(&k->finding);

	if (subject)
		recall_of(c, k, health_object_device(subject), health_object_port(subject));
	for (size_t i = 0; !subject && i < c->n_devices; i++)
		recall_of(c, k, c->devices[i], NULL);
	if (!subject)
		recall_without_port(c, k, HISTORY_MACHINE);
}

static void take_one(KeptList *l, Finding *f, uint64_t now)
{
	KeptFinding *k = find_before(l, f);
	bool is_new = !k;

	if (!k) {
		if (!array_grow(l->items, l->n))
			return;
		k = &l->items[l->n++];
		*k = (KeptFinding){.since_usec = now, .cause = SIZE_MAX};
	}
	free(k->finding.sentence);
	k->finding = *f;
	k->ended_usec = 0;
	k->is_seen = true;
	f->sentence = NULL;
	if (is_new)
		recall(l->cache, k);
}

/* Removes those of which IS_OVER is true. */
static void remove_those(KeptList *l, bool (*is_over)(const KeptFinding *k, const void *what),
			 const void *what)
{
	size_t n = 0;

	for (size_t i = 0; i < l->n; i++) {
		if (is_over(&l->items[i], what)) {
			finding_done(&l->items[i]);
			continue;
		}
		if (n < i)
			l->items[n] = l->items[i];
		n++;
	}
	l->n = n;
}

static bool has_ended(const KeptFinding *k, const void *now)
{
	uint64_t since = *(const uint64_t *)now - k->ended_usec;

	/* a clock that was set back ends it too */
	return k->ended_usec && (since >= k->finding.check->clear_usec || since > INT64_MAX);
}

void kept_take(KeptList *l, const Check *check, const Object *subject, Finding *found, size_t n,
	       KeptBelongs belongs, const void *owner, uint64_t now)
{
	for (size_t i = 0; i < l->n; i++) {
		KeptFinding *k = &l->items[i];

		k->is_seen = k->finding.check != check ||
			     (subject && subject_of(&k->finding) != subject);
	}
	for (size_t i = 0; i < n; i++)
		if (belongs(owner, &found[i]))
			take_one(l, &found[i], now);
	for (size_t i = 0; i < l->n; i++)
		if (!l->items[i].is_seen && l->items[i].ended_usec == 0)
			l->items[i].ended_usec = now;
	remove_those(l, has_ended, &now);
}

bool kept_has(const KeptList *l, const Check *check)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->items[i].finding.check == check)
			return true;
	return false;
}

static bool is_about(const KeptFinding *k, const void *port)
{
	return k->finding.port == port;
}

void kept_forget(KeptList *l, const Object *port)
{
	remove_those(l, is_about, port);
}

void kept_fold(KeptList *l)
{
	CheckRun r = {};

	if (l->n == 0)
		return;
	r.findings = calloc(l->n, sizeof(*r.findings));
	if (!r.findings)
		return;
	r.n_findings = l->n;
	for (size_t i = 0; i < l->n; i++) {
		r.findings[i] = l->items[i].finding;
		r.findings[i].cause = NULL;
	}
	findings_fold(&r);
	for (size_t i = 0; i < l->n; i++)
		l->items[i].cause =
			r.findings[i].cause ? (size_t)(r.findings[i].cause - r.findings) : SIZE_MAX;
	free(r.findings); /* the sentences are those of L */
}

static AttrVerdict verdict_of(Severity s)
{
	return s == SEVERITY_CRITICAL  ? VERDICT_CRITICAL
	       : s == SEVERITY_WARNING ? VERDICT_WARNING
				       : VERDICT_OK;
}

#define PUT(entry, member, text) text_copy((entry)->member, sizeof((entry)->member), text)

/* Whether K is about nothing but that its subject is stale. */
static bool is_of_staleness(const KeptFinding *k)
{
	return k->finding.row == &port_attributes[PORT_ATTR_stale] ||
	       k->finding.row == &device_attributes[DEVICE_ATTR_stale];
}

/* What is a part of what somebody knows, he knows too. */
static bool counts(const KeptList *l, const KeptFinding *k)
{
	return !k->acknowledged_usec && (k->cause >= l->n || !l->items[k->cause].acknowledged_usec);
}

static void put_entry(const KeptList *l, const KeptFinding *k, bool is_stale, FindingEntry *ret)
{
	const Check *check = k->finding.check;

	*ret = (FindingEntry){.severity = verdict_of(check->severity), .since = k->since_usec};
	PUT(ret, check, check->name);
	PUT(ret, condition, condition_name(check->condition));
	PUT(ret, text, k->finding.sentence);
	if (k->finding.row)
		PUT(ret, attribute, k->finding.row->name);
	PUT(ret, counter, k->finding.counter);
	if (k->cause < l->n)
		PUT(ret, cause, l->items[k->cause].finding.check->name);
	if (is_stale && !is_of_staleness(k))
		PUT(ret, certainty, "unknown");
	ret->acknowledged = k->acknowledged_usec;
	PUT(ret, acknowledged_text, k->acknowledged_text);
	/* what was too long has been cut */
	text_sanitize(ret->text, sizeof(ret->text));
}

bool kept_acknowledge(KeptList *l, const Object *subject, const char *check, const char *text,
		      uint64_t now)
{
	bool found = false;

	for (size_t i = 0; i < l->n; i++) {
		KeptFinding *k = &l->items[i];

		if (subject_of(&k->finding) != subject || !streq(k->finding.check->name, check))
			continue;
		k->acknowledged_usec = now;
		text_copy(k->acknowledged_text, sizeof(k->acknowledged_text), text);
		found = true;
	}
	return found;
}

AttrVerdict kept_worst(const KeptList *l, const Object *subject)
{
	AttrVerdict worst = VERDICT_OK;

	for (size_t i = 0; i < l->n; i++) {
		const KeptFinding *k = &l->items[i];

		if (subject_of(&k->finding) == subject && counts(l, k))
			worst = MAX(worst, verdict_of(k->finding.check->severity));
	}
	return worst;
}

AttrVerdict kept_tell(const KeptList *l, const Object *subject, bool is_stale, Table **ret)
{
	_cleanup_free_ FindingEntry *entries = NULL;
	size_t n = 0, room = 0;

	for (size_t i = 0; i < l->n; i++)
		room += subject_of(&l->items[i].finding) == subject;
	if (room > 0)
		entries = calloc(room, sizeof(*entries));
	for (size_t i = 0; entries && i < l->n; i++)
		if (subject_of(&l->items[i].finding) == subject)
			put_entry(l, &l->items[i], is_stale, &entries[n++]);
	*ret = n > 0 ? table_new(entries, n, sizeof(*entries)) : NULL;
	return kept_worst(l, subject);
}
