/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The input of a harness, taken from its beginning piece by piece. What is missing is zero. */

#include <sys/mman.h>

#include "fuzz.h"
#include "util.h"

typedef struct FuzzInput {
	const uint8_t *next;
	size_t left; /* bytes */
} FuzzInput;

static inline uint8_t input_u8(FuzzInput *in)
{
	if (in->left == 0)
		return 0;
	in->left--;
	return *in->next++;
}

static inline uint64_t input_u64(FuzzInput *in)
{
	uint64_t value = 0;

	for (size_t i = 0; i < sizeof(value); i++)
		value = value << 8 | input_u8(in);
	return value;
}

/* At most SIZE bytes, copied to BUFFER. Returns how many. */
static inline size_t input_bytes(FuzzInput *in, void *buffer, size_t size)
{
	size_t n = MIN(size, in->left);

	if (n > 0)
		memcpy(buffer, in->next, n);
	in->next += n;
	in->left -= n;
	return n;
}

/* All bytes that are left, as the contents of a file whose path is written to RET. The next call
 * overwrites the file. */
#define INPUT_PATH_MAX 32U
static inline void input_file(FuzzInput *in, char ret[INPUT_PATH_MAX])
{
	static int fd = -EBADF;

	if (fd < 0)
		fd = memfd_create("fuzz", MFD_CLOEXEC);
	FUZZ_CHECK(fd >= 0 && ftruncate(fd, 0) == 0);
	FUZZ_CHECK(in->left == 0 || pwrite(fd, in->next, in->left, 0) == (ssize_t)in->left);
	in->next += in->left;
	in->left = 0;
	snprintf(ret, INPUT_PATH_MAX, "/proc/self/fd/%d", fd);
}

/* TEXT is safe to show and valid on the bus: text_sanitize() finds nothing to change. */
static inline void check_text(const char *text)
{
	_cleanup_free_ char *copy = strdup(text);

	FUZZ_CHECK(copy != NULL);
	text_sanitize(copy, strlen(text) + 1);
	FUZZ_CHECK(streq(copy, text));
}

/* The same of each line of TEXT. */
static inline void check_lines(const char *text)
{
	_cleanup_free_ char *copy = strdup(text);
	char *rest = copy, *line;

	FUZZ_CHECK(copy != NULL);
	while ((line = strsep(&rest, "\n")))
		check_text(line);
}
