/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "query-gids.h"

#include "query-sysfs.h"

/* Limits of the walk from an interface down to that of the port. A VLAN on a bond of two has depth
 * 2. */
#define LOWER_DEPTH_MAX 8U
#define LOWER_COUNT_MAX 64U

void gids_done(DeviceGids *g)
{
	for (uint32_t i = 0; i < g->n; i++) {
		table_free(g->ports[i].raw);
		table_free(g->ports[i].done);
	}
	free(g->ports);
	*g = (DeviceGids){};
}

bool gids_recall(const DeviceGids *g, uint32_t port, const Table *raw, uint32_t generation,
		 Table **ret)
{
	const PortGids *p = port <= g->n ? &g->ports[port - 1] : NULL;
	Table *t;

	if (!raw || !p || !p->raw || p->generation != generation || !table_equal(p->raw, raw))
		return false;
	t = table_copy(p->done);
	if (!t)
		return false;
	*ret = t;
	return true;
}

void gids_remember(DeviceGids *g, uint32_t port, const Table *raw, uint32_t generation,
		   const Table *done)
{
	PortGids *p;

	if (port > g->n) {
		PortGids *ports = reallocarray(g->ports, port, sizeof(*ports));

		if (!ports)
			return;
		memset(ports + g->n, 0, (port - g->n) * sizeof(*ports));
		g->ports = ports;
		g->n = port;
	}
	p = &g->ports[port - 1];
	table_free(p->raw);
	table_free(p->done);
	*p = (PortGids){table_copy(raw), table_copy(done), generation};
}

/* The index of the interface whose directory DIRECTORY/NAME is; 0 if there is none. */
static uint32_t read_ifindex(int directory, const char *name)
{
	char path[280];
	uint64_t ifindex;

	snprintf(path, sizeof(path), "%s/ifindex", name);
	return sysfs_read_number(directory, path, INT32_MAX, &ifindex) < 0 ? 0 : (uint32_t)ifindex;
}

/* Whether the interface IFINDEX is below the one whose directory PARENT/NAME is. */
static bool is_above(int parent, const char *name, uint32_t ifindex, unsigned int depth,
		     unsigned int *count)
{
	_cleanup_(closedir_pointer) DIR *directory = sysfs_open_list(parent, name);
	const struct dirent *entry;
	bool found = false;

	while (directory && !found && *count < LOWER_COUNT_MAX && (entry = readdir(directory))) {
		if (!startswith(entry->d_name, "lower_"))
			continue;
		(*count)++;
		found = read_ifindex(dirfd(directory), entry->d_name) == ifindex ||
			(depth < LOWER_DEPTH_MAX &&
			 is_above(dirfd(directory), entry->d_name, ifindex, depth + 1, count));
	}
	return found;
}

/* The name of the interface of entry E, as the kernel has it. */
static bool find_name(const GidEntry *e, uint32_t port, int device, char ret[16])
{
	char path[64];

	text_copy(ret, 16, e->netdev);
	if (*ret)
		return true;
	snprintf(path, sizeof(path), "ports/%u/gid_attrs/ndevs/%u", port, e->index);
	return sysfs_read_text(device, path, ret, 16) == 0 && is_file_name(ret);
}

static void complete(GidEntry *e, uint32_t port, const GidPlace *place)
{
	uint32_t expected = e->ifindex, ifindex;
	unsigned int count = 0;
	char name[16];

	if ((!expected && !e->netdev[0]) || !find_name(e, port, place->device, name))
		name[0] = '\0';
	e->ifindex = 0;
	memset(e->netdev, 0, sizeof(e->netdev));
	e->namespace = *name ? GID_NAMESPACE_OTHER : GID_NAMESPACE_OWN;
	ifindex = place->ifindex && *name ? read_ifindex(place->net, name) : 0;
	if (!ifindex || (expected && expected != ifindex) ||
	    (ifindex != place->ifindex && !is_above(place->net, name, place->ifindex, 1, &count)))
		return;
	e->ifindex = ifindex;
	text_copy(e->netdev, sizeof(e->netdev), name);
	e->namespace = GID_NAMESPACE_OWN;
}

/* The kernel is asked once for entries of one interface that follow one another. */
static void complete_vlan(GidEntry *e, const GidEntry *previous, const GidPlace *place)
{
	if (previous && previous->ifindex == e->ifindex)
		e->vlan_id = previous->vlan_id;
	else if (e->ifindex && place->vlan_of)
		e->vlan_id = place->vlan_of(place->userdata, e->ifindex);
}

void gids_complete(Table *t, uint32_t port, const GidPlace *place)
{
	GidEntry *entries = t ? (GidEntry *)(void *)t->entries : NULL;

	for (uint32_t i = 0; t && i < t->n; i++) {
		complete(&entries[i], port, place);
		complete_vlan(&entries[i], i > 0 ? &entries[i - 1] : NULL, place);
	}
}
