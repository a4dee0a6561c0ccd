/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "rdmactl.h"

#include <stdarg.h>

static const Reporter *used;

void report_through(const Reporter *reporter)
{
	used = reporter;
}

int reported_status(ExitStatus status)
{
	return used ? used->status(status) : (int)status;
}

void complain(const char *format, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	text_sanitize(text, sizeof(text));
	if (used)
		used->complain(text);
	else
		fprintf(stderr, "rdmactl: %s\n", text);
}

ExitStatus out_of_memory(void)
{
	return failure("out of memory");
}
