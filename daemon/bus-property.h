/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The attribute tables as sd-bus vtables: every row a property whose getter reads the cache and
 * cannot fail. */

#include <systemd/sd-bus.h>

#include "cache.h"

/* Room for the rows of one interface, its methods and signals, start and end. */
#define BUS_VTABLE_MAX 64

/*
 * Fills VTABLE, which must be zeroed and stay where it is, with the rows of INTERFACE and then the
 * N_MEMBERS methods and signals at MEMBERS. The userdata of the interface is a Port, or for
 * INTERFACE_DEVICE a Device.
 */
void bus_vtable_build(AttrInterface interface, const sd_bus_vtable *members, size_t n_members,
		      sd_bus_vtable vtable[BUS_VTABLE_MAX]);

/* Appends the published value of a row; what is not valid becomes the neutral value of its type. */
int bus_append_port_attr(sd_bus_message *m, const Port *p, PortAttr a);
int bus_append_device_attr(sd_bus_message *m, const Device *d, DeviceAttr a);
