/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Owns everything and moves the data one way: event, dirty, flush, query, cache, bus.
 *
 * Whatever may have changed is marked dirty; when all waiting events have been taken in, one flush
 * asks the source about what is dirty, one query a device at a time; the answers go into the cache;
 * what they change goes to the bus.
 */

#include "config.h"
#include "source.h"

typedef struct Manager Manager;

/* The parts that a manager is made with. */
typedef struct ManagerSetup {
	sd_event *event;
	const Config *config;	     /* copied; what it points to outlives the manager */
	const char *bus_address;     /* NULL: the system bus; outlives the manager */
	SourceOpen open_source;	     /* makes what is watched */
	void *userdata;		     /* for open_source() */
	const char *expect_path;     /* the file of what is expected; NULL: nothing is; outlives the
					manager */
	const char *lldpd_socket;    /* is there if lldpd is; NULL: nobody is asked what is at the
					other ends of links of Ethernet; outlives the manager */
	const char *networkd_socket; /* the same for systemd-networkd */
	const char *network_manager; /* the same for NetworkManager */
	const char *umad_class;	     /* the same for umad, and links of InfiniBand */
	bool may_read_modules;	     /* the ports are those of the kernel: see Cable= */
	const char *state_directory; /* where histories are kept; NULL: they end with rdmad */
} ManagerSetup;

/* Connects to the bus and opens the source. Logs. */
int manager_new(const ManagerSetup *setup, Manager **ret);
Manager *manager_free(Manager *m);
DEFINE_CLEANUP(Manager, manager_free);

/* Reads anew what is expected, without waiting for the disk, and judges all. Logs. */
void manager_reload(Manager *m);

/* Starts to listen and to enumerate; the rest happens in the event loop, READY=1 included. Logs. */
int manager_start(Manager *m);
