/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The devices that the coherence test works on, and what was true of them: each change adds an
 * entry to the history of the port.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WORLD_SLOTS	 11
#define WORLD_PORTS_MAX	 3
#define WORLD_TEXT_MAX	 32
#define WORLD_PKEYS	 8
#define WORLD_GIDS	 4
#define WORLD_FIELDS_MAX 12

/* F(id, property, group): the kernel reads the fields of one group at one moment, so they are
 * published together. */
/* clang-format off */
#define WORLD_FIELDS(F)						\
	F(STATE,	  "State",	    GROUP_VERBS)	\
	F(PHYS_STATE,	  "PhysicalState",  GROUP_VERBS)	\
	F(ACTIVE_MTU,	  "ActiveMtu",	    GROUP_VERBS)	\
	F(WIDTH,	  "LinkWidth",	    GROUP_VERBS)	\
	F(LID,		  "Lid",	    GROUP_VERBS)	\
	F(LMC,		  "Lmc",	    GROUP_VERBS)	\
	F(SM_LID,	  "SmLid",	    GROUP_VERBS)	\
	F(SM_SL,	  "SmSl",	    GROUP_VERBS)	\
	F(PREFIX,	  "SubnetPrefix",   GROUP_PREFIX)	\
	F(NETDEV_MTU,	  "NetdevMtu",	    GROUP_MTU)		\
	F(ADDRESS,	  "HwAddress",	    GROUP_ADDRESS)	\
	F(NETDEV,	  "Netdev",	    GROUP_NETDEV)
/* clang-format on */

enum {
	GROUP_VERBS, /* followed on InfiniBand only */
	GROUP_PREFIX,
	GROUP_MTU,
	GROUP_ADDRESS,
	GROUP_NETDEV,
	_GROUP_MAX
};

typedef enum Field {
#define F(id, property, group) FIELD_##id,
	WORLD_FIELDS(F)
#undef F
		_FIELD_MAX
} Field;

/* What was true of a port from one moment on: an entry of its history. */
typedef struct Truth {
	uint64_t usec;	   /* CLOCK_MONOTONIC before the change was made */
	bool told;	   /* the kernel sends an event of the change */
	bool from_netdev;  /* that event comes by rtnetlink, not from verbs */
	bool slow;	   /* the kernel needs some time for the change itself */
	unsigned int mask; /* the fields that are followed: bits 1 << Field */
	char text[_FIELD_MAX][WORLD_TEXT_MAX]; /* their values, as org.rdma publishes them */
} Truth;

/* The values that were written to /dev/rdma_sim for an InfiniBand port. */
typedef struct IbPort {
	uint32_t state, phys_state, active_mtu, width, lid, lmc, sm_lid, sm_sl;
	uint64_t prefix;
} IbPort;

/* What was published at the last quiet point. The generations must count each difference from it.
 * An empty string: nothing was published. */
typedef struct PortCount {
	char values[WORLD_FIELDS_MAX * WORLD_TEXT_MAX];
	char subnet[WORLD_FIELDS_MAX * WORLD_TEXT_MAX]; /* what the subnet manager set last */
	uint64_t generation, sm_generation;
} PortCount;

typedef struct WorldPort {
	bool infiniband;
	IbPort ib;
	Truth *history;
	size_t n_history;
	size_t cursor[_GROUP_MAX];   /* the values published last are those of this entry or a later
					one */
	size_t measured[_GROUP_MAX]; /* the entries before this one have been measured or given up
				      */
	char last_state[WORLD_TEXT_MAX]; /* the last state in a StateChanged; empty: not known */
	bool untold; /* changed without an event: only Refresh() finds the change */
	bool fail, hang, delay;
	bool hiccup;	 /* some queries may still fail */
	bool core_fails; /* the query by ib_core fails too, and so ib_core drops the event */
	/* SmGeneration when the port was added, and how often SubnetReconfigured came after that */
	uint64_t sm_generation;
	uint64_t n_reconfigured;
	PortCount counted;
} WorldPort;

typedef struct WorldNetdev {
	char name[16], peer[16];
	bool exists, up;
	bool on;    /* a dummy has a carrier, or the peer of a veth is up */
	bool bound; /* an RDMA device uses it */
	uint32_t mtu;
	unsigned int n_renames;
	/* a container: a macvlan of the other namespace, and the interface here with its index */
	bool has_container, container_up;
	char container[16], shadow[16];
} WorldNetdev;

typedef struct WorldSlot {
	bool exists;
	bool away;   /* in the other network namespace */
	bool untold; /* an attribute of the device changed without an event */
	uint32_t index;
	char name[64];
	unsigned int generation;
	WorldPort ports[WORLD_PORTS_MAX];
	WorldNetdev netdev;
} WorldSlot;

/* What does not change of a slot. */
typedef struct SlotKind {
	const char *name;
	bool rxe;	/* a device of rdma_rxe, otherwise one of rdma_sim */
	bool held;	/* rdmad hears its verbs events */
	bool no_verbs;	/* libibverbs does not list it */
	bool has_plane; /* the slot WORLD_PLANE is a plane of this one */
	unsigned int n_ports;
	const char *options;	  /* for the command add of rdma_sim; NULL: it is made otherwise */
	unsigned int netdev_port; /* the port that has an interface; 0: none */
	bool veth;
} SlotKind;

/* The plane of another device, which goes with that one. */
#define WORLD_PLANE 10

extern const SlotKind slot_kinds[WORLD_SLOTS];

typedef struct World {
	WorldSlot slots[WORLD_SLOTS];
	bool without_planes; /* the kernel has said that it knows none */
} World;

const char *field_property(Field f);
int field_group(Field f);

/* Removes all devices and makes them again. */
void world_reset(World *w);
void world_clear(World *w);

/* Whether the device of SLOT can be added: a plane needs the device above it, and a kernel that
 * knows planes. */
bool world_can_add(const World *w, unsigned int slot);
/* Adds the device of SLOT, and the interface that it needs. Returns 0 or a negative errno. */
int world_add(World *w, unsigned int slot, uint64_t usec);
/* Notes that the device does not exist any more, and its plane neither. */
void world_forget(World *w, unsigned int slot);
/* The device of which SLOT is a plane; NULL: it is none. */
const WorldSlot *world_above(const World *w, unsigned int slot);
/* Notes that the interface of SLOT does not exist any more, and removes what is left of its
 * container. */
void world_forget_netdev(World *w, unsigned int slot);

/* Adds an entry to the history: what is true of the port since USEC. */
void world_note(World *w, unsigned int slot, unsigned int port, uint64_t usec, bool told);
/* The same for the port that has the interface of the slot. SLOW: the kernel needs some time for
 * it. */
void world_note_netdev(World *w, unsigned int slot, uint64_t usec, bool slow);
