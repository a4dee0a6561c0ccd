/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Keeps the objects of a client as the daemon has them. */

#include "rdmad-client.h"

/* Begins to collect the signals of the connection of C, in the context that is the default of the
 * thread. LOST is called there, once or more, when the connection has been closed; it must not
 * detach C. G_IO_ERROR_INVALID_ARGUMENT: the connection is not one to a bus. */
gboolean client_attach(RdmadClient *c, void (*lost)(RdmadClient *c), GError **error);
/* The call that asks for all objects. */
GDBusMessage *client_objects_call(void);
/* Takes in the answer to it and reports what differs from before. If the answer says that there is
 * no daemon, that is no error. */
gboolean client_take_objects(RdmadClient *c, GDBusMessage *reply, GError **error);
/* Ends what client_attach() has begun; does nothing if it has not. */
void client_detach(RdmadClient *c);
/* The daemon has sent REPLY, the answer to some call: applies and reports what it has signalled
 * before. */
void client_take_answer(RdmadClient *c, GDBusMessage *reply);
/* REPLY, the answer to a call that reads properties, has VALUE for row ROW of O. */
void client_add_loaded(RdmadClient *c, RdmadObject *o, size_t row, GVariant *value,
		       GDBusMessage *reply);
/* Applies and reports all that was added of REPLY. */
void client_take_loaded(RdmadClient *c, GDBusMessage *reply);
