/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "past-findings.h"

void past_findings_done(PastFindings *l)
{
	free(l->items);
	*l = (PastFindings){};
}

static PastFinding *find(const PastFindings *l, const char *check, const char *attribute,
			 uint64_t since)
{
	for (size_t i = 0; i < l->n; i++) {
		PastFinding *f = &l->items[i];

		if (f->since == since && streq(f->check, check) && streq(f->attribute, attribute))
			return f;
	}
	return NULL;
}

/* Forgets the oldest that has ended, or the oldest of all. */
static void forget_one(PastFindings *l)
{
	size_t i = 0;

	while (i < l->n && l->items[i].until == 0)
		i++;
	if (i == l->n)
		i = 0;
	l->n--;
	memmove(&l->items[i], &l->items[i + 1], (l->n - i) * sizeof(*l->items));
}

void past_findings_restore(PastFindings *l, const PastFinding *f)
{
	PastFinding *known = find(l, f->check, f->attribute, f->since);

	if (known) {
		*known = *f;
		return;
	}
	if (l->n == PAST_FINDINGS_MAX)
		forget_one(l);
	if (!array_grow(l->items, l->n))
		return;
	l->items[l->n++] = *f;
}

static PastFinding past_of(const FindingEntry *e)
{
	PastFinding f = {
		.severity = e->severity, .since = e->since, .acknowledged = e->acknowledged};

	memcpy(f.check, e->check, sizeof(f.check));
	memcpy(f.attribute, e->attribute, sizeof(f.attribute));
	memcpy(f.cause, e->cause, sizeof(f.cause));
	memcpy(f.acknowledged_text, e->acknowledged_text, sizeof(f.acknowledged_text));
	return f;
}

static bool is_same(const PastFinding *a, const PastFinding *b)
{
	return a->until == b->until && a->severity == b->severity && streq(a->cause, b->cause) &&
	       a->acknowledged == b->acknowledged &&
	       streq(a->acknowledged_text, b->acknowledged_text);
}

static void note_all(PastFindings *l, const Table *t)
{
	TABLE_FOREACH(FindingEntry, e, t) {
		PastFinding f = past_of(e);
		const PastFinding *known = find(l, f.check, f.attribute, f.since);

		f.taken = known && known->taken && is_same(known, &f);
		past_findings_restore(l, &f);
	}
}

static bool holds(const PastFinding *f, const Table *t)
{
	TABLE_FOREACH(FindingEntry, e, t)
		if (e->since == f->since && streq(e->check, f->check) &&
		    streq(e->attribute, f->attribute))
			return true;
	return false;
}

void past_findings_note(PastFindings *l, const Table *of_port, const Table *of_device,
			const Table *of_machine, uint64_t now, bool keep_recalled)
{
	for (size_t i = 0; i < l->n; i++) {
		PastFinding *f = &l->items[i];

		if (f->until || (f->recalled && keep_recalled) || holds(f, of_port) ||
		    holds(f, of_device) || holds(f, of_machine))
			continue;
		f->until = now;
		f->taken = f->recalled = false;
	}
	note_all(l, of_port);
	note_all(l, of_device);
	note_all(l, of_machine);
}

const PastFinding *past_findings_take(PastFindings *l)
{
	for (size_t i = 0; i < l->n; i++)
		if (!l->items[i].taken) {
			l->items[i].taken = true;
			return &l->items[i];
		}
	return NULL;
}

const PastFinding *past_findings_recall(PastFindings *l, const char *check, const char *attribute)
{
	for (size_t i = 0; i < l->n; i++) {
		PastFinding *f = &l->items[i];

		if (f->recalled && streq(f->check, check) && streq(f->attribute, attribute)) {
			f->recalled = false;
			return f;
		}
	}
	return NULL;
}

bool past_findings_have_ended(const PastFindings *l)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->items[i].until == 0)
			return false;
	return true;
}
