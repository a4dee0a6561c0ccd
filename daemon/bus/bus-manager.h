/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <systemd/sd-bus.h>

struct Manager;

/* Adds org.rdma.Manager at /org/rdma and org.freedesktop.LogControl1 where systemd looks for it. */
int bus_manager_add(sd_bus *bus, struct Manager *m);
