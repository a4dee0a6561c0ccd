/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Differences that have one cause are one deviation. lib/diagnosis/check-fold.c does the same with
 * the findings of a machine. */

#include "compare-find.h"

/* Sorts D by machine, and sets the cause of each difference that comes from another one of the same
 * machine. */
void differences_find_causes(Differences *d);
