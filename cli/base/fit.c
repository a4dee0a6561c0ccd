/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "fit.h"

#include <stdio.h>
#include <wchar.h>

#include "util.h"

/* The ellipsis of the language: one column, or three. */
static const char *ellipsis(size_t *ret_width)
{
	bool has_one = MB_CUR_MAX > 1;

	*ret_width = has_one ? 1 : 3;
	return has_one ? "\u2026" : "...";
}

/* How many bytes the character at TEXT has. *RET_WIDTH is how many columns it takes; -1: it cannot
 * be printed, or the byte is no character. */
static size_t next_character(const char *text, mbstate_t *state, int *ret_width)
{
	wchar_t wide;
	size_t n;

	/* the language has no other character for these */
	if (*text >= ' ' && *text <= '~') {
		*ret_width = 1;
		return 1;
	}
	n = mbrtowc(&wide, text, strlen(text), state);
	if (n == (size_t)-1 || n == (size_t)-2) {
		*state = (mbstate_t){};
		*ret_width = -1;
		return 1;
	}
	*ret_width = wcwidth(wide);
	return n;
}

size_t fit_measure(const char *text, size_t most, size_t *ret_bytes)
{
	size_t n = 0, width = 0;
	mbstate_t state = {};

	while (text[n]) {
		int columns;
		size_t bytes = next_character(text + n, &state, &columns);

		columns = columns < 0 ? 1 : columns;
		if (width + (size_t)columns > most)
			break;
		width += (size_t)columns;
		n += bytes;
	}
	*ret_bytes = n;
	return width;
}

char *fit_text(const char *text, size_t width)
{
	size_t bytes, dots;
	const char *end = ellipsis(&dots);
	char *shorter;

	(void)fit_measure(text, width, &bytes);
	if (text[bytes] == '\0' || width < dots)
		end = "";
	else
		(void)fit_measure(text, width - dots, &bytes);
	return asprintf(&shorter, "%.*s%s", (int)bytes, text, end) < 0 ? NULL : shorter;
}

char *fit_printable(const char *text, size_t *ret_width)
{
	char *copy = malloc(4 * strlen(text) + 1), *at = copy;
	mbstate_t state = {};
	size_t width = 0, n;

	for (; copy && *text; text += n) {
		int columns;

		n = next_character(text, &state, &columns);
		if (columns >= 0) {
			at = mempcpy(at, text, n);
			width += (size_t)columns;
			continue;
		}
		for (size_t i = 0; i < n; i++, width += 4)
			at += sprintf(at, "\\x%02x", (unsigned char)text[i]);
	}
	if (copy)
		*at = '\0';
	*ret_width = width;
	return copy;
}
