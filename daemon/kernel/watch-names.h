/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The names of the RDMA devices of the last enumeration: what the watchers of sysfs look a device
 * up by. */

#include "port.h"

/* The device of a name that the last enumeration did not have. */
#define DEVICE_UNKNOWN UINT32_MAX

typedef struct DeviceName {
	AttrText name;
	uint32_t device; /* kernel index */
} DeviceName;

/* Zero-initialise. */
typedef struct DeviceNames {
	DeviceName *entries; /* sorted */
	size_t n;
} DeviceNames;

/* These N devices exist now. -ENOMEM: those of before stay. */
int device_names_set(DeviceNames *names, const DeviceSnapshot *devices, size_t n);
/* The device called NAME, or DEVICE_UNKNOWN. */
uint32_t device_names_find(const DeviceNames *names, const char *name);
void device_names_done(DeviceNames *names);
