/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "bus-shown.h"

#include "util.h"

const char *bus_show(const char *text, char buffer[BUS_SHOWN_SIZE])
{
	size_t n = strnlen(text, BUS_SHOWN_MAX + 1);

	if (n > BUS_SHOWN_MAX) {
		n = BUS_SHOWN_MAX;
		while ((text[n] & 0xc0) == 0x80) /* within a character */
			n--;
		memcpy(buffer, text, n);
		strcpy(buffer + n, "...");
	} else {
		memcpy(buffer, text, n + 1);
	}
	text_sanitize(buffer, BUS_SHOWN_SIZE);
	return buffer;
}
