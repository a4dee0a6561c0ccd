/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The simulated machine: the devices that are there now, and the commands that change them.
 *
 * The commands of the script and of org.rdma.Simulator are the same, rdmad-scenario(5), and are
 * carried out here. Nothing here knows of time or of queries: those are simulator.c's.
 */

#include <glib.h>

#include "event.h"
#include "scenario.h"

typedef struct SimulatedMachine {
	Scenario *scenario;
	GHashTable *by_index; /* owns the devices */
	GHashTable *by_name;  /* the keys are the names in the devices */
	uint32_t next_index;
	uint32_t next_first_port; /* for devices that the scenario does not have */
	uint32_t n_ports;

	/* Called after a command has changed all that it changes. Both NULL: nobody listens. */
	void (*event)(void *userdata, const Event *event);
	/* The device answers again, or has gone: a query that waits for it need not. */
	void (*resumed)(void *userdata, uint32_t index);
	void *userdata;
} SimulatedMachine;

/* No devices yet. Takes SCENARIO. */
void simulated_machine_init(SimulatedMachine *s, Scenario *scenario);
void simulated_machine_done(SimulatedMachine *s);

/* Makes the devices that are there from the start. On an error *RET_LINE is a line of the scenario.
 */
int simulated_machine_populate(SimulatedMachine *s, unsigned int *ret_line, char **ret_message);
/* Runs every step of the script once, in order. */
int simulated_machine_rehearse(SimulatedMachine *s, unsigned int *ret_line, char **ret_message);

/* One command as its words; see simulator_run(). */
int simulated_machine_run(SimulatedMachine *s, char *const *words, uint32_t *ret_index,
			  char **ret_message);

SimulatedDevice *simulated_machine_device(const SimulatedMachine *s, uint32_t index);
/* All devices in the order of their indices, for g_ptr_array_unref(). */
GPtrArray *simulated_machine_devices(const SimulatedMachine *s);
