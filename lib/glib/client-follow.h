/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Keeps the objects of a client as the daemon has them. */

#include "rdmad-client.h"

/* Begins: what has to be sent to the bus, in this order, waiting for the answers. */
#define START_MESSAGES 3
GDBusMessage *client_start_message(guint i);
/* Before the first of them is sent. */
gboolean client_attach(RdmadClient *c, GDBusConnection *connection, GError **error);
/* Takes in the answer to the last of them, which has all objects. TRUE: done, or there is no
 * daemon. */
gboolean client_take_objects(RdmadClient *c, GDBusMessage *reply, GError **error);
void client_detach(RdmadClient *c);
/* The daemon has answered a call: what it signalled before is applied and reported. */
void client_take_answer(RdmadClient *c, GDBusMessage *reply);
/* The error that REPLY is; FALSE also if its body is not of SIGNATURE. */
gboolean client_check_reply(GDBusMessage *reply, const char *signature, GError **error);
/* REPLY, the answer to such a call, has VALUE for row ROW of O. */
void client_take_loaded(RdmadClient *c, RdmadObject *o, size_t row, GVariant *value,
			GDBusMessage *reply);
