/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Names of network interfaces: as if_indextoname(), which makes an AF_UNIX socket. A worker may not
 * (query-wall.h). The kernel answers on any socket. */

#include <net/if.h>
#include <stdint.h>

/* -ENODEV: there is no such interface. */
int ifname_of(uint32_t ifindex, char ret_name[IF_NAMESIZE]);
