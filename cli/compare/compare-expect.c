/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "compare-expect.h"

#include <inttypes.h>

#include "compare-rows.h"
#include "expect.h"
#include "file.h"
#include "table-columns.h"

/* An object at P whose attribute ROW, of a port or of a device, is expected; NULL if there is no
 * majority, or the majority has no value. */
static const Object *expected_at(const Kind *k, const Place *p, const Attribute *a, size_t row)
{
	size_t agree, all;
	const Place *place = a->interface < INTERFACE_PORT ? &k->places[p->device] : p;
	const Object *usual = find_majority(k, place, row, &agree, &all);

	return usual && object_value(usual, row) ? usual : NULL;
}

/* Whether P is a port that most machines have. */
static bool is_expected_port(const Kind *k, const Place *p)
{
	return p->is_port && place_is_common(k, p);
}

/* The object that has what is expected of all ports; NULL if ports differ. */
static const Object *expected_everywhere(const Kind *k, const Attribute *a, size_t row)
{
	const Object *first = NULL;

	for (size_t i = 0; i < k->n_places; i++) {
		const Object *o;

		if (!is_expected_port(k, &k->places[i]))
			continue;
		o = expected_at(k, &k->places[i], a, row);
		if (!o || (first && !same_value(first, o, row)))
			return NULL;
		first = first ? first : o;
	}
	return first;
}

/* Whether the name of A stands for A in the file, and not for an attribute of the port. */
static bool has_own_name(const Attribute *a)
{
	bool of_device;

	return object_find_row(a->name, &of_device) == a;
}

/* Writes TEXT, in which no character is part of a pattern. */
static void put_pattern(FILE *f, const char *text)
{
	for (; *text; text++) {
		if (strchr("*?[\\", *text))
			fputc('\\', f);
		fputc(*text, f);
	}
}

static void put_number(FILE *f, const Attribute *a, uint64_t n)
{
	const uint64_t giga = 1000000000;

	if (a->unit != UNIT_BITS_PER_S)
		fprintf(f, "%" PRIu64, n);
	else if (n % giga == 0)
		fprintf(f, "%" PRIu64 "G", n / giga);
	else
		fprintf(f, "%" PRIu64 " bit/s", n);
}

/* V in the form of a value in the file; NULL if it has none there, or without memory. */
static char *make_text(const Attribute *a, const Value *v)
{
	char *text = NULL;
	size_t size;
	FILE *f;

	if (v->type != VALUE_BOOL && v->type != VALUE_UNSIGNED && v->type != VALUE_TEXT &&
	    v->type != VALUE_ARRAY)
		return NULL;
	f = open_memstream(&text, &size);
	if (!f)
		return NULL;
	if (v->type == VALUE_BOOL)
		fputs(v->boolean ? "yes" : "no", f);
	else if (v->type == VALUE_TEXT)
		put_pattern(f, v->text);
	else if (v->type == VALUE_UNSIGNED)
		put_number(f, a, v->number);
	for (size_t i = 0; v->type == VALUE_ARRAY && i < v->n; i++)
		fprintf(f, "%s%s", i > 0 ? "," : "", value_text(&v->items[i]));
	if (fclose(f) == 0 && expect_accepts(a, text))
		return text;
	free(text);
	return NULL;
}

static void put_line(FILE *f, const Attribute *a, const Value *v)
{
	_cleanup_free_ char *text = make_text(a, v);

	if (text && strlen(a->name) + strlen(text) < EXPECT_LINE_MAX - 8)
		fprintf(f, "%s = %s\n", a->name, text);
}

/* The lines for row A, whose value O has. Each entry of a table has a line of its own. */
static void put_row(FILE *f, const Attribute *a, const Object *o, size_t row)
{
	const Value *v = object_value(o, row);

	if (!table_layout(a->type)) {
		put_line(f, a, v);
		return;
	}
	for (size_t i = 0; v->type == VALUE_ARRAY && i < v->n; i++)
		put_line(f, a, &v->items[i]);
}

/* Whether A follows from the addresses of a port and from the order in which it got them. Nobody
 * has set it: ports have the same by intention, or it means nothing. */
static bool is_of_addresses(const Attribute *a)
{
	return a == &port_attributes[PORT_ATTR_gid_index];
}

/* The attributes that are the same everywhere (P is NULL), or the others of the port P. */
static void put_rows(FILE *f, const Kind *k, const Place *p, const Attribute *rows, size_t n,
		     const bool *ignored)
{
	for (size_t i = 0; i < n; i++) {
		const Object *everywhere;

		if (ignored[i] || !row_is_compared(&rows[i]) || !has_own_name(&rows[i]))
			continue;
		everywhere = expected_everywhere(k, &rows[i], i);
		if (!p && everywhere) {
			put_row(f, &rows[i], everywhere, i);
		} else if (p && !everywhere && !is_of_addresses(&rows[i])) {
			const Object *o = expected_at(k, p, &rows[i], i);

			if (o)
				put_row(f, &rows[i], o, i);
		}
	}
}

static void put_both(FILE *f, const Kind *k, const Place *p, const IgnoredRows *ignored)
{
	put_rows(f, k, p, port_attributes, _PORT_ATTR_MAX, ignored->port);
	put_rows(f, k, p, device_attributes, _DEVICE_ATTR_MAX, ignored->device);
}

void compare_put_expect(FILE *f, const Kind *k, const IgnoredRows *ignored)
{
	char hardware[256];
	size_t ports = 0;

	for (size_t i = 0; i < k->n_places; i++)
		ports += is_expected_port(k, &k->places[i]);
	text_copy(hardware, sizeof(hardware), k->hardware);
	fprintf(f, "# What most of %zu machines with %s have: for rdmactl check --expect.\n", k->n,
		hardware);
	fprintf(f, "Ports = %zu\n", ports);
	put_both(f, k, NULL, ignored);
	for (size_t i = 0; i < k->n_places; i++) {
		if (!is_expected_port(k, &k->places[i]))
			continue;
		fputs("\n[", f);
		put_pattern(f, k->places[i].name);
		fputs("]\n", f);
		put_both(f, k, &k->places[i], ignored);
	}
}

static ExitStatus write_kind(const Kind *k, const IgnoredRows *ignored, const char *path)
{
	_cleanup_free_ char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return out_of_memory();
	compare_put_expect(f, k, ignored);
	if (fclose(f) != 0)
		return out_of_memory();
	return file_replace(path, text, size);
}

ExitStatus compare_write_expect(const Kinds *k, const IgnoredRows *ignored, const char *path)
{
	ExitStatus status = STATUS_OK;

	for (size_t i = 0; status == STATUS_OK && i < k->n; i++) {
		_cleanup_free_ char *own = NULL;

		if (asprintf(&own, "%s%s%s", path, k->n > 1 ? "." : "",
			     k->n > 1 ? k->items[i].name : "") < 0) {
			own = NULL;
			return out_of_memory();
		}
		status = write_kind(&k->items[i], ignored, own);
	}
	return status;
}
