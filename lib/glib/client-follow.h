/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Keeps the objects of a client as the daemon has them. */

#include "rdmad-client.h"

/* Begins, with the connection of C. */
gboolean client_attach(RdmadClient *c, GError **error);
/* The call that asks for all objects, and what takes in the answer. That there is no daemon is no
 * error. */
GDBusMessage *client_objects_call(void);
gboolean client_take_objects(RdmadClient *c, GDBusMessage *reply, GError **error);
/* Ends it, also after an error. Does nothing if it has not begun. */
void client_detach(RdmadClient *c);
/* The daemon has answered a call: what it signalled before is applied and reported. */
void client_take_answer(RdmadClient *c, GDBusMessage *reply);
/* REPLY, the answer to such a call, has VALUE for row ROW of O. */
void client_take_loaded(RdmadClient *c, RdmadObject *o, size_t row, GVariant *value,
			GDBusMessage *reply);
