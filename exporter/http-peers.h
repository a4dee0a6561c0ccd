/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The peers that connect, and how many connections each has. A peer is an IPv4 address, a network
 * of IPv6 with 64 bits, as one machine may have all addresses in it, or on a Unix socket a user. */

#include <stddef.h>
#include <stdint.h>

#include "util.h"

typedef struct HttpPeer {
	struct HttpPeer *next, **at; /* what points to this one */
	uint8_t key[17];
	unsigned int n; /* connections */
} HttpPeer;

/* Zeroed, it is empty. */
typedef struct HttpPeers {
	HttpPeer *first;
} HttpPeers;

/* Counts one more connection of the peer at the other end of the socket FD. -ENOMEM. */
int http_peer_add(HttpPeers *p, int fd, HttpPeer **ret);
/* Counts one less. */
void http_peer_remove(HttpPeer *p);
