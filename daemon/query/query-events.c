/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "query-events.h"

#include <sys/epoll.h>

/* IBV_EVENT_DEVICE_SPEED_CHANGE of rdma-core 62 and Linux 7.0. */
#define EVENT_DEVICE_SPEED_CHANGE 20U

/* Events of a retired context that are read at most: a device that sends them without end must not
 * keep the worker. */
#define RETIRED_EVENTS 1024

bool event_translate(unsigned int type, int port, uint32_t device, Event *ret)
{
	static const struct {
		unsigned int type;
		EventReason reason;
		bool whole_device;
	} events[] = {
		{IBV_EVENT_PORT_ACTIVE, REASON_PORT_ACTIVE, false},
		{IBV_EVENT_PORT_ERR, REASON_PORT_ERROR, false},
		{IBV_EVENT_LID_CHANGE, REASON_LID_CHANGE, false},
		{IBV_EVENT_SM_CHANGE, REASON_SM_CHANGE, false},
		{IBV_EVENT_CLIENT_REREGISTER, REASON_CLIENT_REREGISTER, false},
		{IBV_EVENT_PKEY_CHANGE, REASON_PKEY_CHANGE, false},
		{IBV_EVENT_GID_CHANGE, REASON_GID_CHANGE, false},
		/* hbl puts other things than a port into these */
		{IBV_EVENT_DEVICE_FATAL, REASON_DEVICE_FATAL, true},
		{EVENT_DEVICE_SPEED_CHANGE, REASON_SPEED_CHANGE, true},
	};

	for (size_t i = 0; i < ARRAY_SIZE(events); i++)
		if (events[i].type == type) {
			*ret = (Event){device,
				       events[i].whole_device ? EVENT_ALL_PORTS : (uint32_t)port,
				       events[i].reason};
			return true;
		}
	return false;
}

/* Reads one event of CONTEXT and reports it. 0: there is none left. A negative errno: there will be
 * none, for example -EIO because the device of this context has gone. */
static int report_one(struct ibv_context *context, uint32_t device, EventHandler handler,
		      void *userdata, EventReason *ret_reason)
{
	struct ibv_async_event e;
	Event event;

	if (ibv_get_async_event(context, &e) < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	*ret_reason = _REASON_INVALID;
	/* To acknowledge an event about a CQ, QP or SRQ, libibverbs follows the pointer in it. This
	 * process has none of these: such an event is a mistake of the driver, and is dropped. */
	if (!event_translate(e.event_type, e.element.port_num, device, &event))
		return 1;
	ibv_ack_async_event(&e);
	*ret_reason = event.reason;
	handler(&event, userdata);
	return 1;
}

/* Reads one event of what is held of DEVICE; false if there is none left. */
static bool drain_one(Contexts *c, uint32_t device, EventHandler handler, void *userdata)
{
	struct ibv_context *context = contexts_find(c, device);
	EventReason reason = _REASON_INVALID;
	int r = context ? report_one(context, device, handler, userdata, &reason) : 0;

	if (r < 0 || reason == REASON_DEVICE_FATAL)
		contexts_forget(c, device);
	return r > 0;
}

/* The context that replaces a retired one was opened before, so it hears what comes from now on. */
static void drain_retired(Contexts *c, EventHandler handler, void *userdata)
{
	struct ibv_context *context;
	EventReason reason;
	uint32_t device;

	while ((context = contexts_retired(c, &device))) {
		unsigned int n = 0;

		while (n < RETIRED_EVENTS &&
		       report_one(context, device, handler, userdata, &reason) > 0)
			n++;
		if (n == RETIRED_EVENTS)
			handler(&(Event){device, EVENT_ALL_PORTS, REASON_OVERRUN}, userdata);
		contexts_close_retired(c);
	}
}

void events_drain(Contexts *c, EventHandler handler, void *userdata)
{
	struct epoll_event ready[32];
	/* Events that a round does not finish are reported again in the next (the set is
	 * level-triggered). There are enough rounds for every device to have its turn. */
	size_t rounds = contexts_count(c) / ARRAY_SIZE(ready) + 1;
	uint32_t late;

	drain_retired(c, handler, userdata);
	while (contexts_next_late(c, &late))
		handler(&(Event){late, EVENT_ALL_PORTS, REASON_OVERRUN}, userdata);
	while (rounds-- > 0) {
		int n = epoll_wait(contexts_fd(c), ready, ARRAY_SIZE(ready), 0);

		for (int i = 0; i < n; i++)
			for (int k = 0; k < EVENTS_BATCH; k++)
				if (!drain_one(c, ready[i].data.u32, handler, userdata))
					break;
		if (n < (int)ARRAY_SIZE(ready))
			break;
	}
}
