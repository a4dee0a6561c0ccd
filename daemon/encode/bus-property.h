/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The attribute tables as properties: how each row is written, and the vtables for sd-bus. Each row
 * has a getter, which reads the cache and can fail only for want of memory. */

#include <systemd/sd-bus.h>

#include "bus-writer.h"
#include "cache-object.h"

/* Room for the rows of one interface, its methods and signals, start and end. */
#define BUS_VTABLE_MAX 80

/*
 * Fills VTABLE, which must be zeroed and stay where it is, with the rows of INTERFACE and then the
 * N_MEMBERS methods and signals at MEMBERS; INTERFACE_DEVICE has the property Ports beside them.
 * The userdata of the interface is a Port, or for those before INTERFACE_PORT a Device.
 */
void bus_vtable_build(AttrInterface interface, const sd_bus_vtable *members, size_t n_members,
		      sd_bus_vtable vtable[BUS_VTABLE_MAX]);

/* Writes ENTRY, which has the layout L, as a structure: the positional columns, and the tail. */
void bus_put_entry(BusWriter *w, const TableLayout *l, const void *entry);
/* Writes N ENTRIES as an array of these. */
void bus_put_entries(BusWriter *w, const TableLayout *l, const void *entries, size_t n);

/* Writes TEXT, a list of TYPE, as an array. */
void bus_put_list(BusWriter *w, AttrType type, const char *text);

/* Writes the published value of row A of O. If it is not valid, this is what the row reads as
 * without a value: attr_publish_absent(). */
void bus_put_row(BusWriter *w, const CacheObject *o, size_t a);
/* The same as {sv}, with the name of the property. */
void bus_put_property(BusWriter *w, const CacheObject *o, size_t a);
/* Writes Unavailable of PORT as {sv}, with the reasons of the rows AMONG only. */
void bus_put_reasons(BusWriter *w, const CacheObject *port, const AttrMask *among);
/* Writes all properties of INTERFACES, a mask of 1 << AttrInterface, of O, as a{sv} in the order of
 * the rows. */
void bus_put_properties(BusWriter *w, const CacheObject *o, unsigned int interfaces);
/* The same into an a{sv} that is open. */
void bus_put_members(BusWriter *w, const CacheObject *o, unsigned int interfaces);
/* Writes LIST, "Devices" or "Ports" of the manager: the paths of all of them, as ao, by ascending
 * index and number. */
void bus_put_objects(BusWriter *w, const Cache *c, const char *list);
/* Writes the a{sv}as of PropertiesChanged for those rows in CHANGED that are on INTERFACE and are
 * signalled: scalars with their value, tables by name only, because they may be large. */
void bus_put_port_changes(BusWriter *w, const Port *p, AttrInterface interface,
			  const AttrMask *changed);
/* The interfaces of the rows in CHANGED that are signalled, as a mask of 1 << AttrInterface. */
unsigned int bus_changed_interfaces(const AttrMask *changed);
