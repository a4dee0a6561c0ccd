/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The message of a command on a machine without ports. */

#include "rdmactl.h"

/* Says that there is none. To a person at this machine it says what is missing too, as far as sysfs
 * shows it, and what to do next. */
void no_ports(const Context *c);
