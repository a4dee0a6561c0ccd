/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* All attributes of a device: what nldev, sysfs and verbs say. */

#include "query-target.h"

/* S is empty before. A value that no source has is not supplied. */
void device_query(Target *t, DeviceSnapshot *s);
