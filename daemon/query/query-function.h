/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Where a device is in the machine: its directory in sysfs, its PCI function, which kind of
 * function that is, and the processors near it.
 *
 * The parent of an RDMA device is a PCI function, an auxiliary device below one (a subfunction of
 * mlx5), a device on another bus (hns on some machines), or there is none (rxe). A virtual function
 * that was passed into a virtual machine looks there like any other function.
 */

#include "port.h"

/* The directory of the parent of the device called NAME, whose own directory DEVICE is:
 * "/sys/devices/pci0000:c0/0000:c1:00.0". -ENOENT if it has no parent; -ESTALE if another device
 * has the name now; another negative errno. */
int function_find(int device, const char *name, AttrPath ret);

/* Opens the directory of the PCI function that DEVICE is on; PARENT is what function_find() has
 * found. Returns a descriptor that the caller closes, or a negative errno: -ENODEV if it is on
 * none. */
int function_open(int device, const char *parent);

/* Supplies the rows of S that say so. DEVICE is the directory of the device, PARENT what
 * function_find() has found. */
void function_supply(int device, const char *parent, DeviceSnapshot *s);
