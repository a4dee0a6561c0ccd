/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The answers to calls. */

#include <gio/gio.h>

/* The bus itself, as the sender of messages and the receiver of calls. */
#define BUS_NAME "org.freedesktop.DBus"
#define BUS_PATH "/org/freedesktop/DBus"

/* TRUE if the body of REPLY is of the type SIGNATURE, with the parentheses of a tuple. FALSE, and
 * an error, if it is another, or if REPLY is an error itself. */
gboolean reply_check(GDBusMessage *reply, const char *signature, GError **error);
/* REPLY is an error with which the bus, or systemd asked by the bus, says that there is no rdmad.
 */
gboolean reply_is_absence(GDBusMessage *reply);
