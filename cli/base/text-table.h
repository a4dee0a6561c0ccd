/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A table of texts: headings, and a line for each thing. Its columns are as wide as their widest
 * text, and are separated by blanks.
 *
 * A table that goes to a terminal is made as narrow as the terminal, so that the terminal does not
 * break lines in the middle of a word. First columns that are TABLE_SPARE are left out, the
 * rightmost first. Then text is shortened, with an ellipsis at its end, where the columns are
 * widest; the first column, the name, only when no other one can become shorter. Columns that are
 * TABLE_RIGHT stay as they are: a number without its end is a wrong number.
 *
 * Without memory a table is broken: nothing more is added, and text_table_print() says it. So
 * nobody else has to.
 */

#include "rdmactl.h"

typedef enum TableFlags {
	TABLE_RIGHT = 1 << 0, /* the texts are aligned to the right */
	TABLE_SPARE = 1 << 1, /* left out on a narrow terminal */
	TABLE_REST = 1 << 2,  /* cut to what the others leave, if that is enough for a word */
} TableFlags;

typedef struct TableColumn {
	const char *heading;
	unsigned int flags; /* TableFlags */
	size_t width;	    /* the least one, in columns of the terminal */
} TableColumn;

typedef struct TextTableCell {
	char *text;	   /* NULL: empty */
	size_t width;	   /* of the text */
	const char *color; /* for terminal_color() */
} TextTableCell;

/* Everything but the GAP is private to text-table.c. */
typedef struct TextTable {
	const Context *context;
	unsigned int gap; /* the blanks between two columns */
	TableColumn *columns;
	size_t n_columns, n_cells;
	TextTableCell *cells; /* line by line, the first one has the headings */
	bool broken;
} TextTable;

/* A table with these N columns and one blank between them. C must live as long as the table. */
TextTable text_table_begin(const Context *c, const TableColumn *columns, size_t n);
void text_table_done(TextTable *t);
#define _cleanup_text_table_ _cleanup_(text_table_done)

/* Adds a column behind the others, before there is a line. */
void text_table_add_column(TextTable *t, const TableColumn *column);
/* Adds a line, whose cells are empty; the following functions fill it. */
void text_table_add_line(TextTable *t);
/* Makes TEXT the text of a cell: see fit_printable(). text_table_format() makes it of what
 * printf() would print, text_table_take() frees it, and if it is NULL, there was no memory for it.
 */
void text_table_put(TextTable *t, size_t column, const char *text);
void text_table_format(TextTable *t, size_t column, const char *format, ...) _printf_(3, 4);
void text_table_take(TextTable *t, size_t column, char *text);
/* The colour of a cell, for terminal_color(). With no line, that of a heading. */
void text_table_color(TextTable *t, size_t column, const char *color);

bool text_table_is_empty(const TextTable *t);

/* Prints the table to the output of its context, each line after INDENT blanks. Of an empty one
 * nothing is printed. */
ExitStatus text_table_print(TextTable *t, unsigned int indent);
/* Prints the table to F, also if it is empty; no line has more than WIDTH columns of the terminal,
 * if that can be done. *RET_LEFT_OUT has the headings of the columns that are left out, "LINK,
 * MTU"; NULL if there are none. The caller frees it. -ENOMEM. */
int text_table_write(TextTable *t, FILE *f, unsigned int indent, size_t width, char **ret_left_out);
