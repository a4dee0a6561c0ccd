/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The words of scenarios, rdmad-scenario(5), and of records, which are scenarios. A word has no
 * white space, no quotation mark, no star and no control byte: these, '%', '#' and '=' are written
 * as %XX. A written word is read back as it was.
 */

#include "util.h"

#define SCENARIO_LINE_MAX  4096U /* bytes, without the end of the line */
#define SCENARIO_WORDS_MAX 256U	 /* in a command */

/* Composes *RET_MESSAGE, for the caller to free, and returns R; -ENOMEM if there is no memory. */
int scenario_refuse(int r, char **ret_message, const char *format, ...) _printf_(3, 4);

/* How many bytes word_write() writes at the most for a text of LENGTH bytes. */
#define WORD_SIZE(length) (3 * (length) + 2)
/* Writes TEXT as a word to TO, an empty one as "%". Returns where the 0 is that ends it. */
char *word_write(char *to, const char *text);
/* Reads such a word into RET, which has room for SIZE bytes and may be WORD. -EINVAL: it is none,
 * or is too long. */
int word_parse(const char *word, char *ret, size_t size);

/* Writes NUMBER with at least DIGITS digits, in front of the others zeros: at most 20 bytes, and no
 * 0 behind them. Returns the end. */
char *number_write(char *to, uint64_t number, unsigned int digits);

/* The words of a line. */
typedef struct Words {
	char *words[SCENARIO_WORDS_MAX + 1]; /* NULL-terminated; they point into the line */
	size_t n;
} Words;

/* Splits LINE, which is changed, into words at white space; white space between quotation marks
 * does not split. -EINVAL with a message: a quotation mark is not closed, or there are more than
 * SCENARIO_WORDS_MAX words. */
int words_split(char *line, Words *ret, char **ret_message);
