/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "list.h"
#include "query-dcb.h"
#include "query-sysfs.h"

/* The directory PATH of the interface D; ABOVE leads from there to the directory of the interface
 * itself. -ENODEV if another one has its name by now. */
static int open_netdev(int net, const Netdev *d, const char *path, const char *above)
{
	_cleanup_close_ int directory = -EBADF;
	char name[64];
	uint64_t ifindex;
	int r;

	snprintf(name, sizeof(name), "%s/%s", d->name, path);
	directory = sysfs_open_directory(net, name);
	if (directory < 0)
		return directory;
	snprintf(name, sizeof(name), "%s/ifindex", above);
	r = sysfs_read_number(directory, name, UINT32_MAX, &ifindex);
	if (r < 0)
		return r;
	return ifindex == d->ifindex ? steal_fd(&directory) : -ENODEV;
}

/* Reads a file for each priority, which has 1 or 0. False if one of them cannot be read. */
static bool read_priorities(int ecn, const char *path, AttrText ret)
{
	_cleanup_close_ int directory = sysfs_open_directory(ecn, path);
	uint8_t priorities = 0;

	if (directory < 0)
		return false;
	for (unsigned int i = 0; i < DCB_PRIORITIES; i++) {
		char name[16];
		uint64_t on;

		snprintf(name, sizeof(name), "%u", i);
		if (sysfs_read_number(directory, name, 1, &on) < 0)
			return false;
		priorities |= (uint8_t)(on << i);
	}
	list_put_bits(priorities, ret);
	return true;
}

void dcb_supply_ecn(int net, const Netdev *d, PortSnapshot *s)
{
	/* Most interfaces have none: then this is all that is asked. */
	_cleanup_close_ int directory = open_netdev(net, d, "ecn", "..");
	AttrText text = "";

	if (directory < 0)
		return;
	if (read_priorities(directory, "roce_np/enable", text))
		PORT_SUPPLY_TEXT(s, ecn_notification, text);
	if (read_priorities(directory, "roce_rp/enable", text))
		PORT_SUPPLY_TEXT(s, ecn_reaction, text);
}

/* mlx5 maps no DSCP while it trusts PCP, and all of them once it trusts DSCP:
 * mlx5e_dcbnl_dscp_app() in the kernel's drivers/net/ethernet/mellanox/mlx5/core/en_dcbnl.c */
void dcb_supply_trust(int net, const Netdev *d, PortSnapshot *s)
{
	_cleanup_close_ int directory = -EBADF;
	AttrText driver;

	if (mask_has(&s->supplied, PORT_ATTR_priority_trust) ||
	    !mask_has(&s->supplied, PORT_ATTR_dscp_to_priority))
		return;
	directory = open_netdev(net, d, ".", ".");
	if (directory >= 0 &&
	    sysfs_read_link(directory, "device/driver", driver, sizeof(driver)) == 0 &&
	    streq(driver, "mlx5_core"))
		PORT_SUPPLY_TEXT(s, priority_trust,
				 streq(TEXT_OF(&s->values, dscp_to_priority), "none") ? "pcp"
										      : "dscp");
}

void dcb_supply_gid_type(int rdma_cm, const char *name, uint32_t port, PortSnapshot *s)
{
	char path[128];
	AttrText text;

	if (!is_file_name(name))
		return;
	snprintf(path, sizeof(path), "%s/ports/%u/default_roce_mode", name, port);
	if (sysfs_read_text(rdma_cm, path, text, sizeof(text)) < 0)
		return;
	/* On Ethernet the first type is RoCE v1. */
	if (streq(text, "IB/RoCE v1"))
		PORT_SUPPLY_TEXT(s, roce_gid_type, "RoCE v1");
	else if (streq(text, "RoCE v2"))
		PORT_SUPPLY_TEXT(s, roce_gid_type, "RoCE v2");
}
