/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "lookup.h"

#include "name-index.h"
#include "port-name.h"

Device *lookup_device(const Cache *c, const char *name)
{
	const NameOwner *o = name_index_find(c->names, NAME_DEVICE, name, strlen(name));
	Device *found = NULL;

	/* while devices swap names two may have the same */
	for (; o; o = o->next) {
		Device *d = o->owner;

		if (!found || d->index < found->index)
			found = d;
	}
	return found;
}

static bool has_name(const Port *p, NameKind kind, const uint8_t name[16])
{
	const NameOwner *o = name_index_find(p->device->cache->names, kind, name, 16);

	while (o && o->owner != p)
		o = o->next;
	return o;
}

bool lookup_has_address(const Port *p, const uint8_t gid[16])
{
	return has_name(p, NAME_GID, gid) || has_name(p, NAME_ADDRESS, gid);
}

int lookup_path(const Cache *c, const char *path, Device **ret_device, Port **ret_port)
{
	uint32_t index, number;
	Port *p = NULL;
	Device *d;

	if (object_path_parse(path, &index, &number) < 0)
		return -ENOENT;
	d = cache_device(c, index);
	if (!d)
		return -ENOENT;
	if (number != PORT_NUMBER_NONE) {
		p = device_port_called(d, number);
		if (!p)
			return -ENOENT;
	}
	if (p ? !p->published : !d->published)
		return -ENOENT;
	*ret_device = d;
	*ret_port = p;
	return 0;
}
