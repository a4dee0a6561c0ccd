/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The network interface of a port, as kept from one query to the next.
 *
 * The speed of an interface is a file in sysfs. To find, open and close it costs ten times as much
 * as to read it. So the file of an interface that has changed stays open for the next change. An
 * open file does not hold the interface: when the interface goes, reading fails. When the interface
 * gets another name, the file is still that of the same interface, and also when the interface
 * moves to another network namespace. There the file would be the wrong one: another interface may
 * come and have the same index here. So the file is closed when the port has another interface or
 * none, and each look at the port that is not about a change opens it anew.
 */

#include <stdbool.h>
#include <stdint.h>

/* A process keeps so many files open at most. */
#define LINK_FILES_MAX 256U

/* The interface of the port of a device that was read last. Zero-initialise. */
typedef struct KnownLink {
	uint32_t port;	  /* 0: none was read */
	uint32_t ifindex; /* 0: it has no interface */
	uint32_t mtu;
	uint32_t file_ifindex; /* the interface of FILE; 0: no file is open */
	int file;	       /* "speed" */
} KnownLink;

/* Closes the file. */
void link_done(KnownLink *l);
/* Notes the interface of PORT. Returns whether its MTU is another one than that of the last. */
bool link_note(KnownLink *l, uint32_t port, uint32_t ifindex, uint32_t mtu);
/* Reads the speed of the interface IFINDEX, whose name is NAME, in bit/s. NET is a descriptor of
 * /sys/class/net. IS_CHANGE: the file stays open from now on, and one that is open is read.
 * -EINVAL while the interface has no speed, -ENODEV if NAME is another interface by now. */
int link_read_speed(KnownLink *l, int net, const char *name, uint32_t ifindex, bool is_change,
		    uint64_t *ret);
