/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "query-link.h"

#include "query-sysfs.h"

/* How many files are open, of all devices */
static unsigned int n_open;

static void close_file(KnownLink *l)
{
	if (!l->file_ifindex)
		return;
	close(l->file);
	l->file_ifindex = 0;
	n_open--;
}

void link_done(KnownLink *l)
{
	close_file(l);
	*l = (KnownLink){};
}

bool link_note(KnownLink *l, uint32_t port, uint32_t ifindex, uint32_t mtu)
{
	bool other = l->mtu != mtu;

	if (l->file_ifindex != ifindex)
		close_file(l);
	l->port = port;
	l->ifindex = ifindex;
	l->mtu = mtu;
	return other;
}

int link_read_speed(KnownLink *l, int net, const char *name, uint32_t ifindex, bool is_change,
		    uint64_t *ret)
{
	_cleanup_close_ int fd = -EBADF;
	bool keep = is_change || l->file_ifindex;
	int r = -ENODEV;

	if (is_change && l->file_ifindex == ifindex)
		r = sysfs_read_netdev_speed(l->file, ret);
	/* The interface has gone, and another one may have its index. */
	if (r != -ENODEV)
		return r;
	close_file(l);
	fd = sysfs_open_netdev_speed(net, name, ifindex);
	if (fd < 0)
		return fd;
	r = sysfs_read_netdev_speed(fd, ret);
	if (keep && n_open < LINK_FILES_MAX) {
		l->file = steal_fd(&fd);
		l->file_ifindex = ifindex;
		n_open++;
	}
	return r;
}
