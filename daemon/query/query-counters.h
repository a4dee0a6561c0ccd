/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The counters of a port, from sysfs. Each file in counters/ sends a PMA datagram to the port, on
 * most hardware a firmware command; those in hw_counters/ are read from the driver together, at
 * most once in their lifespan (10 ms).
 *
 * To open and close a file costs three times as much as to read it, and more for a process behind
 * filters of the kernel, such as this one. So the files of a port whose counters were asked for
 * stay open for the next time. They do not keep the device: when it goes, reading them fails.
 */

#include "port.h"

/* A process keeps so many files open at most, and at most half of RLIMIT_NOFILE. The kernel has a
 * page for each: together 16 MiB. A port has between 20 and 80. */
#define COUNTER_FILES_OPEN_MAX 4096U

/* The open files of one port */
typedef struct CounterFiles {
	CounterEntry *entries; /* [n], without values; NULL: none is open */
	int *fds;	       /* [n], a negative errno if it could not be opened */
	uint32_t n;
} CounterFiles;

/* Zero-initialise. */
typedef struct DeviceCounters {
	CounterFiles *ports; /* [n], port N is at N */
	uint32_t n;
} DeviceCounters;

/*
 * Reads all counters of PORT of the device whose sysfs directory DEVICE is. Those that cannot be
 * read have their error; those that have not had their turn after LIMIT_USEC -ETIME. A
 * port without any is NULL in *RET; -ENOENT: there is no such port.
 */
int counters_read(int device, uint32_t port, uint64_t limit_usec, Table **ret);

/* Closes the files. */
void counters_done(DeviceCounters *k);
/* Opens the files of PORT, to stay open, unless they are open or too many. */
void counters_keep(DeviceCounters *k, int device, uint32_t port);
/* As counters_read(), from the open files. -ENOENT if there are none. So it is too if the device or
 * the port has gone; then there are none any more. */
int counters_read_kept(DeviceCounters *k, uint32_t port, uint64_t limit_usec, Table **ret);
