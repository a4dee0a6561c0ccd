/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "query-known.h"

/* Where DEVICE is, or belongs. */
static size_t position(const KnownDevices *k, uint32_t device)
{
	return array_place(k->n, i, k->entries[i].device < device);
}

Known *known_find(const KnownDevices *k, uint32_t device)
{
	size_t i = position(k, device);

	return i < k->n && k->entries[i].device == device ? &k->entries[i] : NULL;
}

Known *known_add(KnownDevices *k, uint32_t device)
{
	Known *known = known_find(k, device);
	size_t i = position(k, device);

	if (known)
		return known;
	if (!array_grow(k->entries, k->n))
		return NULL;
	memmove(&k->entries[i + 1], &k->entries[i], (k->n - i) * sizeof(*k->entries));
	k->n++;
	k->entries[i] = (Known){.device = device, .verbs.driver_id = -1};
	return &k->entries[i];
}

void known_forget(KnownDevices *k, uint32_t device)
{
	Known *known = known_find(k, device);
	size_t after;

	if (!known)
		return;
	gids_done(&known->gids);
	pkeys_done(&known->pkeys);
	counters_done(&known->counters);
	link_done(&known->link);
	after = k->n - (size_t)(known - k->entries) - 1;
	memmove(known, known + 1, after * sizeof(*known));
	k->n--;
}

void known_done(KnownDevices *k)
{
	for (size_t i = 0; i < k->n; i++) {
		gids_done(&k->entries[i].gids);
		pkeys_done(&k->entries[i].pkeys);
		counters_done(&k->entries[i].counters);
		link_done(&k->entries[i].link);
	}
	free(k->entries);
	*k = (KnownDevices){};
}
