/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The Varlink side. */

#include <systemd/sd-event.h>

#include "idle.h"
#include "source.h"

typedef struct Varlink Varlink;

/* Serves the listening socket FD, which belongs to *RET then. SOURCE and IDLE outlive *RET. */
int varlink_new(sd_event *event, int fd, Source *source, Idle *idle, Varlink **ret);
/* Takes NULL; returns NULL. */
Varlink *varlink_free(Varlink *v);
DEFINE_CLEANUP(Varlink, varlink_free);
