/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "query-unlisted.h"

int unlisted_error(Netlink *n, uint32_t index, const char *name)
{
	NldevChardev node;
	uint32_t found;
	char path[64];
	/* While a device is being removed, the kernel takes away its uverbs node first. The kernel
	 * still answers for the device then, but does not enumerate it any more. */
	int r = nldev_find_device(n, name, &found);

	if (r < 0)
		return r;
	if (found != index)
		return -ENODEV;
	if (nldev_get_chardev(n, index, &node) < 0)
		return -ENXIO;
	snprintf(path, sizeof(path), "/dev/infiniband/%s", node.name);
	return access(path, F_OK) < 0 && errno == ENOENT ? -ENOENT : -EOPNOTSUPP;
}
