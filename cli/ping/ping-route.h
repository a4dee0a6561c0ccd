/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The route of this machine to an address, as the kernel chooses it now. */

#include <netinet/in.h>

#include "ping-chain.h"

typedef union PingSocket {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
} PingSocket;

/* Writes the address, with its zone. */
void ping_format_address(const PingSocket *s, char ret[PING_ADDRESS_MAX]);

/* Asks for the route to TO, from FROM if that is not NULL, and fills the part of WAY that is about
 * it. -ENETUNREACH and the like if there is none. */
int ping_find_route(const PingSocket *to, const PingSocket *from, PingWay *way);
