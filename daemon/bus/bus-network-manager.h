/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What NetworkManager has heard of the other ends of the links of this machine, by LLDP. Everybody
 * may ask it. */

#include <systemd/sd-bus.h>

#include "port.h"

/* Of one entry of the answer of GetManagedObjects() */
#define NETWORK_MANAGER_TYPE "{oa{sa{sv}}}"

/* Reads ANSWER, in its array, until it has an interface whose other end is known. Its name is in
 * *RET_INTERFACE, as long as ANSWER is there, and what its first other end says is in *S. 1; 0:
 * there are no more; a negative errno. */
int network_manager_next(sd_bus_message *answer, const char **ret_interface, PortSnapshot *s);
