/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Who wants to hear of changes to the shared memory: one pipe each, whose read end the listener
 * has.
 *
 * A pipe and not an eventfd: O_NONBLOCK belongs to the open file, and an eventfd is one open file
 * for both sides. A listener could clear the flag, fill the counter, and block the daemon at its
 * next write. The write end of a pipe is an open file that the daemon shares with nobody. Closing
 * it tells the listener that the daemon has gone, however it went; closing the read end tells the
 * daemon. A listener that does not read has a full pipe, which costs it nothing that it had a use
 * for, and the daemon one failed write a notice.
 */

#include <stdint.h>
#include <sys/types.h>
#include <systemd/sd-event.h>

#include "util.h"

typedef struct Listeners Listeners;

int listeners_new(sd_event *event, Listeners **ret);
/* Closes all pipes: the listeners see that. */
Listeners *listeners_free(Listeners *n);
DEFINE_CLEANUP(Listeners, listeners_free);

/* A new listener on behalf of user UID: *RET_FD is the read end, for the caller to send and close.
 * -EUSERS: that user has too many, -ENFILE: all together have. */
int listeners_add(Listeners *n, uid_t uid, int *ret_fd);

/*
 * Something has changed. The first time in an iteration of the event loop the listeners hear at
 * once; what follows in the same iteration is one more notice behind it. With many listeners that
 * is spread over iterations, so that they do not hold up the rest of the daemon.
 */
void listeners_send(Listeners *n);

/* Closes all pipes, for what they are about is over. */
void listeners_end(Listeners *n);
