/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Who has queue pairs on a port: Port.GetUsers().
 *
 * Whom a caller may see is decided as the kernel decides for /proc with hidepid=2 (proc(5)), which
 * is also what it asks for /proc/PID/environ: root sees all processes, everybody else those of the
 * same user. How many there are everybody may know.
 */

#include "bus.h"
#include "long-reply-kinds.h"

/* "a(...)a{sv}": the signature of the reply */
extern const char bus_users_signature[];

/* Writes the reply for its LongReplyRow: the text of the question has the path of the port, and
 * USER is the caller. */
int bus_users_write(BusWriter *w, const LongReplyQuestion *q, const Cache *c, sd_bus_error *error);

/* Port.GetUsers(a{sv}); USERDATA is the port. */
int bus_get_users(sd_bus_message *m, void *userdata, sd_bus_error *error);
