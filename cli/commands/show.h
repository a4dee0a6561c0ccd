/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "object.h"
#include "rdmactl.h"

/* Prints all attributes of O in groups: a heading, then a line for each attribute. Tables are
 * printed as tables. The limits of a device are printed if LIMITS is true. */
ExitStatus show_object(Context *c, const Object *o, bool limits);
