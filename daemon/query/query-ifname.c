/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "query-ifname.h"

#include <linux/netlink.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "util.h"

static int ask(unsigned long request, struct ifreq *ifr)
{
	_cleanup_close_ int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);

	return fd < 0 || ioctl(fd, request, ifr) < 0 ? -errno : 0;
}

int ifname_of(uint32_t ifindex, char ret_name[IF_NAMESIZE])
{
	struct ifreq ifr = {.ifr_ifindex = (int)ifindex};
	int r = ask(SIOCGIFNAME, &ifr);

	if (r < 0)
		return r;
	text_copy(ret_name, IF_NAMESIZE, ifr.ifr_name);
	return 0;
}

uint32_t ifname_to_index(const char *name)
{
	struct ifreq ifr = {};

	if (strlen(name) >= sizeof(ifr.ifr_name))
		return 0;
	text_copy(ifr.ifr_name, sizeof(ifr.ifr_name), name);
	return ask(SIOCGIFINDEX, &ifr) < 0 ? 0 : (uint32_t)ifr.ifr_ifindex;
}
