/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "script-line.h"

#include <ctype.h>
#include <glib.h>

#include "clock.h"
#include "simulated-value.h"

/* The shortest interval at which a step happens again: it may change each of 65536 ports. */
#define STEP_EVERY_MIN_USEC USEC_PER_MSEC

int words_split(const char *line, char ***ret, char **ret_message)
{
	g_autoptr(GPtrArray) words = g_ptr_array_new_with_free_func(g_free);
	const char *p = line;

	while (*p) {
		g_autoptr(GString) word = NULL;
		bool quoted = false;

		if (isspace((unsigned char)*p)) {
			p++;
			continue;
		}
		word = g_string_new(NULL);
		for (; *p && (quoted || !isspace((unsigned char)*p)); p++) {
			if (*p == '"')
				quoted = !quoted;
			else
				g_string_append_c(word, *p);
		}
		if (quoted)
			return simulated_error(-EINVAL, ret_message,
					       "a quotation mark is not closed, expected another "
					       "'\"' in the line");
		if (words->len == SCENARIO_WORDS_MAX)
			return simulated_error(-EINVAL, ret_message,
					       "too many words, expected at most %u",
					       SCENARIO_WORDS_MAX);
		g_ptr_array_add(words, g_string_free(g_steal_pointer(&word), false));
	}
	g_ptr_array_add(words, NULL);
	g_ptr_array_set_free_func(words, NULL);
	*ret = (char **)g_ptr_array_free(g_steal_pointer(&words), false);
	return 0;
}

/* A number with a unit, such as "2s" or "1.5ms". */
static int parse_time(const char *text, uint64_t *ret, char **ret_message)
{
	static const struct {
		const char *name;
		double usec;
	} units[] = {{"us", 1}, {"ms", 1e3}, {"s", 1e6}, {"min", 60e6}, {"h", 3600e6}};
	char *end = NULL;
	double n = isdigit((unsigned char)*text) ? g_ascii_strtod(text, &end) : -1;

	/* strtod() takes hexadecimal numbers too; they are no times */
	for (size_t i = 0;
	     n >= 0 && !memchr(text, 'x', (size_t)(end - text)) && i < ARRAY_SIZE(units); i++)
		if (streq(end, units[i].name) &&
		    n * units[i].usec <= (double)(STEP_TIME_MAX_SEC * USEC_PER_SEC)) {
			*ret = (uint64_t)(n * units[i].usec);
			return 0;
		}
	return simulated_error(-EINVAL, ret_message,
			       "%.100s: expected a time up to 87600h such as 2s, 100ms or 1.5min",
			       text);
}

int script_line_parse(char *text, ScenarioStep *ret, char **ret_message)
{
	g_auto(GStrv) when = NULL;
	ScenarioStep step = {};
	bool at = false, every = false;
	char *colon = strchr(text, ':');
	int r;

	if (!colon)
		return simulated_error(-EINVAL, ret_message,
				       "%.100s: expected at TIME: COMMAND or every TIME: COMMAND",
				       text);
	*colon = '\0';
	r = words_split(text, &when, ret_message);
	if (r < 0)
		return r;
	for (char **w = when; *w; w += 2) {
		bool *seen = streq(*w, "at") ? &at : streq(*w, "every") ? &every : NULL;

		if (!seen || *seen || !w[1])
			return simulated_error(-EINVAL, ret_message,
					       "%.100s: expected at TIME or every TIME before ':'",
					       *w);
		*seen = true;
		r = parse_time(w[1], seen == &at ? &step.at_usec : &step.every_usec, ret_message);
		if (r < 0)
			return r;
	}
	if (!at && !every)
		return simulated_error(-EINVAL, ret_message,
				       "expected at TIME or every TIME before ':'");
	if (every && step.every_usec < STEP_EVERY_MIN_USEC)
		return simulated_error(-EINVAL, ret_message,
				       "every: too often, expected 1ms or more");
	if (!at)
		step.at_usec = step.every_usec;
	r = words_split(colon + 1, &step.words, ret_message);
	if (r < 0)
		return r;
	*ret = step;
	return 0;
}

int script_line_hurry(ScenarioStep *step, uint32_t speed, char **ret_message)
{
	if (step->every_usec && step->every_usec / speed < STEP_EVERY_MIN_USEC)
		return simulated_error(-EINVAL, ret_message,
				       "every: too often with speed = %u, expected %ums or more",
				       speed, speed);
	step->at_usec /= speed;
	step->every_usec /= speed;
	return 0;
}
