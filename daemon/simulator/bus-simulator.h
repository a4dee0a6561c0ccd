/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* org.rdma.Simulator: the commands of rdmad-scenario(5) as methods, on every simulated daemon. */

#include <systemd/sd-bus.h>

#include "simulated-machine.h"

/* Adds the interface at /org/rdma. MACHINE outlives *RET, which the caller unrefs. */
int bus_simulator_add(sd_bus *bus, SimulatedMachine *machine, sd_bus_slot **ret);
