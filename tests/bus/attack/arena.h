/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Where an attack happens: a bus with the limits of the system bus, and on it either rdmad or the
 * empty service. Each runs as a user of its own. What goes wrong here ends the program.
 */

#include <systemd/sd-bus.h>

#include "util.h"

/* The service is a user with a name, because dbus-daemon wants one in its rules. The others are
 * users that a usual system does not have. */
#define ARENA_SERVICE_USER "nobody"
#define ARENA_SERVICE_UID  65534U
#define ARENA_VICTIM_UID   64100U
#define ARENA_ATTACKER_UID 64200U
#define ARENA_FIRST_UID	   64100U
#define ARENA_LAST_UID	   64999U

/* The priority of all processes, as for setpriority(2): what else the machine does is to disturb
 * little. The victim, which measures, has a higher one. */
#define ARENA_PRIORITY (-10)

typedef struct ArenaSetup {
	const char *bus;    /* dbus-daemon or dbus-broker */
	const char *rdmad;  /* the path of the program; NULL: the empty service */
	const char *policy; /* the rules for the bus: org.rdma.conf */
	unsigned int ports;
	uint64_t patience; /* how long the tester waits for what does not come */
} ArenaSetup;

typedef struct Arena {
	char directory[64], socket[80], address[96];
	pid_t bus_pid, service_pid;
	sd_bus *bus;	/* the tester's connection, of root */
	char owner[32]; /* the unique name of the service */
} Arena;

/* What the service needs. */
typedef struct Usage {
	double rss_mib, peak_mib; /* since arena_reset_peak() */
	unsigned int fds;
	double cpu_sec; /* since it began */
} Usage;

Arena *arena_new(const ArenaSetup *setup);
Arena *arena_free(Arena *a);
DEFINE_CLEANUP(Arena, arena_free);

/* Makes the calling process one of user UID, without any right of root. It ends with its parent. */
void arena_become(unsigned int uid);

/* Whether the service runs and still owns its name. */
bool arena_same_owner(Arena *a);
/* All are zero if the process has ended. */
Usage arena_usage(const Arena *a);
void arena_reset_peak(const Arena *a);
/* The memory of the bus, with its child if it has one, in MiB. */
double arena_bus_mib(const Arena *a);
/* Prints the end of what the bus and the service have written. */
void arena_print_log(const Arena *a);

/* CLOCK_MONOTONIC in microseconds. */
uint64_t arena_now(void);
/* Prints "attack: message" and ends the program. */
void arena_die(const char *format, ...) _printf_(1, 2) __attribute__((noreturn));
