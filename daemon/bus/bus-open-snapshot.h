/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <systemd/sd-bus.h>

/* Manager.OpenSnapshot(), as a method of sd-bus. USERDATA is the Bus. */
int bus_open_snapshot(sd_bus_message *m, void *userdata, sd_bus_error *error);
