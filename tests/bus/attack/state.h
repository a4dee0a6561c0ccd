/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What rdmad says of the ports, as text, to compare it before and after an attack. */

#include <systemd/sd-bus.h>

/* All properties of the first port of each of the first 8 devices, and the list of all ports. What
 * only says when or how often something was looked at is left out. NULL: a call has failed, and
 * *RET_ERROR says which. The caller frees the text. */
char *state_read(sd_bus *bus, char ret_error[256]);
/* Writes the first line that is not in both to RET. */
void state_difference(const char *before, const char *after, char ret[512]);
