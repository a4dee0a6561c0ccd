/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The laws of the record: it is a behaviour of rdmad, and what is played of it is published as it
 * was. */

#include <stdint.h>

struct Objects;

/* Compares what was PUBLISHED when the record was written with what is published when it is PLAYED:
 * all but times, how often something happened, and what is judged. */
void check_played(const struct Objects *published, const struct Objects *played);
/* rdmactl record verify finds nothing in WHAT, a segment or an option. */
void check_verified(const char *what);
/* How long the segment of the record at PATH takes that has just been written. */
uint64_t replay_usec(const char *path);
