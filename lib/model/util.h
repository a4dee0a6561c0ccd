/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Ownership helpers and bounded text handling that every part of rdmad shares. */

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#ifndef MIN /* glib.h has the same */
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#endif
#define CONST_CAST(t, p) ((t)(uintptr_t)(p))
#define USEC_PER_SEC	 UINT64_C(1000000)
#define USEC_PER_MSEC	 UINT64_C(1000)
#define _printf_(f, a)	 __attribute__((format(printf, f, a)))
#define _unused_	 __attribute__((unused))
#define _always_inline_	 inline __attribute__((always_inline))
#define _cleanup_(f)	 __attribute__((cleanup(f)))
#define _cleanup_free_	 _cleanup_(free_pointer)
#define _cleanup_close_	 _cleanup_(close_pointer)
#define _cleanup_fclose_ _cleanup_(fclose_pointer)

/* Hands over what *P owns: returns it and leaves NULL (or, for a descriptor, -EBADF) behind. */
#define steal_pointer(p)                                                                           \
	({                                                                                         \
		__typeof__(p) _steal_p = &*(p);                                                    \
		__typeof__(*_steal_p) _steal_value = *_steal_p;                                    \
		*_steal_p = NULL;                                                                  \
		_steal_value;                                                                      \
	})

/* Defines NAME_pointer(), a cleanup function for variables of type TYPE * freed by FREE. */
#define DEFINE_CLEANUP(type, free_function)                                                        \
	static inline void free_function##_pointer(type **p)                                       \
	{                                                                                          \
		if (*p)                                                                            \
			free_function(*p);                                                         \
	}                                                                                          \
	struct free_function##_needs_a_semicolon

/* Makes room behind the N elements of ARRAY for one more. ARRAY is NULL, or only array_grow() has
 * made it larger. False without memory: ARRAY stays as it is. */
#define array_grow(array, n)                                                                       \
	({                                                                                         \
		__typeof__(array) _grown = array_double((array), (n), sizeof(*(array)));           \
		if (_grown)                                                                        \
			(array) = _grown;                                                          \
		_grown != NULL;                                                                    \
	})

/* ARRAY with room for one more: it doubles when N is a power of two. NULL without memory. */
static inline void *array_double(void *array, size_t n, size_t size)
{
	return n & (n - 1) ? array : reallocarray(array, n > 0 ? 2 * n : 1, size);
}

/* The first of the N elements of ARRAY whose text MEMBER is TEXT; NULL if there is none. */
#define array_find(array, n, member, text)                                                         \
	({                                                                                         \
		size_t _i = 0;                                                                     \
		while (_i < (n) && strcmp((array)[_i].member, (text)) != 0)                        \
			_i++;                                                                      \
		_i < (n) ? &(array)[_i] : NULL;                                                    \
	})

/* How many of N elements in their order come first: those for whose index I IS_BEFORE is true. */
#define array_place(n, i, is_before)                                                               \
	({                                                                                         \
		size_t _low = 0, _high = (n);                                                      \
		while (_low < _high) {                                                             \
			size_t i = _low + (_high - _low) / 2;                                      \
			if (is_before)                                                             \
				_low = i + 1;                                                      \
			else                                                                       \
				_high = i;                                                         \
		}                                                                                  \
		_low;                                                                              \
	})

static inline void free_pointer(void *p)
{
	free(*(void **)p);
}

static inline int close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
	return -EBADF;
}

static inline void close_pointer(int *fd)
{
	close_fd(*fd);
}

static inline int steal_fd(int *fd)
{
	int value = *fd;

	*fd = -EBADF;
	return value;
}

static inline void fclose_pointer(FILE **f)
{
	if (*f)
		fclose(*f);
}

/* Closes F, which open_memstream() has made for *TEXT: returns that, for the caller to free, or
 * NULL without memory. */
static inline char *stream_close(FILE *f, char **text)
{
	if (fclose(f) == 0)
		return *text;
	free(*text);
	return NULL;
}

/* qsort(), where BASE may be NULL if N is 0: C forbids that. */
static inline void sort(void *base, size_t n, size_t size,
			int (*compare)(const void *a, const void *b))
{
	if (n > 1)
		qsort(base, n, size, compare);
}

static inline bool streq(const char *a, const char *b)
{
	return strcmp(a, b) == 0;
}

/* A text that stands for another one. */
typedef struct TextPair {
	const char *key, *text;
} TextPair;

/* The text of KEY among N pairs; NULL if there is none. */
static inline const char *text_of_key(const TextPair *pairs, size_t n, const char *key)
{
	const TextPair *found = array_find(pairs, n, key, key);

	return found ? found->text : NULL;
}

/* Returns what follows PREFIX in S, or NULL if S does not begin with it. */
static inline const char *startswith(const char *s, const char *prefix)
{
	size_t n = strlen(prefix);

	return strncmp(s, prefix, n) == 0 ? s + n : NULL;
}

/* Whether NAME can be that of a file in a directory; it may begin with a dot. */
static inline bool is_file_name(const char *name)
{
	return *name && !strchr(name, '/') && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

/* Copies SOURCE into the SIZE bytes at BUFFER, always terminated; longer text is cut. Bytes behind
 * the end are zeroed, so that two buffers of equal text compare equal with memcmp(). */
void text_copy(char *buffer, size_t size, const char *source);

/*
 * Makes the SIZE bytes at BUFFER a terminated, valid UTF-8 string that is safe to show: no control
 * characters (C0, DEL, C1), no ends of lines or paragraphs, nothing that turns the direction of
 * writing, and nothing that is not seen, such as what has no width, or tags. Each byte of what is
 * not allowed becomes '?', so the length stays; each byte behind the end becomes zero. Text from
 * firmware (node descriptions, board ids) may hold anything: D-Bus refuses a message with a string
 * that is not UTF-8, a terminal obeys control characters, and who reads does not see the rest.
 */
void text_sanitize(char *buffer, size_t size);
/* The white space between words, which text_trim() cuts off both ends of TEXT. Returns where it
 * begins then. */
#define BLANKS " \t\r\n\v\f"
char *text_trim(char *text);
/* text_copy() of a SOURCE that may hold anything, which text_sanitize() then sees. */
void text_copy_clean(char *buffer, size_t size, const char *source);

/* Parses all of TEXT as an unsigned number: decimal, or hexadecimal after 0x; leading zeros do not
 * matter. 0, -EINVAL if it is not a number, -ERANGE if it is larger than MAX. */
int text_to_u64(const char *text, uint64_t max, uint64_t *ret);
/* What C stands for as a hexadecimal digit; -1: it is none. */
static inline int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}
/* stpcpy() of N in decimal digits, at most 10; does not terminate it. For texts of which a reply
 * has thousands: snprintf() would take most of its time. */
char *text_put_number(char *to, uint32_t n);

/*
 * Reads the file PATH, of MAX bytes at most, and puts a 0 behind them. *RET is to be freed;
 * *RET_SIZE is without that 0. -EFBIG: it is longer. -ENOMEM, and what open(2) and read(2) say.
 */
int text_read_file(const char *path, size_t max, char **ret, size_t *ret_size);

/* A number that nobody can tell before, another one on each machine and in each process. The
 * function does not wait for the kernel's random numbers: in the first seconds after boot the
 * number may be easier to guess. Not for secrets. */
uint64_t random_u64(void);

/* A length of time as people say it: "0.250 s", "12 s", "3 min 20 s", "5 h 1 min", "2 d 4 h". */
#define DURATION_MAX 32
void duration_format(uint64_t usec, char ret[DURATION_MAX]);

/*
 * Turns the instance of a unit, rdma-wait-online@INSTANCE.service, into the port that it is for, in
 * place: "mlx5_0-1" is "mlx5_0/1", and anything else a network interface or a device. The last '-'
 * is the '/' if only digits follow it; "\x2d" and the like, as systemd-escape(1) writes them, are
 * the characters that they stand for, so that "eth\x2d1" is "eth-1". -EINVAL.
 */
int instance_unescape(char *instance);
