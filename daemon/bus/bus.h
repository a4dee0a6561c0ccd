/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The D-Bus side: objects, properties, methods and signals under /org/rdma. Properties are read
 * from the cache and from nowhere else; their vtables are made from the attribute tables.
 *
 * Before bus_acquire_name() and while the bus is away nothing is signalled. When the bus comes
 * back, the objects are simply there again.
 */

#include <systemd/sd-bus.h>

#include "cache.h"
#include "event.h"

struct Manager;
typedef struct Bus Bus;

/* Connects to ADDRESS, or to the system bus if that is NULL, and exports the objects. Logs. */
int bus_new(struct Manager *m, const char *address, Bus **ret);
Bus *bus_free(Bus *b);
DEFINE_CLEANUP(Bus, bus_free);

/* Asks for the well-known name: from now on there are signals. manager_on_name() hears of it. */
int bus_acquire_name(Bus *b);

sd_bus *bus_connection(const Bus *b);
struct BusWait *bus_waits(const Bus *b);
struct LongReplies *bus_long_replies(const Bus *b);

/* The objects exist in the cache when they are added and changed, and still exist when they are
 * removed. */
void bus_publish_device(Bus *b, const Device *d, CacheOp op, const AttrMask *changed);
void bus_publish_port(Bus *b, Port *p, const PortChange *change, EventReason reason);
void bus_publish_port_removed(Bus *b, const Port *p);
/* Says which ports a device has, if their number is another than when that was last said. */
void bus_publish_device_ports(Bus *b, Device *d);
/* Counts on the Manager object have changed. */
void bus_publish_counts(Bus *b);

/* The answer to Port.Query(): the raw rows that were supplied, as a{sv}. */
int bus_reply_query(sd_bus_message *call, const Port *p);
