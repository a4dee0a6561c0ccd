/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

/* Whether there is a check called NAME. */
bool check_exists(const char *name);
