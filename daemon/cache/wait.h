/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A wait for ports: the condition, the ports that have to fulfil it, and the lack of each of them,
 * since when.
 *
 * No bus, no clock, no waiting: times come in as arguments (CLOCK_MONOTONIC in us), and the caller
 * looks again when the cache has changed. A change of a port costs only the waits that name it:
 * each of their WaitPorts is among the Port.refs of the port that has its name.
 */

#include "cache.h"
#include "port-name.h"

/* The condition for a port. The state always counts; the other fields count if they are not zero.
 */
typedef struct WaitCondition {
	uint32_t state;	 /* enum ibv_port_state: it meets this one, see decode_state_meets(). A port
			    whose driver does not measure the state is taken for active */
	bool lid;	 /* it has a LID, and not 0 or 0xffff */
	bool has_gid;	 /* the GID below is in its GID table, or an address of its interfaces */
	uint8_t gid[16]; /* network byte order; an IPv4 address is mapped into IPv6 */
	uint32_t mtu;	 /* its active MTU is at least so many bytes */
	uint64_t rate;	 /* its rate is at least so many bit/s */
	bool healthy;	 /* its health is ok */
	bool fit;	 /* it is fit to be used */
} WaitCondition;

/* The first thing that a port lacks, in this order: each needs those above it. */
typedef enum WaitLack {
	LACK_PORT,   /* nothing has its name */
	LACK_UNIQUE, /* more than one port has its name */
	LACK_ANSWER, /* no query for it has ended yet */
	LACK_FRESH,  /* it is stale: its values are old, and say nothing about now */
	LACK_STATE,
	LACK_LID,
	LACK_GID,
	LACK_MTU,
	LACK_RATE,
	LACK_HEALTH,
	LACK_FITNESS,
	LACK_NOTHING, /* it fulfils the condition */
} WaitLack;

/* One of the ports, and what the last look found. */
typedef struct WaitPort {
	PortRef ref;	   /* the first member; to the port of that name, or NULL */
	struct Wait *wait; /* that it is part of */
	/* One before it that means the same port by another name, or NULL. Then only that one has a
	 * reference, is looked at and counts: see wait_port_found(). */
	struct WaitPort *same;
	char name[PORT_NAME_MAX];
	bool is_ambiguous;   /* more than one port has that name */
	WaitLack lack;	     /* what it lacks */
	uint64_t since_usec; /* since when it lacks that, as far as is known */
	bool exact; /* it began then; else it was first seen then and may have begun before */
} WaitPort;

typedef struct Wait {
	WaitCondition condition;
	bool any; /* one port that fulfils it is enough; else all must */
	size_t n_ports;
	size_t n_different;	   /* of them mean a port that none before it means, or no port */
	size_t n_held;		   /* of these fulfil the condition */
	bool looked;		   /* wait_look() was called: what it found is in PORTS */
	uint64_t names_generation; /* the cache's when the names were looked up */
	/* The last member: who keeps a Wait for long needs no memory for more than N_PORTS. */
	WaitPort ports[WAIT_PORTS_MAX];
} Wait;

/* Where it stands what the last look found of P. */
static inline const WaitPort *wait_port_found(const WaitPort *p)
{
	return p->same ? p->same : p;
}

/* Before the first wait_look(): adds the port called NAME, as lookup_port() takes it; one that is
 * there already is not added again. -EINVAL: no port can have that name. -E2BIG: there are
 * WAIT_PORTS_MAX already. */
int wait_add(Wait *w, const char *name);

/* W is empty afterwards. Between the first wait_look() and this its memory must neither move nor be
 * freed. */
void wait_done(Wait *w);

/* Why the port that was read as S can never fulfil C: a static sentence fragment. NULL: it can, for
 * all that is known. */
const char *wait_impossible(const WaitCondition *c, const PortSnapshot *s);

/* The lack of P, which has been read, for C: LACK_FRESH or a later one. */
WaitLack wait_lack(const WaitCondition *c, const Port *p);

/* Looks at all ports, at NOW_USEC, and looks up their names if any name has come or gone. Returns
 * whether the condition holds. */
bool wait_look(Wait *w, const Cache *c, uint64_t now_usec);
/* The port of REF, which is one of its Port.refs, has changed: looks at it alone. Returns the wait
 * that names it. */
Wait *wait_look_at_port(PortRef *ref, uint64_t now_usec);
/* Whether the condition holds as of the last look; for no port it does. */
bool wait_holds(const Wait *w);

/* Describes the lacks as of wait_look(), which was called right before: one line for each port that
 * lacks something, without a line feed at the end. To be freed; NULL without memory. */
char *wait_describe(const Wait *w, uint64_t now_usec);
