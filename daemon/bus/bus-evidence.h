/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What ports have shown, on the bus. */

#include <systemd/sd-bus.h>

/* An entry: evidence_layout of table-columns.h */
#define BUS_EVIDENCE "(ttssssa{sv})"

/* Manager.GetEvidence(s, a{sv}); USERDATA is the Bus. */
int bus_get_evidence(sd_bus_message *m, void *userdata, sd_bus_error *error);
