/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Finds the registers of PciControl in the configuration space of a function. Some hardware locks
 * up when a place is read where it has no register: only heads of capabilities are read, as the
 * kernel does when it finds a function, and these registers. */

#include "pci-control.h"

/* Reads the four bytes at AT, a multiple of 4, as a number of the host. False: there are none. */
typedef bool (*ConfigRead)(void *userdata, unsigned int at, uint32_t *ret);

/* False if the function is none of PCI Express, or if no more than its header can be read. */
bool config_space_control(ConfigRead read, void *userdata, PciControl *ret);
