/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The counters of a port, from sysfs, and with the first one those of the device. Each file in
 * counters/ sends a PMA datagram to the port, on most hardware a firmware command; those in
 * hw_counters/ are read from the driver together, at most once in their lifespan (10 ms).
 *
 * The files of a port whose counters were asked for stay open for the next time (port-files.h).
 */

#include "port-files.h"
#include "port.h"

/* Far more than any driver has. */
#define COUNTERS_MAX 1024U

/* A process keeps so many of these files open at most, and at most half of RLIMIT_NOFILE. With a
 * page of the kernel for each that is 16 MiB. A port has between 20 and 80. */
#define COUNTER_FILES_OPEN_MAX 4096U

/*
 * Reads all counters of PORT of the device whose sysfs directory DEVICE is. Those that cannot be
 * read have their error; those that have not had their turn after LIMIT_USEC -ETIME. A
 * port without any is NULL in *RET; -ENOENT: there is no such port. Returns how many are left out,
 * because there are more than COUNTERS_MAX or their names are too long.
 */
int counters_read(int device, uint32_t port, uint64_t limit_usec, Table **ret);

/* Closes the files. */
void counters_done(DeviceFiles *files);
/* Opens the files of PORT, to stay open, unless they are open or too many. TABLE is what
 * counters_read() has returned for it. */
void counters_keep(DeviceFiles *files, int device, uint32_t port, const Table *table);
/* As counters_read(), from the open files. -ENOENT if there are none. So it is too if the device or
 * the port has gone; then there are none any more. */
int counters_read_kept(DeviceFiles *files, uint32_t port, uint64_t limit_usec, Table **ret);
