/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "fit.h"

#include <stdbool.h>
#include <stdio.h>
#include <wchar.h>

#include "util.h"

/* No column is made narrower than this. */
#define LEAST_WIDTH 4U

/* The ellipsis of the language: one column, or three. */
static const char *ellipsis(size_t *ret_width)
{
	bool has_one = MB_CUR_MAX > 1;

	*ret_width = has_one ? 1 : 3;
	return has_one ? "\u2026" : "...";
}

/* How many columns of the terminal TEXT takes. Bytes that are no characters take one each. Not more
 * than MOST columns are counted; *RET_BYTES is how many bytes take these. */
static size_t text_width(const char *text, size_t most, size_t *ret_bytes)
{
	size_t n = 0, width = 0, length = strlen(text);
	mbstate_t state = {};

	while (n < length) {
		wchar_t wide;
		size_t bytes = mbrtowc(&wide, text + n, length - n, &state);
		int columns = 1;

		if (bytes == (size_t)-1 || bytes == (size_t)-2) {
			state = (mbstate_t){};
			bytes = 1;
		} else {
			columns = MAX(wcwidth(wide), 0);
		}
		if (width + (size_t)columns > most)
			break;
		width += (size_t)columns;
		n += bytes;
	}
	*ret_bytes = n;
	return width;
}

static size_t cell_width(struct libscols_cell *cell)
{
	const char *text = cell ? scols_cell_get_data(cell) : NULL;
	size_t bytes;

	return text ? text_width(text, SIZE_MAX, &bytes) : 0;
}

static bool has_flag(struct libscols_column *column, int flag)
{
	return scols_column_get_flags(column) & flag;
}

/* The width of each column; 0 for one that is left out. */
static void measure(struct libscols_table *table, size_t *widths)
{
	for (size_t i = 0; i < scols_table_get_ncols(table); i++) {
		struct libscols_column *column = scols_table_get_column(table, i);

		widths[i] = scols_table_is_noheadings(table)
				    ? 1
				    : cell_width(scols_column_get_header(column));
		for (size_t k = 0; k < scols_table_get_nlines(table); k++) {
			struct libscols_line *line = scols_table_get_line(table, k);
			size_t width = cell_width(scols_line_get_cell(line, i));

			widths[i] = MAX(widths[i], width);
		}
	}
}

static size_t sum(struct libscols_table *table, const size_t *widths, size_t n)
{
	const char *separator = scols_table_get_column_separator(table);
	size_t gap = separator ? strlen(separator) : 1, total = 0;

	for (size_t i = 0; i < n; i++)
		total += widths[i] > 0 ? widths[i] + gap : 0;
	return total > 0 ? total - gap : 0; /* no blank behind the last one */
}

static int leave_out(struct libscols_table *table, size_t *widths, size_t width,
		     char **ret_left_out)
{
	_cleanup_free_ char *left_out = NULL;
	size_t n = scols_table_get_ncols(table);

	for (size_t i = n; i-- > 0 && sum(table, widths, n) > width;) {
		struct libscols_column *column = scols_table_get_column(table, i);
		const char *heading = scols_cell_get_data(scols_column_get_header(column));
		char *text;

		if (!has_flag(column, SCOLS_FL_TRUNC))
			continue;
		if (asprintf(&text, "%s%s%s", heading ? heading : "", left_out ? ", " : "",
			     left_out ? left_out : "") < 0)
			return -ENOMEM;
		free(left_out);
		left_out = text;
		widths[i] = 0;
		(void)scols_column_set_flags(column, SCOLS_FL_HIDDEN);
	}
	*ret_left_out = steal_pointer(&left_out);
	return 0;
}

/* The column that is made narrower next; N if there is none. */
static size_t choose(struct libscols_table *table, const size_t *widths, size_t n)
{
	size_t found = n;

	for (size_t i = 1; i < n; i++)
		if (widths[i] > LEAST_WIDTH &&
		    !has_flag(scols_table_get_column(table, i), SCOLS_FL_RIGHT) &&
		    (found == n || widths[i] > widths[found]))
			found = i;
	if (found == n && widths[0] > LEAST_WIDTH &&
	    !has_flag(scols_table_get_column(table, 0), SCOLS_FL_RIGHT))
		return 0;
	return found;
}

char *fit_text(const char *text, size_t width)
{
	size_t bytes, dots;
	const char *end = ellipsis(&dots);
	char *shorter;

	/* blanks that fill a cell can go without a word */
	(void)text_width(text, width, &bytes);
	if (text[bytes + strspn(text + bytes, " ")] == '\0' || width < dots)
		end = "";
	else
		(void)text_width(text, width - dots, &bytes);
	return asprintf(&shorter, "%.*s%s", (int)bytes, text, end) < 0 ? NULL : shorter;
}

static int shorten(struct libscols_cell *cell, size_t width)
{
	const char *text = cell ? scols_cell_get_data(cell) : NULL;
	char *shorter;

	if (!text || cell_width(cell) <= width)
		return 0;
	shorter = fit_text(text, width);
	return shorter ? scols_cell_refer_data(cell, shorter) : -ENOMEM;
}

static int shorten_column(struct libscols_table *table, size_t i, size_t width)
{
	int r = shorten(scols_column_get_header(scols_table_get_column(table, i)), width);

	for (size_t k = 0; r == 0 && k < scols_table_get_nlines(table); k++)
		r = shorten(scols_line_get_cell(scols_table_get_line(table, k), i), width);
	return r;
}

int fit_table(struct libscols_table *table, size_t width, char **ret_left_out)
{
	size_t n = scols_table_get_ncols(table), i;
	_cleanup_free_ size_t *widths = calloc(n + 1, sizeof(*widths));
	int r;

	if (!widths)
		return -ENOMEM;
	measure(table, widths);
	r = leave_out(table, widths, width, ret_left_out);
	if (r < 0 || sum(table, widths, n) <= width)
		return r;
	while (sum(table, widths, n) > width && (i = choose(table, widths, n)) < n)
		widths[i]--;
	for (i = 0; i < n && r == 0; i++)
		if (widths[i] > 0)
			r = shorten_column(table, i, widths[i]);
	return r;
}
