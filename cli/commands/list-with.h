/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "rdmactl.h"

/* Prints the list with the columns NAMES, of which the last N_SPARE may be left out. */
ExitStatus list_with(Context *c, const char *names, size_t n_spare);
