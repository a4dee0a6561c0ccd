/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The programs that want to hear of changes to the shared memory. Each has the read end of a pipe
 * of its own, into which the daemon writes one byte when something has changed.
 *
 * Why a pipe and no eventfd: O_NONBLOCK belongs to the open file, and an eventfd is one open file
 * for both sides. A listener could clear the flag and fill the counter, and the daemon would block
 * at its next write. The write end of a pipe is an open file that the daemon shares with nobody.
 * The kernel closes it when the daemon ends, even if the daemon was killed, and the listener sees
 * that. When the listener closes the read end, the daemon sees that. If a listener does not read,
 * its pipe becomes full: the listener loses nothing, as one byte says the same as many, and the
 * daemon makes one failed write for each change.
 */

#include <sys/types.h>
#include <systemd/sd-event.h>

#include "util.h"

typedef struct Listeners Listeners;

int listeners_new(sd_event *event, Listeners **ret);
/* Closes all pipes, which the listeners see. N may be NULL. */
void listeners_free(Listeners *n);
DEFINE_CLEANUP(Listeners, listeners_free);

/* Adds a listener on behalf of user UID. *RET_FD is the read end of its pipe, which the caller
 * sends to the listener and closes. -EUSERS: that user has too many listeners; -ENFILE: all users
 * together have. */
int listeners_add(Listeners *n, uid_t uid, int *ret_fd);

/*
 * Tells the listeners that something has changed. At the first call in an iteration of the event
 * loop they are told at once; further calls in the same iteration tell them once more, in the next
 * one. If there are many listeners this takes several iterations, so that the rest of the daemon
 * does not have to wait for it.
 */
void listeners_send(Listeners *n);

/* Closes all pipes: the memory that these listeners read will not change any more. */
void listeners_end(Listeners *n);
