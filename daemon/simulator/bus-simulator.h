/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* org.rdma.Simulator: the commands of a scenario's script as methods. */

#include <systemd/sd-bus.h>

#include "source.h"

/* Adds the interface at /org/rdma. SIMULATOR is one of simulator_new() and outlives the slot. */
int bus_simulator_add(sd_bus *bus, Source *simulator, sd_bus_slot **ret);
