/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "rdmactl.h"

#include <stdarg.h>

void complain(const char *format, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	text_sanitize(text, sizeof(text));
	fprintf(stderr, "rdmactl: %s\n", text);
}

ExitStatus out_of_memory(void)
{
	complain("out of memory");
	return STATUS_FAILED;
}
