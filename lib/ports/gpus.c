/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gpus.h"

#include "format.h"
#include "pci.h"

void gpus_done(Gpus *g)
{
	free(g->items);
}

static const char *member(const Value *entry, const char *name)
{
	return format_member_text(ATTR_ACCELERATORS, name, entry);
}

static int compare_gpus(const void *a, const void *b)
{
	return strcmp(((const Gpu *)a)->address, ((const Gpu *)b)->address);
}

int gpus_find(const ObjectList *objects, Gpus *ret)
{
	_cleanup_(gpus_done) Gpus g = {};
	size_t n = 0;

	for (size_t i = 0; i < objects->n; i++) {
		const Object *o = objects->items[i];
		const Value *t = o->is_port ? NULL : object_value(o, DEVICE_ATTR_accelerators);

		VALUE_FOREACH(e, t) {
			if (!array_grow(g.items, n))
				return -ENOMEM;
			g.items[n++] = (Gpu){member(e, "address"), member(e, "model")};
		}
	}
	sort(g.items, n, sizeof(*g.items), compare_gpus);
	for (size_t i = 0; i < n; i++)
		if (g.n == 0 || compare_gpus(&g.items[g.n - 1], &g.items[i]) != 0)
			g.items[g.n++] = g.items[i];
	*ret = g;
	g = (Gpus){};
	return 0;
}

const Gpu *gpus_get(const Gpus *g, const char *text)
{
	char address[PCI_ADDRESS_SIZE];
	uint64_t index;

	if (pci_address_parse(text, address) < 0)
		return text_to_u64(text, UINT32_MAX, &index) == 0 && index < g->n ? &g->items[index]
										  : NULL;
	return array_find(g->items, g->n, address, address);
}

Distance gpu_distance(const Object *device, const Gpu *g, uint64_t *ret_hops)
{
	const Value *t = object_value(device, DEVICE_ATTR_accelerators);

	VALUE_FOREACH(e, t) {
		if (!streq(member(e, "address"), g->address))
			continue;
		*ret_hops = format_member_number(ATTR_ACCELERATORS, "hops", e);
		return distance_from_name(member(e, "distance"));
	}
	return _DISTANCE_MAX;
}
