/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* How fake-rdmad writes ports and devices into messages. */

#include <systemd/sd-bus.h>

#include "fake-ports.h"

/* What the functions below have to know of a port or a device. */
typedef struct View {
	const Attribute *rows;
	unsigned int n_rows;
	unsigned int interfaces; /* 1 << AttrInterface of those that the object has */
	const void *values;	 /* PortValues or DeviceValues */
	const AttrMask *valid;
	Table *const *port_tables;    /* of a port */
	Table *const *device_tables;  /* of a device */
	const PortSnapshot *port;     /* NULL: a device */
	const DeviceSnapshot *device; /* NULL: a port */
} View;

View view_of_port(const FakePort *p);
View view_of_device(const DeviceSnapshot *d);

/* Appends TEXT, a list of TYPE, as an array. */
void append_list(sd_bus_message *m, AttrType type, const char *text);
/* Appends v, the value of ROW. */
void append_variant(sd_bus_message *m, const View *v, unsigned int row);
/* Appends a{sv}, the properties of INTERFACE, of INTERFACE_RAW those of all: the rows in ONLY, or
 * all. */
void append_properties(sd_bus_message *m, const View *v, AttrInterface interface,
		       const AttrMask *only);
/* Appends o...a{sv}, a structure of ListPorts() for PORT at PATH, with the properties NAMES of the
 * port or DEVICE. */
void append_listed(sd_bus_message *m, const char *path, const View *port, const View *device,
		   const char *const *names);
/* Appends a{sv}, what FindPorts() returns of PORT if it is asked for ALL of it, and for the
 * properties NAMES, of which DEVICE has some. */
void append_found(sd_bus_message *m, bool all, const View *port, const View *device,
		  const char *const *names);
/* Appends oa{sa{sv}}, PATH and all properties of all interfaces. */
void append_object(sd_bus_message *m, const char *path, const View *v);
