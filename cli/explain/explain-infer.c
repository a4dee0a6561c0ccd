/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "explain-infer.h"

#include <fnmatch.h>

#include "flaps.h"
#include "seen.h"

#define STEPS_MAX 8U
#define STEP_SIZE 160U

static const struct {
	const char *words, *begins, *now, *ends;
} troubles[_TROUBLE_MAX] = {
#define TROUBLE(trouble, words_, begins_, now_, ends_)                                             \
	[TROUBLE_##trouble] = {.words = words_, .begins = begins_, .now = now_, .ends = ends_},
#include "explain-causes.def"
};

/* The masks that the rows of causes are written with */
enum {
#define TROUBLE(trouble, ...) trouble = 1U << TROUBLE_##trouble,
#include "explain-causes.def"
};

const Cause causes[] = {
#define CAUSE(id_, troubles_, confidence_, steps_, says_, advice_)                                 \
	{.id = #id_,                                                                               \
	 .troubles = troubles_,                                                                    \
	 .confidence = confidence_,                                                                \
	 .steps = steps_,                                                                          \
	 .says = says_,                                                                            \
	 .advice = advice_},
#include "explain-causes.def"
};
const size_t n_causes = ARRAY_SIZE(causes);

/* Clues and facts between BEGIN and END, of which those that fit are to be found. */
typedef struct Case {
	Clue *clues;
	size_t begin, end;
	Fact *facts;
	size_t n_facts;
} Case;

const char *trouble_words(Trouble t)
{
	return t < _TROUBLE_MAX ? troubles[t].words : "nothing is wrong";
}

const char *confidence_name(Confidence c)
{
	static const char *const names[] = {"certain", "likely", "unknown"};

	return names[c];
}

/* Time */

/* How long B came after A; negative if it came before. */
static int64_t later_by(const Clue *a, const Clue *b)
{
	bool same_boot = a->monotonic_usec && b->monotonic_usec;

	return same_boot ? (int64_t)(b->monotonic_usec - a->monotonic_usec)
			 : (int64_t)(b->realtime_usec - a->realtime_usec);
}

void explain_sort(Clue *clues, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		Clue c = clues[i];
		size_t k = i;

		for (; k > 0 && later_by(&c, &clues[k - 1]) > 0; k--)
			clues[k] = clues[k - 1];
		clues[k] = c;
	}
}

/* Patterns */

static bool fits(const char *pattern, const char *text)
{
	return fnmatch(pattern, text, FNM_EXTMATCH) == 0;
}

/* Splits the list of steps *AT: writes the first to RET and moves on. False: there is none left. */
static bool next_step(const char **at, char ret[STEP_SIZE])
{
	size_t n;

	*at += strspn(*at, " ");
	/* a pattern such as "@(no answer)" has blanks in brackets */
	for (n = 0; (*at)[n] && (*at)[n] != ' '; n++)
		if ((*at)[n] == '(')
			n += strcspn(*at + n, ")");
	if (n == 0)
		return false;
	text_copy(ret, MIN(n + 1, (size_t)STEP_SIZE), *at);
	*at += n;
	return true;
}

/* Whether C is what PATTERN, "WHAT:FROM>TO" or "WHAT:fell", describes. */
static bool clue_fits(const Clue *c, const char *pattern)
{
	char what[STEP_SIZE], *change, *to;
	uint64_t from_number, to_number;

	text_copy(what, sizeof(what), pattern);
	change = strchr(what, ':');
	if (!change)
		return false;
	*change++ = '\0';
	if (!fits(what, c->what))
		return false;
	to = strchr(change, '>');
	if (to) {
		*to++ = '\0';
		return fits(change, c->from) && fits(to, c->to);
	}
	if (streq(change, "*"))
		return true;
	if (text_to_u64(c->from, UINT64_MAX, &from_number) < 0 ||
	    text_to_u64(c->to, UINT64_MAX, &to_number) < 0)
		return false;
	return streq(change, "fell") ? to_number < from_number : to_number > from_number;
}

/* The fact that PATTERN, "WHAT:VALUE", describes; NULL: there is none. */
static Fact *find_fact(const Case *k, const char *pattern)
{
	const char *value = strchr(pattern, ':');

	for (size_t i = 0; value && i < k->n_facts; i++) {
		Fact *f = &k->facts[i];

		if (strncmp(f->what, pattern, (size_t)(value - pattern)) == 0 &&
		    f->what[value - pattern] == '\0' && fits(value + 1, f->value))
			return f;
	}
	return NULL;
}

/* Troubles */

static bool begins(Trouble t, const Clue *c)
{
	const char *at = troubles[t].begins;
	char step[STEP_SIZE];

	while (next_step(&at, step))
		if (clue_fits(c, step))
			return true;
	return false;
}

static bool is_so_now(const Case *k, Trouble t)
{
	return *troubles[t].now && find_fact(k, troubles[t].now);
}

/* Whether LATER ends what began with C as PATTERN says. */
static bool ends(const Clue *c, const Clue *later, const char *pattern)
{
	char full[STEP_SIZE];
	uint64_t was, is;

	if (*pattern != '.')
		return clue_fits(later, pattern);
	if (!streq(later->what, c->what))
		return false;
	/* what was gone may come back at another index */
	if (streq(pattern, ".:back"))
		return *c->from &&
		       (*c->to ? streq(c->from, later->to)
			       : streq(seen_without_index(c->from), seen_without_index(later->to)));
	if (streq(pattern, ".:as-much"))
		return text_to_u64(c->from, UINT64_MAX, &was) == 0 &&
		       text_to_u64(later->to, UINT64_MAX, &is) == 0 && is >= was;
	snprintf(full, sizeof(full), "%s%s", c->what, pattern + 1);
	return clue_fits(later, full);
}

/* Whether clue N ends what T began with clue I. */
static bool ends_trouble(const Case *k, Trouble t, size_t i, size_t n)
{
	const char *at = troubles[t].ends;
	char step[STEP_SIZE];

	while (next_step(&at, step))
		if (ends(&k->clues[i], &k->clues[n], step))
			return true;
	return false;
}

/* Whether clue I, with which T began, or a later one has ended it: a driver can recover at once. */
static bool has_ended(const Case *k, Trouble t, size_t i)
{
	for (size_t n = i; n < k->end; n++)
		if (ends_trouble(k, t, i, n))
			return true;
	return false;
}

/* Whether T began with clue I, and not with one that I has taken back. */
static bool began(const Case *k, Trouble t, size_t i)
{
	if (!begins(t, &k->clues[i]))
		return false;
	for (size_t n = k->begin; n < i; n++)
		if (begins(t, &k->clues[n]) && ends_trouble(k, t, n, i))
			return false;
	return true;
}

/* The clue with which T began last, K->end if there is none. */
static size_t find_begin(const Case *k, Trouble t)
{
	for (size_t i = k->end; i > k->begin; i--)
		if (began(k, t, i - 1))
			return i - 1;
	return k->end;
}

/* Causes */

/* Whether clue I comes too late for what has to be at or before clue UNTIL. */
static bool is_too_late(const Case *k, size_t i, size_t until)
{
	return until < k->end && later_by(&k->clues[until], &k->clues[i]) > (int64_t)SLACK_USEC;
}

static bool is_too_early(const Case *k, size_t i, size_t since)
{
	return since < k->end && later_by(&k->clues[i], &k->clues[since]) > (int64_t)SLACK_USEC;
}

/* The first clue, or the LAST, that PATTERN describes, that no other step has taken, and that comes
 * neither before SINCE nor after UNTIL (K->end: no limit); K->end if there is none. */
static size_t find_clue(const Case *k, const char *pattern, size_t since, size_t until,
			const bool taken[], bool last)
{
	size_t found = k->end;

	for (size_t i = k->begin; i < k->end && (last || found == k->end); i++)
		if (!taken[i - k->begin] && clue_fits(&k->clues[i], pattern) &&
		    !is_too_early(k, i, since) && !is_too_late(k, i, until))
			found = i;
	return found;
}

/* The first clue behind BEGIN that PATTERN describes; K->end if there is none. */
static size_t find_after(const Case *k, const char *pattern, size_t begin)
{
	size_t i = begin;

	while (i < k->end && (i == begin || !clue_fits(&k->clues[i], pattern)))
		i++;
	return i;
}

/* Whether a clue that PATTERN describes came behind SINCE and before UNTIL. */
static bool came_between(const Case *k, const char *pattern, size_t since, size_t until)
{
	for (size_t i = since < k->end ? since + 1 : k->begin; i < until; i++)
		if (clue_fits(&k->clues[i], pattern))
			return true;
	return false;
}

/* Whether what the steps of C describe was seen, for a trouble that began with clue BEGIN (K->end:
 * before anything was seen). If so, it is marked as used. */
static bool cause_fits(const Case *k, const Cause *c, size_t begin)
{
	_cleanup_free_ bool *taken = calloc(k->end - k->begin + 1, sizeof(bool));
	Fact *facts[STEPS_MAX];
	const char *at = c->steps;
	size_t n_facts = 0, last = k->end;
	char step[STEP_SIZE];

	while (taken && next_step(&at, step)) {
		size_t found;

		if (*step == '=') {
			facts[n_facts] = find_fact(k, step + 1);
			if (!facts[n_facts++])
				return false;
			continue;
		}
		if (*step == '!') {
			if (came_between(k, step + 1, last, begin))
				return false;
			continue;
		}
		/* what was taken back since then is of no use */
		/* of what is taken back the last counts */
		found = *step == '+' ? find_after(k, step + 1, begin)
				     : find_clue(k, step, last, begin, taken,
						 startswith(at, " !") != NULL);
		if (found == k->end)
			return false;
		taken[found - k->begin] = true;
		last = found;
	}
	if (!taken)
		return false;
	for (size_t i = k->begin; i < k->end; i++)
		k->clues[i].used = taken[i - k->begin];
	for (size_t i = 0; i < n_facts; i++)
		facts[i]->used = true;
	return true;
}

static const Cause *find_cause(const Case *k, Trouble t, size_t begin)
{
	for (size_t i = 0; i < n_causes; i++)
		if (causes[i].troubles >> t & 1 && cause_fits(k, &causes[i], begin))
			return &causes[i];
	return NULL;
}

/* Where what belongs together with the last trouble begins: behind the last time in which nothing
 * was seen for long and the port was well. */
static size_t find_episode(const Clue *clues, size_t n)
{
	size_t begin = 0, trouble = n;
	bool well = true;

	for (size_t i = n; trouble == n && i > 0; i--)
		for (Trouble t = 0; t < _TROUBLE_MAX; t++)
			if (begins(t, &clues[i - 1]))
				trouble = i - 1;
	for (size_t i = 0; i < n && i <= trouble; i++) {
		if (i > 0 && well && later_by(&clues[i - 1], &clues[i]) > (int64_t)QUIET_USEC)
			begin = i;
		if (streq(clues[i].what, "State"))
			well = startswith(clues[i].to, "active");
		if (streq(clues[i].what, "Stale"))
			well = streq(clues[i].to, "no");
	}
	return begin;
}

Explanation explain_infer(Clue *clues, size_t n, Fact *facts, size_t n_facts)
{
	Case k = {clues, find_episode(clues, n), n, facts, n_facts};
	Explanation e = {.trouble = TROUBLE_NONE, .over = true, .begin = n, .episode = k.begin};

	for (Trouble t = 0; t < _TROUBLE_MAX; t++) {
		size_t i = find_begin(&k, t);
		bool now = is_so_now(&k, t), over = !now && i < n && has_ended(&k, t, i);

		if ((i == n && !now) || (over && e.trouble != TROUBLE_NONE))
			continue;
		/* it was often enough only if somebody has counted */
		if (t == TROUBLE_FLAPS && !now)
			continue;
		/* the worst that goes on, or else the worst that is over */
		if (e.trouble != TROUBLE_NONE && !e.over)
			continue;
		/* what is slower now was not explained by what is over; errors that nobody else
		 * noticed and what has changed are the lesser of the two then */
		if (e.trouble != TROUBLE_NONE && (t == TROUBLE_ERRORS || t == TROUBLE_CHANGED))
			continue;
		e.trouble = t;
		e.over = over;
		e.begin = i;
	}
	if (e.trouble == TROUBLE_NONE)
		return e;
	e.cause = find_cause(&k, e.trouble, e.begin);
	if (e.begin < n)
		clues[e.begin].used = true;
	return e;
}

/* Differences that last */

static const struct {
	const char *what;
	bool is_table;
} lasting[] = {
#define LASTING(what_, is_table_) {.what = #what_, .is_table = is_table_},
#include "explain-causes.def"
};

/* The first and the last of the clues between BEGIN and N about WHAT, which is ENTRY of a table if
 * that is not NULL; false: there is none. */
static bool find_ends(const Clue *clues, size_t begin, size_t n, const char *what,
		      const char *entry, const Clue **ret_first, const Clue **ret_last)
{
	*ret_first = NULL;
	for (size_t i = begin; i < n; i++) {
		const Clue *c = &clues[i];

		if (!streq(c->what, what) ||
		    (entry && !streq(seen_without_index(c->from), seen_without_index(entry)) &&
		     !streq(seen_without_index(c->to), seen_without_index(entry))))
			continue;
		if (!*ret_first)
			*ret_first = c;
		*ret_last = c;
	}
	return *ret_first;
}

size_t explain_differences(const Clue *clues, size_t n, const Explanation *e, bool all,
			   Difference *ret)
{
	bool well = e->over || e->trouble > TROUBLE_DOWN;
	const Clue *first, *last;
	size_t n_found = 0;

	for (size_t i = e->episode; well && e->trouble != TROUBLE_NONE && i < n; i++) {
		const Clue *c = &clues[i];
		size_t k = 0;
		bool is_table;

		while (k < ARRAY_SIZE(lasting) && !streq(lasting[k].what, c->what))
			k++;
		if (k == ARRAY_SIZE(lasting) || !*c->from)
			continue;
		is_table = lasting[k].is_table;
		/* each thing once, at its first clue */
		if (!find_ends(clues, e->episode, n, c->what, is_table ? c->from : NULL, &first,
			       &last) ||
		    first != c || streq(first->from, last->to) || (!*last->to && !is_table))
			continue;
		if (all || first != last || !first->used)
			ret[n_found++] = (Difference){c->what, first->from, last->to};
	}
	return n_found;
}
