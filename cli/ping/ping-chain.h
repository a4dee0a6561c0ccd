/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The chain of a ping: what each event of the connection manager means, and which link of the chain
 * is broken. A ping asks the peer for a service that nobody offers. The kernel of the peer rejects
 * that, so a rejection is the answer. Nothing here makes a call.
 */

#include <rdma/rdma_cma.h>

#include "object.h"

/* The links of the chain: see ping-links.def. */
typedef enum PingLink {
#define LINK(link, ...) PING_LINK_##link,
#include "ping-links.def"
} PingLink;

/* What a try waits for. */
typedef enum PingStage {
	PING_STAGE_ADDRESS, /* that the addresses are resolved: the port is known then */
	PING_STAGE_PATH,    /* a path */
	PING_STAGE_ANSWER,  /* the answer of the peer */
	PING_STAGE_DONE,    /* nothing: the peer has answered */
	PING_STAGE_BROKEN,  /* nothing: a link is broken */
} PingStage;

typedef struct PingState {
	PingStage stage;
	PingLink broken;    /* if the stage is BROKEN */
	int error;	    /* the same; a negative errno, or of NAME what getaddrinfo() says */
	uint64_t took_usec; /* if it is DONE: from the request to the answer */
} PingState;

/* What is known of the way to a peer. Texts are "" and numbers 0 if they are not known. */
#define PING_ADDRESS_MAX 64
typedef struct PingWay {
	const char *peer; /* as the user named it */
	char address[PING_ADDRESS_MAX];
	/* the route */
	char source[PING_ADDRESS_MAX], hop[PING_ADDRESS_MAX], netdev[16];
	uint32_t vlan;	    /* of the interface; 0: it is none of a VLAN */
	const Object *port; /* as rdmad knows it, or NULL */
	uint32_t gid_index; /* of SOURCE in its table; UINT32_MAX: not known */
	bool has_gid, has_path;
	uint8_t gid[16];	     /* that the kernel has chosen */
	uint32_t mtu;		     /* bytes */
	bool mtu_known, mtu_arrives; /* whether packets of this MTU do */
	uint8_t service_level, traffic_class;
} PingWay;

/* The state after EVENT, which came with STATUS: 0, a negative errno, or a reason of the connection
 * manager. An event that says nothing about the chain changes nothing. */
PingState ping_next(PingState is, enum rdma_cm_event_type event, int status, const PingWay *way);
/* The state after what the stage waits for has failed with ERROR, a negative errno: -ETIMEDOUT if
 * nothing has come. */
PingState ping_failed(PingState is, int error, const PingWay *way);

/* Whether it is known that packets of the path MTU are lost, and the state that says so. */
static inline bool ping_mtu_fails(const PingWay *way)
{
	return way->mtu_known && !way->mtu_arrives;
}
extern const PingState ping_mtu_broken;

const char *ping_link_name(PingLink link);
/* Why the link is broken, for people, in BUFFER, which is returned. */
#define PING_REASON_MAX 320
const char *ping_reason(const PingState *s, const PingWay *way, char buffer[PING_REASON_MAX]);

/* The priority that the packets have on Ethernet, and whether that has priority flow control. False
 * if it is not known. */
bool ping_priority(const PingWay *way, uint32_t *ret_priority, bool *ret_pfc);
