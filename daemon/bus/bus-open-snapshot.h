/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <systemd/sd-bus.h>

/* Manager.OpenSnapshot(). USERDATA is the manager. */
int bus_snapshot_open(sd_bus_message *m, void *userdata, sd_bus_error *error);
