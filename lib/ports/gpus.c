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

static const Value *table_of(const Object *device)
{
	const Value *v = device ? object_value(device, DEVICE_ATTR_accelerators) : NULL;

	return v && v->type == VALUE_ARRAY ? v : NULL;
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
		const Value *t = objects->items[i]->is_port ? NULL : table_of(objects->items[i]);

		for (size_t k = 0; t && k < t->n; k++) {
			if (!array_grow(g.items, n))
				return -ENOMEM;
			g.items[n++] = (Gpu){member(&t->items[k], "address"),
					     member(&t->items[k], "model")};
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
	const Value *t = table_of(device);

	for (size_t i = 0; t && i < t->n; i++) {
		if (!streq(member(&t->items[i], "address"), g->address))
			continue;
		*ret_hops = format_member_number(ATTR_ACCELERATORS, "hops", &t->items[i]);
		return distance_from_name(member(&t->items[i], "distance"));
	}
	return _DISTANCE_MAX;
}
