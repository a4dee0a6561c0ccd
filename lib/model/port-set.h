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

/* Adds the ports in OTHER. */
static inline void port_set_add_all(PortSet *s, const PortSet *other)
{
	for (unsigned int i = 0; i < 4; i++)
		s->bits[i] |= other->bits[i];
}

/* Removes the ports in OTHER. */
static inline void port_set_remove_all(PortSet *s, const PortSet *other)
{
	for (unsigned int i = 0; i < 4; i++)
		s->bits[i] &= ~other->bits[i];
}

/* Whether a port is in both. */
static inline bool port_set_overlaps(const PortSet *a, const PortSet *b)
{
	return ((a->bits[0] & b->bits[0]) | (a->bits[1] & b->bits[1]) | (a->bits[2] & b->bits[2]) |
		(a->bits[3] & b->bits[3])) != 0;
}
