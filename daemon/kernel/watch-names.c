/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "watch-names.h"

static int compare_names(const void *a, const void *b)
{
	return strcmp(((const DeviceName *)a)->name, ((const DeviceName *)b)->name);
}

int device_names_set(DeviceNames *names, const DeviceSnapshot *devices, size_t n)
{
	DeviceName *entries = reallocarray(NULL, n + 1, sizeof(*entries));

	if (!entries)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		text_copy(entries[i].name, sizeof(entries[i].name),
			  TEXT_OF(&devices[i].values, name));
		entries[i].device = devices[i].values.index;
	}
	sort(entries, n, sizeof(*entries), compare_names);
	free(names->entries);
	*names = (DeviceNames){.entries = entries, .n = n};
	return 0;
}

uint32_t device_names_find(const DeviceNames *names, const char *name)
{
	DeviceName key = {}, *found = NULL;

	text_copy(key.name, sizeof(key.name), name);
	if (names->n)
		found = bsearch(&key, names->entries, names->n, sizeof(key), compare_names);
	return found ? found->device : DEVICE_UNKNOWN;
}

void device_names_done(DeviceNames *names)
{
	free(names->entries);
	*names = (DeviceNames){};
}
