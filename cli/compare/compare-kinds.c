/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "compare-kinds.h"

#include "compare-places.h"

/* The models of the devices of a machine, sorted. */
typedef struct Models {
	const Machine *machine;
	char **names;
	size_t n;
	size_t order; /* of the machine in the file */
} Models;

/* Machines that have the same models. */
typedef struct Class {
	const Models *first;
	size_t n;
	size_t kind;
	bool is_founder; /* it has made the kind */
} Class;

void kinds_done(Kinds *k)
{
	for (size_t i = 0; i < k->n; i++) {
		places_done(&k->items[i]);
		free(k->items[i].members);
		free(k->items[i].name);
		free(k->items[i].hardware);
	}
	free(k->items);
	*k = (Kinds){};
}

/* Models */

static void models_done(Models *m, size_t n)
{
	for (size_t i = 0; m && i < n; i++) {
		for (size_t k = 0; k < m[i].n; k++)
			free(m[i].names[k]);
		free(m[i].names);
	}
	free(m);
}

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int read_models(const Machine *machine, Models *ret)
{
	const ObjectList *l = &machine->objects;

	ret->machine = machine;
	ret->names = calloc(l->n + 1, sizeof(*ret->names));
	if (!ret->names)
		return -ENOMEM;
	for (size_t i = 0; i < l->n; i++) {
		if (!device_is_compared(l->items[i]))
			continue;
		ret->names[ret->n] = strdup(device_model(l->items[i]));
		if (!ret->names[ret->n])
			return -ENOMEM;
		ret->n++;
	}
	sort(ret->names, ret->n, sizeof(*ret->names), compare_texts);
	return 0;
}

static int compare_models(const Models *a, const Models *b)
{
	int order = (a->n > b->n) - (a->n < b->n);

	for (size_t i = 0; order == 0 && i < a->n; i++)
		order = strcmp(a->names[i], b->names[i]);
	return order;
}

/* By models, and within these as in the file. */
static int compare_classes(const void *a, const void *b)
{
	const Models *x = a, *y = b;
	int order = compare_models(x, y);

	return order ? order : (x->order > y->order) - (x->order < y->order);
}

/* How many devices of A are also in B. */
static size_t count_common(const Models *a, const Models *b)
{
	size_t n = 0;

	for (size_t i = 0, k = 0; i < a->n && k < b->n;) {
		int order = strcmp(a->names[i], b->names[k]);

		n += order == 0;
		i += order <= 0;
		k += order >= 0;
	}
	return n;
}

/* Whether the machines of class A may be of the kind that class B, with more machines, has made. */
static bool is_of_kind(const Class *a, const Class *b)
{
	size_t all = MAX(a->first->n, b->first->n), common = count_common(a->first, b->first);
	bool few = a->n < 3 || 8 * a->n <= b->n;

	return a->first->n == 0 || 4 * common >= 3 * all || (few && 2 * common >= all);
}

/* "8 x MT4129, 1 x MT41692" */
static char *describe_models(const Models *m)
{
	char *text = NULL;
	size_t size, count = 0;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	if (m->n == 0)
		fputs("no devices", f);
	for (size_t i = 0, end; i < m->n; i = end) {
		for (end = i + 1; end < m->n && streq(m->names[i], m->names[end]); end++)
			;
		fprintf(f, "%s%zu x %s", count++ > 0 ? ", " : "", end - i, m->names[i]);
	}
	return stream_close(f, &text);
}

/* Kinds */

/* Adds an empty kind, described by M. Without a LABEL its number is its name. */
static Kind *add_kind(Kinds *k, const char *label, const Models *m, size_t room)
{
	Kind *kind;

	if (!array_grow(k->items, k->n))
		return NULL;
	kind = &k->items[k->n++];
	*kind = (Kind){.hardware = describe_models(m),
		       .members = calloc(room, sizeof(*kind->members))};
	if (label)
		kind->name = strdup(label);
	else if (asprintf(&kind->name, "%zu", k->n) < 0)
		kind->name = NULL;
	return kind->name && kind->hardware && kind->members ? kind : NULL;
}

/* By the number of machines, and then as in the file. */
static int compare_sizes(const void *a, const void *b)
{
	const Class *x = a, *y = b;

	if (x->n != y->n)
		return x->n < y->n ? 1 : -1;
	return (x->first->order > y->first->order) - (x->first->order < y->first->order);
}

/* Gives each class its kind: that of a class with more machines, or a new one. LABEL: they are all
 * of one kind. */
static int find_kinds(Kinds *k, const char *label, Class *classes, size_t n, size_t room)
{
	sort(classes, n, sizeof(*classes), compare_sizes);
	for (size_t i = 0; i < n; i++) {
		size_t other = 0;

		while (other < i && !label &&
		       !(classes[other].is_founder && is_of_kind(&classes[i], &classes[other])))
			other++;
		classes[i].is_founder = other == i;
		classes[i].kind = classes[i].is_founder ? k->n : classes[other].kind;
		if (classes[i].is_founder && !add_kind(k, label, classes[i].first, room))
			return -ENOMEM;
	}
	return 0;
}

static int compare_order(const void *a, const void *b)
{
	const Machine *x = *(const Machine *const *)a, *y = *(const Machine *const *)b;

	return (x > y) - (x < y);
}

/* Divides M, machines with the same LABEL or without one. */
static int divide(Kinds *k, const char *label, Models *m, size_t n)
{
	_cleanup_free_ Class *classes = calloc(n + 1, sizeof(*classes));
	size_t n_classes = 0, begin = k->n;
	int r;

	if (!classes)
		return -ENOMEM;
	sort(m, n, sizeof(*m), compare_classes);
	for (size_t i = 0; i < n; i++) {
		if (i == 0 || compare_models(&m[i - 1], &m[i]) != 0)
			classes[n_classes++].first = &m[i];
		classes[n_classes - 1].n++;
	}
	r = find_kinds(k, label, classes, n_classes, n);
	if (r < 0)
		return r;
	for (size_t i = 0; i < n_classes; i++)
		for (size_t a = 0; a < classes[i].n; a++) {
			Kind *kind = &k->items[classes[i].kind];

			kind->members[kind->n++] = classes[i].first[a].machine;
		}
	for (size_t i = begin; i < k->n; i++)
		sort(k->items[i].members, k->items[i].n, sizeof(Machine *), compare_order);
	return 0;
}

static bool same_label(const char *a, const char *b)
{
	return a && b ? streq(a, b) : a == b;
}

/* Divides all machines that have the label of machine FIRST, which is the first one with it. */
static int divide_label(Kinds *k, const Machines *machines, size_t first)
{
	const char *label = machines->items[first].label;
	Models *m = calloc(machines->n + 1, sizeof(*m));
	size_t n = 0;
	int r = m ? 0 : -ENOMEM;

	for (size_t i = first; r == 0 && i < machines->n; i++) {
		const Machine *machine = &machines->items[i];

		if (machine->reason || !same_label(machine->label, label))
			continue;
		m[n].order = i;
		r = read_models(machine, &m[n++]);
	}
	if (r == 0 && n > 0)
		r = divide(k, label, m, n);
	models_done(m, n);
	return r;
}

ExitStatus kinds_find(const Machines *m, Kinds *ret)
{
	_cleanup_kinds_ Kinds k = {};
	int r = 0;

	for (size_t i = 0; r >= 0 && i < m->n; i++) {
		size_t first = 0;

		while (!same_label(m->items[first].label, m->items[i].label))
			first++;
		if (first == i)
			r = divide_label(&k, m, i);
	}
	for (size_t i = 0; r >= 0 && i < k.n; i++)
		r = places_find(&k.items[i]);
	if (r < 0)
		return out_of_memory();
	*ret = k;
	k = (Kinds){};
	return STATUS_OK;
}
