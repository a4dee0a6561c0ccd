/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The simulated machine: the set of the devices that exist now.
 *
 * The machine finds a device by its index and by its name, and keeps both unique. Time and queries
 * are in simulator.c, the words of commands in simulated-commands.c.
 */

#include <glib.h>

#include "event.h"
#include "scenario.h"
#include "source.h"

/* What a record says that a device or port has answered. */
typedef struct RecordedAnswer {
	SimulatedDevice *device;
	uint32_t port;	  /* its place on the device, from 1; 0: the device itself */
	uint32_t reasons; /* why it was asked: a mask of REASON_BIT */
	bool is_open;	  /* an event had come that said more of the state of the port */
	int error;	  /* 0, or the negative errno of the question, for programs, and in words */
	QueryErrorCode code;
	const char *text;
	/* what it has answered, if ERROR is 0; who listens may take over what it owns */
	PortSnapshot *port_snapshot;
	DeviceSnapshot *device_snapshot;
} RecordedAnswer;

typedef struct SimulatedMachine {
	Scenario *scenario;	  /* owned; the file that the devices are made from */
	GHashTable *by_index;	  /* kernel index -> SimulatedDevice, which it owns */
	GHashTable *by_name;	  /* name -> SimulatedDevice */
	uint32_t next_index;	  /* the index of the next device that does not ask for one */
	uint32_t next_first_port; /* the first_port of the next device that is not in the file */
	uint32_t n_ports;	  /* the number of ports of all devices together */
	uint32_t n_recorded;	  /* the number of devices of records */
	bool rehearsing;	  /* nobody asks the devices: what cannot fail is left out */
	uint32_t added;		  /* the kernel index of the device that "add" has made last */
	uint64_t n_rehearsed;	  /* how many ports were changed or made in doing so */

	/* The listener for the effects of commands; each function may be NULL. They are called
	 * after a command has changed all that it changes. */
	void (*event)(void *userdata, const Event *event);
	void (*noted)(void *userdata, const Event *event);
	/* A device of a record answers. */
	void (*answered)(void *userdata, const RecordedAnswer *answer);
	/* The device answers again or is removed: a query that waits for it can be answered. */
	void (*resumed)(void *userdata, uint32_t index);
	void *userdata; /* the first argument of each */
} SimulatedMachine;

/* Makes S a machine without devices. S owns SCENARIO from now on. */
void simulated_machine_init(SimulatedMachine *s, Scenario *scenario);
/* Frees what S owns. S may be all zero, or done already. */
void simulated_machine_done(SimulatedMachine *s);

/* Makes the devices of the scenario, and adds those that exist from the start. On an error
 * *RET_LINE is the line of the scenario that it is about. */
int simulated_machine_populate(SimulatedMachine *s, unsigned int *ret_line, char **ret_message);

/*
 * Adds D with INDEX, or with the next one that no device has had for SCENARIO_ANY_INDEX. S owns D
 * from now on; on an error D is freed. -EEXIST: the index is taken; -ENOSPC: there are too many
 * devices or ports, or no index is left; each with a message. The name must be free.
 */
int simulated_machine_add(SimulatedMachine *s, SimulatedDevice *d, uint32_t index,
			  char **ret_message);
/* Removes and frees D. */
void simulated_machine_remove(SimulatedMachine *s, SimulatedDevice *d);
/* Gives D another name, which must be free. */
void simulated_machine_rename(SimulatedMachine *s, SimulatedDevice *d, const char *name);

/* Reads the name of a device that is to get it: -EINVAL if no device can have it, -EEXIST if one
 * has it; both with a message. */
int simulated_machine_parse_new_name(const SimulatedMachine *s, const char *word, AttrText ret,
				     char **ret_message);
/* The device that has the name WORD (simulated_parse_name()) now; -ENOENT with a message. */
int simulated_machine_find(const SimulatedMachine *s, const char *word, SimulatedDevice **ret,
			   char **ret_message);
/* The device with the kernel index INDEX; NULL if there is none. */
SimulatedDevice *simulated_machine_device(const SimulatedMachine *s, uint32_t index);
/* All devices in the order of their indices. The caller frees the array with g_ptr_array_unref();
 * the devices stay the machine's. */
GPtrArray *simulated_machine_devices(const SimulatedMachine *s);

/* Tells who listens to S of an event. */
void simulated_machine_tell(const SimulatedMachine *s, uint32_t device, uint32_t port,
			    EventReason reason);
/* The same of an event of a record, which has the answers that followed from it too. */
void simulated_machine_note(const SimulatedMachine *s, uint32_t device, uint32_t port,
			    EventReason reason);
/* Tells who listens to S of an answer. */
void simulated_machine_answer(const SimulatedMachine *s, const RecordedAnswer *answer);
/* Tells who listens to S that a query of the device need not wait any longer. */
void simulated_machine_resume(const SimulatedMachine *s, uint32_t index);
