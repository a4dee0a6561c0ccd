/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "source.h"

void device_array_free(DeviceSnapshot *devices, size_t n)
{
	for (size_t i = 0; i < n; i++)
		device_snapshot_done(&devices[i]);
	free(devices);
}
