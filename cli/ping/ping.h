/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "rdmactl.h"

/* Asks the N PEERS, each a name or an address, as rdmactl ping does, until each has answered once,
 * and large packets to it are not lost as far as is known, or it is END_USEC, on CLOCK_MONOTONIC
 * (UINT64_MAX: never). Each is asked once at least. Unless IS_QUIET, says at which link the chain
 * to each other peer is broken. */
ExitStatus ping_wait(Context *c, char **peers, size_t n, uint64_t end_usec, bool is_quiet);
