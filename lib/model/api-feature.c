/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "api-feature.h"

#include "util.h"

const Feature feature_rows[] = {
#define FEATURE(name, sentence) {name, sentence},
#include "api-features.def"
#undef FEATURE
};

const size_t n_feature_rows = ARRAY_SIZE(feature_rows);
