/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Bugs of order, each of which needs two things to meet. The linker puts them between the functions
 * of the core and those who call them; the product has no trace of them. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The name of the bug that is there now; NULL: none. */
extern const char *planted;
/* All of them, each with the seed of a run that finds it */
typedef struct Plant {
	const char *name;
	uint64_t seed;
} Plant;
extern const Plant plants[];
extern const size_t n_plants;

/* Whether NAME is there now. */
bool is_planted(const char *name);

/* The function NAME of the product, which the linker calls __real_NAME: what is called in its place
 * follows. */
#define WRAP(type, name, ...)                                                                      \
	type __real_##name(__VA_ARGS__);                                                           \
	type __wrap_##name(__VA_ARGS__);                                                           \
	type __wrap_##name(__VA_ARGS__)
