/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Writes the documentation of the properties that are rows of the attribute tables, as comments for
 * g-ir-scanner. The scanner finds the properties themselves in the library.
 */

#include <glib.h>
#include <stdio.h>

#include "property-name.h"
#include "table.h"

static const char *signal_sentence(const Attribute *row)
{
	switch (row->class) {
	case CLASS_IDENTITY:
	case CLASS_FIXED:
		return "Never changes.";
	case CLASS_GENERATION:
		return "Is signalled only together with others: the value is that of the last "
		       "signal or load.";
	case CLASS_COUNTER:
		return "Changes are not signalled: the value is that of the last load.";
	case CLASS_CONST:
	case CLASS_DYNAMIC:
		return attr_table_entry_size(row->type) > 0
			       ? "After a change the table is to be loaded."
			       : NULL;
	case _CLASS_MAX:
		break;
	}
	return NULL;
}

/* Writes TEXT in Markdown: characters that mean something there are escaped. */
static void put_text(const char *text)
{
	for (; *text; text++) {
		if (strchr("*_`<>^#@%", *text))
			putchar('\\');
		putchar(*text);
	}
}

/* The members of an entry of a table. */
static void put_columns(const TableLayout *l)
{
	puts(" * Each entry has the members:\n *");
	for (size_t i = 0; i < l->n_columns; i++) {
		if (!l->columns[i].is_published)
			continue;
		printf(" * - `%s` (`%s`%s): ",
		       l->columns[i].tail[0] ? l->columns[i].tail : l->columns[i].field,
		       l->columns[i].signature, l->columns[i].tail[0] ? ", in the tail" : "");
		put_text(column_help(l, i));
		putchar('\n');
	}
	puts(" * - the tail (`a{sv}`): members by name. One that is 0 or empty is left out; a "
	     "newer "
	     "daemon may send more.\n *");
}

/* The GObject property of a row without a value: a missing text or list is %NULL. */
static const char *absent_text(const Attribute *row)
{
	return strchr("soa", attr_signature(row->type)[0]) ? "%NULL" : attr_absent_text(row);
}

static void put_property(const char *class, const Attribute *row)
{
	const char *const *names = attr_type_names(row->type);
	const char *sentence = signal_sentence(row);
	g_autofree char *property = property_name(row->name);

	printf("/**\n * %s:%s:\n *\n * ", class, property);
	put_text(attr_help(row));
	puts("\n *");
	if (table_layout(row->type))
		put_columns(table_layout(row->type));
	if (row->valid != VALID_ALWAYS)
		printf(" * Available %s.\n *\n", attr_validity_text(row->valid));
	if (attr_absent_text(row))
		printf(" * The property is %s without a value.\n *\n", absent_text(row));
	if (sentence)
		printf(" * %s\n *\n", sentence);
	if (names) {
		fputs(" * One of", stdout);
		for (size_t i = 0; names[i]; i++)
			printf("%s `%s`", i == 0 ? "" : ",", names[i]);
		puts(".\n *");
	}
	printf(" * On the bus: `%s` of `%s`, type `%s`%s%s.\n */\n", row->name,
	       attr_interface_name(row->interface), attr_signature(row->type),
	       *unit_rows[row->unit].name ? ", in " : "", unit_rows[row->unit].name);
}

int main(void)
{
	for (size_t i = 0; i < _DEVICE_ATTR_MAX; i++)
		put_property("RdmadDevice", &device_attributes[i]);
	for (size_t i = 0; i < _PORT_ATTR_MAX; i++)
		if (port_attributes[i].interface != INTERFACE_RAW)
			put_property("RdmadPort", &port_attributes[i]);
	return fflush(stdout) < 0;
}
