/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What systemd-networkd has heard of the other ends of the links of this machine, by its interface
 * io.systemd.Network of Varlink, which everybody may call. The method GetLLDPNeighbors came with
 * systemd 257. An older one has what it has heard in files only, as frames, which nobody here
 * reads.
 */

#include "neighbor.h"

/* Where systemd-networkd listens. */
#define NETWORKD_SOCKET "/run/systemd/netif/io.systemd.Network"

/* An answer of so many bytes is too long: one system takes some 500 of them. */
#define NETWORKD_ANSWER_MAX 1000000U

/* The read() of a NeighborReader. Of several systems on one link it tells the one whose
 * chassis and port come first in the alphabet: systemd-networkd has no order of them that stays. An
 * older one knows nobody. */
int networkd_read(const char *socket, OnNeighbor on, void *for_whom);

/* The same, of ANSWER, which has N bytes, at NOW_USEC (CLOCK_REALTIME): systemd-networkd does not
 * say since when it knows a system. -EBADMSG: it is no answer; -EIO: it is an error. */
int networkd_parse(const char *answer, size_t n, uint64_t now_usec, OnNeighbor on, void *for_whom);
