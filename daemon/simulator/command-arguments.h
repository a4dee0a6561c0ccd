/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The arguments of commands: what the words of a line of a script mean. Every function that parses
 * returns 0, or a negative errno with a message.
 */

#include "simulated-machine.h"

/* The device or port that the first argument of most commands names. */
typedef struct CommandTarget {
	SimulatedDevice *device; /* NULL: all devices */
	bool ports;		 /* ports are meant; else the device itself */
	uint32_t port;		 /* the number of the port; 0: all ports of the device */
} CommandTarget;

/* One port of a target. */
typedef struct PortReference {
	SimulatedPort *port;
	uint32_t index;	 /* the kernel index of its device */
	uint32_t number; /* its number on the device, from 1 */
} PortReference;

/* The arguments KEY=VALUE of a command, and the reasons of its arguments event=REASON. */
typedef struct CommandSettings {
	char **words; /* what the settings point into */
	Setting settings[SCENARIO_WORDS_MAX];
	size_t n;
	EventReason reasons[SCENARIO_WORDS_MAX];
	size_t n_reasons;
} CommandSettings;

/* Reads what TEXT names on S. -ENOENT: there is no such device or port. */
int command_target_parse(const SimulatedMachine *s, const char *text, CommandTarget *ret,
			 char **ret_message);
/* The ports that T names: an array of PortReference, for g_array_unref(). T->ports is true. */
GArray *command_target_ports(const SimulatedMachine *s, const CommandTarget *t);
/* Of those one that is simulated and one of a record, as far as there are such. */
GArray *command_target_examples(const SimulatedMachine *s, const CommandTarget *t);

/* Reads N arguments KEY=VALUE and event=REASON. The caller calls command_settings_done(), also
 * after an error; RET is all zero before. */
int command_settings_parse(const char *const *args, size_t n, CommandSettings *ret,
			   char **ret_message);
void command_settings_done(CommandSettings *s);

/* Reads the name of a reason, such as "lid-change". */
int command_reason_parse(const char *text, EventReason *ret, char **ret_message);
/* Reads the name of an error: "EIO" is -EIO, "none" is 0. */
int command_errno_parse(const char *text, int *ret, char **ret_message);
