/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Which devices and ports of the machines of a kind correspond: see compare-kinds.h. */

#include "compare-kinds.h"

/* Whether O is a device that is compared: a plane of another device is not. */
bool device_is_compared(const Object *o);
/* The name of the model of a device: its HcaType or, without that, another name. The text
 * is in DEVICE or static. */
const char *device_model(const Object *device);

/* Finds the places of K, whose members are known. -ENOMEM. */
int places_find(Kind *k);
void places_done(Kind *k);
