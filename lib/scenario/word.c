/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "word.h"

#include <stdarg.h>

int scenario_refuse(int r, char **ret_message, const char *format, ...)
{
	char *message;
	va_list args;
	int n;

	va_start(args, format);
	n = vasprintf(&message, format, args);
	va_end(args);
	if (n < 0)
		return -ENOMEM;
	/* %.100s can cut a character in two, and D-Bus refuses such a text */
	text_sanitize(message, (size_t)n + 1);
	*ret_message = message;
	return r;
}

/* Words */

/* UTF-8 stays as it is. */
static bool is_plain(char c)
{
	return (unsigned char)c >= 0x80 || (c > ' ' && c <= '~' && !strchr("\"%=#*", c));
}

char *word_write(char *to, const char *text)
{
	static const char digits[] = "0123456789ABCDEF";

	if (!*text)
		*to++ = '%';
	for (; *text; text++)
		if (is_plain(*text)) {
			*to++ = *text;
		} else {
			*to++ = '%';
			*to++ = digits[(unsigned char)*text >> 4];
			*to++ = digits[*text & 15];
		}
	*to = '\0';
	return to;
}

/* The byte that TEXT, "%XX", stands for, which is not 0: that would be an end that others do not
 * see. -1: TEXT is something else. */
static int escaped_byte(const char *text)
{
	int high = hex_digit(text[1]), low = high < 0 ? -1 : hex_digit(text[2]);

	return low < 0 || high + low == 0 ? -1 : high << 4 | low;
}

int word_parse(const char *word, char *ret, size_t size)
{
	size_t n = 0;

	if (streq(word, "%"))
		word = "";
	for (const char *p = word; *p; n++) {
		if (*p == '%' && escaped_byte(p) < 0)
			return -EINVAL;
		p += *p == '%' ? 3 : 1;
	}
	if (n >= size)
		return -EINVAL;
	for (size_t i = 0; i < n; i++) {
		bool escaped = *word == '%';

		ret[i] = escaped ? (char)escaped_byte(word) : *word;
		word += escaped ? 3 : 1;
	}
	ret[n] = '\0';
	text_sanitize(ret, size);
	return 0;
}

char *number_write(char *to, uint64_t number, unsigned int digits)
{
	char text[20];
	size_t at = sizeof(text);

	do
		text[--at] = (char)('0' + number % 10);
	while (number /= 10);
	while (sizeof(text) - at < digits)
		text[--at] = '0';
	return (char *)mempcpy(to, text + at, sizeof(text) - at);
}

/* Lines */

int words_split(char *line, Words *ret, char **ret_message)
{
	for (ret->n = 0; *(line += strspn(line, BLANKS));) {
		char *to = line;
		bool quoted = false;

		if (ret->n == SCENARIO_WORDS_MAX)
			return scenario_refuse(-EINVAL, ret_message,
					       "too many words, expected at most %u",
					       SCENARIO_WORDS_MAX);
		ret->words[ret->n++] = to;
		for (; *line && (quoted || !strchr(BLANKS, *line)); line++) {
			if (*line == '"')
				quoted = !quoted;
			else
				*to++ = *line;
		}
		if (quoted)
			return scenario_refuse(-EINVAL, ret_message,
					       "a quotation mark is not closed, expected another "
					       "'\"' in the line");
		line += *line != '\0';
		*to = '\0';
	}
	ret->words[ret->n] = NULL;
	return 0;
}
