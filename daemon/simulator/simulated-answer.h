/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The answers of simulated devices and ports: copies of their values, as the kernel and the driver
 * would report them. The caller frees what a snapshot owns with device_snapshot_done() or
 * port_snapshot_done().
 */

#include "simulated-device.h"

/* The values of D in the kernel's list of devices, for which the kernel does not ask the driver.
 * RET owns nothing. */
void simulated_answer_enumeration(const SimulatedDevice *d, DeviceSnapshot *ret);

/* The attributes of the device itself. */
void simulated_answer_device(const SimulatedDevice *d, DeviceSnapshot *ret);

/*
 * Those PARTS of a port, READ_*. Returns 0, or the negative errno that the
 * command "fail" has set; *RET then has what does not come from the verbs. The query counts as one
 * of those that fail.
 */
int simulated_answer_port(SimulatedPort *p, unsigned int parts, PortSnapshot *ret);

/* Table T of a port, such as the owners of queue pairs, and nothing else. -ENOMEM. */
int simulated_answer_table(const SimulatedPort *p, PortTable t, PortSnapshot *ret);
/* The counters of a port, or if FAR of that at the other end of its link, and nothing else.
 * -ENOMEM. */
int simulated_answer_counters(SimulatedPort *p, bool far, PortSnapshot *ret);
