/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "mdoc.h"

#include <stdio.h>

void mdoc_put_text(const char *text)
{
	for (const char *start = text; *text; text++)
		switch (*text) {
		case ' ':
			putchar(text > start && text[-1] == '.' ? '\n' : ' ');
			break;
		case '\\':
			fputs("\\e", stdout);
			break;
		case '^':
			fputs("\\(ha", stdout);
			break;
		case '~':
			fputs("\\(ti", stdout);
			break;
		default:
			putchar(*text);
		}
}
