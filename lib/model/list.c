/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "list.h"

#include <ctype.h>

#define EMPTY "none"

ListReader list_reader(AttrType type, const char *text)
{
	return (ListReader){.type = type, .at = streq(text, EMPTY) ? "" : text};
}

/* A number of digits at *AT, MOST at most, which moves behind it. */
static bool take_number(const char **at, uint32_t most, uint32_t *ret)
{
	const char *p = *at;
	uint64_t n = 0;

	for (; isdigit((unsigned char)*p); p++) {
		n = n * 10 + (uint64_t)(*p - '0');
		if (n > most)
			return false;
	}
	if (p == *at)
		return false;
	*at = p;
	*ret = (uint32_t)n;
	return true;
}

/* Moves *AT behind the character C, if that is there. */
static bool take(const char **at, char c)
{
	if (**at != c)
		return false;
	++*at;
	return true;
}

/* "26:3" or "0-7:0" */
static bool parse_pairs(ListReader *r, const char *text, const char *end)
{
	uint32_t first, last, second;

	if (!take_number(&text, LIST_KEY_MAX, &first))
		return false;
	last = first;
	if (take(&text, '-') && !take_number(&text, LIST_KEY_MAX, &last))
		return false;
	if (!take(&text, ':') || !take_number(&text, UINT32_MAX, &second) || text != end ||
	    first < r->least || last < first)
		return false;
	r->next = first;
	r->end = r->least = last + 1;
	r->neighbours = second;
	return true;
}

static bool parse_word(const char *text, size_t n, AttrText ret)
{
	if (n == 0 || n >= sizeof(AttrText))
		return false;
	memcpy(ret, text, n);
	ret[n] = '\0';
	return true;
}

static bool parse_item(ListReader *r, const char *text, const char *end, ListItem *ret)
{
	if (r->type == ATTR_NUMBERS)
		return take_number(&text, UINT32_MAX, &ret->number) && text == end;
	if (r->type == ATTR_PAIRS)
		return parse_pairs(r, text, end);
	return parse_word(text, (size_t)(end - text), ret->word);
}

bool list_next(ListReader *r, ListItem *ret)
{
	while (r->next == r->end) {
		const char *text = r->at, *end = text + strcspn(text, ",");

		if (!*text)
			return false;
		r->at = *end ? end + 1 : end;
		if (!parse_item(r, text, end, ret))
			r->damaged = true;
		else if (r->type != ATTR_PAIRS)
			return true;
	}
	ret->number = r->next++;
	ret->second = r->neighbours;
	return true;
}

bool list_has_word(const char *text, const char *word)
{
	ListReader r = list_reader(ATTR_WORDS, text);
	ListItem item;

	while (list_next(&r, &item))
		if (streq(item.word, word))
			return true;
	return false;
}

bool list_is_valid(AttrType type, const char *text)
{
	size_t n = strlen(text);
	ListReader r = list_reader(type, text);
	ListItem item;

	while (list_next(&r, &item))
		;
	return n > 0 && text[n - 1] != ',' && !r.damaged;
}

void list_begin(ListWriter *w, AttrType type, char *text, size_t size)
{
	*w = (ListWriter){.type = type, .text = text, .size = size};
	*text = '\0';
}

static void put(ListWriter *w, const char *item)
{
	size_t n = strlen(item), comma = w->used > 0;

	if (w->used + comma + n >= w->size)
		return;
	if (comma)
		w->text[w->used++] = ',';
	memcpy(w->text + w->used, item, n + 1);
	w->used += n;
}

void list_add_word(ListWriter *w, const char *word)
{
	put(w, word);
}

void list_add_number(ListWriter *w, uint32_t number)
{
	char item[16];

	snprintf(item, sizeof(item), "%u", number);
	put(w, item);
}

static void put_pairs(ListWriter *w)
{
	char item[48];

	if (!w->is_open)
		return;
	if (w->last > w->first)
		snprintf(item, sizeof(item), "%u-%u:%u", w->first, w->last, w->second);
	else
		snprintf(item, sizeof(item), "%u:%u", w->first, w->second);
	put(w, item);
	w->is_open = false;
}

void list_add_pair(ListWriter *w, uint32_t number, uint32_t second)
{
	if (w->is_open && number == w->last + 1 && second == w->second) {
		w->last = number;
		return;
	}
	put_pairs(w);
	w->is_open = true;
	w->first = w->last = number;
	w->second = second;
}

void list_end(ListWriter *w)
{
	put_pairs(w);
	if (w->used == 0)
		put(w, EMPTY);
}

void list_put_numbers(const uint8_t *numbers, size_t n, AttrText ret)
{
	ListWriter w;

	list_begin(&w, ATTR_NUMBERS, ret, sizeof(AttrText));
	for (size_t i = 0; i < n; i++)
		list_add_number(&w, numbers[i]);
	list_end(&w);
}

void list_put_bits(uint8_t bits, AttrText ret)
{
	ListWriter w;

	list_begin(&w, ATTR_NUMBERS, ret, sizeof(AttrText));
	for (uint32_t i = 0; i < 8; i++)
		if (bits >> i & 1)
			list_add_number(&w, i);
	list_end(&w);
}
