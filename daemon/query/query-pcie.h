/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The PCI Express link of a device, and the links above it up to the processor.
 *
 * On the way up, a link has a function or the upstream port of a switch at its lower end, and the
 * root port or a downstream port of a switch at its upper end. Between the two ports of a switch
 * there is no link, though both have the files of one: so the ports are taken in pairs. What a link
 * can do is what both of its ends can do: an adapter with 16 lanes in a slot that has 8 is as it
 * shall be.
 *
 * To read these files the kernel reads registers of the functions, not their firmware.
 */

#include "pci-control.h"
#include "port.h"

/* Reads "16.0 GT/s PCIe" or, as kernels before 5.7 have it, "16 GT/s", in bit/s. False if it is
 * none: "Unknown", and "Unknown speed" of the older ones. */
bool pcie_parse_speed(const char *text, uint64_t *ret);

/* So many functions one above the other at most: PCI has 256 buses. */
#define PCIE_DEPTH_MAX 256U
/* Cuts the last part off the first *N characters of PATH. Whether what is left ends with a PCI
 * address, which is then in RET: the path of a function is that of the port above it and its
 * address. */
bool pcie_go_up(const char *path, size_t *n, AttrText ret);

/* Supplies the rows of S about the links. FUNCTION is the directory of the PCI function and PATH
 * its path, of N characters, as /sys/devices/pci0000:c0/0000:c0:01.1/0000:c1:00.0. The function
 * must not be a virtual one, whose registers have nothing of the link. */
void pcie_supply(int function, const char *path, size_t n, DeviceSnapshot *s);

/* Reads what rdmad-pci has written of the function at ADDRESS. CONTROLS is the directory
 * PCI_CONTROLS. */
bool pcie_read_control(int controls, const char *address, PciControl *ret);
/* The same of the function of S, whose addresses are supplied, and supplies the rows about that
 * function alone. False: nothing is known; CONTROLS may be negative. */
bool pcie_supply_control(int controls, DeviceSnapshot *s, PciControl *ret);
