/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A connection whose two ends are both in the test: one is the bus. */

#include <stdbool.h>
#include <systemd/sd-bus.h>

/* Opens both ends. They are ready when they have been run. */
void bus_pair_open(sd_bus **ret_bus, sd_bus **ret_daemon);
/* BUS does all it can; returns whether it did anything. An error fails the test. */
bool bus_pair_run(sd_bus *bus);
/* Both ends do all they can, until they are ready and nothing is left to do. */
void bus_pair_settle(sd_bus *bus, sd_bus *daemon);
