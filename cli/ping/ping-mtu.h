/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Whether packets that are as large as the path MTU says arrive. The request of a ping and its
 * answer are management datagrams of 256 bytes, which arrive whatever the MTU of the peer is; so do
 * those of a program that connects, and what it sends after that is lost. So a datagram of UDP that
 * is as large as a packet of RoCE goes to a service that nobody offers: the kernel of the peer
 * answers by ICMP. If it answers none of three large datagrams and each of three small ones, the
 * large datagrams were lost.
 */

#include "ping-route.h"

typedef struct PingSize {
	PingWay *way; /* an answer sets its mtu_known and mtu_arrives */
	int fds[2];   /* sockets for large and small datagrams; negative: closed */
	unsigned int n_lost;
} PingSize;

/* Opens S for TO, from FROM if that is not NULL. If that fails, S asks nothing. */
void ping_size_open(PingSize *s, PingWay *way, const PingSocket *to, const PingSocket *from);
void ping_size_close(PingSize *s);
/* Asks the N peers at the same time. Takes no time if all answer, 2 s if one peer answers nothing,
 * and at least 5 s if one answers small datagrams only. At END_USEC, on CLOCK_MONOTONIC, it gives
 * up: what is known of the MTU of those that are left stays as it was. */
void ping_sizes_ask(PingSize *sizes, size_t n, uint64_t end_usec);
