/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A scenario file, rdmad-scenario(5), parsed: its sections, the devices that they describe, and the
 * steps of its script.
 *
 * scenario.c parses the file and keeps what is in it; scenario-device.c makes simulated devices of
 * its sections. The commands of the script are kept as words: simulated-commands.c knows what they
 * mean. Every amount has a limit, and every error names the file and the line.
 */

#include <glib.h>

#include "script-line.h"
#include "section.h"
#include "simulated-device.h"

#define SCENARIO_FILE_MAX    (32U << 20) /* bytes */
#define SCENARIO_STEPS_MAX   (1U << 19)	 /* in the script */
#define SCENARIO_DEVICES_MAX 4096U	 /* in the file, and at one time */
#define SCENARIO_PORTS_MAX   65536U	 /* of all devices together */

/* The index of a section without "index = ": the next index that no device has had. */
#define SCENARIO_ANY_INDEX UINT32_MAX

/* One line of the script. */
typedef struct ScenarioStep {
	uint64_t at_usec, every_usec; /* as in ScriptLine */
	char **words;		      /* the command; NULL-terminated, for g_strfreev() */
	unsigned int line;	      /* its number in the file */
} ScenarioStep;

typedef struct ScenarioSection {
	SectionKind kind;
	char *name;	   /* of the device, as it is written: %d may be in it; "" for a script */
	uint32_t port;	   /* SECTION_PORT: the number of the port; 0: all ports of the device */
	unsigned int line; /* of the heading */
	GArray *settings;  /* of Setting, which own their text; without the keys below */
	GHashTable *keys;  /* key of a setting -> its line */
	/* SECTION_DEVICE: the keys that say which devices the section makes */
	uint32_t count; /* how many devices */
	uint32_t ports; /* how many ports each of them has */
	uint32_t index; /* the kernel index of the first one, or SCENARIO_ANY_INDEX */
	bool present;	/* they exist from the start */
	bool recorded;	/* they are of a record: recorded-values.h */
} ScenarioSection;

/* One of the devices that a [device] section describes. */
typedef struct ScenarioDevice {
	const ScenarioSection *section; /* its [device] section */
	char *name;
	char *word;	     /* the name as sections of its ports have it */
	uint32_t number;     /* which of the devices of its section it is, from 0 */
	uint32_t first_port; /* how many ports the devices before it in the file have */
	uint32_t index;	     /* its kernel index, or SCENARIO_ANY_INDEX */
	bool present;	     /* it exists from the start */
	unsigned int line;   /* of the heading of its section */
} ScenarioDevice;

typedef struct Scenario Scenario;

/* Reads and parses the file at PATH. On an error *RET_MESSAGE, for the caller to free, is
 * "FILE:LINE: what is wrong, what was expected", or "FILE: ..." if it is about no line. */
int scenario_load(const char *path, Scenario **ret, char **ret_message);
void scenario_free(Scenario *s);
DEFINE_CLEANUP(Scenario, scenario_free);

/* The PATH that it was loaded from. */
const char *scenario_path(const Scenario *s);
/* Its *RET_N devices in the order of the file, also those that do not exist from the start. */
const ScenarioDevice *scenario_devices(const Scenario *s, size_t *ret_n);
/* Its *RET_N steps by the time when they happen first; those of one time in the order of the file.
 */
const ScenarioStep *scenario_steps(const Scenario *s, size_t *ret_n);
/* The device that has the name NAME in the file; NULL if there is none. */
const ScenarioDevice *scenario_find(const Scenario *s, const char *name);
/* The [port] sections with device NAME, as it is written in the heading; NULL if there is none. */
const GPtrArray *scenario_port_sections(const Scenario *s, const char *name);
/* Whether it is a record, or part of one: it has a device with "recorded = yes". */
bool scenario_is_record(const Scenario *s);
/* How many ports all of its devices have together. */
uint32_t scenario_port_count(const Scenario *s);

/* The recipe of a new device. */
typedef struct DeviceRecipe {
	const char *name;	    /* of the new device */
	const ScenarioDevice *like; /* the device whose sections it gets; NULL: none */
	const Setting *settings;    /* of the device; they replace those of the section */
	size_t n_settings;
	uint32_t first_port; /* as in SimulatedDevice */
} DeviceRecipe;

/* Makes a device with its ports. On an error *RET_LINE is the line of the file that it is about, or
 * 0 if it is about none. */
int scenario_make_device(const Scenario *s, const DeviceRecipe *recipe, SimulatedDevice **ret,
			 unsigned int *ret_line, char **ret_message);
