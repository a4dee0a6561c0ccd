/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Ends the program when nobody has used it for some time. systemd keeps the listening sockets, and
 * starts the program again when somebody connects. */

#include <stdint.h>
#include <systemd/sd-event.h>

#include "util.h"

typedef struct Idle Idle;

/* USEC: how long nobody must have used it; 0: it never ends by itself. */
int idle_new(sd_event *event, uint64_t usec, Idle **ret);
/* Takes NULL. */
void idle_free(Idle *i);
DEFINE_CLEANUP(Idle, idle_free);

/* Somebody begins to use the program: a connection. Each call is followed by one of idle_end(). */
void idle_begin(Idle *i);
void idle_end(Idle *i);
