/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The machine that the core watches, and the workers that it asks, as a Source: devices and ports
 * whose values the test changes, events about that, and queries that the test answers in steps.
 * Between what a worker reads and what the core hears of it, anything may happen.
 */

#include "laws.h"
#include "source.h"
#include "virtual-time.h"

#define SCRIPT_DEVICES 4U
#define SCRIPT_PORTS   3U

/* The values of a port that change. */
typedef enum Fact {
	FACT_STATE,
	FACT_LID,
	FACT_SM,
	FACT_SPEED,
	FACT_GIDS,
	FACT_PKEYS, /* InfiniBand */
	FACT_LINK,  /* Ethernet, as what follows */
	FACT_DCB,
	_FACT_MAX
} Fact;

typedef struct Facts {
	uint32_t of[_FACT_MAX];
} Facts;

typedef struct ScriptDevice {
	bool exists;
	uint32_t index;
	char name[16];
	bool is_ethernet;
	uint32_t n_ports;
	uint32_t firmware; /* a value of the device itself */
	Facts ports[SCRIPT_PORTS];
	PortSet failing; /* ports that cannot be read */
	PortSet partial; /* ports of which some tables cannot be read */
	bool hangs;	 /* nothing can be read */
} ScriptDevice;

typedef struct Script Script;

/* HAS_WORKERS: the core asks through its pool, whose workers read in the place of processes. If
 * not, answers reach the core from the script itself, also those that the pool would not let pass.
 */
Script *script_new(sd_event *event, Lots *lots, uint64_t timeout_usec, bool has_workers);
bool script_has_workers(const Script *s);
void script_free(Script *s);
/* For ManagerSetup; USERDATA is the Script. */
int script_open(void *userdata, const SourceHandler *handler, void *handler_userdata, Source **ret);

/* Each of these is one step of what happens outside of the core. It is drawn by lot what that is.
 */
void script_change(Script *s);	/* a value changes, and the kernel says so */
void script_devices(Script *s); /* a device comes, goes, or becomes another */
void script_faults(Script *s);	/* something fails from now on, or for once */
void script_tell(Script *s);	/* events reach the core */
void script_work(Script *s);	/* a worker reads, or its answer reaches the core */
void script_lie(Script *s);	/* a worker sends what nobody asked for */

/* Some devices hang from now on, and the kernel says of each port that a value has changed. */
void script_hang_some(Script *s);

/* What is late by now happens: values that change after their event, queries without an answer. */
void script_catch_up(Script *s);
/* When that is, UINT64_MAX: never. */
uint64_t script_next_usec(const Script *s);
/* From now on workers do all that they can as time passes, or only what a step says. */
void script_be_prompt(Script *s, bool is_prompt);
/* Nothing fails any more, and all that has not been told is told. */
void script_heal(Script *s);
/* All queries are answered. Returns whether there were any. */
bool script_answer_all(Script *s);

/* The devices, SCRIPT_DEVICES of them */
const ScriptDevice *script_devices_now(const Script *s);
/* Port NUMBER of D as a query for PARTS finds it; port_snapshot_done(). */
void script_port(const ScriptDevice *d, uint32_t number, const Facts *facts, unsigned int parts,
		 PortSnapshot *ret);
/* The text of the firmware's version. */
void script_firmware(const ScriptDevice *d, char ret[16]);
/* The core has ended, and another one begins. */
void script_restart(Script *s);
/* No device is left. */
void script_empty(Script *s);
