/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "accelerator.h"

#include "util.h"

static const char *const names[_DISTANCE_MAX] = {"LOC", "PIX", "PXB", "PHB", "NODE", "SYS"};

const char *distance_name(Distance d)
{
	return names[d];
}

Distance distance_from_name(const char *name)
{
	Distance d = 0;

	while (d < _DISTANCE_MAX && !streq(names[d], name))
		d++;
	return d;
}

int accelerator_compare(const void *a, const void *b)
{
	const AcceleratorEntry *x = a, *y = b;
	Distance d = distance_from_name(x->distance), e = distance_from_name(y->distance);

	if (d != e)
		return d < e ? -1 : 1;
	if (x->hops != y->hops)
		return x->hops < y->hops ? -1 : 1;
	return strcmp(x->address, y->address);
}
