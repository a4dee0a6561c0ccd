/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "text-table.h"

#include <stdarg.h>

#include "fit.h"
#include "terminal.h"

/* No column is made narrower than this to fit. */
#define LEAST_WIDTH 4U
/* What a column that is TABLE_REST has to have, to be cut. */
#define LEAST_REST 8U

void text_table_done(TextTable *t)
{
	for (size_t i = 0; i < t->n_cells; i++)
		free(t->cells[i].text);
	free(t->cells);
	free(t->columns);
	*t = (TextTable){};
}

/* Adds an empty cell behind the last one. */
static void add_cell(TextTable *t)
{
	if (!t->broken && array_grow(t->cells, t->n_cells))
		t->cells[t->n_cells++] = (TextTableCell){};
	else
		t->broken = true;
}

/* The cell of a column in the last line; NULL: the table is broken. */
static TextTableCell *last_cell(TextTable *t, size_t column)
{
	return t->broken ? NULL : &t->cells[t->n_cells - t->n_columns + column];
}

void text_table_add_column(TextTable *t, const TableColumn *column)
{
	if (t->broken || !array_grow(t->columns, t->n_columns)) {
		t->broken = true;
		return;
	}
	t->columns[t->n_columns++] = (TableColumn){NULL, column->flags, column->width};
	add_cell(t);
	if (!t->context->no_legend)
		text_table_put(t, t->n_columns - 1, column->heading);
}

TextTable text_table_begin(const Context *c, const TableColumn *columns, size_t n)
{
	TextTable t = {.context = c, .gap = 1};

	for (size_t i = 0; i < n; i++)
		text_table_add_column(&t, &columns[i]);
	return t;
}

void text_table_add_line(TextTable *t)
{
	for (size_t i = 0; i < t->n_columns; i++)
		add_cell(t);
}

void text_table_put(TextTable *t, size_t column, const char *text)
{
	TextTableCell *cell = last_cell(t, column);

	if (!cell)
		return;
	free(cell->text);
	cell->text = fit_printable(text, &cell->width);
	t->broken = !cell->text;
	t->columns[column].width = MAX(t->columns[column].width, cell->width);
}

void text_table_take(TextTable *t, size_t column, char *text)
{
	if (text)
		text_table_put(t, column, text);
	else
		t->broken = true;
	free(text);
}

void text_table_format(TextTable *t, size_t column, const char *format, ...)
{
	char *text;
	va_list ap;
	int r;

	va_start(ap, format);
	r = vasprintf(&text, format, ap);
	va_end(ap);
	text_table_take(t, column, r < 0 ? NULL : text);
}

void text_table_color(TextTable *t, size_t column, const char *color)
{
	TextTableCell *cell = last_cell(t, column);

	if (cell)
		cell->color = color;
}

bool text_table_is_empty(const TextTable *t)
{
	return t->n_cells <= t->n_columns;
}

/* To fit */

/* The width of the lines. */
static size_t sum(const TextTable *t)
{
	size_t total = 0;

	for (size_t i = 0; i < t->n_columns; i++)
		total += t->columns[i].width > 0 ? t->columns[i].width + t->gap : 0;
	return total > 0 ? total - t->gap : 0; /* no blank behind the last one */
}

static void cut_rest(TextTable *t, size_t width)
{
	for (size_t i = 0; i < t->n_columns; i++) {
		TableColumn *column = &t->columns[i];
		size_t others = sum(t) - column->width;

		if ((column->flags & TABLE_REST) && width >= others + LEAST_REST)
			column->width = MIN(column->width, width - others);
	}
}

static int leave_out(TextTable *t, size_t width, char **ret_left_out)
{
	_cleanup_free_ char *left_out = NULL;

	for (size_t i = t->n_columns; i-- > 0 && sum(t) > width;) {
		char *text;

		if (!(t->columns[i].flags & TABLE_SPARE))
			continue;
		if (asprintf(&text, "%s%s%s", t->cells[i].text ?: "", left_out ? ", " : "",
			     left_out ?: "") < 0)
			return -ENOMEM;
		free(left_out);
		left_out = text;
		t->columns[i].width = 0;
	}
	*ret_left_out = steal_pointer(&left_out);
	return 0;
}

static bool can_shrink(const TableColumn *column)
{
	return column->width > LEAST_WIDTH && !(column->flags & TABLE_RIGHT);
}

/* The column that is made narrower next; NULL if there is none. */
static TableColumn *choose(TextTable *t)
{
	TableColumn *found = NULL;

	for (size_t i = 1; i < t->n_columns; i++)
		if (can_shrink(&t->columns[i]) && (!found || t->columns[i].width > found->width))
			found = &t->columns[i];
	return found || !can_shrink(&t->columns[0]) ? found : &t->columns[0];
}

static int shorten(TextTable *t)
{
	for (size_t i = 0; i < t->n_cells; i++) {
		size_t width = t->columns[i % t->n_columns].width;
		TextTableCell *cell = &t->cells[i];
		size_t bytes;
		char *text;

		if (cell->width <= width || width == 0)
			continue;
		text = fit_text(cell->text, width);
		if (!text)
			return -ENOMEM;
		free(cell->text);
		cell->text = text;
		cell->width = fit_measure(text, SIZE_MAX, &bytes);
	}
	return 0;
}

static int fit(TextTable *t, size_t width, char **ret_left_out)
{
	TableColumn *column;
	int r;

	cut_rest(t, width);
	r = leave_out(t, width, ret_left_out);
	while (r >= 0 && sum(t) > width && (column = choose(t)))
		column->width--;
	return r < 0 ? r : shorten(t);
}

/* Writes LINE. Blanks wait for the next text: so there are none at the end. */
static void write_line(const TextTable *t, const TextTableCell *line, FILE *f, unsigned int indent)
{
	size_t blanks = indent;
	bool any = false;

	for (size_t i = 0; i < t->n_columns; i++) {
		const TableColumn *column = &t->columns[i];
		const char *color = terminal_color(t->context, line[i].color);
		size_t fill = column->width - line[i].width;

		if (column->width == 0)
			continue;
		if (any)
			blanks += t->gap;
		any = true;
		if (column->flags & TABLE_RIGHT)
			blanks += fill;
		if (line[i].width > 0) {
			fprintf(f, "%*s%s%s%s", (int)blanks, "", color, line[i].text,
				*color ? terminal_plain(t->context) : "");
			blanks = 0;
		}
		if (!(column->flags & TABLE_RIGHT))
			blanks += fill;
	}
	fputc('\n', f);
}

int text_table_write(TextTable *t, FILE *f, unsigned int indent, size_t width, char **ret_left_out)
{
	_cleanup_free_ char *left_out = NULL;
	int r = t->broken ? -ENOMEM : fit(t, width, &left_out);

	if (r < 0)
		return r;
	for (size_t i = t->context->no_legend ? t->n_columns : 0; i < t->n_cells; i += t->n_columns)
		write_line(t, &t->cells[i], f, indent);
	*ret_left_out = steal_pointer(&left_out);
	return 0;
}

ExitStatus text_table_print(TextTable *t, unsigned int indent)
{
	const Context *c = t->context;
	_cleanup_free_ char *left_out = NULL;
	bool fits = !c->is_terminal || c->width <= indent;

	if (!t->broken && text_table_is_empty(t))
		return STATUS_OK;
	if (text_table_write(t, c->out, indent, fits ? SIZE_MAX : c->width - indent, &left_out) < 0)
		return out_of_memory();
	if (left_out && !c->no_legend)
		fprintf(c->out, "%*s%s(without %s)%s\n", (int)indent, "", terminal_color(c, "dim"),
			left_out, terminal_plain(c));
	return STATUS_OK;
}
