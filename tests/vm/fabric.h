/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What the tests with rdma_sim share: rdmad as a service with a configuration that the test
 * chooses, commands to the module, and functions that wait for something. Each function fails the
 * test if it does not succeed, or if what it waits for does not happen in time.
 */

#include "compare.h"

#define PORT	   RDMAD_INTERFACE_PORT
#define INFINIBAND RDMAD_INTERFACE_INFINIBAND
#define ETHERNET   RDMAD_INTERFACE_ETHERNET
#define DEVICE	   RDMAD_INTERFACE_DEVICE

/* Runs a shell command, which must succeed. */
void run(const char *format, ...) _printf_(1, 2);
/* Writes a command to rdma_sim, which must accept it. */
void sim(const char *format, ...) _printf_(1, 2);
/* Reads a number that rdma_sim prints: KEY, such as "query.user", in the line that begins with
 * LINE, such as "calls", and with PORT. */
uint64_t sim_number(const char *line, const char *port, const char *key);

/* Makes a fixture that uses the system bus and the service of the guest. */
Fixture *fabric_new(void);
/* Removes all devices and the histories of their ports, and starts rdmad again with this
 * configuration. */
void fabric_restart(Fixture *f, const char *configuration);
/* The process id of the service. */
pid_t fabric_pid(void);
/* The process id of the worker: the child of DAEMON that is a rdmad-query. 0: there is none. */
pid_t fabric_worker(pid_t daemon);
/* How many processes the service has, with the core. Its threads are not counted. */
unsigned int fabric_processes(void);
unsigned int count_descriptors(pid_t pid);
unsigned long resident_kib(pid_t pid);

/* Waits until the port NAME, such as "sim0/1", is published. Returns the kernel index of its
 * device. */
uint32_t wait_port(Fixture *f, const char *name);
/* An object path, such as "/org/rdma/device/3/port/1". It is passed by value. */
typedef struct Path {
	char text[RDMAD_PATH_MAX];
} Path;
Path path_of(uint32_t index, uint32_t port);
void wait_property(Fixture *f, const char *path, const char *interface, const char *name,
		   const char *value);
/* Waits until what is published of the port equals what libibverbs says: the kernel may finish a
 * change some milliseconds after the event. */
void wait_equal(Fixture *f, uint32_t index, uint32_t port);
/* Waits until rdmad does not query the port any more: it queries a new device several times, the
 * last time after a second. */
void wait_quiet(Fixture *f, const char *port);
/* Waits until the device is not published any more. */
void wait_gone(Fixture *f, uint32_t index);
/* Calls Refresh() of the Manager. */
void refresh(Fixture *f);

/* Whether all words of A are among the words of B. */
bool words_within(const char *a, const char *b);
/* The names of all properties of PATH that have changed, as the recorded signals say. The caller
 * frees the string. */
char *changed_properties(Fixture *f, const char *path);
/*
 * Follows the recorded StateChanged of PATH, from state STATE: each must begin with the state that
 * the one before ended with. Returns how many there were, and writes the last state to STATE, which
 * has 32 bytes.
 */
unsigned int follow_states(Fixture *f, const char *path, char *state);
/* How many SubnetReconfigured of PATH with REASON are recorded. REASON NULL: with any reason. */
unsigned int count_reconfigured(Fixture *f, const char *path, const char *reason);
/* Why a property of PATH has no value, as Unavailable of INTERFACE, PORT or DEVICE, says. Empty: it
 * has one. The caller frees the string. */
char *why_unavailable(Fixture *f, const char *path, const char *interface, const char *name);
