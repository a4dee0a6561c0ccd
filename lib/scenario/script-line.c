/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "script-line.h"

#include <ctype.h>

#define TIME_MAX_USEC (SCENARIO_TIME_MAX_SEC * USEC_PER_SEC)

/* A number with a unit, such as "2s" or "1.5ms". The part below a microsecond is cut off. */
static int parse_time(const char *text, uint64_t *ret, char **ret_message)
{
	static const struct {
		const char *name;
		uint64_t usec;
	} units[] = {{"us", 1},
		     {"ms", USEC_PER_MSEC},
		     {"s", USEC_PER_SEC},
		     {"min", 60 * USEC_PER_SEC},
		     {"h", 3600 * USEC_PER_SEC}};
	const char *digits = "0123456789", *p = text + strspn(text, digits);
	const char *fraction = *p == '.' ? p + 1 : p, *unit = fraction + strspn(fraction, digits);

	for (size_t i = 0; p > text && i < ARRAY_SIZE(units); i++) {
		uint64_t usec = 0, part = units[i].usec;

		if (!streq(unit, units[i].name))
			continue;
		for (p = text; isdigit((unsigned char)*p) && usec <= TIME_MAX_USEC / part; p++)
			usec = usec * 10 + (uint64_t)(*p - '0');
		usec *= part;
		for (p = fraction; p < unit; p++)
			usec += (uint64_t)(*p - '0') * (part /= 10);
		if (usec > TIME_MAX_USEC)
			break;
		*ret = usec;
		return 0;
	}
	return scenario_refuse(-EINVAL, ret_message,
			       "%.100s: expected a time up to %juh such as 2s, 100ms or 1.5min",
			       text, (uintmax_t)(SCENARIO_TIME_MAX_SEC / 3600));
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

const char *script_speed(const char *line)
{
	const char *p = startswith(line, "speed");

	if (p)
		p += strspn(p, BLANKS);
	return p && *p == '=' ? p + 1 + strspn(p + 1, BLANKS) : NULL;
}

char *script_time_write(char to[SCRIPT_TIME_SIZE], uint64_t usec)
{
	to = number_write(stpcpy(to, "at "), usec / USEC_PER_SEC, 1);
	*to++ = '.';
	return stpcpy(number_write(to, usec % USEC_PER_SEC, 6), "s: ");
}
