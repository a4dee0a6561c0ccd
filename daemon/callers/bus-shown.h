/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Text of a caller in the text of an error. */

#define BUS_SHOWN_MAX  100U /* bytes */
#define BUS_SHOWN_SIZE (BUS_SHOWN_MAX + 4)

/*
 * Writes TEXT, valid UTF-8, into BUFFER as it may be shown: what is longer than BUS_SHOWN_MAX bytes
 * is cut between two characters and ends with "...", and control characters become '?'
 * (text_sanitize()). Returns BUFFER. Every error that repeats what a caller has sent uses it: else
 * a call of megabytes would have a reply of megabytes, and a terminal would obey what is in it.
 */
const char *bus_show(const char *text, char buffer[BUS_SHOWN_SIZE]);

/* The same with a buffer that lives as long as the block that this is in. */
#define BUS_SHOW(text) bus_show(text, (char[BUS_SHOWN_SIZE]){})
