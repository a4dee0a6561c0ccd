/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "util.h"

#include <sys/auxv.h>
#include <sys/random.h>
#include <time.h>

void text_copy(char *buffer, size_t size, const char *source)
{
	size_t n = strnlen(source, size - 1);

	memcpy(buffer, source, n);
	memset(buffer + n, 0, size - n);
}

/* Length of the UTF-8 sequence that starts at P and may use N bytes, its character in *RET; 0 if it
 * is none (RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF). */
static size_t utf8_sequence(const unsigned char *p, size_t n, uint32_t *ret)
{
	size_t len = p[0] < 0x80	     ? 1
		     : (p[0] & 0xe0) == 0xc0 ? 2
		     : (p[0] & 0xf0) == 0xe0 ? 3
		     : (p[0] & 0xf8) == 0xf0 ? 4
					     : 0;
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	uint32_t c;

	if (len == 0 || len > n)
		return 0;
	c = len == 1 ? p[0] : p[0] & (0x7f >> len);
	for (size_t i = 1; i < len; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (p[i] & 0x3f);
	}
	if (c < least[len] || (c >= 0xd800 && c <= 0xdfff) || c > 0x10ffff)
		return 0;
	*ret = c;
	return len;
}

/* Whether a terminal, or the eye, takes C for something else than a character of the text. */
static bool is_control(uint32_t c)
{
	/* Of Unicode: what is to be obeyed (Cc, Zl, Zp), and what is not to be seen
	 * (Default_Ignorable_Code_Point, and Cf but for the signs of Arabic, Syriac and Kaithi that
	 * are seen). Unseen, two texts that differ look the same. */
	static const struct {
		uint32_t first, last;
	} controls[] = {
		{0x00, 0x1f},	    /* C0 */
		{0x7f, 0x9f},	    /* DEL and C1: some terminals read U+009B as ESC [ */
		{0xad, 0xad},	    /* soft hyphen */
		{0x034f, 0x034f},   /* joiner of graphemes */
		{0x061c, 0x061c},   /* direction of writing */
		{0x115f, 0x1160},   /* fillers of Hangul */
		{0x17b4, 0x17b5},   /* vowels of Khmer that are not written */
		{0x180b, 0x180f},   /* variations and the vowel separator of Mongolian */
		{0x200b, 0x200f},   /* no width: space, joiners; direction of writing */
		{0x2028, 0x202e},   /* end of a line, end of a paragraph; direction of writing */
		{0x2060, 0x206f},   /* no width; direction of writing; obsolete controls */
		{0x3164, 0x3164},   /* filler of Hangul */
		{0xfe00, 0xfe0f},   /* variations */
		{0xfeff, 0xfeff},   /* no width: byte order mark */
		{0xffa0, 0xffa0},   /* filler of Hangul */
		{0xfff0, 0xfffb},   /* reserved, and annotations between lines */
		{0x13430, 0x13440}, /* where Egyptian hieroglyphs stand */
		{0x1bca0, 0x1bca3}, /* of shorthand */
		{0x1d173, 0x1d17a}, /* of music */
		{0xe0000, 0xe0fff}, /* tags, and more variations */
	};

	for (size_t i = 0; i < ARRAY_SIZE(controls) && c >= controls[i].first; i++)
		if (c <= controls[i].last)
			return true;
	return false;
}

void text_sanitize(char *buffer, size_t size)
{
	size_t n = strnlen(buffer, size - 1);

	memset(buffer + n, 0, size - n);
	for (size_t i = 0; i < n;) {
		uint32_t c = 0;
		size_t len;

		/* what most texts consist of */
		if (buffer[i] >= ' ' && buffer[i] <= '~') {
			i++;
			continue;
		}
		len = utf8_sequence((unsigned char *)buffer + i, n - i, &c);

		if (len == 0 || is_control(c)) {
			len = MAX(len, 1U);
			memset(buffer + i, '?', len);
		}
		i += len;
	}
}

char *text_trim(char *text)
{
	size_t n;

	text += strspn(text, BLANKS);
	for (n = strlen(text); n > 0 && strchr(BLANKS, text[n - 1]);)
		n--;
	text[n] = '\0';
	return text;
}

void text_copy_clean(char *buffer, size_t size, const char *source)
{
	text_copy(buffer, size, source);
	text_sanitize(buffer, size);
}

int text_to_u64(const char *text, uint64_t max, uint64_t *ret)
{
	bool is_hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
	const char *digits = is_hex ? "0123456789abcdefABCDEF" : "0123456789";
	unsigned long long value;

	if (is_hex)
		text += 2;
	if (!*text || text[strspn(text, digits)])
		return -EINVAL;
	errno = 0;
	value = strtoull(text, NULL, is_hex ? 16 : 10);
	if (errno == ERANGE || value > max)
		return -ERANGE;
	*ret = value;
	return 0;
}

uint64_t random_u64(void)
{
	const void *at_random = CONST_CAST(const void *, getauxval(AT_RANDOM));
	struct timespec now = {};
	uint64_t value = 0;

	if (getrandom(&value, sizeof(value), GRND_NONBLOCK) == (ssize_t)sizeof(value))
		return value;
	/* Early at boot: 16 bytes that the kernel gives each program at exec, and the time, which
	 * makes each call different. */
	if (at_random)
		memcpy(&value, at_random, sizeof(value));
	clock_gettime(CLOCK_MONOTONIC, &now);
	return value ^ (uint64_t)now.tv_nsec * UINT64_C(0x9e3779b97f4a7c15);
}

void duration_format(uint64_t usec, char ret[DURATION_MAX])
{
	unsigned long long s = usec / USEC_PER_SEC;

	if (s < 10)
		snprintf(ret, DURATION_MAX, "%llu.%03u s", s,
			 (unsigned int)(usec % USEC_PER_SEC / USEC_PER_MSEC));
	else if (s < 120)
		snprintf(ret, DURATION_MAX, "%llu s", s);
	else if (s < 7200)
		snprintf(ret, DURATION_MAX, "%llu min %llu s", s / 60, s % 60);
	else if (s < 172800)
		snprintf(ret, DURATION_MAX, "%llu h %llu min", s / 3600, s / 60 % 60);
	else
		snprintf(ret, DURATION_MAX, "%llu d %llu h", s / 86400, s / 3600 % 24);
}

int text_read_file(const char *path, size_t max, char **ret, size_t *ret_size)
{
	_cleanup_fclose_ FILE *f = fopen(path, "re");
	_cleanup_free_ char *text = NULL;
	size_t n = 0, size;

	if (!f)
		return -errno;
	/* MAX may be a thousand times as much as the file has. */
	do {
		char *more;

		size = MIN(MAX(2 * n, (size_t)4096), max + 2);
		more = realloc(text, size);
		if (!more)
			return -ENOMEM;
		text = more;
		n += fread(text + n, 1, size - 1 - n, f);
		if (ferror(f))
			return -errno;
	} while (n == size - 1 && n <= max);
	if (n > max)
		return -EFBIG;
	text[n] = '\0';
	*ret = steal_pointer(&text);
	*ret_size = n;
	return 0;
}

int instance_unescape(char *instance)
{
	char *slash = strrchr(instance, '-'), *to = instance;

	if (slash && slash > instance && slash[1] &&
	    strspn(slash + 1, "0123456789") == strlen(slash + 1))
		*slash = '/';
	for (const char *from = instance; *from; from++) {
		unsigned int code;

		if (*from != '\\') {
			*to++ = *from;
			continue;
		}
		if (strspn(from + 1, "x") != 1 || strspn(from + 2, "0123456789abcdefABCDEF") < 2)
			return -EINVAL;
		sscanf(from + 2, "%2x", &code);
		if (code == 0)
			return -EINVAL;
		*to++ = (char)code;
		from += 3;
	}
	*to = '\0';
	return *instance ? 0 : -EINVAL;
}

char *text_put_number(char *to, uint32_t n)
{
	char digits[10];
	size_t k = 0;

	do
		digits[k++] = (char)('0' + n % 10);
	while (n /= 10);
	while (k > 0)
		*to++ = digits[--k];
	return to;
}
