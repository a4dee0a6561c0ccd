/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Only the copy of the source that ./run mutate makes includes this, before anything else: it must not include a header, because the
 * file that follows may define _GNU_SOURCE and its like first.
 *
 * Each mutation has a number, and stands in the source as mutant_at(N) ? wrong : right.
 *   RDMAD_MUTANT=N        mutation N is on.
 *   RDMAD_REACHED=FILE    byte N of FILE becomes 1 when the place of mutation N is executed. The file is mapped: what is killed later,
 *                         or may open no file any more, is in it too.
 */

extern char *getenv(const char *);
extern int atoi(const char *);
extern int open(const char *, int, ...);
extern int close(int);
extern void *mmap(void *, unsigned long, int, int, int, long);

#define MUTANTS_MAX 4096

/* One of each in a program or library, however many of its files have mutations */
__attribute__((weak, visibility("hidden"))) int mutant_on = 0;
__attribute__((weak, visibility("hidden"))) volatile unsigned char *mutant_reached = 0;

__attribute__((constructor, unused)) static void mutant_begin(void)
{
	const char *on = getenv("RDMAD_MUTANT"), *path = getenv("RDMAD_REACHED");
	void *p;
	int fd;

	mutant_on = on ? atoi(on) : 0;
	if (!path || mutant_reached)
		return;
	fd = open(path, 02000002); /* O_CLOEXEC | O_RDWR */
	if (fd < 0)
		return;
	p = mmap(0, MUTANTS_MAX, 3, 1, fd, 0); /* PROT_READ | PROT_WRITE, MAP_SHARED */
	if (p != (void *)-1)
		mutant_reached = p;
	close(fd);
}

__attribute__((unused)) static inline int mutant_at(int n)
{
	if (mutant_reached)
		__atomic_store_n(&mutant_reached[n], 1, __ATOMIC_RELAXED);
	return mutant_on == n;
}
