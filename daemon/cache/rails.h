/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The rails of the machine: its ports that are meant for the network of accelerators, numbered from
 * 0. These are the ports that have an accelerator at PXB or nearer, or if there is none, all that
 * are on a PCI function. Where the other ends of all of them are known, ports of one number are at
 * one switch, and the numbers have the order of the names of switches; else each port has its own,
 * in the order of PCI addresses and of numbers of ports. A virtual function and a subfunction have
 * the number of the port of their adapter whose cable they share.
 */

#include "cache.h"

/* Is told of a port whose rail is another now. */
typedef void (*RailTell)(void *userdata, PortChange *change);

/* Whether the change may be one of rails. */
bool rails_depend_on_port(const PortChange *c);
bool rails_depend_on_device(const DeviceChange *c);
/* Numbers the rails of all ports that were read, at NOW (CLOCK_REALTIME in us). -ENOMEM: they
 * are as before. */
int rails_number(const Cache *c, uint64_t now, RailTell tell, void *userdata);
