/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "util.h"

void text_copy(char *buffer, size_t size, const char *source)
{
	size_t n = strnlen(source, size - 1);

	memcpy(buffer, source, n);
	memset(buffer + n, 0, size - n);
}

/* Length of the UTF-8 sequence that starts at P and may use N bytes, 0 if it is none (RFC 3629: no
 * overlong forms, no surrogates, nothing above U+10FFFF). */
static size_t utf8_sequence(const unsigned char *p, size_t n)
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
	if (len == 1)
		return 1;
	c = p[0] & (0x7f >> len);
	for (size_t i = 1; i < len; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (p[i] & 0x3f);
	}
	if (c < least[len] || (c >= 0xd800 && c <= 0xdfff) || c > 0x10ffff)
		return 0;
	return len;
}

void text_sanitize(char *buffer, size_t size)
{
	size_t n = strnlen(buffer, size - 1);

	memset(buffer + n, 0, size - n);
	for (size_t i = 0; i < n;) {
		unsigned char c = (unsigned char)buffer[i];
		size_t len = utf8_sequence((unsigned char *)buffer + i, n - i);

		if (len == 0 || c < 0x20 || c == 0x7f) {
			buffer[i] = '?';
			len = 1;
		}
		i += len;
	}
}

int text_to_u64(const char *text, uint64_t max, uint64_t *ret)
{
	unsigned long long value;
	char *end;
	int base = 10;

	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
		base = 16;
		text += 2;
	}
	if (!((text[0] >= '0' && text[0] <= '9') ||
	      (base == 16 && ((text[0] | 0x20) >= 'a' && (text[0] | 0x20) <= 'f'))))
		return -EINVAL;
	errno = 0;
	value = strtoull(text, &end, base);
	if (*end)
		return -EINVAL;
	if (errno == ERANGE || value > max)
		return -ERANGE;
	*ret = value;
	return 0;
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
