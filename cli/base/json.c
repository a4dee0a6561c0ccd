/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "json.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>

#include "format.h"
#include "list.h"

#define JSON_VERSION 1

/* Nothing stands before the next member or entry in its object or list. What has ended stood behind
 * a key, or was an entry: so more than one level need not be known. */
static bool is_first;

static void put_comma(FILE *f, const char *comma)
{
	if (!is_first)
		fputs(comma, f);
	is_first = false;
}

void json_open(FILE *f)
{
	fputc('{', f);
	is_first = true;
}

void json_close(FILE *f)
{
	fputc('}', f);
	is_first = false;
}

void json_open_list(FILE *f, const char *key)
{
	json_key(f, key);
	fputc('[', f);
	is_first = true;
}

void json_close_list(FILE *f)
{
	fputc(']', f);
	is_first = false;
}

void json_entry(FILE *f)
{
	put_comma(f, ", ");
}

void json_entry_line(FILE *f)
{
	put_comma(f, ",");
	fputs("\n    ", f);
}

void json_begin_line(FILE *f)
{
	json_open(f);
	json_add_number(f, "Version", JSON_VERSION);
}

void json_begin(FILE *f, const char *key)
{
	json_begin_line(f);
	json_open_list(f, key);
}

void json_next_list(FILE *f, const char *key)
{
	fputc('\n', f);
	json_close_list(f);
	json_open_list(f, key);
}

void json_next(FILE *f)
{
	put_comma(f, ",");
	fputs("\n  ", f);
}

void json_end(FILE *f)
{
	fputs("\n]}\n", f);
}

void json_key(FILE *f, const char *name)
{
	bool upper = true;

	json_entry(f);
	fputc('"', f);
	for (const char *p = name; *p; p++)
		if (*p == '_' || *p == '-') {
			upper = true;
		} else {
			fputc(upper ? toupper((unsigned char)*p) : *p, f);
			upper = false;
		}
	fputs("\": ", f);
}

void json_add_text(FILE *f, const char *key, const char *text)
{
	json_key(f, key);
	if (text)
		json_text(f, text);
	else
		fputs("null", f);
}

void json_add_number(FILE *f, const char *key, uint64_t n)
{
	json_key(f, key);
	fprintf(f, "%" PRIu64, n);
}

void json_add_known(FILE *f, const char *key, uint64_t n)
{
	if (n)
		json_add_number(f, key, n);
	else
		json_add_text(f, key, NULL);
}

void json_add_bool(FILE *f, const char *key, bool b)
{
	json_key(f, key);
	fputs(b ? "true" : "false", f);
}

void json_add_value(FILE *f, const char *key, AttrType type, const Value *v)
{
	json_key(f, key);
	json_value(f, type, v ? v : &(const Value){});
}

void json_add_row(FILE *f, const char *key, const Object *o, size_t i)
{
	json_add_value(f, key, o->rows[i].type, object_value(o, i));
}

void json_text(FILE *f, const char *text)
{
	fputc('"', f);
	for (const char *p = text; *p; p++)
		if (*p == '"' || *p == '\\')
			fprintf(f, "\\%c", *p);
		else if ((unsigned char)*p < 0x20)
			fprintf(f, "\\u%04x", (unsigned char)*p);
		else
			fputc(*p, f);
	fputc('"', f);
}

void json_open_named(FILE *f, const char *name, const char *path)
{
	json_open(f);
	json_add_text(f, "Port", name);
	json_add_text(f, "ObjectPath", path);
}

void json_open_port(FILE *f, const Object *port)
{
	char name[96];

	json_open_named(f, object_name(port, name), port->path);
}

static void json_array(FILE *f, AttrType type, const Value *v)
{
	fputc('[', f);
	is_first = true;
	for (size_t i = 0; i < v->n; i++) {
		json_entry(f);
		json_value(f, type, &v->items[i]);
	}
	json_close_list(f);
}

/* Members that are not there, and those that a newer rdmad has by name, are left out. */
static void json_columns(FILE *f, AttrType type, const char *const *columns, const Value *v)
{
	json_open(f);
	for (size_t i = 0; columns[i]; i++) {
		const Value *member = format_find_member(type, i, v);

		if (member)
			json_add_value(f, columns[i], ATTR_U32, member);
	}
	json_close(f);
}

static void json_dict(FILE *f, const Value *v)
{
	json_open(f);
	for (size_t i = 0; i + 1 < v->n; i += 2) {
		json_entry(f);
		json_text(f, value_text(&v->items[i]));
		fputs(": ", f);
		json_value(f, ATTR_U32, &v->items[i + 1]);
	}
	json_close(f);
}

/* TEXT, a list of TYPE: value_join() has made it of the array that it is here. */
static void json_list(FILE *f, AttrType type, const char *text)
{
	const char *separator = "";
	ListItem item;

	fputc(type == ATTR_PAIRS ? '{' : '[', f);
	for (ListReader r = list_reader(type, text); list_next(&r, &item); separator = ", ") {
		fputs(separator, f);
		if (type == ATTR_WORDS)
			json_text(f, item.word);
		else if (type == ATTR_NUMBERS)
			fprintf(f, "%u", item.number);
		else
			fprintf(f, "\"%u\": %u", item.number, item.second);
	}
	fputc(type == ATTR_PAIRS ? '}' : ']', f);
}

void json_value(FILE *f, AttrType type, const Value *v)
{
	const char *const *columns = format_table_columns(type);

	switch (v->type) {
	case VALUE_NONE:
		fputs("null", f);
		break;
	case VALUE_BOOL:
		fputs(v->boolean ? "true" : "false", f);
		break;
	case VALUE_UNSIGNED:
		fprintf(f, "%" PRIu64, v->number);
		break;
	case VALUE_SIGNED:
		fprintf(f, "%" PRIi64, v->integer);
		break;
	case VALUE_DOUBLE:
		if (isfinite(v->real))
			fprintf(f, "%.17g", v->real);
		else
			fputs("null", f);
		break;
	case VALUE_TEXT:
		if (attr_is_list(type))
			json_list(f, type, v->text);
		else
			json_text(f, v->text);
		break;
	case VALUE_ARRAY:
		json_array(f, type, v);
		break;
	case VALUE_STRUCT:
		if (columns)
			json_columns(f, type, columns, v);
		else
			json_array(f, ATTR_U32, v);
		break;
	case VALUE_DICT:
		json_dict(f, v);
		break;
	}
}

void json_object(FILE *f, const Object *o)
{
	fputs("{\n    \"ObjectPath\": ", f);
	json_text(f, o->path);
	for (size_t i = 0; i < o->n_rows; i++) {
		if (!object_has(o, i))
			continue;
		fputs(",\n    ", f);
		json_text(f, o->rows[i].name);
		fputs(": ", f);
		json_value(f, o->rows[i].type, object_value(o, i) ?: &(const Value){});
	}
	fputs("\n  ", f);
	json_close(f);
}
