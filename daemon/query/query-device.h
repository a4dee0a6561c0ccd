/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* All attributes of a device: what nldev, sysfs and verbs say. */

#include "query-target.h"

/* S is empty before. What a source does not say is not supplied. */
void device_query(Target *t, DeviceSnapshot *s);
