/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A connection of a Varlink client. The connection answers one call after the other: until the
 * replies to one are taken, it reads nothing more. */

#include <sys/types.h>
#include <systemd/sd-event.h>

#include "idle.h"
#include "varlink-metrics.h"

typedef struct VarlinkLink VarlinkLink;

/* The common state of the connections of a server. */
typedef struct VarlinkLinks {
	Idle *idle;
	VarlinkMetrics *metrics;
	VarlinkLink *first; /* the newest one */
} VarlinkLinks;

/* Serves the client at FD, of user UID, and ends by itself. FD is this module's from now on, also
 * if it fails. LINKS outlives the connection. */
int varlink_link_new(sd_event *event, int fd, uid_t uid, VarlinkLinks *links);
/* Closes the connection. Takes NULL. */
void varlink_link_free(VarlinkLink *link);
DEFINE_CLEANUP(VarlinkLink, varlink_link_free);

/* The next older one of the same server, NULL behind the oldest. */
VarlinkLink *varlink_link_next(const VarlinkLink *link);
uid_t varlink_link_uid(const VarlinkLink *link);
/* Whether rdmad has been asked for what the client waits for. */
bool varlink_link_waits(const VarlinkLink *link);
