/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The owners of queue pairs on a port: Port.GetUsers().
 *
 * A caller sees the same processes as in /proc with hidepid=2 (proc(5)), for which the kernel has
 * the rule of /proc/PID/environ: root sees all processes, everybody else those of the same user.
 * Everybody sees how many there are.
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
