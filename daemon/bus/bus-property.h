/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The attribute tables as properties: how each row is written, and the sd-bus vtables, in which
 * every row has a getter that reads the cache and cannot fail. */

#include <systemd/sd-bus.h>

#include "bus-writer.h"
#include "cache.h"

/* Room for the rows of one interface, its methods and signals, start and end. */
#define BUS_VTABLE_MAX 64

/*
 * Fills VTABLE, which must be zeroed and stay where it is, with the rows of INTERFACE and then the
 * N_MEMBERS methods and signals at MEMBERS; a device has the property Ports beside them. The
 * userdata of the interface is a Port, or for INTERFACE_DEVICE a Device.
 */
void bus_vtable_build(AttrInterface interface, const sd_bus_vtable *members, size_t n_members,
		      sd_bus_vtable vtable[BUS_VTABLE_MAX]);

/* Writes N ENTRIES, which have the layout L, as an array of structures with the published columns.
 */
void bus_put_entries(BusWriter *w, const TableLayout *l, const void *entries, size_t n);

/* Writes the published value of a row; what is not valid becomes the neutral value of its type. */
void bus_put_port_attr(BusWriter *w, const Port *p, PortAttr a);
/* Writes the a{sv} of all properties of an interface, in the order of the vtable. */
void bus_put_port_properties(BusWriter *w, const Port *p, AttrInterface interface);
void bus_put_device_properties(BusWriter *w, const Device *d);
/* Writes the a{sv}as of PropertiesChanged for those rows in CHANGED that are on INTERFACE and are
 * signalled: tables by name only. */
void bus_put_port_changes(BusWriter *w, const Port *p, AttrInterface interface,
			  const AttrMask *changed);
/* The interfaces that have any, as a mask of 1 << AttrInterface. */
unsigned int bus_changed_interfaces(const AttrMask *changed);
