/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What lldpd has heard of the other ends of the links of this machine, by its library liblldpctl,
 * which is loaded when it is needed. */

#include "neighbor.h"

typedef struct Lldpd Lldpd;

/* Loads the library. -ELIBACC: there is none; *RET_WHY says why. */
int lldpd_load(Lldpd **ret, const char **ret_why);
Lldpd *lldpd_unload(Lldpd *l);
DEFINE_CLEANUP(Lldpd, lldpd_unload);

/* A NeighborReader whose userdata is an Lldpd and whose socket may be NULL, for the lldpd of the
 * machine. Of several systems on one link it tells the one that lldpd has known for longest. */
int lldpd_read(const NeighborReader *reader, OnNeighbor on, void *for_whom);
