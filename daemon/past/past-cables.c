/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "past-cables.h"

void past_cables_done(PastCables *l)
{
	free(l->items);
	*l = (PastCables){};
}

void past_cables_restore(PastCables *l, const PastCable *c)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->items[i].since == c->since) {
			l->items[i] = *c;
			return;
		}
	if (l->n > 0 && !l->items[l->n - 1].until)
		l->items[l->n - 1].until = c->since;
	if (l->n == PAST_CABLES_MAX)
		memmove(l->items, l->items + 1, --l->n * sizeof(*l->items));
	if (array_grow(l->items, l->n))
		l->items[l->n++] = *c;
}

bool past_cables_note(PastCables *l, const char *serial, const char *part, uint64_t up_usec,
		      uint64_t now)
{
	PastCable *last = l->n > 0 ? &l->items[l->n - 1] : NULL;
	bool is_in = last && !last->until;
	bool was_seen = last && last->seen && last->seen < up_usec;
	PastCable c = {.since = was_seen ? up_usec : now, .seen = now};

	text_copy(c.serial, sizeof(c.serial), serial);
	text_copy(c.part, sizeof(c.part), part);
	if (last)
		last->seen = now;
	if (is_in ? streq(last->serial, c.serial) : !*c.serial)
		return false;
	if (*c.serial)
		past_cables_restore(l, &c);
	else
		last->until = now;
	return true;
}
