/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A set of the ports of one device. */

#include "port.h"

/* A set of ports, bit n for port n; bit 0 is not used. */
typedef struct PortSet {
	uint64_t bits[4];
} PortSet;

_Static_assert(RDMA_PORT_MAX < 256, "PortSet is too small");

/* PORT is at most RDMA_PORT_MAX in all of these. */
static inline void port_set_add(PortSet *s, uint32_t port)
{
	s->bits[port / 64] |= UINT64_C(1) << (port % 64);
}

static inline void port_set_remove(PortSet *s, uint32_t port)
{
	s->bits[port / 64] &= ~(UINT64_C(1) << (port % 64));
}

static inline bool port_set_has(const PortSet *s, uint32_t port)
{
	return s->bits[port / 64] >> (port % 64) & 1;
}

static inline bool port_set_is_empty(const PortSet *s)
{
	return (s->bits[0] | s->bits[1] | s->bits[2] | s->bits[3]) == 0;
}
