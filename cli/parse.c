/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "parse.h"

#include <math.h>

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
