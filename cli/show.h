/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "object.h"
#include "rdmactl.h"

/* Prints all of O in groups: a heading, then a line for each attribute; tables as tables. */
ExitStatus show_object(Context *c, const Object *o);
