/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The reply to Manager.GetCounters() as text. */

#include <systemd/sd-bus.h>

/*
 * Of each port a line with its path, a line "GROUP NAME VALUE UNIT CONDITION REASON" for each
 * counter, and a line with the two times and, if it could not be read, Error=CODE
 * ErrorMessage=TEXT. *RET_SETS, which may be NULL, is how many sets there are. The caller frees it.
 */
char *counters_text(sd_bus_message *m, size_t *ret_sets);
