/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The devices and ports that a client has. */

#include "place.h"
#include "rdmad-client.h"

/* The device or port at PLACE; NULL if there is none. */
RdmadObject *client_get_object(RdmadClient *c, Place place);
/* The device that is called NAME or is at that path; NULL if there is none. */
RdmadObject *client_find_device(RdmadClient *c, const char *name);
/* The same for a port. The name of a device is that of its port if it has only one. */
RdmadObject *client_find_port(RdmadClient *c, const char *name);

/* New arrays, sorted by place, that hold references. */
GPtrArray *client_list_devices(RdmadClient *c);
GPtrArray *client_list_ports(RdmadClient *c);
/* The ports of the device with INDEX. */
GPtrArray *client_list_ports_of(RdmadClient *c, guint32 index);

/* Takes a reference to O; there must be no object at its place. */
void client_add_object(RdmadClient *c, RdmadObject *o);
/* Drops that reference. */
void client_remove_object(RdmadClient *c, RdmadObject *o);
