/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "row-text.h"

#include <ctype.h>

#include "decode.h"
#include "gid.h"

/* Longer than any text of a row or a column */
#define WORD_MAX 512U

static bool is_plain(char c)
{
	return isgraph((unsigned char)c) && !strchr("\"%=#*", c);
}

void word_put(GString *to, const char *text)
{
	if (!*text)
		g_string_append_c(to, '%');
	for (; *text; text++)
		/* UTF-8 stays as it is */
		if (is_plain(*text) || (unsigned char)*text >= 0x80)
			g_string_append_c(to, *text);
		else
			g_string_append_printf(to, "%%%02X", (unsigned char)*text);
}

int word_parse(const char *word, char *ret, size_t size)
{
	char text[WORD_MAX];
	size_t n = 0;

	if (streq(word, "%"))
		word = "";
	for (; *word && n < sizeof(text) && n < size; n++) {
		int high, low;

		if (*word != '%') {
			text[n] = *word++;
			continue;
		}
		high = g_ascii_xdigit_value(word[1]);
		low = high < 0 ? -1 : g_ascii_xdigit_value(word[2]);
		if (low < 0 || high + low == 0)
			return -EINVAL;
		text[n] = (char)(high << 4 | low);
		word += 3;
	}
	if (n >= sizeof(text) || n >= size)
		return -EINVAL;
	text[n] = '\0';
	memset(ret, 0, size);
	memcpy(ret, text, n);
	text_sanitize(ret, size);
	return 0;
}

void number_put(GString *to, uint64_t number, unsigned int digits)
{
	char text[20];
	size_t at = sizeof(text);

	do
		text[--at] = (char)('0' + number % 10);
	while (number /= 10);
	while (sizeof(text) - at < digits)
		text[--at] = '0';
	g_string_append_len(to, text + at, (gssize)(sizeof(text) - at));
}

void row_text_put(GString *to, const Attribute *a, const void *values)
{
	uint64_t raw;
	AttrText text;

	if (attr_is_text(a->type)) {
		word_put(to, attr_get_text(a, values));
		return;
	}
	raw = attr_get_raw(a, values);
	if (attr_type_names(a->type) && raw <= UINT32_MAX) {
		attr_enumeration_text(a->type, (uint32_t)raw, text);
		if (!startswith(text, "unknown(") && is_plain(*text)) {
			word_put(to, text);
			return;
		}
	}
	if (a->type != ATTR_U32 && a->type != ATTR_U64)
		g_string_append(to, "raw:");
	number_put(to, raw, 1);
}

int row_text_parse(const Attribute *a, void *values, const char *text)
{
	char word[WORD_MAX];

	if (a->size == 0)
		return -EINVAL;
	if (attr_is_text(a->type))
		return word_parse(text, (char *)values + a->offset, a->size);
	if (word_parse(text, word, sizeof(word)) < 0)
		return -EINVAL;
	return attr_parse(a, values, word);
}

/* Whether the member of C in ENTRY says anything. */
static bool has_value(const Column *c, const uint8_t *entry)
{
	for (size_t i = 0; i < c->size; i++)
		if (entry[c->offset + i])
			return true;
	return false;
}

static uint64_t get_number(const Column *c, const uint8_t *entry)
{
	uint64_t wide = 0;
	uint32_t narrow = 0;

	if (c->size == sizeof(wide)) {
		memcpy(&wide, entry + c->offset, sizeof(wide));
		return wide;
	}
	memcpy(&narrow, entry + c->offset, sizeof(narrow));
	return narrow;
}

void entry_text_put(GString *to, const TableLayout *l, const void *entry)
{
	size_t begin = to->len;

	for (size_t i = 0; i < l->n_columns; i++) {
		const Column *c = &l->columns[i];
		char gid[40];

		if (c->size == 0 || !has_value(c, entry))
			continue;
		if (to->len > begin)
			g_string_append_c(to, ' ');
		g_string_append(to, c->field);
		g_string_append_c(to, '=');
		if (c->type == COLUMN_TEXT)
			word_put(to, (const char *)entry + c->offset);
		else if (c->type == COLUMN_GID) {
			gid_format((const uint8_t *)entry + c->offset, gid);
			g_string_append(to, gid);
		} else
			number_put(to, get_number(c, entry), 1);
	}
}

static int set_column(const Column *c, const char *value, uint8_t *entry)
{
	uint64_t wide;
	uint32_t narrow;

	if (c->type == COLUMN_TEXT)
		return word_parse(value, (char *)entry + c->offset, c->size);
	if (c->type == COLUMN_GID)
		return gid_parse(value, entry + c->offset);
	if (text_to_u64(value, c->size == sizeof(wide) ? UINT64_MAX : UINT32_MAX, &wide) < 0)
		return -EINVAL;
	narrow = (uint32_t)wide;
	memcpy(entry + c->offset, c->size == sizeof(wide) ? (const void *)&wide : &narrow, c->size);
	return 0;
}

int entry_text_parse(const TableLayout *l, const char *text, void *ret)
{
	g_auto(GStrv) words = g_strsplit(text, " ", -1);
	_cleanup_free_ uint8_t *entry = calloc(1, l->entry_size);

	if (!entry)
		return -ENOMEM;
	for (char **word = words; *word; word++) {
		char *value = strchr(*word, '=');
		size_t i = 0;

		if (!**word)
			continue;
		if (!value)
			return -EINVAL;
		*value++ = '\0';
		while (i < l->n_columns &&
		       (l->columns[i].size == 0 || !streq(l->columns[i].field, *word)))
			i++;
		if (i == l->n_columns || set_column(&l->columns[i], value, entry) < 0)
			return -EINVAL;
	}
	memcpy(ret, entry, l->entry_size);
	return 0;
}
