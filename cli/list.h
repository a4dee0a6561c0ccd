/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What rdmactl list prints, and in which order. */

#include "attribute.h"
#include "rdmactl.h"

/* Sets COLUMNS to those in TEXT, names separated by commas; behind '+' they come after the usual
 * ones. Says which is none. */
ExitStatus columns_parse(Columns *columns, const char *text);
void columns_done(Columns *columns);
/* "Rate", or "-Rate" for the greatest first. */
ExitStatus column_parse_sort(ListSort *sort, const char *text);
