/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "script-line.h"

#include <ctype.h>

/* A number with a unit, such as "2s" or "1.5ms". */
static int parse_time(const char *text, uint64_t *ret, char **ret_message)
{
	static const struct {
		const char *name;
		double usec;
	} units[] = {{"us", 1}, {"ms", 1e3}, {"s", 1e6}, {"min", 60e6}, {"h", 3600e6}};
	char *end = NULL;
	double n = isdigit((unsigned char)*text) ? strtod(text, &end) : -1;

	/* strtod() takes hexadecimal numbers too; they are no times */
	for (size_t i = 0;
	     n >= 0 && !memchr(text, 'x', (size_t)(end - text)) && i < ARRAY_SIZE(units); i++)
		if (streq(end, units[i].name) &&
		    n * units[i].usec <= (double)(SCENARIO_TIME_MAX_SEC * USEC_PER_SEC)) {
			*ret = (uint64_t)(n * units[i].usec);
			return 0;
		}
	return scenario_refuse(-EINVAL, ret_message,
			       "%.100s: expected a time up to 87600h such as 2s, 100ms or 1.5min",
			       text);
}

/* Parses "at TIME every TIME" into the times of RET. */
static int parse_when(char *text, ScriptLine *ret, char **ret_message)
{
	bool at = false, every = false;
	Words when;
	int r = words_split(text, &when, ret_message);

	ret->at_usec = ret->every_usec = 0;
	for (size_t i = 0; i < when.n && r >= 0; i += 2) {
		const char *word = when.words[i], *time = when.words[i + 1];
		bool *seen = streq(word, "at") ? &at : streq(word, "every") ? &every : NULL;

		if (!seen || *seen || !time)
			return scenario_refuse(-EINVAL, ret_message,
					       "%.100s: expected at TIME or every TIME before ':'",
					       word);
		*seen = true;
		r = parse_time(time, seen == &at ? &ret->at_usec : &ret->every_usec, ret_message);
	}
	if (r < 0)
		return r;
	if (!at && !every)
		return scenario_refuse(-EINVAL, ret_message,
				       "expected at TIME or every TIME before ':'");
	if (every && ret->every_usec < SCENARIO_EVERY_MIN_USEC)
		return scenario_refuse(-EINVAL, ret_message,
				       "every: too often, expected 1ms or more");
	if (!at)
		ret->at_usec = ret->every_usec;
	return 0;
}

int script_line_parse(char *text, ScriptLine *ret, char **ret_message)
{
	char *colon = strchr(text, ':');
	int r;

	if (!colon)
		return scenario_refuse(-EINVAL, ret_message,
				       "%.100s: expected at TIME: COMMAND or every TIME: COMMAND",
				       text);
	*colon = '\0';
	r = parse_when(text, ret, ret_message);
	return r < 0 ? r : words_split(colon + 1, &ret->command, ret_message);
}
