/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "documented.h"

#include <stdio.h>

#include "attribute.h"
#include "members.h"
#include "table.h"

/* What the line that is read is in. */
typedef struct Place {
	char interface[64];
	const Member *member; /* NULL: none, or a property that is a row */
} Place;

static void put_escaped(FILE *f, const char *text)
{
	for (; *text; text++)
		switch (*text) {
		case '&':
			fputs("&amp;", f);
			break;
		case '<':
			fputs("&lt;", f);
			break;
		case '>':
			fputs("&gt;", f);
			break;
		case '"':
			fputs("&quot;", f);
			break;
		default:
			fputc(*text, f);
		}
}

static void begin_doc(FILE *f, int indent)
{
	fprintf(f, "%*s<annotation name=\"org.gtk.GDBus.DocString\" value=\"", indent, "");
}

static void end_doc(FILE *f)
{
	fputs("\"/>\n", f);
}

static void put_doc(FILE *f, int indent, const char *text)
{
	begin_doc(f, indent);
	put_escaped(f, text);
	end_doc(f);
}

/* The value of attribute NAME of the element in LINE; false if it has none. */
static bool read_name(const char *line, const char *name, char ret[64])
{
	char pattern[32];
	const char *begin;

	snprintf(pattern, sizeof(pattern), " %s=\"", name);
	begin = strstr(line, pattern);
	if (!begin)
		return false;
	begin += strlen(pattern);
	assert_true(strcspn(begin, "\"") < 64);
	text_copy(ret, strcspn(begin, "\"") + 1, begin);
	return true;
}

static const Attribute *find_row(const char *interface, const char *name)
{
	for (size_t i = 0; i < _DEVICE_ATTR_MAX; i++)
		if (streq(device_attributes[i].name, name) &&
		    streq(attr_interface_name(device_attributes[i].interface), interface))
			return &device_attributes[i];
	for (size_t i = 0; i < _PORT_ATTR_MAX; i++)
		if (port_attributes[i].interface != INTERFACE_RAW &&
		    streq(port_attributes[i].name, name) &&
		    streq(attr_interface_name(port_attributes[i].interface), interface))
			return &port_attributes[i];
	return NULL;
}

static void put_columns(FILE *f, const TableLayout *l)
{
	fputs(" The members of an entry:", f);
	for (size_t i = 0; i < l->n_columns; i++) {
		const Column *c = &l->columns[i];

		if (!c->is_published)
			continue;
		fprintf(f, " %s (%s%s): ", c->tail[0] ? c->tail : c->field, c->signature,
			c->tail[0] ? ", in the tail" : "");
		put_escaped(f, column_help(l, i));
	}
}

static void put_row(FILE *f, const Attribute *row)
{
	const char *const *names = attr_type_names(row->type);

	begin_doc(f, 3);
	put_escaped(f, attr_help(row));
	if (*unit_rows[row->unit].name)
		fprintf(f, " Unit: %s.", unit_rows[row->unit].name);
	for (size_t i = 0; names && names[i]; i++) {
		fputs(i > 0 ? ", " : " One of: ", f);
		put_escaped(f, names[i]);
		fputs(names[i + 1] ? "" : ".", f);
	}
	if (table_layout(row->type))
		put_columns(f, table_layout(row->type));
	if (row->valid != VALID_ALWAYS) {
		fputs(" Available ", f);
		put_escaped(f, attr_validity_text(row->valid));
		fputc('.', f);
	}
	if (attr_absent_text(row))
		fprintf(f, " Reads as %s without a value.", attr_absent_text(row));
	end_doc(f);
}

static void put_member(FILE *f, Place *p, const char *name)
{
	const Attribute *row = find_row(p->interface, name);

	p->member = member_find(p->interface, name);
	if (row)
		put_row(f, row);
	else if (p->member)
		put_doc(f, *name ? 3 : 2, p->member->help);
	else
		fail_msg("%s %s has no row in lib/model/members.def", p->interface, name);
}

/* LINE is the whole element of an argument. */
static void put_argument(FILE *f, const Place *p, const char *line)
{
	const char *help;
	char name[64];

	if (!p->member || !read_name(line, "name", name))
		fail_msg("%s: an argument without a name", p->interface);
	help = member_argument(p->member, name);
	if (!help)
		fail_msg("%s.%s: argument %s has no sentence in lib/model/members.def",
			 p->interface, p->member->name, name);
	fprintf(f, "%.*s>\n", (int)(strstr(line, "/>") - line), line);
	put_doc(f, 4, help);
	fputs("   </arg>\n", f);
}

static bool begins(const char *line, const char *element)
{
	line += strspn(line, " ");
	return line[0] == '<' && startswith(line + 1, element) &&
	       strchr(" >/", line[1 + strlen(element)]);
}

static void put_line(FILE *f, Place *p, const char *line)
{
	char name[64] = "";

	if (begins(line, "arg")) {
		put_argument(f, p, line);
		return;
	}
	fprintf(f, "%s\n", line);
	if (begins(line, "interface")) {
		assert_true(read_name(line, "name", p->interface));
		put_member(f, p, "");
	} else if (begins(line, "method") || begins(line, "signal") || begins(line, "property")) {
		assert_true(read_name(line, "name", name));
		put_member(f, p, name);
	}
}

char *documented(const char *xml)
{
	_cleanup_free_ char *copy = strdup(xml);
	char *ret = NULL, *rest = copy, *line;
	Place place = {};
	size_t size;
	FILE *f = open_memstream(&ret, &size);

	assert_non_null(copy);
	assert_non_null(f);
	while ((line = strsep(&rest, "\n")))
		if (line[strspn(line, " ")])
			put_line(f, &place, line);
	assert_int_equal(fclose(f), 0);
	return ret;
}
