/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A set of the ports of one device. */

#include "port.h"

#define PORT_SET_WORDS (RDMA_PORT_MAX / 64 + 1)

/* A set of ports, bit n for port n; bit 0 is not used. */
typedef struct PortSet {
	uint64_t bits[PORT_SET_WORDS];
} PortSet;

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
	for (unsigned int i = 0; i < PORT_SET_WORDS; i++)
		if (s->bits[i])
			return false;
	return true;
}

/* The highest port, 0 if there is none. */
static inline uint32_t port_set_last(const PortSet *s)
{
	for (unsigned int i = PORT_SET_WORDS; i > 0; i--)
		if (s->bits[i - 1])
			return i * 64 - 1 - (uint32_t)__builtin_clzll(s->bits[i - 1]);
	return 0;
}

/* Adds the ports in OTHER. */
static inline void port_set_add_all(PortSet *s, const PortSet *other)
{
	for (unsigned int i = 0; i < PORT_SET_WORDS; i++)
		s->bits[i] |= other->bits[i];
}
