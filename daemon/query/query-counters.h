/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The counters of a port, from sysfs. Each file in counters/ sends a PMA datagram to the port, on
 * most hardware a firmware command; those in hw_counters/ are read from the driver together, at
 * most once in their lifespan (10 ms).
 */

#include "port.h"

/*
 * Reads all counters of PORT of the device whose sysfs directory DEVICE is. Those that cannot be
 * read have their error; those that have not had their turn after LIMIT_USEC -ETIME. A
 * port without any is NULL in *RET; -ENOENT: there is no such port.
 */
int counters_read(int device, uint32_t port, uint64_t limit_usec, Table **ret);
