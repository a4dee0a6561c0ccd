/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The D-Bus interface org.rdma.Simulator: the commands of rdmad-scenario(5) as methods. */

#include <systemd/sd-bus.h>

#include "simulated-machine.h"

/* Adds the interface to /org/rdma, until the caller unrefs *RET. MACHINE outlives that. -errno. */
int bus_simulator_add(sd_bus *bus, SimulatedMachine *machine, sd_bus_slot **ret);
