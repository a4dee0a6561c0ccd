/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The temperatures of a function and of the module in its cage, from the sensors that its driver
 * has registered (hwmon). To read one makes the driver ask its firmware.
 */

#include "port.h"

/* Supplies the rows with source HWMON of what FUNCTION, the directory of a PCI function, has. */
void hwmon_supply(int function, PortSnapshot *s);
