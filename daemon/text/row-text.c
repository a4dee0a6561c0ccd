/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "row-text.h"

#include "gid.h"

/* Longer than any text of a row */
#define WORD_MAX 512U

void word_put(GString *to, const char *text)
{
	size_t at = to->len;
	char *end;

	g_string_set_size(to, at + WORD_SIZE(strlen(text)));
	end = word_write(to->str + at, text);
	g_string_truncate(to, (gsize)(end - to->str));
}

void number_put(GString *to, uint64_t number, unsigned int digits)
{
	char text[20];

	g_string_append_len(to, text, number_write(text, number, digits) - text);
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
	/* all of these have 32 bits */
	if (attr_type_names(a->type)) {
		attr_enumeration_text(a->type, (uint32_t)raw, text);
		if (*text && !startswith(text, "unknown(")) {
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
	if (word_parse(text, word, attr_is_text(a->type) ? a->size : sizeof(word)) < 0)
		return -EINVAL;
	return attr_is_text(a->type) ? attr_set_text(a, values, word) : attr_parse(a, values, word);
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

static bool is_gid(const Column *c)
{
	return c->type == COLUMN_GID || c->type == COLUMN_IP;
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
		else if (is_gid(c)) {
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
	if (is_gid(c))
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
