/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * How many errors of PCI Express the kernel has counted (advanced error reporting, AER): of a
 * function, and at the root port above it, which gets a message about each error below it. See
 * Documentation/ABI/testing/sysfs-bus-pci-devices-aer in the kernel.
 *
 * A function tells of an error by a message to the root port. The kernel counts only if its AER
 * driver serves that port: not if the firmware keeps AER for itself, or with pci=noaer. The files
 * are there nevertheless and say 0, which is not known then. To read them is to read memory of the
 * kernel.
 */

#include "port.h"

/* Reads the number of the line "NAME number" in TEXT, which has a line for each kind of error and
 * this one. False if there is no such line, or if it has no number. */
bool aer_parse_total(const char *text, const char *name, uint64_t *ret);

/* Supplies the rows of S about errors. FUNCTION is the directory of the PCI function and PATH its
 * path, of N characters, as in query-pcie.h. The function must be a physical one, which has the
 * errors of its virtual ones too. */
void aer_supply(int function, const char *path, size_t n, DeviceSnapshot *s);
