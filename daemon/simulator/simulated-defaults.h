/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The values of a simulated port that a scenario does not set. */

#include "attribute.h"
#include "decode.h"

typedef struct SimulatedDefault {
	AttrProtocol protocol; /* _PROTOCOL_MAX: of any */
	PortAttr attr;
	const char *value;
} SimulatedDefault;

/* The later one of two for the same row counts: what a protocol has overrides what all have. */
extern const SimulatedDefault simulated_defaults[];
extern const size_t n_simulated_defaults;
