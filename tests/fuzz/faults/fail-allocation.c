/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * To be preloaded: one allocation of the program fails, the one with the number FAIL_AT (from 1; 0
 * or not set: none). At the end the number of all allocations is written to the file FAIL_COUNT, if
 * that is set.
 *
 * Allocations of GLib always succeed, because GLib ends the process when there is no memory; so do
 * those of the dynamic linker.
 */

#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SPARED_MAX 8U

/* the versions of the C library that this one stands before */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t size);

/* code whose allocations succeed */
static struct {
	uintptr_t begin, end;
} spared[SPARED_MAX];
static size_t n_spared;

static unsigned long fail_at;
static atomic_ulong n_allocations;

static int spare(struct dl_phdr_info *info, size_t size, void *userdata)
{
	(void)size;
	(void)userdata;
	if (!strstr(info->dlpi_name, "libglib") && !strstr(info->dlpi_name, "ld-linux"))
		return 0;
	for (size_t i = 0; i < info->dlpi_phnum && n_spared < SPARED_MAX; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];

		if (part->p_type != PT_LOAD || !(part->p_flags & PF_X))
			continue;
		spared[n_spared].begin = info->dlpi_addr + part->p_vaddr;
		spared[n_spared].end = spared[n_spared].begin + part->p_memsz;
		n_spared++;
	}
	return 0;
}

__attribute__((constructor)) static void begin(void)
{
	const char *at = getenv("FAIL_AT");

	dl_iterate_phdr(spare, NULL);
	atomic_store(&n_allocations, 0);
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

/* Whether the allocation that the code at CALLER asks for fails. */
static bool fails(const void *caller)
{
	for (size_t i = 0; i < n_spared; i++)
		if ((uintptr_t)caller >= spared[i].begin && (uintptr_t)caller < spared[i].end)
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
