/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The input is datagrams of rtnetlink, received while one RoCE port and one InfiniBand port are
 * watched. */

#include "fuzz.h"
#include "watch-rtnl.h"

static void on_event(_unused_ void *userdata, const Event *e)
{
	FUZZ_CHECK(e->reason == REASON_LINK || e->reason == REASON_ADDRESS ||
		   e->reason == REASON_DCB || e->reason == REASON_OVERRUN);
	FUZZ_CHECK(e->reason == REASON_OVERRUN || (e->device == 3 && e->port == 1) ||
		   (e->device == 4 && e->port == 2));
	FUZZ_CHECK(e->reason != REASON_ADDRESS || e->device == 3);
}

static const WatchHandler handler = {.event = on_event};

static int on_message(void *watch, struct nlmsghdr *m)
{
	return watch_rtnl_message(watch, m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const NetdevEntry netdev = {.ifindex = 2, .name = "eth0"};
	const GidEntry gid = {.type = GID_TYPE_IB};
	PortSnapshot ethernet = {.tables[PORT_TABLE_NETDEVS] =
					 table_new(&netdev, 1, sizeof(netdev))};
	PortSnapshot infiniband = {.tables[PORT_TABLE_GIDS] = table_new(&gid, 1, sizeof(gid))};
	_cleanup_(watch_rtnl_free_pointer) WatchRtnl *w = NULL;
	_cleanup_free_ void *datagram = malloc(size + 1);

	if (datagram && watch_rtnl_new(NULL, "/nonexistent", &handler, NULL, &w) == 0) {
		watch_rtnl_port(w, 3, 1, &ethernet);
		watch_rtnl_port(w, 4, 2, &infiniband);
	}
	port_snapshot_done(&ethernet);
	port_snapshot_done(&infiniband);
	if (!w)
		return 0;
	memcpy(datagram, data, size);
	watch_netlink_parse(datagram, size, on_message, w, &handler, NULL);
	return 0;
}
