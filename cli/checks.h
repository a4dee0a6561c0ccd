/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The checks of rdmactl check, one row each. A check looks at one thing, says one sentence, and
 * knows nothing of the other checks. */

#include "check-finding.h"

extern const Check checks[];
extern const size_t n_checks;
