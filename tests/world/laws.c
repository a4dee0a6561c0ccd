/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "laws.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "virtual-time.h"

uint64_t law_step;
bool law_verbose;

/* FNV-1a */
static uint64_t digest = UINT64_C(14695981039346656037);

void law_broken(const char *format, ...)
{
	va_list args;

	fprintf(stderr, "step %ju, %.6f s: ", (uintmax_t)law_step,
		(double)virtual_now_usec() / 1e6);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(EXIT_FAILURE);
}

void note(const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	for (const char *c = text; *c; c++)
		digest = (digest ^ (uint8_t)*c) * UINT64_C(1099511628211);
	if (law_verbose)
		fprintf(stderr, "%8ju %14.6f  %s\n", (uintmax_t)law_step,
			(double)virtual_now_usec() / 1e6, text);
}

uint64_t note_digest(void)
{
	return digest;
}
