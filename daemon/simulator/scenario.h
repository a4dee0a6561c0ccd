/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A scenario file, rdmad-scenario(5): which devices there are, and what happens when.
 *
 * This reads the file, keeps its sections, and makes devices of them. What the words of a script
 * line mean is the simulator's business. Everything is bounded, and every error has file and line.
 */

#include <glib.h>

#include "simulated-device.h"

#define SCENARIO_FILE_MAX    (4U << 20) /* bytes */
#define SCENARIO_LINE_MAX    4096U	/* bytes */
#define SCENARIO_WORDS_MAX   256U	/* in a script line */
#define SCENARIO_STEPS_MAX   4096U
#define SCENARIO_DEVICES_MAX 4096U
#define SCENARIO_PORTS_MAX   65536U /* of all devices together */

/* No index = in the section */
#define SCENARIO_ANY_INDEX UINT32_MAX

typedef struct ScenarioSection {
	enum { SECTION_DEVICE, SECTION_PORT, SECTION_SCRIPT } kind;
	char *name;    /* of the device, as written: perhaps with %d */
	uint32_t port; /* for SECTION_PORT; 0: all */
	unsigned int line;
	GArray *settings; /* of Setting, which own their text */
	GHashTable *keys; /* key -> line */
	/* for SECTION_DEVICE */
	uint32_t count, ports, index;
	bool present;
} ScenarioSection;

/* One device of a [device] section. */
typedef struct ScenarioDevice {
	const ScenarioSection *section;
	char *name;
	uint32_t number;     /* in its section, from 0 */
	uint32_t first_port; /* ports of the devices before it */
	uint32_t index;	     /* as the section wants it, or SCENARIO_ANY_INDEX */
	bool present;	     /* from the start */
	unsigned int line;
} ScenarioDevice;

typedef struct ScenarioStep {
	uint64_t at_usec;    /* since the start */
	uint64_t every_usec; /* 0: once */
	char **words;	     /* NULL-terminated */
	unsigned int line;
} ScenarioStep;

typedef struct Scenario Scenario;

/* -errno with "FILE:LINE: ..." or "FILE: ..." in *RET_MESSAGE. */
int scenario_load(const char *path, Scenario **ret, char **ret_message);
void scenario_free(Scenario *s);
DEFINE_CLEANUP(Scenario, scenario_free);

const char *scenario_path(const Scenario *s);
/* In the order of the file. */
const ScenarioDevice *scenario_devices(const Scenario *s, size_t *ret_n);
/* In the order in which they come first; those of one time in the order of the file. */
const ScenarioStep *scenario_steps(const Scenario *s, size_t *ret_n);
const ScenarioDevice *scenario_find(const Scenario *s, const char *name);
/* The sections for ports of device NAME, as written there; NULL if there is none. */
const GPtrArray *scenario_port_sections(const Scenario *s, const char *name);
/* Of all devices together. */
uint32_t scenario_port_count(const Scenario *s);

/* What a new device is made from. */
typedef struct DeviceRecipe {
	const char *name;
	const ScenarioDevice *like; /* whose sections it has; NULL: none */
	const Setting *settings;    /* on top of those */
	size_t n_settings;
	uint32_t first_port;
} DeviceRecipe;

/* On an error *RET_LINE is the line that it is about, 0 if it is none of the file's. */
int scenario_make_device(const Scenario *s, const DeviceRecipe *recipe, SimulatedDevice **ret,
			 unsigned int *ret_line, char **ret_message);

/* Splits LINE at white space; "..." keeps it. *RET is freed by words_free(). */
int words_split(const char *line, char ***ret, char **ret_message);
void words_free(char **words);
static inline void words_free_pointer(char ***words)
{
	words_free(*words);
}
