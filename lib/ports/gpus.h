/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The accelerators that the devices know, and how far each device is from them. */

#include "accelerator.h"
#include "object.h"

typedef struct Gpu {
	const char *address, *model; /* of the objects that it was found in */
} Gpu;

/* Each once, in the order of their addresses: the place in the list is the index by which people
 * know them, as nvidia-smi has it. */
typedef struct Gpus {
	Gpu *items;
	size_t n;
} Gpus;

/* -ENOMEM */
int gpus_find(const ObjectList *objects, Gpus *ret);
void gpus_done(Gpus *g);
/* The one that TEXT names, an index or a PCI address; NULL. */
const Gpu *gpus_get(const Gpus *g, const char *text);
/* How far DEVICE, which may be NULL, is from G; _DISTANCE_MAX: no way is known. */
Distance gpu_distance(const Object *device, const Gpu *g, uint64_t *ret_hops);
