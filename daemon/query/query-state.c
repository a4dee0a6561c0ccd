/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "query-state.h"

#include <fcntl.h>

#include "query-sysfs.h"

int querier_init(Querier *querier, const PolicyOptions *policy, uint64_t answer_usec)
{
	int r;

	*querier = (Querier){
		.nldev = NETLINK_CLOSED,
		.rtnl = NETLINK_CLOSED,
		.devlink = GENL_CLOSED,
		.ethtool = GENL_CLOSED,
		.policy = *policy,
		.isolation = {.answer_usec = answer_usec, .stray = -EBADF},
		.kernel = kernel_version(),
		.classes = sysfs_open_directory(AT_FDCWD, "/sys/class"),
		.net = sysfs_open_directory(AT_FDCWD, "/sys/class/net"),
	};
	r = contexts_new(&querier->contexts);
	if (r < 0)
		querier_done(querier);
	return r;
}

void querier_done(Querier *querier)
{
	querier->contexts = contexts_free(querier->contexts);
	known_done(&querier->known);
	leaves_done(&querier->leaves);
	netdev_ipoib_free(querier->ipoib, querier->n_ipoib);
	netlink_close(&querier->nldev);
	netlink_close(&querier->rtnl);
	genl_done(&querier->devlink);
	genl_done(&querier->ethtool);
	close_fd(querier->classes);
	close_fd(querier->net);
	isolation_done(&querier->isolation);
}

void querier_forget(Querier *querier, uint32_t device)
{
	contexts_forget(querier->contexts, device);
	known_forget(&querier->known, device);
	leaves_forget(&querier->leaves, device);
}
