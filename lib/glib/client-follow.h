/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Keeps the objects of a client as the daemon has them. */

#include "rdmad-client.h"

/* Begins, with the connection of C. */
gboolean client_attach(RdmadClient *c, GError **error);
/* What has to be sent to the bus then: messages 0 to START_MESSAGES - 1, each when the one before
 * is answered. */
#define START_MESSAGES 3
GDBusMessage *client_start_message(RdmadClient *c, guint i);
/* Takes in REPLY to message I. That there is no daemon is no error. */
gboolean client_take_start_reply(RdmadClient *c, guint i, GDBusMessage *reply, GError **error);
/* Ends it, also after an error. Does nothing if it has not begun. */
void client_detach(RdmadClient *c);
/* The daemon has answered a call: what it signalled before is applied and reported. */
void client_take_answer(RdmadClient *c, GDBusMessage *reply);
/* The error that REPLY is; FALSE also if its body is not of SIGNATURE. */
gboolean client_check_reply(GDBusMessage *reply, const char *signature, GError **error);
/* REPLY, the answer to such a call, has VALUE for row ROW of O. */
void client_take_loaded(RdmadClient *c, RdmadObject *o, size_t row, GVariant *value,
			GDBusMessage *reply);
