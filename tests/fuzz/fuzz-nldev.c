/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The input is datagrams of NETLINK_RDMA: announcements, and the list of devices. */

#include "fuzz.h"
#include "watch-nldev.h"

static void on_event(_unused_ void *userdata, const Event *e)
{
	FUZZ_CHECK(e->port <= RDMA_PORT_MAX);
	FUZZ_CHECK(e->reason == REASON_DEVICE || e->reason == REASON_NETDEV ||
		   e->reason == REASON_OVERRUN);
	FUZZ_CHECK(e->device != EVENT_ALL_DEVICES || e->port == EVENT_ALL_PORTS);
}

static const WatchHandler handler = {.event = on_event};

static int on_message(_unused_ void *watch, struct nlmsghdr *m)
{
	bool going;
	Event e;
	int r;

	r = watch_nldev_parse(m, &e, &going);
	FUZZ_CHECK(r == 1 || r == 0 || r == -EBADMSG);
	if (r == 1) {
		FUZZ_CHECK(!going || e.device != EVENT_ALL_DEVICES);
		on_event(NULL, &e);
	}
	return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ void *datagram = malloc(size + 1); /* aligned, which DATA need not be */
	NldevAnswer answer = {};
	int r;

	if (!datagram)
		return 0;
	memcpy(datagram, data, size);
	watch_netlink_parse(datagram, size, on_message, NULL, &handler, NULL);

	r = nldev_answer_take(&answer, datagram, size);
	FUZZ_CHECK(r <= 1 && r >= -4095);
	for (size_t i = 0; i < answer.n; i++) {
		const DeviceValues *v = &answer.devices[i].values;

		FUZZ_CHECK(*TEXT_OF(v, name) && strlen(TEXT_OF(v, name)) < sizeof(AttrText));
		FUZZ_CHECK(strlen(TEXT_OF(v, fw_ver)) < sizeof(AttrText));
		FUZZ_CHECK(v->dev_protocol < _PROTOCOL_MAX);
		FUZZ_CHECK(!strchr(TEXT_OF(v, name), '/'));
		FUZZ_CHECK(v->index != EVENT_ALL_DEVICES);
	}
	nldev_answer_done(&answer);
	return 0;
}
