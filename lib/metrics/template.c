/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Templates: the text of metrics without the values of counters.
 *
 * A template knows where in its text the samples of each object are. When an object has changed,
 * only that object is visited, and of the others the old text is copied.
 */

#include "text-put.h"
#include "visit.h"

/* A counter in the text. */
typedef struct Slot {
	size_t at; /* it follows so many bytes of the text */
	const uint64_t *counter;
} Slot;

/* The samples of one object in a family: the text from the end of the last piece, or of the comment
 * of the family, to END. */
typedef struct Piece {
	uint32_t object; /* MetricSample.object */
	uint32_t end;
} Piece;

/* A family. */
typedef struct Part {
	uint32_t family; /* MetricFamily.number */
	uint32_t begin;	 /* of its comment in the text */
	uint32_t end;	 /* of that */
	uint32_t first;	 /* number of its first piece */
} Part;

struct MetricsTemplate {
	MetricsText text; /* without the values of counters */
	Slot *slots;
	size_t n_slots;
	Piece *pieces;
	size_t n_pieces;
	Part *parts;
	size_t n_parts;
	uint64_t layout, whole; /* of the machine, when this was made */
};

MetricsTemplate *metrics_template_free(MetricsTemplate *t)
{
	if (!t)
		return NULL;
	metrics_text_done(&t->text);
	free(t->slots);
	free(t->pieces);
	free(t->parts);
	free(t);
	return NULL;
}

/* The text has grown. Places in it have 32 bits. */
static int check(const MetricsTemplate *t)
{
	return t->text.error < 0 ? t->text.error : t->text.size > UINT32_MAX ? -EFBIG : 0;
}

static int begin_part(MetricsTemplate *t, uint32_t family)
{
	if (!array_grow(t->parts, t->n_parts))
		return -ENOMEM;
	t->parts[t->n_parts++] = (Part){
		.family = family, .begin = (uint32_t)t->text.size, .first = (uint32_t)t->n_pieces};
	return 0;
}

/* The comment of the part is in the text. */
static void end_comment(MetricsTemplate *t)
{
	t->parts[t->n_parts - 1].end = (uint32_t)t->text.size;
}

/* What is put from now on are samples of OBJECT. */
static int begin_piece(MetricsTemplate *t, uint32_t object)
{
	bool is_first = t->n_pieces == t->parts[t->n_parts - 1].first;

	if (!is_first && t->pieces[t->n_pieces - 1].object == object)
		return 0;
	if (!array_grow(t->pieces, t->n_pieces))
		return -ENOMEM;
	t->pieces[t->n_pieces++].object = object;
	return 0;
}

/* Its samples are in the text. */
static int end_piece(MetricsTemplate *t)
{
	t->pieces[t->n_pieces - 1].end = (uint32_t)t->text.size;
	return check(t);
}

static void add_slot(MetricsTemplate *t, const uint64_t *counter)
{
	if (array_grow(t->slots, t->n_slots))
		t->slots[t->n_slots++] = (Slot){t->text.size, counter};
	else
		t->text.error = -ENOMEM;
}

/* The visit that makes a template, and where it is in the old one. */
typedef struct Making {
	const Metrics *metrics;
	MetricsTemplate *t;
	const MetricsTemplate *old;
	size_t part, piece, slot; /* the next ones of OLD */
} Making;

/* Copies the pieces of the old template from the next to the one before number END, all of which
 * are of the family PART. */
static int copy_pieces(Making *k, const Part *part, size_t end)
{
	const MetricsTemplate *old = k->old;
	const size_t from = k->piece == part->first ? part->end : old->pieces[k->piece - 1].end,
		     to = old->pieces[end - 1].end;
	MetricsTemplate *t = k->t;
	size_t moved;
	int r;

	if (t->n_parts == 0 || t->parts[t->n_parts - 1].family != part->family) {
		r = begin_part(t, part->family);
		if (r < 0)
			return r;
		text_put(&t->text, old->text.text + part->begin, part->end - part->begin);
		end_comment(t);
	}
	moved = t->text.size - from; /* may be negative: modulo 2^64, or 2^32 */
	text_put(&t->text, old->text.text + from, to - from);
	for (; k->piece < end; k->piece++) {
		const Piece *p = &old->pieces[k->piece];

		if (!array_grow(t->pieces, t->n_pieces))
			return -ENOMEM;
		t->pieces[t->n_pieces++] = (Piece){p->object, p->end + (uint32_t)moved};
	}
	for (; k->slot < old->n_slots && old->slots[k->slot].at < to; k->slot++) {
		const Slot *s = &old->slots[k->slot];

		if (!array_grow(t->slots, t->n_slots))
			return -ENOMEM;
		t->slots[t->n_slots++] = (Slot){s->at + moved, s->counter};
	}
	return check(t);
}

static void skip_piece(Making *k)
{
	const MetricsTemplate *old = k->old;
	const Piece *p = &old->pieces[k->piece++];

	while (k->slot < old->n_slots && old->slots[k->slot].at < p->end)
		k->slot++;
}

static bool has_changed(const Making *k, uint32_t object)
{
	const Metrics *m = k->metrics;

	for (MetricObjectKind kind = 0; kind < _METRIC_OBJECT_KIND_MAX; kind++) {
		if (object < m->objects[kind].n)
			return m->objects[kind].items[object].layout > k->old->layout;
		object -= (uint32_t)m->objects[kind].n;
	}
	return m->machine.layout > k->old->layout;
}

/* Copies what stands in the old template before the samples of OBJECT in FAMILY, but for those of
 * objects that have changed. */
static int copy_until(Making *k, uint32_t family, uint32_t object)
{
	const MetricsTemplate *old = k->old;
	int r = 0;

	while (r >= 0 && old && k->part < old->n_parts && old->parts[k->part].family <= family) {
		const Part *part = &old->parts[k->part];
		bool is_last = k->part + 1 == old->n_parts, is_family = part->family == family;
		const Piece *p = old->pieces + k->piece, *first = p,
			    *end = old->pieces + (is_last ? old->n_pieces : part[1].first);

		while (p < end && !(is_family && p->object >= object) && !has_changed(k, p->object))
			p++;
		if (p > first)
			r = copy_pieces(k, part, (size_t)(p - old->pieces));
		else if (p < end && !(is_family && p->object >= object))
			skip_piece(k);
		else if (!is_family)
			k->part++;
		else
			break;
	}
	return r;
}

static int add_family(void *userdata, const MetricFamily *f)
{
	Making *k = userdata;
	int r = copy_until(k, f->number, 0);

	if (r >= 0)
		r = begin_part(k->t, f->number);
	if (r < 0)
		return r;
	metrics_text_family(&k->t->text, f);
	end_comment(k->t);
	return check(k->t);
}

static int add_sample(void *userdata, const MetricFamily *f, const MetricSample *s)
{
	Making *k = userdata;
	MetricsTemplate *t = k->t;
	int r = copy_until(k, f->number, s->object);

	if (r >= 0)
		r = begin_piece(t, s->object);
	if (r < 0)
		return r;
	if (s->counter) {
		text_put_before_number(&t->text, f, s);
		add_slot(t, s->counter);
		text_put(&t->text, "\n", 1);
	} else {
		metrics_text_sample(&t->text, f, s);
	}
	return end_piece(t);
}

int metrics_template_renew(MetricsTemplate **t, const Metrics *m, MetricsFormat format,
			   unsigned int flags)
{
	static const MetricsVisitor visitor = {add_family, add_sample};
	_cleanup_(metrics_template_free_pointer) MetricsTemplate *new = NULL;
	const uint64_t layout = m ? m->layout : 0, whole = m ? m->whole : 0;
	bool keeps = *t && (*t)->whole == whole;
	Making k = {.metrics = m, .old = keeps ? *t : NULL};
	int r;

	if (keeps && (*t)->layout == layout)
		return 0;
	k.t = new = calloc(1, sizeof(*new));
	if (!new)
		return -ENOMEM;
	new->text.format = format;
	new->layout = layout;
	new->whole = whole;
	r = visit_since(m, flags, keeps ? (*t)->layout : 0, &visitor, &k);
	if (r >= 0)
		r = copy_until(&k, UINT32_MAX, 0);
	if (r < 0)
		return r;
	metrics_template_free(*t);
	*t = steal_pointer(&new);
	return 0;
}

void metrics_text_add_template(MetricsText *t, const MetricsTemplate *template)
{
	char digits[METRIC_NUMBER_MAX], *const end = digits + sizeof(digits);
	const char *from = template->text.text;
	size_t done = 0;
	char *to;

	if (template->text.size == 0 ||
	    !text_make_room(t, template->text.size + template->n_slots * METRIC_NUMBER_MAX))
		return;
	to = t->text + t->size;
	for (size_t i = 0; i < template->n_slots; i++) {
		const Slot *s = &template->slots[i];
		const char *number = metrics_put_digits(end, *s->counter);

		to = mempcpy(to, from + done, s->at - done);
		to = mempcpy(to, number, (size_t)(end - number));
		done = s->at;
	}
	to = mempcpy(to, from + done, template->text.size - done);
	t->size = (size_t)(to - t->text);
}
