/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "query-ifname.h"

#include <linux/netlink.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "util.h"

int ifname_of(uint32_t ifindex, char ret_name[IF_NAMESIZE])
{
	_cleanup_close_ int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	struct ifreq ifr = {.ifr_ifindex = (int)ifindex};

	if (fd < 0 || ioctl(fd, SIOCGIFNAME, &ifr) < 0)
		return -errno;
	text_copy(ret_name, IF_NAMESIZE, ifr.ifr_name);
	return 0;
}
