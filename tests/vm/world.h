/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The devices that the coherence test works on, and what has been true of them: after each change
 * one entry in the history of the port.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WORLD_SLOTS	 8
#define WORLD_PORTS_MAX	 3
#define WORLD_TEXT_MAX	 32
#define WORLD_PKEYS	 8
#define WORLD_GIDS	 4
#define WORLD_FIELDS_MAX 12

/* F(id, property, group): fields of one group are read by the kernel at one moment, so they are
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

typedef struct Truth {
	uint64_t usec;	   /* CLOCK_MONOTONIC before the change was made */
	bool told;	   /* the kernel tells of it */
	bool from_netdev;  /* by rtnetlink, not by a verbs event */
	bool slow;	   /* the kernel itself takes its time */
	unsigned int mask; /* of 1 << Field that are followed */
	char text[_FIELD_MAX][WORLD_TEXT_MAX];
} Truth;

/* What /dev/rdma_sim was told of an InfiniBand port. */
typedef struct IbPort {
	uint32_t state, phys_state, active_mtu, width, lid, lmc, sm_lid, sm_sl;
	uint64_t prefix;
} IbPort;

/* What was published at the last quiet point, to be held against the generations; empty: nothing.
 */
typedef struct PortCount {
	char values[WORLD_FIELDS_MAX * WORLD_TEXT_MAX];
	char subnet[WORLD_FIELDS_MAX * WORLD_TEXT_MAX]; /* as the subnet manager last set it */
	uint64_t generation, sm_generation;
} PortCount;

typedef struct WorldPort {
	bool infiniband;
	IbPort ib;
	Truth *history;
	size_t n_history;
	size_t cursor[_GROUP_MAX];	 /* what was published last is this entry or a later one */
	size_t measured[_GROUP_MAX];	 /* entries below have been measured or given up */
	char last_state[WORLD_TEXT_MAX]; /* of the chain of StateChanged; empty: not known */
	bool untold;			 /* has changed without an event: only a refresh finds it */
	bool fail, hang, delay;
	bool hiccup;	 /* some queries may still fail */
	bool core_fails; /* ib_core's own query fails too, and drops the event */
	/* SmGeneration when the port was added, and how often SubnetReconfigured came since */
	uint64_t sm_generation;
	uint64_t n_reconfigured;
	PortCount counted;
} WorldPort;

typedef struct WorldNetdev {
	char name[16], peer[16];
	bool exists, up, on,
		bound; /* on: carrier of a dummy, or the peer is up; bound: to a device */
	uint32_t mtu;
	unsigned int n_renames;
} WorldNetdev;

typedef struct WorldSlot {
	bool exists, away;
	bool untold; /* the device itself */
	uint32_t index;
	char name[64];
	unsigned int generation;
	WorldPort ports[WORLD_PORTS_MAX];
	WorldNetdev netdev;
} WorldSlot;

/* What a slot is, always. */
typedef struct SlotKind {
	const char *name;
	bool rxe;  /* else rdma_sim */
	bool held; /* rdmad hears its verbs events */
	unsigned int n_ports;
	const char *options;	  /* of rdma_sim's add */
	unsigned int netdev_port; /* 0: none */
	bool veth;
} SlotKind;

extern const SlotKind slot_kinds[WORLD_SLOTS];

typedef struct World {
	WorldSlot slots[WORLD_SLOTS];
} World;

const char *field_property(Field f);
int field_group(Field f);

/* Makes everything anew: all devices are there. */
void world_reset(World *w);
void world_clear(World *w);

/* Adds the device of SLOT, and the interface that it needs. 0 or a negative errno. */
int world_add(World *w, unsigned int slot, uint64_t usec);
/* The device is no more. */
void world_forget(World *w, unsigned int slot);

/* Writes down what is true of a port now, since USEC. */
void world_note(World *w, unsigned int slot, unsigned int port, uint64_t usec, bool told);
/* The same for the port on the slot's interface. SLOW: the kernel takes its time. */
void world_note_netdev(World *w, unsigned int slot, uint64_t usec, bool slow);
