/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What lldpd has heard of the other ends of the links of this machine, by its library liblldpctl,
 * which is loaded when it is needed. */

#include "neighbor.h"

/* Loads the library. NULL, or why it cannot be. */
const char *lldpd_load(void);

/* The read() of a NeighborReader whose socket may be NULL, for the lldpd of the machine. Of several
 * systems on one link it tells the one that lldpd has known for longest. */
int lldpd_read(const char *socket, OnNeighbor on, void *for_whom);
