/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "ping-chain.h"

#include <netdb.h>

#include "priority.h"

const PingState ping_mtu_broken = {PING_STAGE_BROKEN, PING_LINK_MTU, -EMSGSIZE, 0};

static PingLink find_broken(PingStage stage, int error, const PingWay *way)
{
	if (stage == PING_STAGE_PATH)
		return PING_LINK_PATH;
	if (stage == PING_STAGE_ANSWER)
		return error == -ETIMEDOUT ? PING_LINK_ANSWER : PING_LINK_REQUEST;
	/* The kernel has one error for an interface without a port and a port without a GID. */
	if (error == -ENODEV || error == -EADDRNOTAVAIL)
		return way->port ? PING_LINK_GID : PING_LINK_PORT;
	if (error == -ETIMEDOUT)
		return way->vlan ? PING_LINK_VLAN : PING_LINK_NEIGHBOUR;
	return error == -EACCES || error == -EPERM ? PING_LINK_VERBS : PING_LINK_ROUTE;
}

PingState ping_failed(PingState is, int error, const PingWay *way)
{
	if (is.stage >= PING_STAGE_DONE)
		return is;
	return (PingState){PING_STAGE_BROKEN, find_broken(is.stage, error, way), error, 0};
}

/* Whether EVENT is what STAGE waits for. */
static bool is_awaited(PingStage stage, enum rdma_cm_event_type event, int status)
{
	if (stage == PING_STAGE_ADDRESS)
		return event == RDMA_CM_EVENT_ADDR_RESOLVED;
	if (stage == PING_STAGE_PATH)
		return event == RDMA_CM_EVENT_ROUTE_RESOLVED;
	/* A program that offers the service nevertheless is an answer too, and so is each reason
	 * (> 0) that the peer gives. */
	return event == RDMA_CM_EVENT_REJECTED || event == RDMA_CM_EVENT_CONNECT_RESPONSE ||
	       event == RDMA_CM_EVENT_ESTABLISHED ||
	       (event == RDMA_CM_EVENT_UNREACHABLE && status > 0);
}

PingState ping_next(PingState is, enum rdma_cm_event_type event, int status, const PingWay *way)
{
	if (is.stage >= PING_STAGE_DONE)
		return is;
	if (is_awaited(is.stage, event, status))
		return (PingState){.stage = is.stage + 1};
	if (event == RDMA_CM_EVENT_DEVICE_REMOVAL)
		return (PingState){PING_STAGE_BROKEN, PING_LINK_PORT, -ENODEV, 0};
	if (event == RDMA_CM_EVENT_UNREACHABLE)
		return ping_failed(is, -ETIMEDOUT, way);
	if (event == RDMA_CM_EVENT_ADDR_ERROR || event == RDMA_CM_EVENT_ROUTE_ERROR ||
	    event == RDMA_CM_EVENT_CONNECT_ERROR)
		return ping_failed(is, status < 0 ? status : -EIO, way);
	return is;
}

const char *ping_link_name(PingLink link)
{
	static const char *const names[] = {
#define LINK(link, name, member, text) name,
#include "ping-links.def"
	};

	return names[link];
}

const char *ping_reason(const PingState *s, const PingWay *way, char buffer[PING_REASON_MAX])
{
	int n = 0;

	switch (s->broken) {
#define LINK(link, name, member, text)                                                             \
	case PING_LINK_##link:                                                                     \
		n = snprintf(buffer, PING_REASON_MAX, text, way->member);                          \
		break;
#include "ping-links.def"
	}
	n = MIN(n, PING_REASON_MAX - 1); /* the name may be long */
	snprintf(buffer + n, (size_t)(PING_REASON_MAX - n), " (%s)",
		 s->broken == PING_LINK_NAME ? gai_strerror(s->error) : strerror(-s->error));
	return buffer;
}

bool ping_priority(const PingWay *way, uint32_t *ret_priority, bool *ret_pfc)
{
	if (!way->has_path || !way->port || !object_value(way->port, PORT_ATTR_pfc_enabled))
		return false;
	*ret_priority = priority_trusts(way->port, "dscp")
				? priority_of_dscp(way->port, way->traffic_class >> 2)
				: way->service_level;
	*ret_pfc = priority_has_pfc(way->port, *ret_priority);
	return true;
}
