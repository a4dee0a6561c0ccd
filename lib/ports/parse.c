/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "parse.h"

#include <math.h>
#include <time.h>

bool parse_seconds(const char *text, uint64_t *ret_usec)
{
	char *end;
	double seconds;

	if (!text[0] || !strchr("0123456789.", text[0]))
		return false;
	seconds = strtod(text, &end);
	if (end == text || *end || !isfinite(seconds) || seconds < 0 || seconds > 1e12)
		return false;
	*ret_usec = (uint64_t)(seconds * (double)USEC_PER_SEC);
	return true;
}

bool parse_duration(const char *text, uint64_t *ret_usec)
{
	static const struct {
		const char *name;
		uint64_t seconds;
	} units[] = {{"s", 1}, {"min", 60}, {"h", 3600}, {"d", 86400}};
	size_t digits = strspn(text, "0123456789");
	char number[16];
	uint64_t n;

	if (digits == 0 || digits >= sizeof(number))
		return false;
	memcpy(number, text, digits);
	number[digits] = '\0';
	if (text_to_u64(number, UINT32_MAX, &n) < 0 || n == 0)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (streq(text + digits, units[i].name)) {
			*ret_usec = n * units[i].seconds * USEC_PER_SEC;
			return true;
		}
	return false;
}

/* Reads the digits of a fraction of a second; the seventh and all after it are ignored. */
static bool parse_fraction(const char *text, uint64_t *ret_usec)
{
	uint64_t usec = 0, digit = USEC_PER_SEC / 10;

	if (*text && (*text != '.' || !text[1]))
		return false;
	for (text += *text == '.'; *text >= '0' && *text <= '9'; text++, digit /= 10)
		usec += (uint64_t)(*text - '0') * digit;
	*ret_usec = usec;
	return *text == '\0';
}

bool parse_when(const char *text, uint64_t now_usec, uint64_t *ret_usec)
{
	uint64_t ago, fraction = 0;
	struct tm tm = {.tm_isdst = -1};
	const char *end = NULL;
	time_t t;

	if (parse_duration(text, &ago)) {
		*ret_usec = now_usec > ago ? now_usec - ago : 0;
		return true;
	}
	if (text[0] == '@')
		return parse_seconds(text + 1, ret_usec);
	if (text[0] >= '0' && text[0] <= '9')
		end = strptime(text, "%Y-%m-%d %H:%M", &tm);
	if (end && *end == ':')
		end = strptime(end, ":%S", &tm);
	if (!end || !parse_fraction(end, &fraction))
		return false;
	t = mktime(&tm);
	if (t < 0)
		return false;
	*ret_usec = (uint64_t)t * USEC_PER_SEC + fraction;
	return true;
}

bool parse_rate(const char *text, uint64_t *ret)
{
	static const char prefixes[] = "kMGT";
	static const char *const units[] = {"", "b/s", "bit/s", "bps"};
	const char *prefix;
	char *end;
	double n;

	if (text[0] < '0' || text[0] > '9')
		return false;
	n = strtod(text, &end);
	end += *end == ' ';
	prefix = *end ? strchr(prefixes, *end) : NULL;
	if (prefix) {
		for (const char *p = prefixes; p <= prefix; p++)
			n *= 1000;
		end++;
	}
	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (streq(end, units[i]) && n >= 1e6 && n < 1e18) {
			*ret = (uint64_t)n;
			return true;
		}
	return false;
}
