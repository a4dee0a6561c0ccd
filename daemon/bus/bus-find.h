/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The methods of org.rdma.Manager that find devices and ports by their names and addresses; as
 * sd-bus wants them. USERDATA is the Bus. */

#include "long-reply-kinds.h"

/* The most ports that FindPorts() answers with; more are the error LimitsExceeded. */
#define BUS_FIND_MAX 1024U

/* The signature of the reply to FindPorts(), and its functions for LongReplyRow. */
extern const char bus_found_signature[];
int bus_found_read(sd_bus_message *call, LongReplyQuestion *q, sd_bus_error *error);
int bus_found_write(BusWriter *w, const LongReplyQuestion *q, const Cache *c, sd_bus_error *error);

int bus_get_port(sd_bus_message *m, void *userdata, sd_bus_error *error);
int bus_get_port_by_netdev(sd_bus_message *m, void *userdata, sd_bus_error *error);
int bus_get_port_by_guid(sd_bus_message *m, void *userdata, sd_bus_error *error);
int bus_get_port_by_address(sd_bus_message *m, void *userdata, sd_bus_error *error);
int bus_get_device_by_name(sd_bus_message *m, void *userdata, sd_bus_error *error);
