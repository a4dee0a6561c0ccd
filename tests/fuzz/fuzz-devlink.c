/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The input is messages of devlink, as the core hears them and as the worker reads them, of
 * ethtool, and of the controller of generic netlink. */

#include "fuzz.h"
#include "query-devlink.h"
#include "query-ethtool.h"
#include "watch-devlink.h"

#define FAMILY 21

static void on_event(_unused_ void *userdata, const Event *e)
{
	/* There is no device that an event could be about. */
	FUZZ_CHECK(e->reason == REASON_OVERRUN);
}

static const WatchHandler handler = {.event = on_event};

static int on_message(void *watch, struct nlmsghdr *m)
{
	return watch_devlink_message(watch, m);
}

static void take_reporter(const struct nlmsghdr *m)
{
	static const DevlinkHandle function = {.bus = "pci", .device = "0000:c1:00.0"};
	HealthEntry e;
	int r = devlink_parse_reporter(m, &function, &e);

	FUZZ_CHECK(r == 0 || r == -EBADMSG || r == -ENOENT);
	if (r < 0)
		return;
	FUZZ_CHECK(memchr(e.name, '\0', sizeof(e.name)));
	FUZZ_CHECK(memchr(e.port, '\0', sizeof(e.port)));
}

static void take_family(const struct nlmsghdr *m)
{
	GenlFamily f;
	int r = genl_parse_family(m, "config", &f);

	FUZZ_CHECK(r == 0 || r == -EBADMSG);
	FUZZ_CHECK(r < 0 || (f.id >= 16 && f.group <= INT32_MAX));
}

static void take_phy(const struct nlmsghdr *m)
{
	_cleanup_(port_snapshot_done) PortSnapshot s = {};
	int r = ethtool_take_link(m, &s);

	FUZZ_CHECK(r == 0 || r == -EBADMSG);
	r = ethtool_take_fec(m, &s);
	FUZZ_CHECK(r == 0 || r == -EBADMSG);
	FUZZ_CHECK(strlen(TEXT_OF(&s.values, link_down_reason)) < sizeof(AttrText));
	FUZZ_CHECK(s.values.signal_quality <= s.values.signal_quality_max);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(watch_devlink_free_pointer) WatchDevlink *w = NULL;
	_cleanup_free_ void *datagram = malloc(size + 1); /* aligned, which DATA need not be */
	struct nlmsghdr *m = datagram;
	int left = (int)size;

	if (!datagram || watch_devlink_new(NULL, "/nonexistent", &handler, NULL, &w) < 0)
		return 0;
	watch_devlink_set_family(w, &(GenlFamily){.id = FAMILY});
	memcpy(datagram, data, size);
	for (; nlmsg_ok(m, left); m = nlmsg_next(m, &left)) {
		take_reporter(m);
		take_family(m);
		take_phy(m);
	}
	watch_netlink_parse(datagram, size, on_message, w, &handler, NULL);
	return 0;
}
