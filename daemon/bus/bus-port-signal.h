/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The signals of one change of a port: what is in them, and how they get to the bus. */

#include "bus-private.h"

/* A signal beside those of the values. */
typedef struct Announcement {
	bool is_state; /* StateChanged(), else SubnetReconfigured() */
	uint32_t state, old_state;
	EventReason reason;
} Announcement;

/* Which rows of a port are news. */
typedef struct PortNews {
	AttrMask changed; /* published differently now */
	AttrMask gained;  /* those of them that have a value and had none, and perhaps others */
} PortNews;

/* So many announcements at most are sent together. */
#define BUS_ANNOUNCEMENTS_MAX 16U

/*
 * Sends one PropertiesChanged for each of INTERFACES that has NEWS, and then the N ANNOUNCEMENTS:
 * whoever hears of one finds the new values. That of org.rdma.Port is the first, but if properties
 * of other interfaces have gained values, and none has lost one, the last. Logs what cannot be
 * sent.
 *
 * While the bus takes what it is sent, all go to its socket as bytes in one system call, past
 * sd-bus, which takes ten times as many instructions to make them. Else sd-bus queues them.
 */
void bus_signal_port(Bus *b, const Port *p, unsigned int interfaces, const PortNews *news,
		     const Announcement *announcements, size_t n);

/* A signal that could not be queued is lost to its receivers: they see it by the generations. R is
 * what sd-bus has returned; WHAT of PATH was to be said. Logs. */
void bus_signal_check(int r, const char *path, const char *what);
