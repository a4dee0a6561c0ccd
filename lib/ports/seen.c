/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "seen.h"

static bool read_value(const void *of, size_t i, Seen *ret)
{
	enum { REALTIME, MONOTONIC, WHAT, FROM, TO, REASON, _SEEN_MAX };
	const Value *evidence = of, *e;

	if (i >= value_count(evidence))
		return false;
	*ret = (Seen){.what = "", .from = "", .to = "", .reason = ""};
	e = &evidence->items[i];
	if (e->type != VALUE_STRUCT || e->n < _SEEN_MAX ||
	    e->items[REALTIME].type != VALUE_UNSIGNED || e->items[MONOTONIC].type != VALUE_UNSIGNED)
		return true;
	*ret = (Seen){e->items[REALTIME].number,   e->items[MONOTONIC].number,
		      value_text(&e->items[WHAT]), value_text(&e->items[FROM]),
		      value_text(&e->items[TO]),   value_text(&e->items[REASON])};
	return true;
}

SeenSource seen_in(const Value *evidence)
{
	return (SeenSource){read_value, evidence};
}

bool seen_read(const SeenSource *s, size_t i, Seen *ret)
{
	return s->read && s->read(s->of, i, ret);
}

bool seen_numbers(const Seen *e, const char *what, uint64_t *ret_from, uint64_t *ret_to)
{
	uint64_t from, to;

	if (!streq(e->what, what) || text_to_u64(e->from, UINT64_MAX, &from) < 0 ||
	    text_to_u64(e->to, UINT64_MAX, &to) < 0)
		return false;
	*ret_from = from;
	*ret_to = to;
	return true;
}

const char *seen_without_index(const char *text)
{
	return *text == '[' && strstr(text, "] ") ? strstr(text, "] ") + 2 : text;
}
