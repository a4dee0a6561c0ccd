/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "hop.h"

#include <endian.h>
#include <infiniband/umad.h>
#include <infiniband/umad_sm.h>
#include <infiniband/umad_types.h>
#include <sys/param.h>

#include "clock.h"

/* The kernel sends a packet so often, and waits so long after each time. */
#define TIMEOUT_MS 200
#define RETRIES	   2
/* No answer to a round of questions comes after so long. */
#define ROUND_USEC USEC_PER_SEC

/* A LID that stands for the route in the packet, at both ends of it */
#define PERMISSIVE_LID 0xffffU
#define PORT_MAX       254U
/* The queue pair of all management but that of the subnet */
#define GSI_QP 1
/* Of performance management */
#define ATTR_PORT_COUNTERS	    0x12U
#define ATTR_PORT_COUNTERS_EXTENDED 0x1dU
/* Of the status of an answer; the last bit says that it is on its way back. */
#define STATUS_MASK 0x7fffU

/* A packet with the head of umad, which an old kernel has shorter */
typedef union Packet {
	struct ib_user_mad head;
	uint8_t bytes[sizeof(struct ib_user_mad) + sizeof(struct umad_smp)];
} Packet;

static const struct {
	uint8_t class;
	uint16_t attribute;
} questions[] = {
	[FAR_END_NODE] = {UMAD_CLASS_SUBN_DIRECTED_ROUTE, UMAD_SM_ATTR_NODE_INFO},
	[FAR_END_TEXT] = {UMAD_CLASS_SUBN_DIRECTED_ROUTE, UMAD_SM_ATTR_NODE_DESC},
	[FAR_END_PORT] = {UMAD_CLASS_SUBN_DIRECTED_ROUTE, UMAD_SM_ATTR_PORT_INFO},
	[FAR_END_LID] = {UMAD_CLASS_SUBN_DIRECTED_ROUTE, UMAD_SM_ATTR_PORT_INFO},
	[FAR_END_CLASS] = {UMAD_CLASS_PERF_MGMT, UMAD_ATTR_CLASS_PORT_INFO},
	[FAR_END_COUNTERS] = {UMAD_CLASS_PERF_MGMT, ATTR_PORT_COUNTERS},
	[FAR_END_EXTENDED] = {UMAD_CLASS_PERF_MGMT, ATTR_PORT_COUNTERS_EXTENDED},
};

/* The number of the port that a packet of subnet management is about. */
static uint8_t port_of(const FarEnd *e, FarEndPart part)
{
	bool is_other = part == FAR_END_LID && e->type == FAR_END_SWITCH;

	return (part == FAR_END_PORT || part == FAR_END_LID) && !is_other ? e->port : 0;
}

/* Asks for PART. The number of the packet says which part it is about. The data of both classes are
 * at the same place. Returns whether it was sent. */
static bool ask_part(Hop *h, FarEndPart part)
{
	Packet packet = {};
	struct umad_smp *smp = umad_get_mad(&packet);

	*smp = (struct umad_smp){
		.base_version = UMAD_BASE_VERSION,
		.mgmt_class = questions[part].class,
		.class_version = 1,
		.method = UMAD_METHOD_GET,
		.tid = htobe64(part),
		.attr_id = htobe16(questions[part].attribute),
	};
	if (smp->mgmt_class == UMAD_CLASS_PERF_MGMT) {
		smp->data[1] = h->end.port;
		umad_set_addr(&packet, h->end.lid, GSI_QP, 0, (int)UMAD_QKEY);
	} else {
		smp->hop_cnt = 1;
		smp->attr_mod = htobe32(port_of(&h->end, part));
		smp->dr_slid = smp->dr_dlid = htobe16(PERMISSIVE_LID);
		smp->initial_path[1] = (uint8_t)h->port;
		umad_set_addr(&packet, PERMISSIVE_LID, 0, 0, 0);
	}
	if (umad_send(h->fd, h->agent, &packet, sizeof(*smp), TIMEOUT_MS, RETRIES) < 0)
		return false;
	h->asked |= 1U << part;
	h->waits++;
	return true;
}

static void open_port(Hop *h)
{
	h->end = (FarEnd){};
	h->why = UNAVAILABLE_NOT_ASKED;
	h->waits = h->asked = 0;
	h->fd = -ENODEV;
	/* umad would take "" for the first device, and 0 for its first port that is up */
	if (!*h->device || h->port == 0 || h->port > PORT_MAX)
		return;
	/* the library returns the same for each error of the kernel */
	errno = 0;
	h->fd = umad_open_port(h->device, (int)h->port);
	if (h->fd < 0) {
		if (errno == EACCES || errno == EPERM)
			h->why = UNAVAILABLE_NO_PERMISSION;
		return;
	}
	h->agent = umad_register(h->fd, UMAD_CLASS_SUBN_DIRECTED_ROUTE, 1, 0, NULL);
	if (h->agent < 0) {
		/* the port has no queue pair 0 */
		if (errno == EPROTONOSUPPORT)
			h->why = UNAVAILABLE_NOT_APPLICABLE;
		umad_close_port(h->fd);
		h->fd = -ENODEV;
	}
}

/* Takes what has come: an answer, or that there is none. */
static void take(Hop *h, Packet *packet, int length)
{
	const struct umad_smp *smp = umad_get_mad(packet);
	/* the kernel has the upper half of the number */
	uint32_t part = (uint32_t)be64toh(smp->tid);
	const uint8_t *data = (const uint8_t *)smp + offsetof(struct umad_smp, data);

	h->waits--;
	if (umad_status(packet) != 0 || length < (int)sizeof(*smp) || part >= _FAR_END_PART_MAX ||
	    !(h->asked >> part & 1))
		return;
	/* one answer to each */
	h->asked &= ~(1U << part);
	if (smp->mgmt_class == questions[part].class && smp->method == UMAD_METHOD_GET_RESP &&
	    smp->attr_id == htobe16(questions[part].attribute) &&
	    (be16toh(smp->status) & STATUS_MASK || far_end_take(&h->end, part, data) < 0))
		h->why = UNAVAILABLE_REFUSED;
}

/* Takes the answers that come to all of HOPS. They come at the same time: who waits for those of
 * one port finds those of the next. */
static void take_answers(Hop *hops, size_t n)
{
	const uint64_t end = monotonic_now_usec() + ROUND_USEC;
	Packet packet;

	for (size_t i = 0; i < n; i++)
		while (hops[i].waits) {
			int length = sizeof(struct umad_smp);
			uint64_t now = monotonic_now_usec();
			int ms = now < end ? (int)((end - now) / USEC_PER_MSEC) : 0;

			/* 0 would be for ever */
			if (umad_recv(hops[i].fd, &packet, &length, MAX(ms, 1)) < 0)
				hops[i].waits = 0;
			else
				take(&hops[i], &packet, length);
		}
}

/* The LID of the other end is known, or why its counters are not. */
static void ask_counters(Hop *h)
{
	if (!(h->end.parts >> FAR_END_LID & 1))
		return;
	if (!h->end.lid) {
		h->why = UNAVAILABLE_NOT_CONFIGURED;
		return;
	}
	h->agent = umad_register(h->fd, UMAD_CLASS_PERF_MGMT, 1, 0, NULL);
	if (h->agent < 0) {
		h->why = UNAVAILABLE_NOT_ASKED;
		return;
	}
	for (FarEndPart part = FAR_END_CLASS; part <= FAR_END_EXTENDED; part++)
		ask_part(h, part);
}

void hop_ask(Hop *hops, size_t n, bool counters)
{
	for (size_t i = 0; i < n; i++) {
		open_port(&hops[i]);
		if (hops[i].fd < 0)
			continue;
		if (ask_part(&hops[i], FAR_END_NODE))
			hops[i].why = UNAVAILABLE_NO_ANSWER;
		if (!counters)
			ask_part(&hops[i], FAR_END_TEXT);
	}
	take_answers(hops, n);
	for (size_t i = 0; i < n; i++)
		if (hops[i].end.type)
			ask_part(&hops[i], counters ? FAR_END_LID : FAR_END_PORT);
	take_answers(hops, n);
	for (size_t i = 0; i < n && counters; i++)
		ask_counters(&hops[i]);
	take_answers(hops, n);
	for (size_t i = 0; i < n; i++)
		if (hops[i].fd >= 0)
			umad_close_port(hops[i].fd);
}
