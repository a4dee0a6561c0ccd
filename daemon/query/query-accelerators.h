/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The accelerators of the machine, and how far each is from a device, as NCCL measures it (its
 * graph/xml.cc and graph/paths.cc): a node of its tree is every second function on the way up from
 * a function, since a switch has a function at each of its ends, and the processor is above them.
 *
 * All is read from the PCI tree in sysfs: neither firmware nor a driver is asked.
 * docs/design/distance.md says why no library is.
 */

#include "port.h"

#define ACCELERATORS_MAX 64U
/* So many ports are named in AcsRedirects: a device and its accelerators share few switches. */
#define ACCELERATORS_REDIRECTS_MAX 16U
/* So many functions of the machine are looked at. */
#define ACCELERATORS_FUNCTIONS_MAX 16384U

typedef struct Accelerator {
	AcceleratorEntry entry; /* without the way */
	AttrPath path;		/* "/sys/devices/pci0000:c0/0000:c0:01.1/0000:c1:00.0" */
	uint32_t numa_node;	/* UINT32_MAX: it has none */
} Accelerator;

typedef struct Accelerators {
	uint64_t read_usec; /* when, CLOCK_MONOTONIC; 0: never */
	size_t n;
	Accelerator items[ACCELERATORS_MAX];
} Accelerators;

/* Whether a function with this class (three bytes) and vendor is an accelerator. BELOW_BRIDGE: it
 * is no part of the root complex. */
bool accelerator_has_class(uint64_t class, uint64_t vendor, bool below_bridge);
/* Reads those in the directory FUNCTIONS, /sys/bus/pci/devices. */
void accelerators_read(int functions, Accelerators *ret);
/* The same, if they were not read in the last second. */
void accelerators_refresh(Accelerators *a);
/* Supplies the ways from the device of S, whose place in the machine is supplied, and what is in
 * CONTROLS, the directory PCI_CONTROLS or -EBADF, about its function and the ports on these ways. A
 * device that is on no PCI function has none of them. */
void accelerators_supply(const Accelerators *a, int controls, DeviceSnapshot *s);
