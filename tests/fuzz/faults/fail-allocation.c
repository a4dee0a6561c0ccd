/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * To be preloaded: one allocation of the process fails, the one with the number FAIL_AT (from 1; 0
 * or not set: none). With FAIL_OWN set, only those that the program's own code asks for count, and
 * not those of libraries. With FAIL_PLACES set, each place in the code counts once,
 * and places that call strdup() or asprintf() do too. At the end their number is written to the
 * file FAIL_COUNT, if that is set.
 *
 * Allocations of GLib always succeed, because GLib ends the process when there is no memory; so do
 * those of the dynamic linker.
 */

#include <errno.h>
#include <link.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SPARED_MAX 8U
#define PLACES_MAX 4096U

/* the versions of the C library that this one stands before */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t size);

/* Where code is in memory. */
typedef struct Code {
	uintptr_t begin, end;
} Code;

static Code spared[SPARED_MAX]; /* whose allocations succeed */
static size_t n_spared;
static Code own; /* the only one whose allocations count, if END is set */

static const void *places[PLACES_MAX]; /* that have asked, if each counts once */
static size_t n_places;
static bool only_places;

static unsigned long fail_at;
static atomic_ulong n_allocations;

static bool is_in(const Code *code, const void *address)
{
	return (uintptr_t)address >= code->begin && (uintptr_t)address < code->end;
}

static int note_object(struct dl_phdr_info *info, size_t size, void *userdata)
{
	const bool *only_own = userdata;
	bool is_program = info->dlpi_name[0] == '\0';
	bool is_spared = strstr(info->dlpi_name, "libglib") || strstr(info->dlpi_name, "ld-linux");

	(void)size;
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];
		uintptr_t begin = info->dlpi_addr + part->p_vaddr;
		Code code = {begin, begin + part->p_memsz};

		if (part->p_type != PT_LOAD || !(part->p_flags & PF_X))
			continue;
		if (is_spared && n_spared < SPARED_MAX)
			spared[n_spared++] = code;
		if (is_program && *only_own && own.end == 0)
			own = code;
	}
	return 0;
}

__attribute__((constructor)) static void begin(void)
{
	const char *at = getenv("FAIL_AT");
	bool only_own = getenv("FAIL_OWN");

	dl_iterate_phdr(note_object, &only_own);
	atomic_store(&n_allocations, 0);
	only_places = getenv("FAIL_PLACES");
	fail_at = at ? strtoul(at, NULL, 10) : 0;
}

__attribute__((destructor)) static void end(void)
{
	const char *path = getenv("FAIL_COUNT");
	FILE *f = path ? fopen(path, "we") : NULL;

	if (!f)
		return;
	fprintf(f, "%lu\n", atomic_load(&n_allocations));
	fclose(f);
}

/* Whether the code at CALLER asks for the first time. Of several threads two may be the first. */
static bool is_new(const void *caller)
{
	for (size_t i = 0; i < n_places; i++)
		if (places[i] == caller)
			return false;
	if (n_places < PLACES_MAX)
		places[n_places++] = caller;
	return true;
}

/* Whether the allocation that the code at CALLER asks for fails. */
static bool fails(const void *caller)
{
	for (size_t i = 0; i < n_spared; i++)
		if (is_in(&spared[i], caller))
			return false;
	if (own.end && !is_in(&own, caller))
		return false;
	if (only_places && !is_new(caller))
		return false;
	if (atomic_fetch_add(&n_allocations, 1) + 1 != fail_at)
		return false;
	errno = ENOMEM;
	return true;
}

#define EXPORTED __attribute__((visibility("default")))

EXPORTED void *malloc(size_t size)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

EXPORTED void *calloc(size_t n, size_t size)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(n, size);
}

EXPORTED void *realloc(void *p, size_t size)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(p, size);
}

EXPORTED void *reallocarray(void *p, size_t n, size_t size)
{
	size_t all;

	if (__builtin_mul_overflow(n, size, &all)) {
		errno = ENOMEM;
		return NULL;
	}
	return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(p, all);
}

EXPORTED char *strndup(const char *text, size_t most)
{
	size_t n = strnlen(text, most);
	bool fails_now = only_places && fails(__builtin_return_address(0));
	char *copy = fails_now ? NULL : __libc_malloc(n + 1);

	if (!copy)
		return NULL;
	copy[n] = '\0';
	return memcpy(copy, text, n);
}

EXPORTED char *strdup(const char *text)
{
	size_t size = strlen(text) + 1;
	bool fails_now = only_places && fails(__builtin_return_address(0));
	char *copy = fails_now ? NULL : __libc_malloc(size);

	return copy ? memcpy(copy, text, size) : NULL;
}

/* What asprintf() is where the compiler checks it */
EXPORTED int __asprintf_chk(char **ret, int flag, const char *format, ...);

static int print(char **ret, const char *format, va_list *arguments, const void *caller)
{
	return only_places && fails(caller) ? -1 : vasprintf(ret, format, *arguments);
}

#define PRINT(ret, format)                                                                         \
	({                                                                                         \
		va_list arguments_;                                                                \
		int r_;                                                                            \
		va_start(arguments_, format);                                                      \
		r_ = print(ret, format, &arguments_, __builtin_return_address(0));                 \
		va_end(arguments_);                                                                \
		r_;                                                                                \
	})

EXPORTED int asprintf(char **ret, const char *format, ...)
{
	return PRINT(ret, format);
}

EXPORTED int __asprintf_chk(char **ret, int flag, const char *format, ...)
{
	(void)flag;
	return PRINT(ret, format);
}
