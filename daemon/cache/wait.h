/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What it means to wait for ports: the condition, the ports that it is for, and which of them lack
 * what of it since when.
 *
 * No bus, no clock, no waiting: times come in as arguments (CLOCK_MONOTONIC in us), and whoever
 * waits looks again when the cache has changed.
 */

#include "cache.h"
#include "port-name.h"

/* What is wanted of a port. All that is zero is not wanted, but for the state. */
typedef struct WaitCondition {
	uint32_t state;	 /* enum ibv_port_state */
	bool lid;	 /* a LID, and not 0 */
	bool has_gid;	 /* GID is wanted in its table */
	uint8_t gid[16]; /* network byte order; an IPv4 address is mapped into IPv6 */
	uint32_t mtu;	 /* an active MTU of at least that many bytes */
	uint64_t rate;	 /* a rate of at least that many bit/s */
} WaitCondition;

/* What a port lacks first, in this order: the ones below need those above. */
typedef enum WaitLack {
	LACK_PORT,   /* nothing has that name */
	LACK_UNIQUE, /* more than one port has it */
	LACK_ANSWER, /* it has not been read yet */
	LACK_FRESH,  /* it is stale: what it was says nothing about what it is */
	LACK_STATE,
	LACK_LID,
	LACK_GID,
	LACK_MTU,
	LACK_RATE,
	LACK_NOTHING,
} WaitLack;

typedef struct WaitPort {
	char name[PORT_NAME_MAX];
	const Port *port; /* as of the last look, and valid only until the cache changes; or NULL */
	WaitLack lack;
	uint64_t since_usec; /* when that began, or when it was first seen */
	bool exact;	     /* it is when it began */
} WaitPort;

typedef struct Wait {
	WaitCondition condition;
	bool any; /* one of the ports will do */
	WaitPort ports[WAIT_PORTS_MAX];
	size_t n_ports;
	bool looked;
} Wait;

/* Adds the port called NAME (as lookup_port() takes it), if it is not one already. -EINVAL: no port
 * can have that name. -E2BIG: too many. */
int wait_add(Wait *w, const char *name);

/* What a port that has been read lacks of C; LACK_FRESH or a later one. */
WaitLack wait_lack(const WaitCondition *c, const PortSnapshot *s);

/* Looks at all ports at NOW_USEC. Returns whether the condition holds; for no port it does. */
bool wait_look(Wait *w, const Cache *c, uint64_t now_usec);

/* Right after wait_look(): what is missing, a line for each port, the last without its end. To be
 * freed; NULL without memory. */
char *wait_describe(const Wait *w, uint64_t now_usec);
