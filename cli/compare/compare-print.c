/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "compare-print.h"

#include "format.h"
#include "terminal.h"

/* So many names of machines, devices or ports are in a line; JSON has all. */
#define NAMES_MAX 8U

/* A deviation as a sentence, of a machine at a place. */
typedef struct Line {
	const Difference *d;
	char *sentence; /* without how many machines agree */
	char *rest;	/* what comes behind that */
	char *places;	/* all places at which the machine has it; of its first line only */
} Line;

typedef struct Lines {
	Line *items;
	size_t n;
} Lines;

static void lines_done(Lines *l)
{
	for (size_t i = 0; i < l->n; i++) {
		free(l->items[i].sentence);
		free(l->items[i].rest);
		free(l->items[i].places);
	}
	free(l->items);
}

const char *difference_thing(const Difference *d)
{
	return d->kind->places[d->place].is_port ? "port" : "device";
}

size_t differences_count(const Differences *d, bool undecided)
{
	size_t n = 0;

	for (size_t i = 0; i < d->n; i++)
		n += d->items[i].cause == i &&
		     (d->items[i].type == DIFFERENCE_UNDECIDED) == undecided;
	return n;
}

/* Sentences */

/* Adds NAME as name I of a list. */
static void put_name(FILE *f, size_t i, const char *name)
{
	if (i < NAMES_MAX)
		fprintf(f, "%s%s", i > 0 ? ", " : "", name);
}

/* Ends a list of N names. */
static void end_names(FILE *f, size_t n)
{
	if (n > NAMES_MAX)
		fprintf(f, " and %zu more", n - NAMES_MAX);
}

/* Puts the members of set A that are not in set B behind WORDS. Returns whether there are any. */
static bool put_missing(FILE *f, const char *words, const Value *a, const Value *b)
{
	size_t n = 0;

	for (size_t i = 0; i < a->n; i++) {
		size_t k = 0;

		while (k < b->n && !value_equal(&a->items[i], &b->items[k]))
			k++;
		if (k < b->n)
			continue;
		if (n == 0)
			fputs(words, f);
		put_name(f, n++, value_text(&a->items[i]));
	}
	end_names(f, n);
	return n > 0;
}

static void put_value(FILE *f, const Difference *d)
{
	size_t row = (size_t)(d->row - d->object->rows);
	const Value *is = object_value(d->object, row), *usual = object_value(d->usual, row);
	_cleanup_free_ char *a = NULL, *b = NULL;

	fputs(d->row->name, f);
	if (is && usual && is->type == VALUE_ARRAY && usual->type == VALUE_ARRAY) {
		bool lacks = put_missing(f, " lacks ", usual, is);

		put_missing(f, lacks ? " and has in addition " : " has in addition ", is, usual);
		fputs(", unlike", f);
		return;
	}
	a = format_row(d->object, row);
	b = format_row(d->usual, row);
	fprintf(f, " is %s, but %s on", a ? a : "", b ? b : "");
}

/* "28.43.1014 on 2 machines (node1, node2)" */
static void put_one_value(FILE *f, const Difference *d, const Object *with)
{
	const Place *p = &d->kind->places[d->place];
	size_t row = (size_t)(d->row - with->rows), n = 0;
	_cleanup_free_ char *text = format_row(with, row);

	for (size_t i = 0; i < d->kind->n; i++)
		n += p->objects[i] && object_has(p->objects[i], row) &&
		     same_value(p->objects[i], with, row);
	fprintf(f, "%s on %zu (", text ? text : "", n);
	n = 0;
	for (size_t i = 0; i < d->kind->n; i++)
		if (p->objects[i] && object_has(p->objects[i], row) &&
		    same_value(p->objects[i], with, row))
			put_name(f, n++, d->kind->members[i]->name);
	end_names(f, n);
	fputc(')', f);
}

/* Whether a machine before MEMBER has the same value. */
static bool is_known(const Difference *d, size_t member)
{
	const Place *p = &d->kind->places[d->place];
	size_t row = (size_t)(d->row - p->objects[member]->rows), i = 0;

	while (i < member && !(p->objects[i] && object_has(p->objects[i], row) &&
			       same_value(p->objects[i], p->objects[member], row)))
		i++;
	return i < member;
}

static void put_undecided(FILE *f, const Difference *d)
{
	const Place *p = &d->kind->places[d->place];
	size_t n = 0;

	if (d->row)
		fprintf(f, "%s has no majority: ", d->row->name);
	else
		fprintf(f, "half of the machines have this %s: ", difference_thing(d));
	for (size_t i = 0; i < d->kind->n; i++) {
		const Object *o = p->objects[i];

		if (!o)
			continue;
		if (!d->row) {
			put_name(f, n++, d->kind->members[i]->name);
		} else if (object_has(o, (size_t)(d->row - o->rows)) && !is_known(d, i)) {
			if (n < NAMES_MAX && n > 0)
				fputs(", ", f);
			if (n++ < NAMES_MAX)
				put_one_value(f, d, o);
		}
	}
	end_names(f, n);
}

/* Whether X goes without saying behind its cause: the ports of a device that is missing, and what a
 * port has no value of because of its state. */
static bool is_implied(const Difference *x, const Difference *cause)
{
	return !cause->row || (cause->row->type == ATTR_PORT_STATE && x->is_absent);
}

/* "; also: Rate, LinkWidth": what comes from difference I. */
static void put_rest(FILE *f, const Differences *d, size_t i)
{
	const Difference *cause = &d->items[i];
	size_t n = 0;

	for (size_t k = 0; k < d->n; k++) {
		const Difference *x = &d->items[k];

		if (x->cause != i || k == i || is_implied(x, cause))
			continue;
		if (n == 0)
			fputs("; also: ", f);
		put_name(f, n++,
			 x->place == cause->place ? x->row->name : x->kind->places[x->place].name);
	}
	end_names(f, n);
}

static void put_sentence(FILE *f, const Differences *list, size_t i)
{
	const Difference *d = &list->items[i];

	switch (d->type) {
	case DIFFERENCE_MISSING:
		fprintf(f, "there is no such %s, but one on", difference_thing(d));
		break;
	case DIFFERENCE_UNEXPECTED:
		fprintf(f, "there is no such %s on", difference_thing(d));
		break;
	case DIFFERENCE_VALUE:
		put_value(f, d);
		break;
	case DIFFERENCE_UNDECIDED:
		put_undecided(f, d);
		break;
	}
}

/* The text that PUT writes about difference I; NULL without memory. */
static char *make_text(void (*put)(FILE *f, const Differences *d, size_t i), const Differences *d,
		       size_t i)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	put(f, d, i);
	return stream_close(f, &text);
}

/* Lines */

/* Missing things come first, then differences of ports, and then those of devices. */
static int compare_meaning(const Difference *a, const Difference *b)
{
	bool port_a = a->kind->places[a->place].is_port, port_b = b->kind->places[b->place].is_port;

	if (!a->row != !b->row)
		return a->row ? 1 : -1;
	if (a->type != b->type && !a->row)
		return a->type < b->type ? -1 : 1;
	if (port_a != port_b)
		return port_a == !!a->row ? -1 : 1;
	return (a->row > b->row) - (a->row < b->row);
}

static int compare_sentences(const void *a, const void *b)
{
	const Line *x = a, *y = b;
	int order;

	if (x->d->kind != y->d->kind)
		return x->d->kind < y->d->kind ? -1 : 1;
	order = compare_meaning(x->d, y->d);
	if (order == 0)
		order = strcmp(x->sentence, y->sentence);
	if (order == 0)
		order = strcmp(x->rest, y->rest);
	return order ? order : (x->d > y->d) - (x->d < y->d);
}

static bool same_sentence(const Line *a, const Line *b)
{
	return a->d->kind == b->d->kind && streq(a->sentence, b->sentence) &&
	       streq(a->rest, b->rest);
}

static int compare_by_places(const void *a, const void *b)
{
	const Line *x = a, *y = b;
	int order = strcmp(x->places, y->places);

	return order ? order : (x->d > y->d) - (x->d < y->d);
}

static int make_lines(const Differences *d, Lines *ret)
{
	ret->items = calloc(d->n + 1, sizeof(*ret->items));
	if (!ret->items)
		return -ENOMEM;
	for (size_t i = 0; i < d->n; i++) {
		if (d->items[i].cause != i)
			continue;
		ret->items[ret->n] = (Line){&d->items[i], make_text(put_sentence, d, i),
					    make_text(put_rest, d, i), NULL};
		ret->n++;
		if (!ret->items[ret->n - 1].sentence || !ret->items[ret->n - 1].rest)
			return -ENOMEM;
	}
	sort(ret->items, ret->n, sizeof(*ret->items), compare_sentences);
	return 0;
}

/* Sets the places of the first of N lines, which are of one machine and have one sentence. */
static int join_places(Line *l, size_t n)
{
	size_t size;
	FILE *f = open_memstream(&l->places, &size);

	if (!f)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		put_name(f, i, l[i].d->kind->places[l[i].d->place].name);
	end_names(f, n);
	return fclose(f) == 0 ? 0 : -ENOMEM;
}

/* Of N lines with one sentence leaves one for each machine, at the beginning, and sorts these by
 * their places. Returns how many, or -ENOMEM. */
static ssize_t fold_machines(Line *l, size_t n)
{
	size_t machines = 0;

	for (size_t first = 0, end; first < n; first = end) {
		Line swap;
		int r;

		for (end = first + 1; end < n && l[end].d->member == l[first].d->member; end++)
			;
		r = join_places(&l[first], end - first);
		if (r < 0)
			return r;
		swap = l[machines];
		l[machines++] = l[first];
		if (machines - 1 != first)
			l[first] = swap;
	}
	sort(l, machines, sizeof(*l), compare_by_places);
	return (ssize_t)machines;
}

/* How many machines agree, at the places of L and of those lines among ALL that are of the same
 * machine. In one place there may be fewer, because a machine has nothing there. */
static void print_agreement(Context *c, const Lines *all, const Line *l)
{
	const Difference *least = l->d;
	bool same = true;

	for (size_t i = 0; i < all->n; i++) {
		const Difference *d = all->items[i].d;

		if (d->member != l->d->member)
			continue;
		same &= d->agree == least->agree && d->all == least->all;
		if (d->agree * least->all < least->agree * d->all)
			least = d;
	}
	if (least->type != DIFFERENCE_UNDECIDED)
		fprintf(c->out, " %s%zu of %zu machines", same ? "" : "at least ", least->agree,
			least->all);
}

/* Prints N lines with the same places, each of another machine, of ALL with one sentence. */
static void print_line(Context *c, const Lines *all, const Line *l, size_t n)
{
	fprintf(c->out, "  %s", terminal_color(c, "bold"));
	for (size_t i = 0; i < n && l->d->member != NO_MEMBER; i++)
		put_name(c->out, i, l[i].d->kind->members[l[i].d->member]->name);
	end_names(c->out, n);
	fprintf(c->out, "%s%s%s: %s", l->d->member != NO_MEMBER ? ": " : "", l->places,
		terminal_plain(c), l->sentence);
	print_agreement(c, all, l);
	fprintf(c->out, "%s\n", l->rest);
}

/* Prints N lines with one sentence. */
static int print_lines(Context *c, Line *l, size_t n)
{
	ssize_t machines = fold_machines(l, n);
	const Lines all = {l, n};

	for (ssize_t first = 0, end; first < machines; first = end) {
		for (end = first + 1; end < machines && streq(l[first].places, l[end].places);
		     end++)
			;
		print_line(c, &all, &l[first], (size_t)(end - first));
	}
	return machines < 0 ? (int)machines : 0;
}

static void print_kind(Context *c, const Kind *k)
{
	fprintf(c->out, "%sGroup %s%s: %zu %s with %s", terminal_color(c, "bold"), k->name,
		terminal_plain(c), k->n, k->n == 1 ? "machine" : "machines", k->hardware);
	if (k->n == 1)
		fprintf(c->out, ": %s, with nothing to compare it to", k->members[0]->name);
	fputc('\n', c->out);
}

static void print_summary(Context *c, const Machines *m, const Kinds *k, const Differences *d)
{
	size_t deviations = differences_count(d, false), undecided = differences_count(d, true);
	size_t answers = 0;

	for (size_t i = 0; i < k->n; i++)
		answers += k->items[i].n;
	fprintf(c->out, "%zu of %zu machines have answered; %zu %s, %zu without a majority\n",
		answers, m->n, deviations, deviations == 1 ? "deviation" : "deviations", undecided);
}

ExitStatus compare_print(Context *c, const Machines *m, const Kinds *k, const Differences *d)
{
	_cleanup_(lines_done) Lines lines = {};
	int r = make_lines(d, &lines);
	size_t at = 0;

	for (size_t i = 0; r == 0 && i < k->n; i++) {
		if (!c->no_legend)
			print_kind(c, &k->items[i]);
		for (size_t end; r == 0 && at < lines.n && lines.items[at].d->kind == &k->items[i];
		     at = end) {
			for (end = at + 1;
			     end < lines.n && same_sentence(&lines.items[at], &lines.items[end]);
			     end++)
				;
			r = print_lines(c, &lines.items[at], end - at);
		}
	}
	if (r < 0)
		return out_of_memory();
	if (!c->no_legend)
		print_summary(c, m, k, d);
	return STATUS_OK;
}
