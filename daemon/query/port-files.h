/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Files in sysfs that stay open: a set for each port of a device. To open and close a file costs
 * three times as much as to read it, and more for a process behind filters of the kernel, such as
 * this one. The files do not keep the device: when it goes, reading them fails. The kernel has a
 * page for each, so their owner counts the open files of all devices together, and has a limit.
 */

#include "util.h"

/* The open files of one port */
typedef struct PortFiles {
	int *fds; /* [n]; NULL: none is open. A negative errno is a file that could not be opened */
	void *about; /* what the owner knows of them, or NULL; freed with them */
	uint32_t n;
} PortFiles;

/* Zero-initialise. */
typedef struct DeviceFiles {
	PortFiles *ports; /* [n], port N is at N */
	uint32_t n;
} DeviceFiles;

/* The open files of PORT; NULL if there are none. */
PortFiles *port_files_find(const DeviceFiles *d, uint32_t port);
/* The place for the files of PORT; NULL without memory. The place is good until the next call. */
PortFiles *port_files_reserve(DeviceFiles *d, uint32_t port);
/* Closes the files of one port, or of all. *N_OPEN, which counts them, becomes smaller by their
 * number. */
void port_files_close(PortFiles *f, uint32_t *n_open);
void port_files_done(DeviceFiles *d, uint32_t *n_open);
