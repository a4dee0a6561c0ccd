/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "suggestion.h"

#include <ctype.h>

/* A name that has the word as a part is as far from it as this. */
#define PART_DISTANCE 2U
/* A name as far as this is not suggested. */
#define TOO_FAR	 3U
#define WORD_MAX 64U

static bool same(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* How many letters must be inserted, removed or replaced to make B of A (Levenshtein). Both are
 * shorter than WORD_MAX. */
static unsigned int distance(const char *a, const char *b)
{
	unsigned int row[WORD_MAX];
	size_t n = strlen(b);

	for (size_t k = 0; k <= n; k++)
		row[k] = (unsigned int)k;
	for (size_t i = 1; a[i - 1]; i++) {
		unsigned int diagonal = row[0];

		row[0] = (unsigned int)i;
		for (size_t k = 1; k <= n; k++) {
			unsigned int replaced = diagonal + !same(a[i - 1], b[k - 1]);

			diagonal = row[k];
			row[k] = MIN(MIN(row[k], row[k - 1]) + 1, replaced);
		}
	}
	return row[n];
}

void suggestion_offer(Suggestion *s, const char *name)
{
	size_t n = strlen(s->word);
	unsigned int d = TOO_FAR;

	if (n < 2 || n >= WORD_MAX || !*name || strlen(name) >= WORD_MAX)
		return;
	d = distance(s->word, name);
	/* of a short word two other letters leave nothing */
	if (d > 1 && n < 4)
		d = TOO_FAR;
	if (d > PART_DISTANCE && n > 2 && strcasestr(name, s->word))
		d = PART_DISTANCE;
	if (d >= TOO_FAR || (s->name[0] && d >= s->distance))
		return;
	s->distance = d;
	text_copy(s->name, sizeof(s->name), name);
}

void suggestion_offer_attributes(Suggestion *s)
{
	for (size_t i = 0; i < _PORT_ATTR_MAX; i++)
		if (port_attributes[i].interface != INTERFACE_RAW)
			suggestion_offer(s, port_attributes[i].name);
	for (size_t i = 0; i < _DEVICE_ATTR_MAX; i++)
		if (device_attributes[i].interface != INTERFACE_RAW)
			suggestion_offer(s, device_attributes[i].name);
}

void suggestion_offer_ports(Suggestion *s, const ObjectList *list)
{
	for (size_t i = 0; i < list->n; i++) {
		const Object *o = list->items[i];
		const Value *netdev;
		char name[96];

		if (!o->is_port)
			continue;
		netdev = object_value(o, PORT_ATTR_netdev);
		suggestion_offer(s, object_name(o, name));
		if (netdev)
			suggestion_offer(s, value_text(netdev));
	}
}

const char *suggestion_text(Suggestion *s)
{
	if (s->name[0])
		snprintf(s->text, sizeof(s->text), "; did you mean %s?", s->name);
	return s->text;
}
