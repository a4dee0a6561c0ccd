/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cli-parts.h"

#include <stdarg.h>

#include "fuzz.h"
#include "rdmactl.h"

unsigned int n_complaints;

void complain(const char *format, ...)
{
	char text[8192];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	FUZZ_CHECK(*text);
	n_complaints++;
}

ExitStatus out_of_memory(void)
{
	n_complaints++;
	return STATUS_FAILED;
}

void check_json(const char *json)
{
	bool quoted = false;
	int depth = 0;

	for (const char *p = json; *p; p++) {
		if (quoted && *p == '\\') {
			p++;
			FUZZ_CHECK(*p != '\0');
		} else if (*p == '"') {
			quoted = !quoted;
		} else if (!quoted && (*p == '{' || *p == '[')) {
			depth++;
		} else if (!quoted && (*p == '}' || *p == ']')) {
			FUZZ_CHECK(depth > 0);
			depth--;
		}
	}
	FUZZ_CHECK(!quoted && depth == 0);
}
