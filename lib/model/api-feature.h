/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The features of rdmad: the rows of api-features.def. */

#include <stddef.h>

typedef struct Feature {
	const char *name; /* "wait-for" */
	const char *help; /* one sentence */
} Feature;

extern const Feature feature_rows[];
extern const size_t n_feature_rows;
