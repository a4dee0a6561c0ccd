/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* One cause, one deviation: see check-fold.c, which does the same for rdmactl check. */

#include "compare-find.h"

/* Sorts D by machine, and sets the cause of each difference that comes from another one of the same
 * machine. */
void differences_find_causes(Differences *d);
