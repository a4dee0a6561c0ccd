/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What a machine without ports lacks. */

#include "rdmactl.h"

/* Says that there is none. To a person at this machine it says what is missing too, as far as sysfs
 * shows it, and what to do next. */
void no_ports(Context *c);

/* Takes one thing that is missing, and what to do. */
typedef void NextStep(const char *text, void *userdata);
/* Tells SAY what is missing on this machine, whose files are below ROOT. */
void no_ports_next(const char *root, NextStep *say, void *userdata);
/* Of a machine that has ports: tells SAY which adapters have no driver. It does not hear of those
 * whose driver makes no RDMA device: a network adapter can do without, and a LAG has one RDMA
 * device for two functions. */
void no_driver_next(const char *root, NextStep *say, void *userdata);
