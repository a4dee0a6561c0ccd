/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Text of the attribute tables as mdoc(7) wants it. */

/* Writes TEXT, whole sentences, on standard output: none of it is a macro, an escape or a
 * typographic substitute, and each sentence is on a line of its own. The last line has no end. */
void mdoc_put_text(const char *text);
